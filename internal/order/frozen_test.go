package order_test

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/dengxu/dengxu/internal/order"
)

// frozen is a snapshot from which tokens are called while time stands still.
type frozen struct {
	s     *snapshot
	left  []token
	desks map[desk]*clock
}

// desk is where a ratio is kept: a class of a line.
type desk struct {
	line  int
	class string
}

// clock is a ratio as a clock that runs on: a group may be called from its tag
// onward, and a group that nobody stands in lets its tag go by.
type clock struct {
	time   int64
	tag    map[string]int64 // groups of the rule and of those who stand
	stride map[string]int64
}

func (s *snapshot) freeze(tokens []token) *frozen {
	f := &frozen{s: s, left: slices.Clone(tokens), desks: map[desk]*clock{}}
	for _, t := range tokens {
		line := s.lines[t.line]
		if line.Rule.Discipline != order.Ratio {
			continue
		}
		at := desk{t.line, t.member.Lane.Class}
		if f.desks[at] == nil {
			f.desks[at] = &clock{tag: map[string]int64{}, stride: map[string]int64{}}
			for _, g := range line.Rule.Groups {
				f.desks[at].open(line, at.class, g.Name)
			}
		}
		f.desks[at].open(line, at.class, t.member.Lane.Group)
	}
	return f
}

func (c *clock) open(line order.Line, class, group string) {
	round, share := big.NewInt(1), int64(1)
	for _, g := range line.Rule.Groups {
		s := big.NewInt(int64(g.Share))
		common := new(big.Int).GCD(nil, nil, round, s)
		round.Div(round.Mul(round, s), common)
		if g.Name == group {
			share = int64(g.Share)
		}
	}
	c.stride[group] = round.Int64() / share
	c.tag[group] = min(line.Debts[class][group], c.stride[group])
}

// from is the time at which a group may be called.
func (c *clock) from(group string) int64 { return max(c.tag[group], c.time) }

// winner is whom a line calls first among some of its tokens.
func (f *frozen) winner(line int, tokens []token) (token, bool) {
	if f.s.lines[line].Rule.Discipline != order.Ratio {
		return minimum(tokens, f.s.before)
	}
	classes := map[string][]token{}
	for _, t := range tokens {
		class := t.member.Lane.Class
		classes[class] = append(classes[class], t)
	}
	var winners []token
	for class, members := range classes {
		c := f.desks[desk{line, class}]
		w, _ := minimum(members, func(a, b token) bool {
			if before, decided := f.s.future(a, b); decided {
				return before
			}
			if fa, fb := c.from(a.member.Lane.Group), c.from(b.member.Lane.Group); fa != fb {
				return fa < fb
			}
			return older(a, b)
		})
		winners = append(winners, w)
	}
	return minimum(winners, f.s.better)
}

// call takes a token away, and tells what the groups of its class owe then, ""
// when nothing was charged.
func (f *frozen) call(t token) (debts string) {
	f.left = slices.DeleteFunc(f.left, func(o token) bool { return o.member.Key.Seq == t.member.Key.Seq })
	c := f.desks[desk{t.line, t.member.Lane.Class}]
	if c == nil || t.member.Key.Place > f.s.now {
		return ""
	}
	group := t.member.Lane.Group
	c.time = c.from(group)
	c.tag[group] = c.time + c.stride[group]
	owed := map[string]int64{}
	for g := range c.tag {
		owed[g] = c.from(g) - c.time
	}
	return fmt.Sprint(owed)
}

// choice is what the oracle picks.
type choice struct {
	line   int
	member order.Member
	passed int
	heads  int
	debts  string
}

// pick calls one token and removes it, or reports that nobody stands.
func (f *frozen) pick(mode order.Mode, exclude uint64) (choice, bool) {
	s := f.s
	var winners []token
	for i := range s.lines {
		var own []token
		for _, t := range f.left {
			if t.line == i && t.member.Key.Seq != exclude && sees(s.lines[i], t.member.Lane.Class) {
				own = append(own, t)
			}
		}
		if w, ok := f.winner(i, own); ok {
			winners = append(winners, w)
		}
	}
	if len(winners) == 0 {
		return choice{}, false
	}
	win := winners[0]
	if mode == order.Oldest {
		win, _ = minimum(winners, s.better)
	}
	c := choice{line: win.line, member: win.member}
	lanes := map[string]bool{}
	for _, t := range f.left {
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
	c.debts = f.call(win)
	return c, true
}
