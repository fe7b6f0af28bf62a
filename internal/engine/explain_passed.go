package engine

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// explainPassed names those who came later and were called while the token
// waited, by counters that could have called it. It looks at a bounded number
// of those who came later.
func (e *Engine) explainPassed(ctx context.Context, x *explaining) error {
	ask := store.ListAsk{
		Partition: x.q.site.partition, Site: x.q.site.id, Queue: x.t.Queue, Gen: &x.t.Gen, After: x.t.Arrival,
	}
	x.past = true
	waits := waitsIn(&x.t, x.t.Queue)
	var passes []pass
	whole, err := e.look(ctx, ask, "list who came later", func(t *store.Token) {
		if p, ok := x.passing(t, waits); ok {
			passes = append(passes, p)
		}
	})
	if err != nil {
		return err
	}
	x.out.PassedByWhole = whole
	slices.SortStableFunc(passes, func(a, b pass) int {
		return cmp.Or(b.CalledAt.Compare(a.CalledAt), cmp.Compare(b.callNo, a.callNo))
	})
	if len(passes) > maxRivals {
		passes, x.out.PassedByWhole = passes[:maxRivals], false
	}
	for _, p := range passes {
		x.out.PassedBy = append(x.out.PassedBy, p.Passing)
		x.said.begin(sayPassedIs, p.Number, clock(p.CalledAt.UnixMilli()), p.why)
	}
	if !x.out.PassedByWhole {
		x.said.begin(sayPassedMore)
	}
	return nil
}

// pass is one that passed, and why.
type pass struct {
	dengxu.Passing
	why    said
	callNo uint64 // of its last call
}

// waitsIn are the intervals in which a token could have been called from a
// queue, as far as the record keeps them.
func waitsIn(t *store.Token, q dengxu.QueueID) (waits []store.Span) {
	spans := append(slices.Clone(t.Spans), store.Span{
		State: t.State, Queue: t.Queue, From: t.Since, To: math.MaxInt64,
	})
	for i, s := range spans {
		if s.State != dengxu.StateWaiting || s.Queue != q {
			continue
		}
		if i > 0 && spans[i-1].Verb == dengxu.VerbRequeue {
			s.From++ // the call that put it back never takes it
		}
		waits = append(waits, s)
	}
	return waits
}

// passing tells of a token that came later whether it was called while the
// explained one waited. The last such call counts.
func (x *explaining) passing(other *store.Token, waits []store.Span) (p pass, passed bool) {
	for i, s := range slices.Backward(other.Spans) {
		if s.Verb != dengxu.VerbCall || s.Queue != x.t.Queue {
			continue
		}
		// Of two calls in one millisecond the numbers tell, as far as they are
		// those of the last calls.
		last := waits[max(0, len(waits)-1):]
		during := func(w store.Span) bool {
			return w.From <= s.To && (s.To < w.To || s.To == w.To && w == last[0] && other.CallNo < x.t.CallNo)
		}
		counter := counterOfCall(other, i)
		if !slices.ContainsFunc(waits, during) || !x.couldCall(counter) {
			continue
		}
		then := *other
		then.Place = placeAt(other, s.To)
		rival, why := x.rival(&then, placeAt(&x.t, s.To), s.To)
		if s.Reason != "" || s.State != dengxu.StateWaiting {
			rival.Why, why = rivalByHand, said{sayWhyByHand, []any{brackets(s.Reason)}}
			rival.Text = x.said.one(why)
		}
		return pass{dengxu.Passing{Rival: rival, CalledAt: at(s.To), CounterID: counter}, why, other.CallNo}, true
	}
	return pass{}, false
}

// counterOfCall is where the call led that closed the i-th span: the counter of
// the next span, or the present one.
func counterOfCall(t *store.Token, i int) dengxu.CounterID {
	if i+1 < len(t.Spans) {
		return t.Spans[i+1].Counter
	}
	return t.Counter
}

// couldCall reports whether a counter that called somebody else could have
// called the token, by the settings of now; one that is gone could.
func (x *explaining) couldCall(id dengxu.CounterID) bool {
	if bound := x.out.Lane.CounterID; bound != "" {
		return id == bound
	}
	k := x.q.site.counter(id)
	return k == nil || k.serves(x.q.id, x.t.Class)
}

// placeAt is the token's place at an earlier moment, as far as the record
// tells: the one before its last miss or move by hand, or the present one.
func placeAt(t *store.Token, moment int64) int64 {
	if t.Origin == 0 {
		return t.Place
	}
	for _, s := range slices.Backward(t.Spans) {
		if s.Verb == dengxu.VerbMiss || s.Verb == dengxu.VerbMove {
			if moment <= s.To {
				return t.Origin
			}
			break
		}
	}
	return t.Place
}
