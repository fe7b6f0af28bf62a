package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// fieldsOf says which optional fields of a VerbRequest mean something to a
// verb; the others are refused, so that nobody believes in them.
var fieldsOf = map[dengxu.Verb]struct{ queue, place, stars bool }{
	dengxu.VerbTransfer:  {queue: true, place: true},
	dengxu.VerbReinstate: {place: true},
	dengxu.VerbMove:      {place: true},
	dengxu.VerbRate:      {stars: true},
}

// Act does a verb on one token: everything but join, call and edit. Codes:
// not_found, invalid, forbidden, conflict, too_many; transfer also closed,
// exists, full. It is one commit.
func (e *Engine) Act(ctx context.Context, by By, verb dengxu.Verb, id dengxu.TokenID, req dengxu.VerbRequest) (Done[dengxu.Token], error) {
	if err := checkFieldsOf(verb, req); err != nil {
		return Done[dengxu.Token]{}, err
	}
	if err := cleanText("reason", &req.Reason, maxReason); err != nil {
		return Done[dengxu.Token]{}, err
	}
	var last command
	lanes := make(map[dengxu.QueueID]int)
	res, err := e.retryLanes(ctx, lanes, func() (store.Result, error) {
		return e.commit(ctx, func(w *world) (store.Batch, error) {
			c, err := e.command(ctx, w, by, verb, id, req)
			last = c
			if err != nil {
				return decidedIn(c.q.home()), err
			}
			b, err := c.batch(lanes)
			if e.shared { // else nobody but this process changes settings
				b.Expect = append(b.Expect, c.q.settled())
			}
			return b, err
		})
	})
	switch {
	case errors.Is(err, errReplayed):
		return e.replayed(last.replay, e.now())
	case err != nil:
		return Done[dengxu.Token]{}, e.verbError(ctx, &last, err)
	}
	out := e.staff(&res.Tokens[0], res.Now)
	if last.placed != nil && !res.Replayed {
		out.RankReached = &last.placed.Rank
	}
	return Done[dengxu.Token]{Value: out, Replayed: res.Replayed}, nil
}

func checkFieldsOf(verb dengxu.Verb, req dengxu.VerbRequest) error {
	f := fieldsOf[verb]
	field := ""
	switch {
	case !f.queue && req.QueueID != "":
		field = "queue_id"
	case !f.queue && req.Class != "":
		field = "class"
	case !f.place && req.Place != nil:
		field = "place"
	case !f.stars && req.Stars != 0:
		field = "stars"
	default:
		return nil
	}
	return dengxu.Fieldf(dengxu.Invalid, field, "%s means nothing to %s", field, verb)
}

// command reads what a verb needs to be decided.
func (e *Engine) command(ctx context.Context, w *world, by By, verb dengxu.Verb, id dengxu.TokenID, req dengxu.VerbRequest) (command, error) {
	p, err := e.locate(ctx, id)
	if err != nil {
		return command{}, err
	}
	v, err := e.view(ctx, store.Ask{Partition: p, Tokens: []dengxu.TokenID{id}, Op: by.op(string(verb))})
	if err != nil {
		return command{}, err
	}
	if v.Op != nil {
		return command{replay: v.Op}, errReplayed
	}
	if v.Tokens[0] == nil {
		return command{}, errNoToken()
	}
	c := command{verb: verb, by: by, req: req, t: v.Tokens[0], now: v.Now}
	c.q = w.queues[c.t.Queue]
	if c.q == nil {
		return c, errMissing(store.DocQueue, string(c.t.Queue), "the token's queue "+string(c.t.Queue)+" is gone")
	}
	if by.due && timerVerb(c.q, c.t, v.Now) != verb {
		return c, c.conflict("state", "the settings have changed meanwhile")
	}
	switch verb { //nolint:exhaustive // the others need nothing more
	case dengxu.VerbTransfer:
		if req.QueueID == "" {
			return c, dengxu.Fieldf(dengxu.Invalid, "queue_id", "say where to")
		}
		if c.to, err = e.target(ctx, w, req.QueueID); err != nil {
			return c, err
		}
	case dengxu.VerbUndo:
		if u := c.t.Undo; u != nil {
			c.to = w.queues[u.Before.Queue]
			if c.to == nil {
				return c, errMissing(store.DocQueue, string(u.Before.Queue), "the queue before, "+string(u.Before.Queue)+", is gone")
			}
		}
	}
	if req.Place != nil && req.Place.After != nil {
		err = e.findPlace(ctx, &c)
	}
	return c, err
}

