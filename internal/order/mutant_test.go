package order_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutant is a deliberate mistake in one formula of the package.
type mutant struct {
	file, was, is string
}

// mutants are mistakes that somebody could make, each of which changes an
// answer. The first of each discipline is tried always, all in torture.
var mutants = map[string][]mutant{
	"aging": {
		{"rank.go", "now - x/km}", "now - (x+km-1)/km}"}, // rounded away from m
		{"rank.go", "if x%km == 0 {", "if x%km >= 0 {"},  // seq decides always
		{"rank.go", "if x%km == 0 {", "if x%km < 0 {"},   // seq decides never
		{"rank.go", "x := (now - m.Key.Place) * pace(lane", "x := (now - m.Key.Place) * pace(m.Lane"},
		{"before.go", "return pa > pb || pa == pb && a.Seq < b.Seq", "return pa > pb"},
		{"before.go", "return pa > pb || pa == pb && a.Seq < b.Seq", "return pa > pb || pa == pb && a.Seq > b.Seq"},
		{"before.go", "(now-a.Place)*kb, (now-b.Place)*ka", "(now-a.Place)*ka, (now-b.Place)*kb"},
		{"before.go", "if a.Place > now || b.Place > now {\n\t\t// A place", "if a.Place < 0 {\n\t\t// A place"},
		{"before.go", "if d == Aging && l.K > 0", "if l.K > 0"},
		{"after.go", "return now - age - 1", "return now - age"},
		{"after.go", "return now - min(maxAge, age)", "return now - min(maxAge, age+1)"},
		{"after.go", "pace(lane, Aging) / pace(t.Lane, Aging)", "pace(t.Lane, Aging) / pace(lane, Aging)"},
	},
	"epoch": {
		{"rank.go", "return line.Index.Below(lane, m.Key)", "return line.Index.Below(lane, Key{Place: m.Key.Place})"},
		{"after.go", "return min(tail, t.Key.Place-1)", "return min(tail, t.Key.Place)"},
		{"after.go", "return min(tail, t.Key.Place-1)", "return t.Key.Place - 1"},
		{"after.go", "return max(tail, nth(", "return min(tail, nth("},
	},
	"strict": {
		{"rank.go", "Key{Place: now - line.Rule.Escalate + 1}", "Key{Place: now - line.Rule.Escalate}"},
		{"rank.go", "bound = Key{Place: now + 1}", "bound = Key{Place: now}"},
		{"rank.go", "age < line.Rule.Escalate", "age <= line.Rule.Escalate"},
		{"rank.go", "age >= 0", "age > 0"},
		{"rank.go", "case theirs < mine:", "case theirs <= mine:"},
		{"before.go", "now-a.Place >= escalate, now-b.Place >= escalate", "now-a.Place > escalate, now-b.Place > escalate"},
		{"before.go", "return oa && (!ob || a.Less(b))", "return oa"},
		{"before.go", "b.Place > now || ra == rb {", "b.Place > now {"},
		{"before.go", "return ra < rb", "return ra > rb"},
		{"group.go", "g.Rank > last", "g.Rank < last"},
		{"after.go", "if rank(now) < n {", "if rank(now) <= n {"},
		{"after.go", "last := least(rank(first)+1) - 1", "last := least(rank(first) + 1)"},
		{"after.go", "last := least(rank(first)+1) - 1", "last := least(n+1) - 1"},
		{"after.go", "return min(max(wish, first), last)", "return min(max(first, 0), max(last, first))"},
		{"after.go", "return min(max(wish, first), last)", "return max(wish, first, min(last, 0))"},
		{"after.go", "if n > 0 && t.Key.Place > now {", "if n > len(own.Classes)+1<<20 {"},
	},
	"ratio": {
		{"ratio.go", "if r > 0 || index.Below", "if r < 0 || index.Below"},
		{"ratio.go", "index.Below(a.lane, key) > q {", "index.Below(a.lane, key) >= q {"},
		{"ratio.go", "if a.debt > v {", "if a.debt >= v {"},
		{"ratio.go", "return min(q, index.Below(a.lane, Key{Place: now + 1}))", "return q"},
		{"ratio.go", "Key{Place: now + 1}", "Key{Place: now}"},
		{"ratio.go", "b.round / b.rule.ShareOf(group)", "b.round/b.rule.ShareOf(group) + 1"},
		{"ratio.go", "min(max(b.debts[class][group], 0), stride), stride", "max(b.debts[class][group], 0), stride"},
		{"ratio.go", "return a.debt + int64(i)*a.stride", "return a.debt + int64(i+1)*a.stride"},
		{"ratio.go", "ok && latest.Less(key)", "ok && key.Less(latest)"},
		{"ratio.go", "At(own[j].lane, n-1)", "At(own[j].lane, n)"},
		{"ratio.go", "if !ok || key.Place > now {\n\t\t\tcontinue", "if !ok {\n\t\t\tcontinue"},
		{"ratio.go", "ratioBefore(now, key, a.due(n), stop, due)", "key.Less(stop)"},
		{"ratio.go", "at, stop, due = i, key, a.due(n)", "at, stop, due = i, key, a.debt"},
		{"ratio.go", "max(0, t.debt[j]-v)", "t.debt[j] - v"},
		{"ratio.go", "t.debt[i] = t.stride[i]", "t.debt[i] = t.stride[i] + v"},
		{"before.go", "dueA < dueB || dueA == dueB && a.Less(b)", "dueA < dueB"},
		{"before.go", "dueA < dueB || dueA == dueB && a.Less(b)", "dueA < dueB || dueA == dueB && a.Seq < b.Seq"},
		{"group.go", "return a / x * b", "return a * b"},
		{"pick.go", "w.head.Key.Place > now {\n\t\treturn nil", "w.head.Key.Place >= now {\n\t\treturn nil"},
		{"pick.go", "Better(now, w.head, Ratio, best.head, Ratio)", "w.before(now, best, rule)"},
	},
}

