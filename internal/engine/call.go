package engine

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// calling is one call_next being decided.
type calling struct {
	c       *counter
	queues  []served // that are called from, doors not yet looked at
	by      By
	req     dengxu.CallRequest
	current *command // what happens to the token that the counter has
	replay  *store.OpView
	now     int64
	unread  bool // the current token is a guess
}

// CallNext calls the next token of a counter's queues, or of the one queue id
// when it is given, and does to the counter's current token what the request
// says, in one commit. With nobody to call, Value.Token is nil and
// Value.Reason says why; the current token is completed all the same. Codes:
// not_found, invalid, conflict.
func (e *Engine) CallNext(ctx context.Context, by By, id dengxu.CounterID, qid dengxu.QueueID, req dengxu.CallRequest) (Done[dengxu.CallOutcome], error) {
	if req.CompleteCurrent {
		if req.Current != "" && req.Current != "complete" {
			return Done[dengxu.CallOutcome]{}, dengxu.Fieldf(dengxu.Invalid, "complete_current", "complete_current contradicts current %s", req.Current)
		}
		req.Current = "complete"
	}
	var last calling
	var res store.Result
	var err error
	guess := true // on the first try only
	for range maxTries {
		res, err = e.commit(ctx, func(w *world) (store.Batch, error) {
			if c, ok := e.guessed(w, by, id, qid, req); guess && ok {
				guess = false
				if b, err := c.batch(); err == nil {
					last = c
					return b, nil
				}
			}
			guess = false
			c, err := e.calling(ctx, w, by, id, qid, req)
			last = c
			if err != nil {
				return decidedIn(w.counters[id].home()), err
			}
			return last.batch()
		})
		if !last.outdated(err) {
			break
		}
	}
	if errors.Is(err, errReplayed) {
		return e.callReplayed(last.replay)
	}
	if err != nil {
		return Done[dengxu.CallOutcome]{}, e.callError(ctx, &last, err)
	}
	if res.Picked == 0 {
		return Done[dengxu.CallOutcome]{Value: dengxu.CallOutcome{Reason: e.nobody(ctx, &last)}}, nil
	}
	t := &res.Tokens[len(res.Tokens)-1]
	view := staff(t, last.c.site.partition, res.Now)
	return Done[dengxu.CallOutcome]{Value: dengxu.CallOutcome{Token: &view}, Replayed: res.Replayed}, nil
}

// callReplayed answers a repeat: the token that was called, as it is now.
func (e *Engine) callReplayed(op *store.OpView) (Done[dengxu.CallOutcome], error) {
	if op.Reused {
		return Done[dengxu.CallOutcome]{}, errKeyReused()
	}
	view := e.staff(&op.Tokens[len(op.Tokens)-1], e.now())
	return Done[dengxu.CallOutcome]{Value: dengxu.CallOutcome{Token: &view}, Replayed: true}, nil
}

// calling reads what a call_next needs to be decided.
func (e *Engine) calling(ctx context.Context, w *world, by By, id dengxu.CounterID, qid dengxu.QueueID, req dengxu.CallRequest) (calling, error) {
	c := w.counters[id]
	if c == nil {
		return calling{}, errNoCounter(id)
	}
	out := calling{c: c, by: by, req: req, queues: c.queues, now: e.now()}
	refused := out.narrow(qid)
	if c.shown() == dengxu.CounterPaused {
		refused = dengxu.Errorf(dengxu.Conflict, "counter %s is paused%s; open it to call", id, because(c.state.Reason)).Because("counter_paused")
	}
	if req.Current == "" && refused == nil {
		return out, nil // nothing to read: the commit itself judges the rest
	}
	v, err := e.view(ctx, store.Ask{
		Partition: c.site.partition, Op: by.op("call"), Counters: []dengxu.CounterID{id},
	})
	if err != nil {
		return out, err
	}
	if v.Op != nil {
		out.replay = v.Op
		return out, errReplayed
	}
	if refused != nil {
		return out, refused
	}
	at := v.Counters[0]
	err = out.readCurrent(w, len(at), func(i int) *store.Token { return &at[i] })
	return out, err
}

// guessed is a call_next whose current token is the one that this process last
// saw at the counter, which saves reading it. It is only a guess: the commit
// expects that token's version and that the counter has nothing else, and a
// refusal makes the next try read.
func (e *Engine) guessed(w *world, by By, id dengxu.CounterID, qid dengxu.QueueID, req dengxu.CallRequest) (calling, bool) {
	c := w.counters[id]
	if c == nil || c.maxServing != 1 || req.Current == "" || req.CurrentTokenID != "" || c.shown() != dengxu.CounterOpen {
		return calling{}, false
	}
	seen, ok := e.desks.Load(id)
	if !ok {
		return calling{}, false
	}
	out := calling{c: c, by: by, req: req, queues: c.queues, now: e.now(), unread: true}
	if err := out.narrow(qid); err != nil {
		return calling{}, false
	}
	t := seen.(*atomic.Pointer[store.Token]).Load()
	err := out.readCurrent(w, 1, func(int) *store.Token { return t })
	return out, err == nil && out.current != nil
}

