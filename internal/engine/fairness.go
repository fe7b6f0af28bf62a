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
	switch q.order.Discipline {
	case order.Strict:
		say("groups of a better rank go first until somebody has stood %s; from then on the oldest goes first, whatever its rank", spanText(q.order.Escalate))
	case order.Ratio:
		all := 0
		for _, g := range q.order.Groups {
			all += g.Share
		}
		for _, g := range q.order.Groups {
			say("while all groups of a class wait, %s gets %d of %d calls", g.Name, g.Share, all)
		}
	case order.Epoch:
		for _, f := range q.speeds() {
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
	all := q.speeds()
	others := all
	if len(all) > maxPairs {
		others = []speed{slices.MaxFunc(all, func(a, b speed) int { return cmp.Compare(a.factor, b.factor) })}
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

// speed is how fast the wait of a group may count, and from which head start.
type speed struct {
	name      string // "" = whoever a rule matches
	factor    int32
	headStart int64
}

// speeds are those of the groups by themselves.
func (q *queue) speeds() (all []speed) {
	for _, name := range sortedKeys(q.groups) {
		all = append(all, speed{name, q.groups[name].factor, q.groups[name].headStart})
	}
	return all
}

// fastest are the speeds of the groups, and those with all rules that favour:
// what a bound has to count with.
func (q *queue) fastest() (all []speed) {
	all = q.speeds()
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
		all = append(all, speed{"", factor, max(head, q.groups[name].headStart)})
	}
	return all
}
