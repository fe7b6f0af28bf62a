package engine

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// formulas are the orderings in one line each.
var formulas = map[order.Discipline]string{
	order.Aging:  "(now − place) / factor, the largest is called; ties by arrival",
	order.Strict: "who has waited escalate_after_seconds goes first, the oldest first; then groups by rank, in a rank the earliest place; ties by arrival",
	order.Ratio:  "the group that owes fewest calls by its share, in it the earliest place; equal debts: the earliest place of all; ties by arrival",
	order.Epoch:  "place = day start + (joined_at − day start) × factor, the first is called; ties by arrival",
}

// maxRivals is how many other tokens an explanation names in a list.
const maxRivals = 20

// maxLooked is how many tokens one explanation looks at in a list. It bounds
// what a question about a long line costs; the answer says when it stopped.
const maxLooked = 4_000

// explaining is one explanation being made.
type explaining struct {
	q    *queue
	t    store.Token
	now  int64
	past bool // what is judged is a call, not now
	out  dengxu.Explanation
	said story
}

// Explain says why a token stands where it stands, or why it was called when
// it was: what its place comes from, who is ahead and who was called before it
// although they came later, the lanes that its call compared, and who can pass
// it at all. Others are named by number only. It reads in several snapshots,
// so that in a busy line the parts may differ by what happened in between.
// Codes: not_found, unavailable.
func (e *Engine) Explain(ctx context.Context, id dengxu.TokenID) (dengxu.Explanation, error) {
	t, now, err := e.read(ctx, id)
	if err != nil {
		return dengxu.Explanation{}, err
	}
	x := explaining{t: t, now: now, out: dengxu.Explanation{
		TokenID: t.ID, Number: t.Label(), State: t.State, Class: t.Class, PriorityGroup: t.Group,
		Factor: decimal(t.Factor), Clipped: t.Clipped, HeadStartSeconds: seconds(t.HeadStart), Rules: t.Rules,
		Lane:     laneShown(t.Lane),
		JoinedAt: at(t.JoinedAt), AppointmentAt: at(t.Booked), Place: at(t.Place), Passed: t.Passed, AsOf: at(now),
	}}
	x.q, err = e.queue(ctx, t.Queue)
	if err != nil {
		if dengxu.CodeOf(err) == dengxu.NotFound {
			err = nil // it was deleted; what the record says is still true
		}
		return x.out, err
	}
	x.out.Ordering, x.out.Formula = x.q.set.Ordering, formulas[x.q.order.Discipline]
	x.said.zone, x.said.now = x.q.site.zone, now
	if err := e.explain(ctx, &x); err != nil {
		return x.out, err
	}
	x.out.Text = x.said.text()
	return x.out, nil
}

// explain fills in what needs more than the record, in the order in which it is
// told.
func (e *Engine) explain(ctx context.Context, x *explaining) error {
	x.sayWho()
	if x.t.State == dengxu.StateWaiting {
		if err := e.explainAhead(ctx, x); err != nil {
			return err
		}
	} else {
		if x.t.State == dengxu.StateScheduled {
			x.sayScheduled()
		}
		if x.t.FirstCalled != 0 {
			if err := e.explainCall(ctx, x); err != nil {
				return err
			}
		}
		if say, ends := endings[x.t.State]; ends {
			x.sayEnded(say)
		}
	}
	if err := e.explainPassed(ctx, x); err != nil {
		return err
	}
	x.explainBound()
	return nil
}

// look shows live records to each, page by page, up to maxLooked of them; whole
// says whether these were all.
func (e *Engine) look(ctx context.Context, ask store.ListAsk, doing string, each func(*store.Token)) (whole bool, err error) {
	ask.Limit = maxPageSize
	for looked := 0; looked < maxLooked; looked += maxPageSize {
		page, err := e.store.List(ctx, ask)
		if err != nil {
			return false, storeError(doing, err)
		}
		for i := range page.Tokens {
			each(&page.Tokens[i])
		}
		if page.Next == 0 {
			return true, nil
		}
		if ask.Newest {
			ask.Before = page.Next
		} else {
			ask.After = page.Next
		}
	}
	return false, nil
}

