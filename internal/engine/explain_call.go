package engine

import (
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// explainCall says which lanes the token's last call compared, with what the
// waits of their heads counted then.
func (e *Engine) explainCall(ctx context.Context, x *explaining) error {
	t, out := &x.t, &x.out
	calledAt := t.CalledAt
	if s := lastSpan(t, dengxu.VerbCall, math.MaxInt64); s != nil {
		calledAt = s.To // a recall moves the other one
		out.ByHand = s.Reason != "" || s.State != dengxu.StateWaiting
		if out.ByHand {
			x.said.add(sayCalledByHand, brackets(s.Reason))
		}
	}
	out.CalledAt, out.CounterID = at(calledAt), t.Counter
	if out.ByHand {
		return nil // it was compared with nobody
	}
	if err := e.sayCalled(ctx, x, calledAt); err != nil {
		return err
	}
	var heads []said
	shared := false // whether another group of its class was compared
	for i, m := range t.Compared {
		head, err := e.head(ctx, x, m, calledAt)
		if err != nil {
			return err
		}
		if i == 0 {
			head.Number, head.QueueID, head.Called = t.Label(), "", true
		}
		out.Compared = append(out.Compared, head)
		heads = append(heads, x.headSaid(&head, m, calledAt))
		own := t.Compared[0].Lane
		shared = shared || head.QueueID == "" && m.Lane.Class == own.Class && m.Lane.Group != own.Group
	}
	if len(heads) > 1 {
		x.said.begin(sayComparedIs, heads)
		if shared && x.q.order.Discipline == order.Ratio {
			x.said.add(sayShares)
		}
	}
	return nil
}

// sayCalled says whom the call passed.
func (e *Engine) sayCalled(ctx context.Context, x *explaining, calledAt int64) error {
	if x.t.Passed > 0 {
		x.said.add(sayCalledPassing, x.t.Passed)
	}
	early, err := e.sayEarly(ctx, x, calledAt)
	if x.t.Passed == 0 && !early {
		x.said.add(sayCalledFirst)
	}
	return err
}

// sayEarly says how many the call passed who had waited longer than the token,
// and yet have a later place than it: by its head start, its appointment or, in
// epoch, its factor. These are not among those with an earlier place.
func (e *Engine) sayEarly(ctx context.Context, x *explaining, calledAt int64) (early bool, err error) {
	t := &x.t
	place := placeAt(t, calledAt)
	moved := t.Origin != 0 && place != t.Origin
	if moved || place >= waitsFrom(t) || t.Booked == 0 && t.HeadStart <= 0 && !x.q.epoch() {
		return false, nil
	}
	ask := store.ListAsk{
		Partition: x.q.site.partition, Site: x.q.site.id, Queue: t.Queue, Gen: &t.Gen, Newest: true, Before: t.Arrival,
	}
	if t.Booked != 0 {
		ask.Before = 0 // who walks in after the booking may have waited longer
	}
	n := 0
	whole, err := e.look(ctx, ask, "list who came earlier", func(o *store.Token) {
		if o.ID != t.ID && waitsFrom(o) < waitsFrom(t) && placeAt(o, calledAt) > place && x.waitedAt(o, calledAt) && x.couldCallBoth(o) {
			n++
		}
	})
	if n == 0 || err != nil {
		return false, err
	}
	var passed any = strconv.Itoa(n)
	if !whole {
		passed = said{sayAtLeast, []any{n}}
	}
	switch {
	case t.Booked != 0:
		x.said.add(sayCalledBooked, passed)
	case t.HeadStart > 0:
		x.said.add(sayCalledEarly, passed, said{phrase: sayByHeadStart})
	default:
		x.said.add(sayCalledEarly, passed, said{phrase: sayByFactor})
	}
	return true, nil
}

// waitedAt reports whether another token could have been called when the
// explained one was. Of two calls in one millisecond the numbers tell.
func (x *explaining) waitedAt(o *store.Token, calledAt int64) bool {
	return slices.ContainsFunc(waitsIn(o, x.t.Queue), func(w store.Span) bool {
		return w.From <= calledAt && (calledAt < w.To || calledAt == w.To && o.CallNo > x.t.CallNo)
	})
}

// couldCallBoth reports whether the counter that called the token could have
// called another one, by the settings of now.
func (x *explaining) couldCallBoth(o *store.Token) bool {
	if o.Lane.Bound() {
		return laneShown(o.Lane).CounterID == x.t.Counter
	}
	k := x.q.site.counter(x.t.Counter)
	return k == nil || k.serves(x.q.id, o.Class)
}

// head describes the head of a lane at a call.
func (e *Engine) head(ctx context.Context, x *explaining, m order.Member, calledAt int64) (dengxu.LaneHead, error) {
	age := calledAt - m.Key.Place
	out := dengxu.LaneHead{
		Class: m.Lane.Class, Group: m.Lane.Group, Factor: factorOf(m.Lane), Place: at(m.Key.Place),
		AgeSeconds: seconds(age), CountsSeconds: seconds(counts(age, m.Lane)),
		Overdue: x.q.order.Discipline == order.Strict && age >= x.q.order.Escalate,
	}
	if m.Key.Seq == 0 {
		return out, nil
	}
	// A tie-break is the arrival number, unless the token was moved since.
	page, err := e.store.List(ctx, store.ListAsk{
		Partition: x.q.site.partition, Site: x.q.site.id, After: m.Key.Seq - 1, Limit: 1,
	})
	if err != nil {
		return out, storeError("look for a head of a lane", err)
	}
	if len(page.Tokens) == 1 && page.Tokens[0].Arrival == m.Key.Seq {
		found := &page.Tokens[0]
		out.Number = found.Label()
		if found.Queue != x.q.id {
			out.QueueID = found.Queue
		}
	}
	return out, nil
}

// headSaid is a head in words.
func (x *explaining) headSaid(head *dengxu.LaneHead, m order.Member, calledAt int64) said {
	name := head.Number
	if name == "" {
		name = "?"
	}
	age := calledAt - m.Key.Place
	switch x.q.order.Discipline {
	case order.Strict:
		if head.Overdue {
			return said{sayHeadOverdue, []any{name, 0, lasting(age)}}
		}
		return said{sayHeadStrict, []any{name, x.q.order.RankOf(m.Lane.Group), lasting(age)}}
	case order.Ratio:
		return said{sayHeadRatio, []any{name, m.Lane.Group, x.q.order.ShareOf(m.Lane.Group)}}
	case order.Epoch:
		return said{sayHeadEpoch, []any{name, clock(m.Key.Place)}}
	case order.Aging:
	}
	return said{sayHeadAging, []any{name, lasting(age), times(decimal(order.FactorOf(m.Lane.K))), lasting(counts(age, m.Lane))}}
}