// sawAtCounter keeps which token a commit left at its counter, and that who is
// there has changed.
func (e *Engine) sawAtCounter(id dengxu.SiteID, res store.Result) {
	stirred := false
	for i := range res.Tokens {
		t := &res.Tokens[i]
		stirred = stirred || t.CallNo != 0
		if !t.State.AtCounter() {
			continue
		}
		seen, ok := e.desks.Load(t.Counter)
		if !ok {
			first := new(atomic.Pointer[store.Token])
			first.Store(t)
			if seen, ok = e.desks.LoadOrStore(t.Counter, first); !ok {
				continue
			}
		}
		seen.(*atomic.Pointer[store.Token]).Store(t)
	}
	if stirred {
		e.stir(id)
	}
}

// narrow restricts a call to one queue and one class.
func (c *calling) narrow(qid dengxu.QueueID) error {
	if qid != "" {
		i := slices.IndexFunc(c.queues, func(s served) bool { return s.queue.id == qid })
		if i < 0 {
			return dengxu.Fieldf(dengxu.Invalid, "queue_id", "counter %s does not serve queue %s", c.c.id, qid).Because("not_served")
		}
		c.queues = c.queues[i : i+1]
	}
	if c.req.Class == "" {
		return nil
	}
	var some []served
	for _, s := range c.queues {
		if slices.Contains(s.queue.classes, c.req.Class) && (s.classes == nil || slices.Contains(s.classes, c.req.Class)) {
			some = append(some, served{queue: s.queue, classes: []string{c.req.Class}})
		}
	}
	if len(some) == 0 {
		return dengxu.Fieldf(dengxu.Invalid, "class", "counter %s does not serve class %q", c.c.id, c.req.Class)
	}
	c.queues = some
	return nil
}

// readCurrent finds the token that the request's current means, among n that
// the counter has: the one in calling or serving, or the one named when there
// are several.
func (c *calling) readCurrent(w *world, n int, token func(int) *store.Token) error {
	if c.req.Current == "" {
		return nil
	}
	var current *store.Token
	several := 0
	for i := range n {
		t := token(i)
		if t.State.AtCounter() && (c.req.CurrentTokenID == "" || t.ID == c.req.CurrentTokenID) {
			current = t
			several++
		}
	}
	switch {
	case several == 0 && c.req.CurrentTokenID != "":
		return dengxu.Errorf(dengxu.Conflict, "the counter does not have that token now").Because("state")
	case several == 0:
		return nil
	case several > 1:
		return dengxu.Fieldf(dengxu.Invalid, "current_token_id", "counter %s has %d tokens; say which", c.c.id, several)
	}
	var verb dengxu.Verb
	switch c.req.Current {
	case "complete":
		verb = dengxu.VerbComplete
	case "miss":
		verb = dengxu.VerbMiss
	case "requeue":
		verb = dengxu.VerbRequeue
	default:
		return dengxu.Fieldf(dengxu.Invalid, "current", "current is complete, miss or requeue")
	}
	q := w.queues[current.Queue]
	if q == nil {
		return errMissing(store.DocQueue, string(current.Queue), "the token's queue "+string(current.Queue)+" is gone")
	}
	c.current = &command{
		verb: verb, by: c.by, q: q, t: current, now: c.now, req: dengxu.VerbRequest{Version: c.req.Version},
	}
	return nil
}