// laneShown is a lane as people read it.
func laneShown(l order.Lane) dengxu.Lane {
	out := dengxu.Lane{Class: l.Class, Group: l.Group, Factor: factorOf(l)}
	if l.Bound() {
		out.Class, out.CounterID = "", dengxu.CounterID(l.Class[1:])
	}
	return out
}

// factorOf is the factor of a lane of aging; 0 of the others.
func factorOf(l order.Lane) float64 {
	if l.K == 0 {
		return 0
	}
	return decimal(order.FactorOf(l.K))
}

// counts is what an age in ms counts in the lane of a member: aging divides it
// by the factor.
func counts(age int64, l order.Lane) int64 {
	if l.K == 0 {
		return age
	}
	return age * order.Ordinary / int64(l.K)
}

// sayWho says what the token's place comes from.
func (x *explaining) sayWho() {
	t := &x.t
	x.said.begin(sayJoined, x.out.Number, clock(t.JoinedAt), t.Group)
	if t.Booked != 0 {
		x.said.add(sayBooked, clock(t.Booked))
		if x.joinedLate() {
			x.said.add(sayJoinedLate)
		}
	}
	if len(t.Rules) > 0 {
		x.said.add(sayRules, list(t.Rules))
	}
	if x.q.order.Discipline == order.Aging && t.Factor != 1000 {
		x.said.add(sayFactor, times(1000/float64(t.Factor)))
	}
	if x.q.epoch() && t.Factor != 1000 {
		x.said.add(sayDayFactor, times(decimal(t.Factor)))
	}
	if t.HeadStart != 0 {
		x.said.add(sayHeadStart, plainSeconds(t.HeadStart))
	}
	if t.Clipped {
		x.said.add(sayClipped)
	}
	if b := x.out.Lane.CounterID; b != "" {
		x.said.add(sayOneCounter, string(b))
	}
	if span := lastSpan(t, dengxu.VerbMove, math.MaxInt64); span != nil {
		x.said.add(sayMoved, clock(span.To), brackets(span.Reason))
	}
	if span := lastSpan(t, dengxu.VerbCheckIn, math.MaxInt64); span != nil && t.Booked != 0 && x.q.booking != nil && x.q.booking.isLate(t.Booked, span.To) {
		x.said.add(sayLate, clock(span.To))
	}
}

// joinedLate reports whether the token joined after the late window of its
// appointment without having to check in.
func (x *explaining) joinedLate() bool {
	t := &x.t
	began := t.State
	if len(t.Spans) > 0 {
		began = t.Spans[0].State
	}
	if x.q.booking == nil || began != dengxu.StateWaiting || !x.q.booking.isLate(t.Booked, t.JoinedAt) {
		return false
	}
	return x.q.epoch() || cmp.Or(t.Origin, t.Place) == t.JoinedAt-t.HeadStart // the late window may be another one by now
}

// sayEnded says how the token left the line.
func (x *explaining) sayEnded(say phrase) {
	if say == sayMissed {
		x.said.begin(say, clock(x.t.Since))
		return
	}
	x.said.begin(say, clock(x.t.EndedAt), brackets(x.t.Reason))
}

// sayScheduled says why it cannot be called now.
func (x *explaining) sayScheduled() {
	switch {
	case x.t.Why == whyCheckIn:
		x.said.add(sayChecksIn)
	case x.t.Why == whyOtherToken:
		x.said.add(sayStepped)
	case x.t.Due != 0:
		x.said.add(sayNotBefore, clock(x.t.Due))
	}
}

// lastSpan is the last span that a verb closed, not after until; nil when the
// record has none.
func lastSpan(t *store.Token, verb dengxu.Verb, until int64) *store.Span {
	for _, s := range slices.Backward(t.Spans) {
		if s.Verb == verb && s.To <= until {
			return &s
		}
	}
	return nil
}
