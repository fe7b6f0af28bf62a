package engine

import (
	"math"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// explainBound says who can pass the token at all, by what order promises. It
// says nothing of a token whose place was changed by hand or by a miss, nor of
// one that left without being called.
func (x *explaining) explainBound() {
	moved := lastSpan(&x.t, dengxu.VerbMove, math.MaxInt64) != nil || x.t.Misses > 0
	if moved || x.t.State.Ended() && x.t.FirstCalled == 0 {
		return
	}
	bound, words := x.bound()
	if x.t.FirstCalled != 0 && x.t.State != dengxu.StateWaiting && x.t.State != dengxu.StateScheduled {
		words = x.inPast(bound, words)
	}
	if len(words) == 0 {
		return
	}
	told := story{zone: x.said.zone, now: x.said.now}
	for _, w := range words {
		told.begin(w.phrase, w.args...)
		x.said.begin(w.phrase, w.args...)
	}
	bound.Text = told.text()
	x.out.Bound = &bound
}

// boundsWere are the bounds of a token that waits, said of one that was called.
var boundsWere = map[phrase]phrase{
	sayBoundNobody: sayBoundNobodyWas, sayBoundShare: sayBoundShareWas, sayBoundBefore: sayBoundBeforeWas,
	sayBoundStrict: sayBoundStrictWas, sayBoundFirm: sayBoundFirmWas, sayBoundDay: sayBoundDayWas, sayBoundAllDay: sayBoundAllWas,
}

// inPast is what could happen to a token until its call. What began only after
// it is left out.
func (x *explaining) inPast(bound dengxu.Bound, words []said) (were []said) {
	for _, w := range words {
		switch {
		case w.phrase == sayBoundFirm && bound.Firm.After(x.out.CalledAt):
			continue
		case w.phrase == sayBoundDay && bound.Before.After(x.out.CalledAt):
			w = said{sayBoundAllDay, w.args[1:]}
		}
		if was, other := boundsWere[w.phrase]; other {
			w.phrase = was
		}
		were = append(were, w)
	}
	return were
}

func (x *explaining) bound() (bound dengxu.Bound, words []said) {
	switch x.q.order.Discipline {
	case order.Strict:
		firm := x.t.Place + x.q.order.Escalate
		bound.Firm = at(firm)
		if x.q.order.RankOf(x.t.Lane.Group) > x.bestRank() {
			words = append(words, said{phrase: sayBoundStrict})
		}
		return bound, append(words, said{sayBoundFirm, []any{clock(firm)}})
	case order.Ratio:
		mine, all := x.q.order.ShareOf(x.t.Lane.Group), int64(0)
		for _, g := range x.q.order.Groups {
			all += int64(g.Share)
		}
		return bound, []said{{sayBoundRatio, []any{x.t.Lane.Group, mine, max(all, mine)}}}
	case order.Epoch:
		return x.boundEpoch()
	case order.Aging:
	}
	return x.boundAging()
}

// boundAging: with h = joined_at − place and w the wait, one who joins at s of
// the wait passes at W only if W + h < (g/f)·(W − s + h'), so only with
// s < W + h' − (f/g)·(W + h). That grows with W when f < g; else it is largest
// at W = s, where it says s < (g/f)·h' − h.
func (x *explaining) boundAging() (bound dengxu.Bound, words []said) {
	if x.q.booking != nil {
		return bound, nil // who has booked an early time may come at any
	}
	g, until := float64(x.t.Factor), x.now
	if x.t.State != dengxu.StateWaiting && x.t.FirstCalled != 0 {
		until = x.out.CalledAt.UnixMilli()
	}
	wait, head := float64(until-x.t.JoinedAt), float64(x.t.JoinedAt-x.t.Place)
	latest, least, who := math.Inf(-1), math.Inf(1), ""
	plain, never := head == 0, true // plain: without head starts it is a share of the wait
	for _, f := range x.q.fastest() {
		factor, start := float64(f.factor), float64(f.headStart)
		atOnce := g/factor*start - head
		latest = max(latest, wait+start-factor/g*(wait+head), atOnce)
		plain = plain && start <= 0
		never = never && factor >= g && atOnce <= 0
		if factor < least {
			least, who = factor, f.name
		}
	}
	if never {
		return bound, []said{{phrase: sayBoundNobody}}
	}
	if plain && least < g {
		bound.Share = 1 - least/g
		words = append(words, said{sayBoundShare, []any{times(100 * bound.Share), nameOrRules(who)}})
	}
	if latest < wait {
		before := x.t.JoinedAt + int64(math.Ceil(max(0, latest)))
		bound.Before = at(before)
		words = append(words, said{sayBoundBefore, []any{clock(before)}})
	}
	return bound, words
}

// boundEpoch: a place is day start + (joined_at − head start − day start) ×
// factor, so whoever joins late enough stands behind.
func (x *explaining) boundEpoch() (bound dengxu.Bound, words []said) {
	if x.q.booking != nil {
		return bound, nil
	}
	began := x.q.scaleFrom(&store.Token{})
	latest, who := int64(math.MinInt64), ""
	for _, f := range x.q.fastest() {
		joins := began + (x.t.Place-began)*1000/int64(f.factor) + f.headStart
		if joins > latest {
			latest, who = joins, f.name
		}
	}
	if latest <= x.t.JoinedAt {
		return bound, []said{{phrase: sayBoundNobody}}
	}
	if latest >= x.q.site.state.DayEnds {
		return bound, []said{{sayBoundAllDay, []any{nameOrRules(who)}}}
	}
	bound.Before = at(latest)
	return bound, []said{{sayBoundDay, []any{clock(latest), nameOrRules(who)}}}
}

// nameOrRules is the group that a bound speaks of, or whoever a rule matches.
func nameOrRules(group string) any {
	if group == "" {
		return said{phrase: sayByRules}
	}
	return group
}

func (x *explaining) bestRank() int {
	best := math.MaxInt
	for _, g := range x.q.order.Groups {
		best = min(best, g.Rank)
	}
	return best
}
