package order_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu/internal/order"
)

func TestPickTakesWhomTheOracleTakes(t *testing.T) {
	t.Parallel()
	picks := 0
	eachSnapshot(t, func(r *rand.Rand, s *snapshot) error {
		for _, mode := range []order.Mode{order.Oldest, order.Listed} {
			n := 1 + r.IntN(len(s.tokens)+2)
			exclude := uint64(r.IntN(len(s.tokens) + 1))
			left := s.freeze(s.tokens)
			var want []choice
			for len(want) < n {
				c, ok := left.pick(mode, exclude)
				if !ok {
					break
				}
				want = append(want, c)
			}
			got := order.Pick(s.now, s.lines, mode, n, exclude)
			picks += len(got)
			if err := sameChoices(got, want); err != nil {
				return fmt.Errorf("mode %d, pick %d without %d: %w", mode, n, exclude, err)
			}
			if err := s.heads(got, mode, exclude); err != nil {
				return fmt.Errorf("mode %d, pick %d without %d: %w", mode, n, exclude, err)
			}
		}
		return nil
	})
	t.Logf("%d picks", picks)
}

func sameChoices(got []order.Choice, want []choice) error {
	if len(got) != len(want) {
		return fmt.Errorf("picked %d, want %d", len(got), len(want))
	}
	for i, c := range got {
		w := want[i]
		have := choice{line: c.Line, member: c.Member, passed: c.Passed, heads: len(c.Compared)}
		if c.Debts != nil {
			have.debts = fmt.Sprint(c.Debts)
		}
		w.heads = min(w.heads, 8)
		if have != w {
			return fmt.Errorf("choice %d: got %+v, want %+v", i, have, w)
		}
	}
	return nil
}

// heads checks that Compared holds the winner first, then heads of other lanes
// in the order of the lines.
func (s *snapshot) heads(got []order.Choice, mode order.Mode, exclude uint64) error {
	taken := map[uint64]bool{exclude: true}
	for i, c := range got {
		if c.Compared[0] != c.Member {
			return fmt.Errorf("choice %d: first compared is seq %d", i, c.Compared[0].Key.Seq)
		}
		at := 0
		for j, m := range c.Compared[1:] {
			line, head := s.headOf(m, taken)
			switch {
			case !head || slices.Contains(c.Compared[:j+1], m):
				return fmt.Errorf("choice %d: seq %d is no other lane's head", i, m.Key.Seq)
			case line < at, mode == order.Listed && line != c.Line:
				return fmt.Errorf("choice %d: seq %d of line %d is out of order", i, m.Key.Seq, line)
			}
			at = line
		}
		taken[c.Member.Key.Seq] = true
	}
	return nil
}

// headOf finds m's line, and whether nobody left is before it in its lane.
func (s *snapshot) headOf(m order.Member, gone map[uint64]bool) (line int, head bool) {
	for _, t := range s.tokens {
		if t.member == m {
			line, head = t.line, !gone[m.Key.Seq]
		}
	}
	for _, t := range s.tokens {
		if t.line == line && t.member.Lane == m.Lane && t.member.Key.Less(m.Key) && !gone[t.member.Key.Seq] {
			head = false
		}
	}
	return line, head
}

// Picking n is picking one n times, with the winner really gone in between.
func TestPickManyIsPickOneByOne(t *testing.T) {
	t.Parallel()
	eachSnapshot(t, func(_ *rand.Rand, s *snapshot) error {
		many := order.Pick(s.now, s.lines, order.Oldest, 100, 0)
		for i, c := range many {
			one := order.Pick(s.now, s.lines, order.Oldest, 1, 0)
			if len(one) == 1 && c.Debts != nil && one[0].Debts != nil {
				// An undeclared group is known by its lane only, and that may be gone.
				declared := s.lines[c.Line].Rule.Groups
				maps.DeleteFunc(c.Debts, func(group string, _ int64) bool {
					_, known := one[0].Debts[group]
					return !known && !slices.ContainsFunc(declared, func(g order.Group) bool { return g.Name == group })
				})
			}
			if !slices.EqualFunc(many[i:i+1], one, sameChoice) {
				return fmt.Errorf("choice %d (-many +one):\n%s", i, cmp.Diff([]order.Choice{c}, one))
			}
			line := &s.lines[c.Line]
			if line.Index.(*sliceIndex).remove(c.Member); c.Debts != nil {
				if line.Debts == nil {
					line.Debts = order.Debts{}
				}
				line.Debts[c.Member.Lane.Class] = c.Debts
			}
		}
		if rest := order.Pick(s.now, s.lines, order.Oldest, 1, 0); rest != nil {
			return fmt.Errorf("%v was left", rest)
		}
		return nil
	})
}

