package order_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/dengxu/dengxu/internal/order"
)

// The oracle knows the definitions only: it scans all tokens and compares
// (now − place)/factor as exact fractions. It shares no arithmetic with the
// package.

// token is one token as the oracle sees it.
type token struct {
	line     int
	member   order.Member
	priority *big.Rat // within its line
	across   *big.Rat // between lines
}

// snapshot is a partition's lines at a moment.
type snapshot struct {
	now    int64
	lines  []order.Line
	tokens []token
}

func (s *snapshot) String() string {
	text := fmt.Sprintf("now %d", s.now)
	for i, line := range s.lines {
		text += fmt.Sprintf("\nline %d: discipline %d, classes %q, bound %q", i, line.Rule.Discipline, line.Classes, line.Bound)
	}
	for _, t := range s.tokens {
		text += fmt.Sprintf("\n  line %d %q K %d: age %d, place %d, seq %d",
			t.line, t.member.Lane.Class, t.member.Lane.K, s.now-t.member.Key.Place, t.member.Key.Place, t.member.Key.Seq)
	}
	return text
}

func (s *snapshot) add(line int, m order.Member) {
	s.lines[line].Index.(*sliceIndex).add(m)
	age := big.NewInt(s.now - m.Key.Place)
	factor := big.NewRat(int64(m.Lane.K), 20)
	ordinary := new(big.Rat).SetInt(age)
	aged := new(big.Rat).Quo(ordinary, factor)
	t := token{line: line, member: m, priority: aged, across: aged}
	if s.lines[line].Rule.Discipline == order.Epoch {
		t.priority, t.across = ordinary, ordinary
	}
	s.tokens = append(s.tokens, t)
}

// future orders tokens of which at least one has its place in the future: these
// are behind, among themselves by place and then seq.
func (s *snapshot) future(a, b token) (before, decided bool) {
	ka, kb := a.member.Key, b.member.Key
	fa, fb := ka.Place > s.now, kb.Place > s.now
	switch {
	case !fa && !fb:
		return false, false
	case fa != fb:
		return fb, true
	case ka.Place != kb.Place:
		return ka.Place < kb.Place, true
	}
	return ka.Seq < kb.Seq, true
}

func (s *snapshot) before(a, b token, pa, pb *big.Rat) bool {
	if before, decided := s.future(a, b); decided {
		return before
	}
	if c := pa.Cmp(pb); c != 0 {
		return c > 0
	}
	return a.member.Key.Seq < b.member.Key.Seq
}

// best scans for the token that its line calls first; -1 if there is none.
func (s *snapshot) best(tokens []token) int {
	best := -1
	for i, t := range tokens {
		if best < 0 || s.before(t, tokens[best], t.priority, tokens[best].priority) {
			best = i
		}
	}
	return best
}

// sees is the restriction of a line, written out once more.
func sees(line order.Line, class string) bool {
	if class != "" && class[0] == '@' {
		return class == line.Bound
	}
	return line.Classes == nil || slices.Contains(line.Classes, class)
}

// rank calls tokens of m's line one by one, time standing still, until m is
// called; all tokens are those that compete with m.
func (s *snapshot) rank(m token) int {
	left := slices.Clone(s.tokens)
	left = slices.DeleteFunc(left, func(t token) bool {
		class := t.member.Lane.Class
		return t.line != m.line || class != m.member.Lane.Class && !sees(s.lines[t.line], class)
	})
	for called := 0; ; called++ {
		i := s.best(left)
		if left[i].member == m.member {
			return called
		}
		left = slices.Delete(left, i, i+1)
	}
}

// choice is what the oracle picks.
type choice struct {
	line   int
	member order.Member
	passed int
	heads  int
}

// pick calls one token and removes it, or reports that nobody stands.
func (s *snapshot) pick(left *[]token, mode order.Mode, exclude uint64) (choice, bool) {
	var winners []token
	for i := range s.lines {
		var own []token
		for _, t := range *left {
			if t.line == i && t.member.Key.Seq != exclude && sees(s.lines[i], t.member.Lane.Class) {
				own = append(own, t)
			}
		}
		if j := s.best(own); j >= 0 {
			winners = append(winners, own[j])
		}
	}
	if len(winners) == 0 {
		return choice{}, false
	}
	win := winners[0]
	if mode == order.Oldest {
		for _, w := range winners[1:] {
			if s.before(w, win, w.across, win.across) {
				win = w
			}
		}
	}
	c := choice{line: win.line, member: win.member}
	lanes := map[string]bool{}
	for _, t := range *left {
		if !sees(s.lines[t.line], t.member.Lane.Class) {
			continue
		}
		if t.member.Key.Place < win.member.Key.Place {
			c.passed++
		}
		if t.member.Key.Seq != exclude && (mode == order.Oldest || t.line == win.line) {
			lanes[fmt.Sprint(t.line, t.member.Lane)] = true
		}
	}
	c.heads = len(lanes)
	*left = slices.DeleteFunc(*left, func(t token) bool { return t.member.Key.Seq == win.member.Key.Seq })
	return c, true
}

// Factors whose ratios are whole, are not, and are the extremes.
var paces = []int{1, 2, 3, 5, 6, 7, 10, 12, 14, 15, 20, 20, 25, 30, 40, 60, 199, 200, 400}

// randomSnapshot makes up to 13 tokens with ties and near ties of every kind.
func randomSnapshot(r *rand.Rand) *snapshot {
	s := &snapshot{now: 1_767_225_600_000 + r.Int64N(1_000_000)}
	if r.IntN(20) == 0 {
		s.now = r.Int64N(60) // bounds before 1970
	}
	classes := [][]string{{""}, {"a", "b"}, {"a", "b", "c", "@1", "@2"}}[r.IntN(3)]
	for range 1 + r.IntN(3) {
		s.lines = append(s.lines, randomLine(r, classes))
	}
	palette := make([]int, 1+r.IntN(5))
	for i := range palette {
		palette[i] = paces[r.IntN(len(paces))]
	}
	n := r.IntN(14)
	seqs := r.Perm(n + 3)
	unit := []int64{1, 1, 2, 60, 4200, 1_000_003, 80_000_000}[r.IntN(7)]
	for i := range n {
		lane := order.Lane{Class: classes[r.IntN(len(classes))], K: palette[r.IntN(len(palette))]}
		key := order.Key{Place: s.now - randomAge(r, lane.K, unit), Seq: uint64(seqs[i] + 1)}
		s.add(r.IntN(len(s.lines)), order.Member{Lane: lane, Key: key})
	}
	return s
}

func randomLine(r *rand.Rand, classes []string) order.Line {
	line := order.Line{Index: newIndex()}
	if r.IntN(4) == 0 {
		line.Rule.Discipline = order.Epoch
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

// snapshots is how many snapshots a test judges: DENGXU_TORTURE=1 asks for the
// long run.
func snapshots() int {
	if os.Getenv("DENGXU_TORTURE") == "1" {
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
