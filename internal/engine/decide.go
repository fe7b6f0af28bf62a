package engine

import (
	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// command is one verb on one token, with everything that was read for it. What
// follows from it is decided by pure functions: (what was read, the command) →
// change, or an error. Times in a change are symbols of the commit's time.
type command struct {
	verb dengxu.Verb
	by   By
	req  dengxu.VerbRequest
	q    *queue       // the token's queue
	t    *store.Token // as read; never changed
	now  int64        // when it was read
	to   *queue       // transfer: the target; undo: the queue before
	// placed is the place found for {"after": N}.
	placed *order.Placed
	// replay is set when the operation was done before.
	replay *store.OpView
}

// change is what a command does to its token.
type change struct {
	write  [1]store.TokenWrite // as the batch has it
	expect []store.Expectation
	event  dengxu.EventType
	marks  []store.MarkWrite
}

// undoFor is how long after a verb its actor may take it back, in ms.
const undoFor = 60_000

// decide is the table of the design: what each verb makes of a token.
func decide(c *command) (*change, error) {
	if err := c.allowed(); err != nil {
		return nil, err
	}
	decideVerb, ok := deciders[c.verb]
	if !ok {
		return nil, dengxu.Errorf(dengxu.Invalid, "%s is not done to a single token", c.verb)
	}
	ch := new(change)
	next := &ch.write[0].Token
	*next = *c.t
	next.Version++
	next.Reason = c.req.Reason
	next.Undo = nil
	if err := decideVerb(c, ch); err != nil {
		return nil, err
	}
	return ch, nil
}

// deciders decide each verb. A change starts as the record with its version
// raised.
var deciders = map[dengxu.Verb]func(*command, *change) error{
	dengxu.VerbDue:       decideDue,
	dengxu.VerbCheckIn:   decideCheckIn,
	dengxu.VerbRecall:    decideRecall,
	dengxu.VerbConfirm:   decideConfirm,
	dengxu.VerbStart:     decideStart,
	dengxu.VerbComplete:  decideComplete,
	dengxu.VerbMiss:      decideMiss,
	dengxu.VerbReinstate: decideReinstate,
	dengxu.VerbRequeue:   decideRequeue,
	dengxu.VerbDefer:     decideDefer,
	dengxu.VerbHold:      decideHold,
	dengxu.VerbResume:    decideResume,
	dengxu.VerbTransfer:  decideTransfer,
	dengxu.VerbMove:      decideMove,
	dengxu.VerbCancel:    decideCancel,
	dengxu.VerbAbandon:   decideAbandon,
	dengxu.VerbExpire:    decideExpire,
	dengxu.VerbAsk:       decideAsk,
	dengxu.VerbRate:      decideRate,
	dengxu.VerbUndo:      decideUndo,
}

// allowed holds a command against the table, the caller's version and counter.
func (c *command) allowed() error {
	t := c.t
	if c.req.Version != 0 && c.req.Version != t.Version {
		return c.conflict("stale_version", "the token has changed since version %d", c.req.Version)
	}
	if c.verb == dengxu.VerbCheckIn && t.State == dengxu.StateWaiting {
		return c.noCheckIn()
	}
	if !dengxu.Allowed(c.q.set.Kind, t.State, c.verb) {
		return c.conflict("state", "cannot %s a token that is %s%s", c.verb, t.State, heldBy(t))
	}
	if c.by.Kind == Holder && !c.q.holderMay(c.verb, t) {
		return c.holderRefused()
	}
	acts := c.req.CounterID != "" && c.verb != dengxu.VerbTransfer && c.verb != dengxu.VerbResume
	if acts && t.Counter != "" && (t.State.AtCounter() || t.State == dengxu.StateHeld) && c.req.CounterID != t.Counter {
		return c.conflict("other_counter", "the token is at counter %s", t.Counter)
	}
	return nil
}

// holderRefused names why a holder may not do what the table would allow.
func (c *command) holderRefused() error {
	switch {
	case c.verb == dengxu.VerbDefer:
		return c.conflict("defer_max", "it was put off %d times already", c.t.Defers)
	case c.verb == dengxu.VerbCheckIn:
		return c.noCheckIn()
	case c.verb == dengxu.VerbConfirm && c.t.State == dengxu.StateCalling:
		return c.conflict("confirmed_already", "it was confirmed already")
	case c.verb == dengxu.VerbRate:
		return c.conflict("rated_already", "it was rated already")
	case c.verb == dengxu.VerbConfirm:
		return c.conflict("state", "nobody asked whether it still comes")
	default:
		return c.conflict("state", "the holder cannot %s a token that is %s", c.verb, c.t.State)
	}
}

// heldBy tells who has a token, for conflicts.
func heldBy(t *store.Token) string {
	if t.Counter != "" && (t.State.AtCounter() || t.State == dengxu.StateHeld) {
		return ", by counter " + string(t.Counter)
	}
	return ""
}

// conflict is a refusal with the token as it is.
func (c *command) conflict(reason, format string, args ...any) *dengxu.Error {
	err := dengxu.Errorf(dengxu.Conflict, format, args...).Because(reason)
	view := staff(c.t, c.q.site.partition, c.now)
	err.Token = &view
	return err
}

// become closes the present span and begins a state.
func (c *command) become(ch *change, state dengxu.State, event dengxu.EventType) *store.Token {
	next := &ch.write[0].Token
	next.CloseSpan(store.Now, c.verb, c.by.Name)
	next.Spans[len(next.Spans)-1].Reason = c.req.Reason
	next.State, next.Due, next.Why = state, 0, ""
	ch.event = event
	return next
}

// wait makes the token callable again.
func (c *command) wait(ch *change, event dengxu.EventType) *store.Token {
	next := c.become(ch, dengxu.StateWaiting, event)
	next.Due, next.Asked = c.q.waitDue(), false
	leaveCounter(next)
	return next
}

// setDeadline gives a call its deadline. Where on_call_timeout is ask, the
// operator decides after it, and no timer does.
func (q *queue) setDeadline(t *store.Token, after int64) {
	t.Deadline, t.Due = store.Now+after, 0
	if q.set.OnCallTimeout != "ask" {
		t.Due = t.Deadline
	}
}

// leaveCounter clears what belongs to a call that is over.
func leaveCounter(t *store.Token) {
	t.Counter, t.Deadline, t.CallCount, t.Confirmed, t.StartedAt = "", 0, 0, false, 0
}

// end takes the token out of the line.
func (c *command) end(ch *change, state dengxu.State, event dengxu.EventType) *store.Token {
	next := c.become(ch, state, event)
	next.EndedAt, next.Due = store.Now, store.Now+c.q.retain
	next.Deadline = 0
	if c.q.rejoinAfter > 0 && c.t.Business != "" && state != dengxu.StateCancelled {
		ch.marks = append(ch.marks, store.MarkWrite{
			MarkKey: store.MarkKey{Queue: c.q.id, Business: c.t.Business}, At: store.Now, Keep: c.q.rejoinAfter,
		})
	}
	return next
}

// undoable remembers the state before, for the same actor.
func (c *command) undoable(next *store.Token) {
	t := c.t
	next.Undo = &store.Undo{
		Verb: c.verb, Actor: c.by.Name, Until: store.Now + undoFor,
		Before: store.UndoState{
			State: t.State, Queue: t.Queue, Gen: t.Gen, Class: t.Class, Group: t.Group,
			Lane: t.Lane, Place: t.Place, Seq: t.Seq, Origin: t.Origin, Factor: t.Factor,
			Due: t.Due, Why: t.Why, Deadline: t.Deadline, CallCount: t.CallCount,
			Confirmed: t.Confirmed, StartedAt: t.StartedAt, Counter: t.Counter, Misses: t.Misses,
			Rules: t.Rules,
		},
	}
}

// timed is a change that only a timer makes: never before its time.
func (c *command) timed(ch *change) {
	if c.by.Kind == Timer {
		ch.expect = append(ch.expect, store.NotBefore{At: c.t.Due})
	}
}

func decideDue(c *command, ch *change) error {
	c.timed(ch)
	c.wait(ch, dengxu.EventDue)
	return nil
}

func decideRecall(c *command, ch *change) error {
	if c.t.CallCount >= c.q.maxCalls {
		return c.conflict("max_calls", "it was called %d times already", c.t.CallCount)
	}
	next := &ch.write[0].Token
	next.CallCount++
	next.CalledAt = store.Now
	c.q.setDeadline(next, c.q.callTimeout)
	ch.expect = append(ch.expect, store.NotBefore{At: c.t.CalledAt + c.q.recallGap})
	ch.event = dengxu.EventRecalled
	return nil
}

func decideConfirm(c *command, ch *change) error {
	next := &ch.write[0].Token
	ch.event = dengxu.EventConfirmed
	if c.t.State == dengxu.StateWaiting {
		if !c.t.Asked {
			return c.conflict("state", "nobody asked whether it still comes")
		}
		next.Asked, next.Due = false, c.q.waitDue()
		return nil
	}
	if c.t.Confirmed {
		return c.conflict("confirmed_already", "it was confirmed already")
	}
	next.Confirmed = true
	c.q.setDeadline(next, c.q.arrive)
	return nil
}

func decideStart(c *command, ch *change) error {
	c.timed(ch)
	next := c.become(ch, dengxu.StateServing, dengxu.EventStarted)
	next.StartedAt, next.Deadline = store.Now, 0
	return nil
}

func decideComplete(c *command, ch *change) error {
	next := c.end(ch, dengxu.StateCompleted, dengxu.EventCompleted)
	if c.t.State == dengxu.StateCalling {
		// Nobody pressed start: the service took no time that anyone knows.
		next.State = dengxu.StateServing
		next.CloseNext(store.Now, c.verb, c.by.Name)
		next.Spans[len(next.Spans)-1].Implicit = true
		next.State, next.StartedAt = dengxu.StateCompleted, store.Now
	}
	ch.marks = append(ch.marks, c.q.remember(store.MarkServed, c.t.Business)...)
	c.undoable(next)
	return nil
}

func decideMiss(c *command, ch *change) error {
	c.timed(ch)
	var next *store.Token
	policy := c.q.set.Missed.Policy
	if policy == "requeue" && c.t.Misses >= c.q.maxMisses || c.lineOver() {
		policy = "remove"
	}
	if policy != "remove" {
		c.whileLine(ch)
	}
	switch policy {
	case "keep":
		next = c.become(ch, dengxu.StateMissed, dengxu.EventMissed)
		if c.q.keepMissed > 0 {
			next.Due = store.Now + c.q.keepMissed
		}
	case "remove":
		next = c.end(ch, dengxu.StateAbandoned, dengxu.EventMissed)
	default: // requeue
		next = c.become(ch, dengxu.StateScheduled, dengxu.EventMissed)
		next.Why, next.Due = whyMissed, store.Now+c.q.recallGap
		ch.write[0].PlaceFloor, ch.write[0].Penalty = store.Now, c.q.penalty
		if c.q.epoch() {
			ch.write[0].ScaleFrom = c.q.site.dayBegan()
		}
	}
	next.Misses++
	next.Origin = c.t.Place
	if policy != "remove" {
		leaveCounter(next)
	}
	ch.marks = append(ch.marks, c.q.remember(store.MarkMissed, c.t.Business)...)
	c.undoable(next)
	return nil
}

func decideRequeue(c *command, ch *change) error {
	if c.lineOver() {
		return c.dayOver()
	}
	c.whileLine(ch)
	c.wait(ch, dengxu.EventRequeued)
	return nil
}

func decideDefer(c *command, ch *change) error {
	if c.by.Kind != Timer && c.t.Defers >= c.q.maxDefers {
		return c.conflict("defer_max", "it was put off %d times already", c.t.Defers)
	}
	if c.t.State.AtCounter() && c.lineOver() {
		return c.dayOver()
	}
	c.whileLine(ch)
	next := c.become(ch, dengxu.StateScheduled, dengxu.EventDeferred)
	leaveCounter(next)
	if c.by.Name == whyOtherToken {
		// Not the holder's wish: it comes back when the other token is done.
		next.Why = whyOtherToken
		return nil
	}
	next.Why, next.Due = whyDeferred, store.Now+c.q.deferFor
	next.Defers++
	return nil
}

func decideHold(c *command, ch *change) error {
	next := c.become(ch, dengxu.StateHeld, dengxu.EventHeld)
	next.Deadline = 0
	return nil
}

func decideResume(c *command, ch *change) error {
	counter := c.t.Counter
	if c.req.CounterID != "" {
		counter = c.req.CounterID
	}
	room, err := c.room(counter)
	if err != nil {
		return err
	}
	next := c.become(ch, dengxu.StateServing, dengxu.EventResumed)
	next.Counter = counter
	if next.StartedAt == 0 {
		next.StartedAt = store.Now
	}
	ch.expect = append(ch.expect, room)
	return nil
}

// room expects that a counter of the site can take one more.
func (c *command) room(id dengxu.CounterID) (store.Expectation, error) {
	k := c.q.site.counter(id)
	if k == nil {
		return nil, dengxu.Fieldf(dengxu.Invalid, "counter_id", "site %s has no counter %q", c.q.site.id, id)
	}
	return store.RoomAt{Counter: id, Max: k.maxServing}, nil
}

func decideCancel(c *command, ch *change) error {
	c.undoable(c.end(ch, dengxu.StateCancelled, dengxu.EventCancelled))
	return nil
}

func decideAbandon(c *command, ch *change) error {
	c.end(ch, dengxu.StateAbandoned, dengxu.EventAbandoned)
	return nil
}

func decideExpire(c *command, ch *change) error {
	c.timed(ch)
	next := c.end(ch, dengxu.StateAbandoned, dengxu.EventAbandoned)
	if next.Reason == "" {
		next.Reason = "expired"
	}
	return nil
}

func decideAsk(c *command, ch *change) error {
	c.timed(ch)
	next := &ch.write[0].Token
	next.Asked, next.Due = true, store.Now+c.q.askGrace
	ch.event = dengxu.EventAsked
	return nil
}

func decideRate(c *command, ch *change) error {
	if c.req.Stars < 1 || c.req.Stars > 5 {
		return dengxu.Fieldf(dengxu.Invalid, "stars", "give 1 to 5 stars")
	}
	if c.t.Stars != 0 {
		return c.conflict("rated_already", "it was rated already")
	}
	ch.write[0].Token.Stars = c.req.Stars
	ch.event = dengxu.EventRated
	return nil
}
