package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/dengxu/dengxu"
)

// waitFor is how long one long poll asks the server to wait. It is under the
// half minute after which many proxies cut a silent request.
const waitFor = 25 * time.Second

// CallOptions select what CallNext may call.
type CallOptions struct {
	Queue dengxu.QueueID // "" = all queues of the counter
	Wait  time.Duration  // how long the server may wait for somebody; whole seconds
	dengxu.CallRequest
}

// CallNext calls the next token to a counter. When there is nobody, Token is
// nil and Reason says why. A counter that already has as many as it may have
// gets conflict with the token it has, unless Current says what becomes of it.
func (c *Client) CallNext(ctx context.Context, counter dengxu.CounterID, o CallOptions) (dengxu.CallOutcome, error) {
	return c.callNext(ctx, counter, o, "")
}

func (c *Client) callNext(ctx context.Context, counter dengxu.CounterID, o CallOptions, key string) (dengxu.CallOutcome, error) {
	r := post("/counter/"+escape(counter)+"/call_next", o.CallRequest)
	if o.Queue != "" {
		r.path = "/queue/" + escape(o.Queue) + "/counter/" + escape(counter) + "/call_next"
	}
	if seconds := int(o.Wait / time.Second); seconds > 0 {
		r.query = url.Values{"wait_seconds": {strconv.Itoa(seconds)}}
	}
	r.key, r.wait = key, o.Wait
	var t dengxu.Token
	a, err := c.do(ctx, r, &t)
	if err != nil {
		return dengxu.CallOutcome{}, err
	}
	if a.status == http.StatusNoContent {
		return dengxu.CallOutcome{Reason: a.header.Get("Dengxu-Reason")}, nil
	}
	return dengxu.CallOutcome{Token: &t}, nil
}

// Call calls one given token to a counter, which needs the right pick and a
// reason. Conflict when its state or the counter forbids it.
func (c *Client) Call(ctx context.Context, counter dengxu.CounterID, t dengxu.TokenID, req dengxu.VerbRequest) (dengxu.Token, error) {
	return c.verb(ctx, "/counter/"+escape(counter)+"/call/"+escape(t), req)
}

// Counter acts as one counter. Its verbs take the token that Next returned, so
// that its version travels unseen: they write the answer into that token, and
// the next verb takes it again. It is safe for concurrent use, a token is not.
type Counter struct {
	c  *Client
	id dengxu.CounterID
	// turn lets one call at a time be open, because a call has one key until
	// its answer is definite. It holds that key; capacity one makes it a lock
	// that a context can leave.
	turn chan string

	mu   sync.Mutex                  // guards what follows
	mine map[dengxu.TokenID]struct{} // tokens from Next that are still here, as far as is known
}

// Counter returns the counter with this id, without speaking to the server.
func (c *Client) Counter(id dengxu.CounterID) *Counter {
	k := &Counter{c: c, id: id, turn: make(chan string, 1), mine: make(map[dengxu.TokenID]struct{})}
	k.turn <- ""
	return k
}

// ID returns the counter's id.
func (k *Counter) ID() dengxu.CounterID { return k.id }

// Next calls the next token of the counter's queues and waits for somebody
// when there is nobody. It returns when ctx ends, when the server refuses, or
// when the server stays away for longer than the budget. It keeps one
// idempotency key until it has a definite answer: after an error, Next again
// returns the token that a lost answer had called, and never a second one.
//
// A counter that has no room for another token is a conflict while the one it
// has came from this Counter. One that it has from before, because the program
// was started again, is taken over: Next returns it, called or served already.
// So is one that a verb could not act on because it had changed.
func (k *Counter) Next(ctx context.Context) (*dengxu.Token, error) {
	var key string
	select {
	case <-ctx.Done():
		return nil, ended(ctx)
	case key = <-k.turn:
	}
	defer func() { k.turn <- key }()
	for {
		if key == "" {
			key = newKey(ctx)
		}
		asked := time.Now()
		outcome, err := k.c.callNext(ctx, k.id, CallOptions{Wait: waitFor}, key)
		if err != nil {
			if definite(err) {
				key = ""
			}
			if t := k.left(ctx, err); t != nil {
				return t, nil
			}
			return nil, err
		}
		if outcome.Token != nil {
			key = ""
			k.take(outcome.Token.ID)
			return outcome.Token, nil
		}
		// A server that answers at once that there is nobody, because it
		// drains or the queue is paused, is not asked in a busy loop.
		if time.Since(asked) < time.Second && !sleep(ctx, time.Second) {
			return nil, ended(ctx)
		}
	}
}

// left is a token that a full counter has and that did not come from Next; nil
// when err says something else, or there is none.
func (k *Counter) left(ctx context.Context, err error) *dengxu.Token {
	if dengxu.ReasonOf(err) != "counter_busy" {
		return nil
	}
	if e, ok := errors.AsType[*dengxu.Error](err); ok && e.Token != nil && k.take(e.Token.ID) {
		return e.Token
	}
	view, err := k.View(ctx) // the refusal shows one token of several
	if err != nil {
		return nil // the refusal is the better answer
	}
	for i := range view.Tokens {
		if t := &view.Tokens[i]; t.State.AtCounter() && k.take(t.ID) {
			return t
		}
	}
	return nil
}

// take notes a token as one that Next returned, and reports whether it was
// none.
func (k *Counter) take(id dengxu.TokenID) (first bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, old := k.mine[id]
	k.mine[id] = struct{}{}
	return !old
}

// leave notes that a token is not this Counter's any more.
func (k *Counter) leave(id dengxu.TokenID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.mine, id)
}