// target finds the queue of a transfer, which a peer may have made a moment
// ago; nil when there is none.
func (e *Engine) target(ctx context.Context, w *world, id dengxu.QueueID) (*queue, error) {
	if q := w.queues[id]; q != nil {
		return q, nil
	}
	q, err := e.queue(ctx, id)
	if dengxu.CodeOf(err) == dengxu.NotFound {
		err = nil // the decision refuses it
	}
	return q, err
}

// replayed answers a repeat with the first token of the operation, as it is
// now.
func (e *Engine) replayed(op *store.OpView, now int64) (Done[dengxu.Token], error) {
	if op.Reused {
		return Done[dengxu.Token]{}, errKeyReused()
	}
	return Done[dengxu.Token]{Value: e.staff(&op.Tokens[0], now), Replayed: true}, nil
}

// findPlace looks for the place behind the N-th of the token's class.
func (e *Engine) findPlace(ctx context.Context, c *command) error {
	q := c.target()
	if q == nil {
		return nil // the decision refuses it
	}
	m, factor := c.t.Member(), c.t.Factor
	line := c.t.Line()
	if c.to != nil {
		class, err := c.classThere()
		if err != nil {
			return err
		}
		there := c.judgeThere(class)
		m = order.Member{Lane: q.lane(class, there.group, there.factor)}
		factor, line = there.factor, q.line()
	}
	v, err := e.view(ctx, store.Ask{Partition: q.site.partition, Afters: []store.AfterAsk{{
		Line: line, Ordering: q.ordering(), Member: m, N: *c.req.Place.After,
		DayStart: q.site.dayBegan(), Factor: factor,
	}}})
	if err == nil {
		c.placed = &v.Afters[0]
	}
	return err
}

// batch is the commit of a command.
func (c *command) batch(lanes map[dengxu.QueueID]int) (store.Batch, error) {
	b := store.Batch{
		Partition: c.q.site.partition, Site: c.q.site.id, Op: c.by.op(string(c.verb)),
	}
	ch, err := decide(c)
	if err != nil {
		return b, err
	}
	t := &ch.write[0].Token
	if k, ok := lanes[t.Queue]; ok {
		t.Lane.K, t.Factor, t.Clipped = k, order.FactorOf(k), true
	}
	if to := t.State; !dengxu.Leads(c.q.set.Kind, c.t.State, c.verb, to) {
		return b, dengxu.Errorf(dengxu.Internal, "%s took a token from %s to %s", c.verb, c.t.State, to)
	}
	b.Expect, b.Marks = ch.expect, ch.marks
	b.Tokens = ch.write[:]
	event := store.EventSpec{Type: ch.event, Token: 1, Actor: c.by.Name, Reason: t.Reason}
	if c.t.Queue != t.Queue {
		event.Data = fmt.Appendf(nil, `{"from":%q}`, c.t.Queue)
	}
	if t.Counter == "" {
		event.Counter = c.t.Counter // that it left
	}
	b.Events = []store.EventSpec{event}
	return b, nil
}

// verbError puts a refusal of a verb into words.
func (e *Engine) verbError(ctx context.Context, c *command, err error) error {
	r, ok := errors.AsType[*store.Refused](err)
	if !ok {
		return err
	}
	switch by := r.By.(type) {
	case store.NotBefore:
		out := c.conflict("too_early", "it is too early for that")
		out.Code = dengxu.TooMany
		if c.by.Kind == Timer {
			out.Code = dengxu.Conflict
		}
		out.RetryAfter = time.Duration(by.At-r.Now) * time.Millisecond
		return out
	case store.Before:
		return c.conflict("undo_too_late", "it is too late to undo that")
	case store.RoomAt:
		return c.conflict("no_room", "counter %s has no room", by.Counter)
	case store.TokenAt:
		return c.conflict("state", "the token is %s and archived; nothing changes it any more", c.t.State)
	case store.HolderFree, store.CountBelow:
		return e.joinError(ctx, err)
	default:
		return storeError("commit", err)
	}
}
