package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dengxu/dengxu/internal/order"
)

// fairness says, in words, how far one group may pass another.
func (q *queue) fairness() (words []string) {
	say := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	switch q.rule.Discipline {
	case order.Strict:
		say("groups of a better rank go first until somebody has stood %s; from then on the oldest goes first, whatever its rank", spanText(q.rule.Escalate))
	case order.Ratio:
		all := 0
		for _, g := range q.rule.Groups {
			all += g.Share
		}
		for _, g := range q.rule.Groups {
			say("while all groups of a class wait, %s gets %d of %d calls", g.Name, g.Share, all)
		}
	case order.Epoch:
		for _, f := range q.byGroups() {
			if f.factor != 1000 {
				say("who joins at x after the start of the day as %s stands where somebody of factor 1 stands who joins at %.4g·x", f.name, decimal(f.factor))
			}
		}
	case order.Aging:
		words = q.fairAging()
	}
	return words
}

// maxPairs is how many groups are all held against each other; where there are
// more, each is held against the slowest.
const maxPairs = 5

// fairAging says it for pairs of groups of which one can pass the other.
func (q *queue) fairAging() (words []string) {
	all := q.byGroups()
	others := all
	if len(all) > maxPairs {
		others = []fast{slices.MaxFunc(all, func(a, b fast) int { return cmp.Compare(a.factor, b.factor) })}
	}
	for _, a := range all {
		for _, b := range others {
			if a.name == b.name || a.factor >= b.factor && a.headStart <= b.headStart {
				continue
			}
			heads := ""
			if a.headStart != 0 || b.headStart != 0 {
				heads = ", head starts counted as waiting"
			}
			words = append(words, fmt.Sprintf("%s passes %s only while that one has waited less than %.4g times as long%s",
				a.name, b.name, float64(b.factor)/float64(a.factor), heads))
		}
	}
	return words
}
