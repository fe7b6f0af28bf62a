package order_test

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/dengxu/dengxu/internal/order"
)

// Factors whose ratios are whole, are not, and are the extremes.
var paces = []int{1, 2, 3, 5, 6, 7, 10, 12, 14, 15, 20, 20, 25, 30, 40, 60, 199, 200, 400}

// Names of groups; a rule never declares the last.
var groups = []string{"vip", "elder", "ordinary", "stray"}

// Shares whose strides are whole, are not, and are the extremes.
var shares = []int{1, 1, 1, 2, 2, 3, 4, 5, 7, 20}

// randomSnapshot makes up to 13 tokens with ties and near ties of every kind,
// sometimes a few more, for shares need many calls.
func randomSnapshot(r *rand.Rand) *snapshot {
	s := &snapshot{now: 1_767_225_600_000 + r.Int64N(1_000_000)}
	if r.IntN(20) == 0 {
		s.now = r.Int64N(60) // bounds before 1970
	}
	unit := []int64{1, 1, 2, 60, 4200, 1_000_003, 80_000_000}[r.IntN(7)]
	classes := [][]string{{""}, {"a", "b"}, {"a", "b", "c", "@1", "@2"}}[r.IntN(3)]
	for range 1 + r.IntN(3) {
		s.lines = append(s.lines, randomLine(r, classes, unit))
	}
	palette := make([]int, 1+r.IntN(5))
	for i := range palette {
		palette[i] = paces[r.IntN(len(paces))]
	}
	n := r.IntN(14)
	if r.IntN(8) == 0 {
		n += 12
	}
	seqs := r.Perm(n + 3)
	for i := range n {
		line := r.IntN(len(s.lines))
		lane := randomLane(r, s.lines[line].Rule, classes[r.IntN(len(classes))], palette)
		key := order.Key{Place: s.now - randomAge(r, max(1, lane.K), unit), Seq: uint64(seqs[i] + 1)}
		s.add(line, order.Member{Lane: lane, Key: key})
	}
	return s
}

func randomLane(r *rand.Rand, rule order.Rule, class string, palette []int) order.Lane {
	if rule.Discipline == order.Strict || rule.Discipline == order.Ratio {
		return order.Lane{Class: class, Group: groups[r.IntN(len(groups))]}
	}
	return order.Lane{Class: class, K: palette[r.IntN(len(palette))]}
}

func randomLine(r *rand.Rand, classes []string, unit int64) order.Line {
	line := order.Line{Index: newIndex(), Rule: randomRule(r, unit)}
	if line.Rule.Discipline == order.Ratio {
		line.Debts = randomDebts(r, line.Rule, classes)
	}
	if len(classes) > 1 && r.IntN(2) == 0 {
		line.Classes = []string{}
		for _, c := range classes {
			if r.IntN(2) == 0 {
				line.Classes = append(line.Classes, c)
			}
		}
	}
	line.Bound = []string{"", "@1"}[r.IntN(2)]
	return line
}

// randomRule has what other disciplines use as well, which must not matter.
// Ages are often a few units, so that members stand at the edge of overdue.
func randomRule(r *rand.Rand, unit int64) order.Rule {
	rule := order.Rule{
		Discipline: []order.Discipline{order.Aging, order.Aging, order.Epoch, order.Strict, order.Strict, order.Ratio, order.Ratio, order.Ratio}[r.IntN(8)],
		Escalate:   max(1, r.Int64N(6)*unit+r.Int64N(3)-1),
	}
	for _, i := range r.Perm(len(groups) - 1)[:r.IntN(len(groups))] {
		rule.Groups = append(rule.Groups, order.Group{Name: groups[i], Rank: r.IntN(3) - r.IntN(2), Share: shares[r.IntN(len(shares))]})
	}
	return rule
}

// randomDebts are often whole calls or none, which makes ties; some are of
// shares that were smaller, and are more than a stride of today.
func randomDebts(r *rand.Rand, rule order.Rule, classes []string) order.Debts {
	debts := order.Debts{}
	for _, class := range classes {
		if r.IntN(4) == 0 {
			continue
		}
		debts[class] = map[string]int64{}
		for _, group := range groups {
			round, share := int64(1), int64(1)
			for _, g := range rule.Groups {
				round *= int64(g.Share)
				if g.Name == group {
					share = int64(g.Share)
				}
			}
			most := round / share
			debts[class][group] = []int64{0, most, most / 2, r.Int64N(most + 1), r.Int64N(min(most, 6) + 1)}[r.IntN(5)]
		}
	}
	return debts
}

// randomAge is often a small number of units times K, which makes priorities
// equal across factors, and often one millisecond beside that. Negative ages
// are places in the future; head starts are ages like any other.
func randomAge(r *rand.Rand, k int, unit int64) int64 {
	age := r.Int64N(6) * unit
	if r.IntN(5) > 0 {
		age *= int64(k)
	}
	if r.IntN(3) == 0 {
		age += r.Int64N(3) - 1
	}
	if r.IntN(6) == 0 {
		age = -r.Int64N(4)
	}
	return age
}

// torture reports whether the long run is asked for.
func torture() bool { return os.Getenv("DENGXU_TORTURE") == "1" }

// snapshots is how many snapshots a test judges.
func snapshots() int {
	if torture() {
		return 100_000
	}
	return 6_000
}

// eachSnapshot runs judge over random snapshots; a failure names the seed with
// which randomSnapshot makes the same one again.
func eachSnapshot(t *testing.T, judge func(r *rand.Rand, s *snapshot) error) {
	t.Helper()
	for seed := range uint64(snapshots()) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := randomSnapshot(r)
		if err := judge(r, s); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, s)
		}
	}
}