// oracleTests hold the package against the oracle; most mutants fall in the
// first of them.
var oracleTests = []string{
	"TestRankIsHowManyWouldBeCalledBefore",
	"TestPickTakesWhomTheOracleTakes",
	"TestAfterIsTheFirstPlaceBehind",
	"TestBeforeIsTheOrder",
}

// A test that passes with a wrong formula has proved nothing of the right one.
func TestOracleCatchesMutants(t *testing.T) {
	t.Parallel()
	for discipline, wrong := range mutants {
		for i, m := range wrong {
			if i > 0 && !torture() {
				break
			}
			t.Run(discipline, func(t *testing.T) {
				t.Parallel()
				m.mustBeCaught(t)
			})
		}
	}
}

// mustBeCaught runs the oracle's tests with the mistake in the package.
func (m mutant) mustBeCaught(t *testing.T) {
	t.Helper()
	binary := m.build(t)
	for _, test := range oracleTests {
		run := exec.CommandContext(t.Context(), binary, "-test.run", "^"+test+"$", "-test.timeout", "2m")
		run.Env = append(os.Environ(), "DENGXU_TORTURE=") // the short run must do
		out, err := run.CombinedOutput()
		if _, failed := errors.AsType[*exec.ExitError](err); failed {
			return
		}
		if err != nil || string(out) != "PASS\n" { // also when it has no such test
			t.Fatalf("%s in a mutant: %v\n%s", test, err, out)
		}
	}
	t.Errorf("%s: nobody noticed %q for %q", m.file, m.is, m.was)
}

// build makes a test binary of this package with the mistake in it. The source
// itself stays as it is.
func (m mutant) build(t *testing.T) (binary string) {
	t.Helper()
	original, err := filepath.Abs(m.file)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), m.was); n != 1 {
		t.Fatalf("%s has %q %d times, want once", m.file, m.was, n)
	}
	dir := t.TempDir()
	wrong, overlay := filepath.Join(dir, m.file), filepath.Join(dir, "overlay.json")
	write(t, wrong, []byte(strings.Replace(string(source), m.was, m.is, 1)))
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: wrong}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, overlay, replace)
	binary = filepath.Join(dir, "mutant.test")
	compile := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", overlay, "-vet=off", "-ldflags=-s -w", "-o", binary, ".")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("build with %q for %q: %v\n%s", m.is, m.was, err, out)
	}
	return binary
}

func write(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