// The answer does not depend on the order in which an index names its lanes.
func TestPickIgnoresTheOrderOfLanes(t *testing.T) {
	t.Parallel()
	eachSnapshot(t, func(_ *rand.Rand, s *snapshot) error {
		first := order.Pick(s.now, s.lines, order.Oldest, 100, 0)
		for _, line := range s.lines {
			slices.Reverse(line.Index.(*sliceIndex).lanes)
		}
		second := order.Pick(s.now, s.lines, order.Oldest, 100, 0)
		if !slices.EqualFunc(first, second, sameChoice) {
			return fmt.Errorf("with lanes reversed:\n%s", cmp.Diff(first, second))
		}
		return nil
	})
}

func sameChoice(a, b order.Choice) bool {
	return a.Line == b.Line && a.Member == b.Member && a.Passed == b.Passed && slices.Equal(a.Compared, b.Compared) &&
		maps.Equal(a.Debts, b.Debts)
}

// A counter that names a queue twice, each time with other classes, sees its
// bound tokens and the classes named twice only once. The order is the same but
// in strict, where it is one over all that a line sees.
func TestPickSeesALaneOnce(t *testing.T) {
	t.Parallel()
	eachSnapshot(t, func(r *rand.Rand, s *snapshot) error {
		whole := s.lines[0]
		whole.Classes, whole.Bound = []string{"", "a", "b"}, "@1"
		halves := []order.Line{whole, whole}
		halves[0].Classes = []string{"", "a"}
		halves[1].Classes = []string{"a", "b"}
		exclude := uint64(r.IntN(len(s.tokens) + 1))
		want := order.Pick(s.now, []order.Line{whole}, order.Oldest, 100, exclude)
		got := order.Pick(s.now, halves, order.Oldest, 100, exclude)
		for i := range got {
			got[i].Line = 0
		}
		if whole.Rule.Discipline == order.Strict {
			return sameMembers(got, want)
		}
		if !slices.EqualFunc(got, want, sameChoice) {
			return fmt.Errorf("without %d (-whole +halves):\n%s", exclude, cmp.Diff(want, got))
		}
		return nil
	})
}

func sameMembers(got, want []order.Choice) error {
	seqs := func(choices []order.Choice) (all []uint64) {
		for _, c := range choices {
			all = append(all, c.Member.Key.Seq)
		}
		slices.Sort(all)
		return all
	}
	if diff := cmp.Diff(seqs(want), seqs(got)); diff != "" {
		return fmt.Errorf("whom Pick takes (-want +got):\n%s", diff)
	}
	return nil
}

func TestPickNothing(t *testing.T) {
	t.Parallel()
	m := order.Member{Lane: order.Lane{K: 20}, Key: order.Key{Place: 5, Seq: 1}}
	lines := []order.Line{{Index: newIndex(m)}}
	for name, got := range map[string][]order.Choice{
		"no lines":      order.Pick(9, nil, order.Oldest, 1, 0),
		"none asked":    order.Pick(9, lines, order.Oldest, 0, 0),
		"fewer asked":   order.Pick(9, lines, order.Oldest, -1, 0),
		"only excluded": order.Pick(9, lines, order.Oldest, 1, 1),
		"other class":   order.Pick(9, []order.Line{{Index: newIndex(m), Classes: []string{"x"}}}, order.Listed, 1, 0),
	} {
		if len(got) > 0 {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// A choice costs as much in a long line as in a short one.
func TestPickAsksByLanes(t *testing.T) {
	t.Parallel()
	cost := func(each int) int {
		index, _ := longLine(12, each)
		index.asked = 0
		order.Pick(longNow, []order.Line{{Index: index}}, order.Oldest, 20, 0)
		return index.asked
	}
	if short, long := cost(30), cost(3000); long != short || long > 12*3+20*13 {
		t.Errorf("20 choices of 12 lanes asked %d times in a short line, %d in a long one", short, long)
	}
}

func BenchmarkPick(b *testing.B) {
	eachBench(b, func(line order.Line, _ []order.Member, _ int) {
		order.Pick(longNow, []order.Line{line}, order.Oldest, 1, 0)
	})
}
