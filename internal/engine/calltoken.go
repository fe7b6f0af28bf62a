package engine

import (
	"context"
	"errors"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// CallToken calls a given token at a counter, in one commit. It needs the right
// pick and a reason. Codes: not_found, forbidden, invalid, closed, conflict.
func (e *Engine) CallToken(ctx context.Context, by By, id dengxu.CounterID, token dengxu.TokenID, req dengxu.VerbRequest) (Done[dengxu.Token], error) {
	if err := cleanText("reason", &req.Reason, maxReason); err != nil {
		return Done[dengxu.Token]{}, err
	}
	switch {
	case !by.Pick:
		return Done[dengxu.Token]{}, dengxu.Errorf(dengxu.Forbidden, "calling a given token needs the right pick").Because("pick")
	case req.Reason == "":
		return Done[dengxu.Token]{}, dengxu.Fieldf(dengxu.Invalid, "reason", "calling a given token needs a reason")
	case req.CounterID != "" && req.CounterID != id:
		return Done[dengxu.Token]{}, dengxu.Fieldf(dengxu.Invalid, "counter_id", "the path names another counter")
	}
	req.CounterID = ""
	if err := checkFieldsOf(dengxu.VerbCall, req); err != nil {
		return Done[dengxu.Token]{}, err
	}
	var last command
	var k *counter
	res, err := e.commit(ctx, func(w *world) (store.Batch, error) {
		k = w.counters[id]
		if k == nil {
			return store.Batch{}, errNoCounter(id)
		}
		c, err := e.command(ctx, w, by, dengxu.VerbCall, token, req)
		last = c
		if err != nil {
			return decidedIn(k.site), err
		}
		return c.callByHand(k)
	})
	switch {
	case errors.Is(err, errReplayed):
		return e.replayed(last.replay, e.now())
	case err != nil:
		if _, full := refusedBy[store.RoomAt](err); full {
			return Done[dengxu.Token]{}, e.callError(ctx, &calling{c: k}, err)
		}
		return Done[dengxu.Token]{}, e.verbError(ctx, &last, err)
	}
	return Done[dengxu.Token]{Value: staff(&res.Tokens[0], last.q.site.partition, res.Now), Replayed: res.Replayed}, nil
}

// callByHand is the commit of a call of a given token.
func (c *command) callByHand(k *counter) (store.Batch, error) {
	b := store.Batch{Partition: k.site.partition, Site: k.site.id, Op: c.by.op(string(c.verb))}
	if err := c.allowed(); err != nil {
		return b, err
	}
	q, bound := c.q, store.BoundClass(c.t.Lane)
	switch {
	case k.site != q.site || !k.takesFrom(q.id):
		return b, c.conflict("not_served", "counter %s does not serve queue %s", k.id, q.id)
	case bound == "" && !k.serves(q.id, c.t.Class), bound != "" && bound != store.BoundTo(k.id):
		return b, c.conflict("not_served", "counter %s does not serve this token", k.id)
	case k.shown() == dengxu.CounterPaused:
		return b, c.conflict("counter_paused", "counter %s is paused%s; open it to call", k.id, because(k.state.Reason))
	case q.state.Door == dengxu.DoorPaused || q.state.Door == dengxu.DoorClosed:
		return b, dengxu.Errorf(dengxu.Closed, "queue %s is %s", q.id, q.state.Door).Because(string(q.state.Door))
	case c.t.Gen != q.gen():
		return b, c.conflict("state", "the token's day is over")
	}
	ch := change{write: [1]store.TokenWrite{{Token: *c.t}}}
	ch.write[0].Token.Version++
	next := c.become(&ch, dengxu.StateCalling, dengxu.EventCalled)
	next.Counter, next.CalledAt, next.CallNo, next.CallCount = k.id, store.Now, store.NextCall, 1
	if next.FirstCalled == 0 {
		next.FirstCalled = store.Now
	}
	next.Confirmed, next.Asked, next.Undo, next.Reason = false, false, nil, c.req.Reason
	next.Passed, next.Compared = 0, []order.Member{c.t.Member()}
	q.setDeadline(next, q.callTimeout)
	b.Expect = append(append(q.steady(), k.steady()...), store.RoomAt{Counter: k.id, Max: k.maxServing})
	b.Tokens = ch.write[:]
	b.Events = []store.EventSpec{{
		Type: dengxu.EventCalled, Token: 1, Actor: c.by.Name, Reason: c.req.Reason, Data: []byte(`{"by_hand":true}`),
	}}
	err := k.openToday(&b, c.by)
	return b, err
}
