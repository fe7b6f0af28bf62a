package order_test

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/dengxu/dengxu/internal/order"
)

// The oracle knows the definitions only: it scans all tokens, compares
// (now − place)/factor as exact fractions, and finds a rank by calling until
// the token's turn comes. It shares no arithmetic with the package: ratio is a
// clock that runs on, with a tag for each group, and no debt is ever lowered.

// token is one token as the oracle sees it.
type token struct {
	line     int
	member   order.Member
	priority *big.Rat // within its line, where the factor or place decides
	across   *big.Rat // between lines
	overdue  bool     // strict
	rank     int      // strict
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
		text += fmt.Sprintf("\nline %d: %+v, classes %q, bound %q", i, line.Rule, line.Classes, line.Bound)
		if line.Rule.Discipline == order.Ratio {
			text += fmt.Sprintf(", debts %v", line.Debts)
		}
	}
	for _, t := range s.tokens {
		l, k := t.member.Lane, t.member.Key
		text += fmt.Sprintf("\n  line %d %q %q K %d: age %d, place %d, seq %d", t.line, l.Class, l.Group, l.K, s.now-k.Place, k.Place, k.Seq)
	}
	return text
}

// token is what the oracle knows of a member of a line.
func (s *snapshot) token(line int, m order.Member) token {
	rule := s.lines[line].Rule
	ordinary := new(big.Rat).SetInt64(s.now - m.Key.Place)
	t := token{line: line, member: m, priority: ordinary, across: ordinary}
	switch rule.Discipline {
	case order.Aging:
		t.priority = new(big.Rat).Quo(ordinary, big.NewRat(int64(m.Lane.K), 20))
		t.across = t.priority
	case order.Strict:
		t.overdue = ordinary.Cmp(new(big.Rat).SetInt64(rule.Escalate)) >= 0
		t.rank = rankOf(rule, m.Lane.Group)
	case order.Ratio, order.Epoch:
	}
	return t
}

func (s *snapshot) add(line int, m order.Member) {
	s.lines[line].Index.(*sliceIndex).add(m)
	s.tokens = append(s.tokens, s.token(line, m))
}

// rankOf is the published rank of a group, declared or not.
func rankOf(rule order.Rule, group string) int {
	var ranks []int
	for _, g := range rule.Groups {
		if g.Name == group {
			return g.Rank
		}
		ranks = append(ranks, g.Rank)
	}
	if len(ranks) == 0 {
		return 0
	}
	return slices.Max(ranks)
}

// future orders tokens of which at least one has its place in the future: these
// are behind, among themselves by place and then seq.
func (s *snapshot) future(a, b token) (before, decided bool) {
	fa, fb := a.member.Key.Place > s.now, b.member.Key.Place > s.now
	switch {
	case !fa && !fb:
		return false, false
	case fa != fb:
		return fb, true
	}
	return older(a, b), true
}

// older orders tokens by place and then seq.
func older(a, b token) bool {
	ka, kb := a.member.Key, b.member.Key
	if ka.Place != kb.Place {
		return ka.Place < kb.Place
	}
	return ka.Seq < kb.Seq
}

func (s *snapshot) larger(a, b token, pa, pb *big.Rat) bool {
	if before, decided := s.future(a, b); decided {
		return before
	}
	if c := pa.Cmp(pb); c != 0 {
		return c > 0
	}
	return a.member.Key.Seq < b.member.Key.Seq
}

// before is the order of one line, in all disciplines but ratio.
func (s *snapshot) before(a, b token) bool {
	if before, decided := s.future(a, b); !decided {
		switch {
		case a.overdue != b.overdue:
			return a.overdue
		case !a.overdue && a.rank != b.rank:
			return a.rank < b.rank
		}
	} else {
		return before
	}
	return s.larger(a, b, a.priority, b.priority)
}

// better is the order between the winners of lines.
func (s *snapshot) better(a, b token) bool { return s.larger(a, b, a.across, b.across) }

// minimum scans for the first token in an order, if there is one.
func minimum(tokens []token, less func(a, b token) bool) (best token, ok bool) {
	for i, t := range tokens {
		if i == 0 || less(t, best) {
			best = t
		}
	}
	return best, len(tokens) > 0
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
	var field []token
	for _, t := range s.tokens {
		class := t.member.Lane.Class
		if t.line == m.line && (class == m.member.Lane.Class || sees(s.lines[t.line], class)) {
			field = append(field, t)
		}
	}
	f := s.freeze(field)
	for called := 0; ; called++ {
		t, _ := f.winner(m.line, f.left)
		if t.member == m.member {
			return called
		}
		f.call(t)
	}
}
