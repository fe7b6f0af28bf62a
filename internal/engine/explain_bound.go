package engine

import (
	"math"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// explainBound says who can pass the token at all, by what order promises. It
// says nothing of a token that an operator has placed.
func (x *explaining) explainBound() {
	if lastSpan(&x.t, dengxu.VerbMove, math.MaxInt64) != nil || x.t.State.Ended() && x.t.FirstCalled == 0 {
		return
	}
	bound, words := x.bound()
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

func (x *explaining) bound() (bound dengxu.Bound, words []said) {
	switch x.q.rule.Discipline {
	case order.Strict:
		firm := x.t.Place + x.q.rule.Escalate
		bound.Firm = at(firm)
		if x.rankOf(x.t.Lane.Group) > x.bestRank() {
			words = append(words, said{phrase: sayBoundStrict})
		}
		return bound, append(words, said{sayBoundFirm, []any{clock(firm)}})
	case order.Ratio:
		mine, all := x.shareOf(x.t.Lane.Group), 0
		for _, g := range x.q.rule.Groups {
			all += g.Share
		}
		return bound, []said{{sayBoundRatio, []any{x.t.Lane.Group, mine, max(all, mine)}}}
	case order.Epoch:
		return x.boundEpoch()
	case order.Aging:
	}
	return x.boundAging()
}

// boundAging: with h = joined_at − place and w the wait, one who joins at s of
// the wait W passes only if W + h < (g/f)·(W − s + h'), so only with
// s < W + h' − (f/g)·(W + h). Whoever has the smallest factor, and the largest
// head start with it, can pass latest.
func (x *explaining) boundAging() (bound dengxu.Bound, words []said) {
	g := float64(x.t.Factor)
	until := x.now
	if x.t.FirstCalled != 0 {
		until = x.t.FirstCalled
	}
	wait, head := float64(until-x.t.JoinedAt), float64(x.t.JoinedAt-x.t.Place)
	latest, share, who := math.Inf(-1), 0.0, ""
	plain := head == 0 // no head starts: the bound is a share of the wait
	for _, f := range x.q.fastest() {
		plain = plain && f.headStart <= 0
		s := wait + float64(f.headStart) - float64(f.factor)/g*(wait+head)
		if s > latest {
			latest, share, who = s, max(0, 1-float64(f.factor)/g), f.name
		}
	}
	if x.q.booking != nil {
		return bound, nil // who has booked an early time may come at any
	}
	before := x.t.JoinedAt + int64(math.Ceil(min(latest, wait)))
	switch {
	case share == 0 && latest <= 0:
		return bound, []said{{phrase: sayBoundNobody}}
	case share > 0 && plain:
		bound.Share = share
		p := said{sayBoundShare, []any{times(100 * share), who}}
		if who == "" {
			p = said{sayBoundShareRules, []any{times(100 * share)}}
		}
		words = append(words, p)
	}
	if latest > 0 && latest < wait {
		bound.Before = at(before)
		words = append(words, said{sayBoundBefore, []any{clock(before)}})
	} else if latest <= 0 {
		bound.Before = at(x.t.JoinedAt)
		words = append(words, said{sayBoundBefore, []any{clock(x.t.JoinedAt)}})
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
	bound.Before = at(latest)
	return bound, []said{{sayBoundDay, []any{clock(latest), who}}}
}

func (x *explaining) bestRank() int {
	best := math.MaxInt
	for _, g := range x.q.rule.Groups {
		best = min(best, g.Rank)
	}
	return best
}

// fast is how fast the wait of a group may count, and from which head start.
type fast struct {
	name      string // "" = whoever a rule matches
	factor    int32
	headStart int64
}

// byGroups is how fast the groups are by themselves.
func (q *queue) byGroups() (all []fast) {
	for _, name := range sortedKeys(q.groups) {
		all = append(all, fast{name, q.groups[name].factor, q.groups[name].headStart})
	}
	return all
}

// fastest are the groups, by themselves and with all rules that favour: what a
// bound has to count with.
func (q *queue) fastest() (all []fast) {
	all = q.byGroups()
	down, head := int32(0), int64(0)
	for _, x := range q.rules.Effects() {
		down += min(x.Delta, 0)
		if x.HeadStart != nil {
			head = max(head, x.HeadStart.Milliseconds())
		}
	}
	if down == 0 && head == 0 {
		return all
	}
	for _, name := range sortedKeys(q.groups) {
		factor, _ := q.factor(name, down)
		all = append(all, fast{"", factor, max(head, q.groups[name].headStart)})
	}
	return all
}
