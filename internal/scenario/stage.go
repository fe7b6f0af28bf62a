package scenario

import (
	"context"
	"time"

	"github.com/dengxu/dengxu"
)

// Who asks, beside keys that a story makes itself.
const (
	Staff  = ""       // an admin
	Holder = "holder" // nobody but the token id as credential
	Public = "public" // a join without a key
)

// Caller is who asks, and under which idempotency key ("" = none of the
// story's).
type Caller struct{ Who, Key string }

// Noun is what has settings.
type Noun string

// The nouns.
const (
	NounSite    Noun = "site"
	NounQueue   Noun = "queue"
	NounCounter Noun = "counter"
	NounKey     Noun = "key"
)

// Join is a join of one queue, or of several queues of a site at once.
type Join struct {
	Site   dengxu.SiteID // of several
	Queues []dengxu.QueueID
	dengxu.JoinRequest
}

// Call is a call of the next token, or of a given one.
type Call struct {
	Counter dengxu.CounterID
	Queue   dengxu.QueueID // "" = all that the counter serves
	Token   dengxu.TokenID // "" = the next
	Reason  string         // of calling a given one
	dengxu.CallRequest
}

// Turn opens, pauses, closes or deletes a queue or a counter, or judges those
// who wait in a queue by its present rules.
type Turn struct {
	Noun   Noun
	ID     string
	Action string // open, pause, close, delete, reapply
	dengxu.DoorRequest
}

// Question is a question about one thing.
type Question struct {
	About string // a noun, token, position, explain, history, estimate or line
	ID    string
	Like  dengxu.JoinRequest // estimate: of somebody who would say this
}

// Stage is where a story is played: one engine over one store with a clock,
// asked directly or over HTTP. Errors are those of the engine, with their
// codes. Answers are the API's types.
type Stage interface {
	// Set writes settings: a *dengxu.Site, Queue, Counter or Key replaces them,
	// a json.RawMessage is a merge patch.
	Set(ctx context.Context, noun Noun, id string, settings any) (any, error)
	Join(ctx context.Context, by Caller, j Join) ([]dengxu.Ticket, error)
	Call(ctx context.Context, by Caller, c Call) (dengxu.CallOutcome, error)
	// Act does a verb; body is a dengxu.VerbRequest, or for an edit a
	// dengxu.TokenEdit.
	Act(ctx context.Context, by Caller, verb dengxu.Verb, id dengxu.TokenID, body any) (any, error)
	Turn(ctx context.Context, by Caller, t Turn) (any, error)
	// Read answers a question; for a line it is the []dengxu.Token that wait
	// there, with their ranks.
	Read(ctx context.Context, q Question) (any, error)
	// Event returns the n-th event since the story began, from 0. It waits a
	// while for one that is on its way and returns io.EOF when there is none.
	Event(ctx context.Context, n int) (dengxu.Event, error)
	// MoveTo lets time pass until t and does everything that becomes due on
	// the way when it does. Late only moves the clock.
	MoveTo(ctx context.Context, t time.Time, late bool) error
	// Restart ends the server and starts it again over the same store.
	Restart(ctx context.Context) error
}