// definite reports whether err is the server's decision, after which the key
// of the request has done its work.
func definite(err error) bool {
	switch dengxu.CodeOf(err) {
	case dengxu.Unavailable, dengxu.Deadline, dengxu.Canceled, dengxu.Internal:
		return false
	case dengxu.Unauthenticated, dengxu.Forbidden, dengxu.NotFound, dengxu.Exists, dengxu.Conflict,
		dengxu.Closed, dengxu.Full, dengxu.Invalid, dengxu.TooMany:
		return true
	}
	return false
}

// Recall announces a called token again. At most max_calls, recall_gap_seconds
// apart: conflict or too_many.
func (k *Counter) Recall(ctx context.Context, t *dengxu.Token) (*dengxu.Token, error) {
	return k.act(ctx, dengxu.VerbRecall, t, dengxu.VerbRequest{})
}

// Start begins the service of a called token.
func (k *Counter) Start(ctx context.Context, t *dengxu.Token) (*dengxu.Token, error) {
	return k.act(ctx, dengxu.VerbStart, t, dengxu.VerbRequest{})
}

// Complete ends the service of a token that is called or served here.
func (k *Counter) Complete(ctx context.Context, t *dengxu.Token) (*dengxu.Token, error) {
	return k.act(ctx, dengxu.VerbComplete, t, dengxu.VerbRequest{})
}

// Miss says that a called person did not come; the queue's missed policy
// decides what follows.
func (k *Counter) Miss(ctx context.Context, t *dengxu.Token) (*dengxu.Token, error) {
	return k.act(ctx, dengxu.VerbMiss, t, dengxu.VerbRequest{})
}

// Requeue puts a token back to its place in line; no miss is counted.
func (k *Counter) Requeue(ctx context.Context, t *dengxu.Token) (*dengxu.Token, error) {
	return k.act(ctx, dengxu.VerbRequeue, t, dengxu.VerbRequest{})
}

// Hold parks a token; it keeps its counter and never comes back by itself.
func (k *Counter) Hold(ctx context.Context, t *dengxu.Token) (*dengxu.Token, error) {
	return k.act(ctx, dengxu.VerbHold, t, dengxu.VerbRequest{})
}

// Resume goes on with a held token; conflict when the counter has no room.
func (k *Counter) Resume(ctx context.Context, t *dengxu.Token) (*dengxu.Token, error) {
	return k.act(ctx, dengxu.VerbResume, t, dengxu.VerbRequest{})
}

// Transfer sends a token to another queue of the site. It keeps its number and
// history. Refused there, it stays here.
func (k *Counter) Transfer(ctx context.Context, t *dengxu.Token, to Destination) (*dengxu.Token, error) {
	return k.act(ctx, dengxu.VerbTransfer, t, dengxu.VerbRequest{
		QueueID: to.Queue, Class: to.Class, Place: to.Place, Reason: to.Reason,
	})
}

// Destination is where a transfer goes.
type Destination struct {
	Queue  dengxu.QueueID
	Class  string        // needed when the class is unknown there
	Place  *dengxu.Place // nil = the place it has
	Reason string
}

// Cancel ends a token without service.
func (k *Counter) Cancel(ctx context.Context, t *dengxu.Token, reason string) (*dengxu.Token, error) {
	return k.act(ctx, dengxu.VerbCancel, t, dengxu.VerbRequest{Reason: reason})
}

// Abandon records that the person went away.
func (k *Counter) Abandon(ctx context.Context, t *dengxu.Token, reason string) (*dengxu.Token, error) {
	return k.act(ctx, dengxu.VerbAbandon, t, dengxu.VerbRequest{Reason: reason})
}

// Undo takes back the last complete, miss, cancel or transfer of a token,
// within a minute: conflict afterwards, exists when the holder joined anew.
func (k *Counter) Undo(ctx context.Context, t *dengxu.Token) (*dengxu.Token, error) {
	return k.act(ctx, dengxu.VerbUndo, t, dengxu.VerbRequest{})
}

// Open lets the counter call; View returns its settings, state and tokens.
func (k *Counter) Open(ctx context.Context) (dengxu.CounterView, error) {
	return k.c.OpenCounter(ctx, k.id)
}

// Pause makes the counter refuse to call, with a reason for people.
func (k *Counter) Pause(ctx context.Context, reason string) (dengxu.CounterView, error) {
	return k.c.PauseCounter(ctx, k.id, reason)
}

// Close closes the counter. With tokens it is a conflict, unless current says
// what becomes of them: complete, miss, requeue or hold.
func (k *Counter) Close(ctx context.Context, current string) (dengxu.CounterView, error) {
	return k.c.CloseCounter(ctx, k.id, current)
}

// View returns the counter's settings, state and the tokens it has.
func (k *Counter) View(ctx context.Context) (dengxu.CounterView, error) {
	return k.c.GetCounter(ctx, k.id)
}

// act does a verb at this counter on t as it was last seen, and writes what it
// became into t. A refusal leaves t as it is.
func (k *Counter) act(ctx context.Context, verb dengxu.Verb, t *dengxu.Token, req dengxu.VerbRequest) (*dengxu.Token, error) {
	req.Version, req.CounterID = t.Version, k.id
	after, err := k.c.Act(ctx, verb, t.ID, req)
	if err != nil {
		if dengxu.ReasonOf(err) == "stale_version" {
			k.leave(t.ID)
		}
		return nil, err
	}
	if !after.State.AtCounter() {
		k.leave(t.ID)
	}
	*t = after
	return t, nil
}
