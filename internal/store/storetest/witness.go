package storetest

import (
	"fmt"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// witness remembers who waits, and holds each call against what is promised to
// those whom it passes. It shares no arithmetic with package order.
type witness struct {
	waits  map[dengxu.TokenID]store.Token
	passes int // that were judged
}

func newWitness() *witness { return &witness{waits: make(map[dengxu.TokenID]store.Token)} }

// see takes in a batch and what a store answered, and tells which promise was
// broken, or "".
func (w *witness) see(b *store.Batch, r *store.Result) string {
	broken := ""
	if !r.Replayed && b.Pick != nil {
		broken = w.judge(b.Pick, r)
	}
	for _, t := range r.Tokens {
		if t.State == dengxu.StateWaiting {
			w.waits[t.ID] = t
		} else {
			delete(w.waits, t.ID)
		}
	}
	return broken
}

// passerBy is a token and the line of the pick that it stands in.
type passerBy struct {
	store.Token
	line int
	rule order.Rule
}

// judge holds the calls of a pick against those that it saw and did not call.
// All stand as they did before the batch.
func (w *witness) judge(p *store.Pick, r *store.Result) string {
	var seen []passerBy
	for _, t := range w.waits {
		if i := sees(p, &t); i >= 0 && t.ID != p.Exclude {
			seen = append(seen, passerBy{t, i, p.Lines[i].Ordering.Rule})
		}
	}
	for _, t := range r.Tokens[len(r.Tokens)-r.Picked:] {
		i := slices.IndexFunc(seen, func(s passerBy) bool { return s.ID == t.ID })
		if i < 0 {
			return fmt.Sprintf("%s was called and did not wait where the pick looked", t.ID)
		}
		a := seen[i]
		seen = slices.Delete(seen, i, i+1)
		for _, b := range seen {
			w.passes++
			if why := passed(r.Now, p.Mode, &a, &b); why != "" {
				return fmt.Sprintf("at %d %s was called while %s waits: %s\n%s\n%s",
					r.Now, a.ID, b.ID, why, describe(a.Token), describe(b.Token))
			}
		}
	}
	return ""
}

// sees is the line of a pick in which it sees a token, or -1.
func sees(p *store.Pick, t *store.Token) int {
	return slices.IndexFunc(p.Lines, func(l store.PickLine) bool {
		class := t.Lane.Class
		switch {
		case l.Line != t.Line():
			return false
		case class != "" && class[0] == '@':
			return class == store.BoundTo(p.Counter)
		}
		return l.Classes == nil || slices.Contains(l.Classes, class)
	})
}

// passed tells which promise is broken when a is called while b waits.
func passed(now int64, mode order.Mode, a, b *passerBy) string {
	if a.line != b.line && mode == order.Listed {
		if b.line < a.line {
			return "its queue is listed before"
		}
		return ""
	}
	if a.Place > now || b.Place > now {
		if !a.Member().Key.Less(b.Member().Key) {
			return "it is not due"
		}
		return ""
	}
	if a.Lane == b.Lane && a.line == b.line && !a.Member().Key.Less(b.Member().Key) {
		return "both are in one lane"
	}
	switch b.rule.Discipline {
	case order.Aging, order.Epoch: // in one line, and against the winner of any other
		return beyondBound(now, a, b)
	case order.Strict:
		if a.line == b.line {
			return beyondRank(now, a, b)
		}
	case order.Ratio: // what groups owe decides, see ratioExamples
	}
	return ""
}

// beyondBound is the bound of fairness, head starts included: b waits while a
// is called only if w_b + h_b is less than (g/f) times w_a + h_a; if b came
// later, at most that.
func beyondBound(now int64, a, b *passerBy) string {
	f, g := pace(a), pace(b)
	wa, ha := now-a.JoinedAt, a.JoinedAt-a.Place
	wb, hb := now-b.JoinedAt, b.JoinedAt-b.Place
	left, right := (wb+hb)*f, (wa+ha)*g
	if left < right || left == right && b.Seq > a.Seq {
		return ""
	}
	return fmt.Sprintf("%d is not less than %d", left, right)
}

// pace is the factor that a token counts with, in twentieths.
func pace(t *passerBy) int64 {
	if t.rule.Discipline == order.Aging {
		return int64(t.Lane.K)
	}
	return order.Ordinary
}

// beyondRank: nobody is called while another is overdue for longer, and of
// those who are not overdue nobody while one of a better rank waits, or one of
// the same who is before.
func beyondRank(now int64, a, b *passerBy) string {
	overdueA, overdueB := now-a.Place >= a.rule.Escalate, now-b.Place >= b.rule.Escalate
	before := a.Member().Key.Less(b.Member().Key)
	switch ra, rb := rankOf(a), rankOf(b); {
	case overdueB && !(overdueA && before):
		return "it is overdue for longer"
	case overdueA || ra < rb:
		return ""
	case ra > rb || !before:
		return "its rank is better, or the same and it was before"
	}
	return ""
}

func rankOf(t *passerBy) int {
	last := 0
	for i, g := range t.rule.Groups {
		if g.Name == t.Lane.Group {
			return g.Rank
		}
		if i == 0 || g.Rank > last {
			last = g.Rank
		}
	}
	return last
}
