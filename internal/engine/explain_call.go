package engine

import (
	"context"
	"math"

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
	switch {
	case out.ByHand:
		return nil // it was compared with nobody
	case t.Passed == 0:
		x.said.add(sayCalledFirst)
	default:
		x.said.add(sayCalledPassing, t.Passed)
	}
	var heads []said
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
	}
	if len(heads) > 1 {
		x.said.begin(sayComparedIs, heads)
	}
	return nil
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
		return said{sayHeadRatio, []any{name, m.Lane.Group, x.q.order.ShareOf(m.Lane.Group), lasting(age)}}
	case order.Epoch:
		return said{sayHeadEpoch, []any{name, clock(m.Key.Place)}}
	case order.Aging:
	}
	return said{sayHeadAging, []any{name, lasting(age), times(decimal(order.FactorOf(m.Lane.K))), lasting(counts(age, m.Lane))}}
}
