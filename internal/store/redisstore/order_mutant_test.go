package redisstore

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// mutants are the fragments with one line of a formula changed. TestOrderInLuaIsOrderInGo
// would find each of them.
var mutants = []struct{ name, file, old, mutated string }{
	{"equal priorities are no tie", "judge", "ra > rb or ra == rb and a.seq < b.seq", "ra >= rb"},
	{"overdue one ms later", "judge", "a.place <= late or b.place <= late", "a.place < late or b.place < late"},
	{"equal ranks are no tier", "judge", "a.weight == b.weight or a.place > now", "a.place > now"},
	{"nobody is overdue", "judge", "local late = now - rule.escalate -- who", "local late = -1 -- who"},
	{"equal debts are no tie", "judge", "if owes == other or a.place > now", "if a.place > now"},
	{"the last class wins", "judge", "if not best or stronger(now, first, best) then", "if first then"},
	{"classes are one", "judge", `local apart, best, first = spec.discipline == "ratio", nil, nil`, "local apart, best, first = false, nil, nil"},
	{"debts below nothing", "judge", "math.max(0, debt - v)", "debt - v"},
	{"time stands still at a call", "judge", "math.max(0, debt - v)", "debt"},
	{"a stride on top of the debt", "judge", "owed[w.group] = w.weight", "owed[w.group] = owed[w.group] + v + w.weight"},
	{"what is due now costs nothing", "judge", "or w.place > now then return end", "or w.place >= now then return end"},
	{"a lane alone costs nothing", "pick", `#all ~= 1 or spec.discipline == "ratio"`, "#all ~= 1"},
	{"ratio and strict age by factor", "pick", `if spec.discipline == "aging" and o.k > 0`, "if o.k > 0"},
	{"the excluded one is not passed", "pick", "if o.gap and o.gap < w.place", "if false"},
	{"a group of no rule comes first", "rule", "rule.of[group] or rule.last", "rule.of[group] or 1"},
	{"only groups with lanes owe", "rule", "for name in pairs(rule.of)", "for name in pairs({})"},
	{"debts of other shares", "rule", "min(max(n, 0), weight(rule, group))", "n"},
	{"seq decides always", "rank", "if r > more * own then seq = nil end", ""},
	{"seq decides never", "rank", "if r > more * own then seq = nil end", "seq = nil"},
	{"better ranks but for those of now", "rank", "return now + 1 end", "return now end"},
	{"worse ranks a ms less overdue", "rank", "return late + 1", "return late"},
	{"just overdue is not", "rank", "place <= late or own == other", "place < late or own == other"},
	{"no remainder is one", "ratio", "if x > q * a.stride", "if x >= q * a.stride"},
	{"the division rounds down", "ratio", "math.min(q + 1, below(a.prefix, now + 1))", "math.min(q, below(a.prefix, now + 1))"},
	{"future members have turns", "ratio", "math.min(q + 1, below(a.prefix, now + 1))", "math.min(q + 1, below(a.prefix, now + 2))"},
	{"as many as have turns", "ratio", "return math.min(q, below(a.prefix, now + 1))", "return q"},
	{"a tie is before", "ratio", "if before > q then", "if before >= q then"},
	{"equal debts are behind", "ratio", "if a.debt > v then", "if a.debt >= v then"},
	{"one turn too many", "ratio", "debt + n * weight(rule, spec.group)", "debt + (n + 1) * weight(rule, spec.group)"},
	{"only the member holds others up", "ratio", "if less(p, s, lp, ls) then", "if false then"},
	{"future members stop a class", "ratio", "if p <= now and (not stop", "if (not stop"},
	{"a class stops at its oldest", "ratio", "due < stop.due or due == stop.due and", "true and"},
	{"a class does not stop", "ratio", "if not stop then return all end", "if true then return all end"},
	{"who stops a class has no turns before", "ratio", "a.debt + n * a.stride", "a.debt"},
}

// TestMutantsAreFound: the comparison of Lua with Go sees each change of a
// formula.
func TestMutantsAreFound(t *testing.T) {
	t.Parallel()
	const together, most = 100, 15
	client := newOrderServer(t)
	var cases [][]*orderCase
	var questions [][][]question
	more := func() {
		var some []*orderCase
		var ask [][]question
		for i := range together {
			r := rand.New(rand.NewPCG(uint64(len(cases)*together+i), 4))
			c := randomOrderCase(r)
			some, ask = append(some, c), append(ask, c.randomQuestions(r))
		}
		cases, questions = append(cases, some), append(questions, ask)
	}
	for _, m := range mutants {
		rig := &orderRig{t: t, client: client}
		changed := false
		err := rig.load(func(name, text string) string {
			if name != "lua/order_"+m.file+".lua" {
				return text
			}
			if n := strings.Count(text, m.old); n != 1 {
				t.Fatalf("%s: %s has %q %d times", m.name, name, m.old, n)
			}
			changed = true
			return strings.Replace(text, m.old, m.mutated, 1)
		})
		if err != nil || !changed {
			t.Fatalf("%s: changed %t, %v", m.name, changed, err)
		}
		found := false
		for i := 0; i < most && !found; i++ {
			if i == len(cases) {
				more()
			}
			found = rig.differs(cases[i], questions[i])
			if found {
				t.Logf("%s: found within %d cases", m.name, (i+1)*together)
			}
		}
		if !found {
			t.Errorf("%s: not found in %d cases", m.name, most*together)
		}
	}
}

// differs reports whether an answer is not Go's.
func (g *orderRig) differs(cases []*orderCase, questions [][]question) bool {
	g.t.Helper()
	for i, replies := range g.run(cases, questions) {
		for j, q := range questions[i] {
			if q.diff(replies[j]) != "" {
				return true
			}
		}
	}
	return false
}