// batch is the commit of a call_next.
func (c *calling) batch() (store.Batch, error) {
	s := c.c.site
	b := store.Batch{Partition: s.partition, Site: s.id}
	freed := 0
	pick := &store.Pick{
		Lines: make([]store.PickLine, 0, len(c.queues)), Mode: c.c.mode, Max: 1, State: dengxu.StateCalling, Counter: c.c.id,
		Actor: c.by.Name, Event: dengxu.EventCalled,
	}
	if c.current != nil {
		var err error
		if b, err = c.current.batch(nil); err != nil {
			return b, err
		}
		freed, pick.Exclude = 1, c.current.t.ID
	}
	b.Op = c.by.op("call")
	b.Expect = slices.Grow(b.Expect, 8) // mostly enough
	b.Expect = append(b.Expect, c.c.steady()...)
	b.Expect = append(b.Expect, c.room(freed))
	for _, from := range c.queues {
		q := from.queue
		b.Expect = append(b.Expect, q.steady()...)
		if q.state.Door == dengxu.DoorPaused || q.state.Door == dengxu.DoorClosed {
			continue
		}
		due := store.Now + q.callTimeout
		line := store.PickLine{
			Line: q.line(), Ordering: q.ordering(), Classes: from.classes, Deadline: due,
		}
		if q.set.OnCallTimeout != "ask" {
			line.Due = due
		}
		pick.Lines = append(pick.Lines, line)
	}
	if len(pick.Lines) > 0 {
		b.Pick = pick
	} else {
		b.Op = store.Op{} // nobody can be called: nothing to remember
	}
	err := c.c.openToday(&b, c.by)
	return b, err
}

// room expects room for the called one. When the request says what happens to
// whatever the counter has, without naming it, then also that this is what was
// read: nobody else was called here meanwhile.
func (c *calling) room(freed int) store.RoomAt {
	if c.guesses() {
		return store.RoomAt{Counter: c.c.id, Max: 1, Freed: freed}
	}
	return store.RoomAt{Counter: c.c.id, Max: c.c.maxServing, Freed: freed}
}

func (c *calling) guesses() bool { return c.req.Current != "" && c.req.CurrentTokenID == "" }

// outdated reports whether a call was refused because another token came to
// the counter after it was read, or was not read at all.
func (c *calling) outdated(err error) bool {
	if _, at := refusedBy[store.TokenAt](err); at && c.unread {
		return true
	}
	_, room := refusedBy[store.RoomAt](err)
	return room && c.guesses()
}

// openToday opens a counter that is not open yet: the first call does.
func (c *counter) openToday(b *store.Batch, by By) error {
	if c.shown() == dengxu.CounterOpen {
		return nil
	}
	next := counterState{State: dengxu.CounterOpen, Day: c.site.state.Day}
	doc, err := c.writeState(next)
	if err != nil {
		return err
	}
	event, err := c.stateEvent(next, by.Name)
	b.Docs = append(b.Docs, doc)
	b.Events = append(b.Events, event)
	return err
}

// callError puts a refusal of a call into words.
func (e *Engine) callError(ctx context.Context, c *calling, err error) error {
	if _, full := refusedBy[store.RoomAt](err); !full {
		if c.current != nil {
			return e.verbError(ctx, c.current, err)
		}
		return storeError("commit", err)
	}
	v, err := e.view(ctx, store.Ask{Partition: c.c.site.partition, Counters: []dengxu.CounterID{c.c.id}})
	if err != nil {
		return err
	}
	out := dengxu.Errorf(dengxu.Conflict, "counter %s is busy", c.c.id).Because("counter_busy")
	for i := range v.Counters[0] {
		if t := &v.Counters[0][i]; t.State.AtCounter() {
			view := staff(t, c.c.site.partition, v.Now)
			out.Token, out.Message = &view, "counter "+string(c.c.id)+" still has "+t.Label()+"; say what happens to it with current: complete, miss or requeue"
			break
		}
	}
	return out
}

// nobody finds the first reason that fits why a call found no one; none when
// it cannot be read, since an error would deny what is committed by now.
func (e *Engine) nobody(ctx context.Context, c *calling) string {
	ask := store.Ask{Partition: c.c.site.partition}
	paused, closed := false, false
	for _, s := range c.queues {
		ask.Lines = append(ask.Lines, s.queue.line())
		paused = paused || s.queue.state.Door == dengxu.DoorPaused
		closed = closed || s.queue.state.Door == dengxu.DoorClosed
	}
	v, err := e.view(ctx, ask)
	if err != nil {
		return ""
	}
	waiting, absent := false, 0
	for i, s := range c.queues {
		counts := v.Lines[i].Counts
		// Those that the counter sees came after the call.
		seen := order.Line{Classes: s.classes, Bound: store.BoundTo(c.c.id)}
		calls := s.queue.state.Door == dengxu.DoorOpen || s.queue.state.Door == dengxu.DoorClosing
		waiting = waiting || calls && slices.ContainsFunc(v.Lines[i].Lanes, func(l store.LaneView) bool {
			return !seen.Sees(l.Lane)
		})
		absent += counts[dengxu.StateScheduled] + counts[dengxu.StateMissed] + counts[dengxu.StateHeld]
	}
	switch {
	case waiting:
		return "other_classes_waiting"
	case paused:
		return "queue_paused"
	case closed:
		return "queue_closed"
	case absent > 0:
		return "only_absent"
	default:
		return "none_waiting"
	}
}
