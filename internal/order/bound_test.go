package order_test

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/dengxu/dengxu/internal/order"
)

// waiter is a member with what the bound speaks about.
type waiter struct {
	order.Member
	line   int
	joined int64
	factor int64 // that it counts with between and within lines, in twentieths
}

// running is several lines of a partition while time goes by.
type running struct {
	r     *rand.Rand
	now   int64
	lines []order.Line
	heads bool // head starts are given
	seq   uint64
	waits map[uint64]waiter
}

func newRunning(r *rand.Rand, rules ...order.Rule) *running {
	w := &running{r: r, now: 1_767_225_600_000, heads: r.IntN(2) == 0, waits: map[uint64]waiter{}}
	for _, rule := range rules {
		w.lines = append(w.lines, order.Line{Rule: rule, Index: newIndex(), Debts: order.Debts{}})
	}
	return w
}

// join adds somebody to a line, in a lane that its rule allows.
func (w *running) join(line int, class string) waiter {
	w.seq++
	lane := randomLane(w.r, w.lines[line].Rule, class, paces)
	m := waiter{line: line, joined: w.now, factor: order.Ordinary}
	m.Member = order.Member{Lane: lane, Key: order.Key{Place: w.now, Seq: w.seq}}
	if w.lines[line].Rule.Discipline == order.Aging {
		m.factor = int64(lane.K)
	}
	if w.heads && w.r.IntN(2) == 0 {
		m.Key.Place -= w.r.Int64N(200) - 60 // a negative one is a penalty
	}
	w.lines[line].Index.(*sliceIndex).add(m.Member)
	w.waits[w.seq] = m
	return m
}

// leave takes somebody away, as a call or a cancel does.
func (w *running) leave(m waiter) {
	delete(w.waits, m.Key.Seq)
	w.lines[m.line].Index.(*sliceIndex).remove(m.Member)
}

// pick asks for up to n, and keeps what they charged; what an undeclared group
// owes stays as it is while nobody stands in it.
func (w *running) pick(n int) []waiter {
	var called []waiter
	for _, c := range order.Pick(w.now, w.lines, order.Oldest, n, 0) {
		called = append(called, w.waits[c.Member.Key.Seq])
		class := c.Member.Lane.Class
		if debts := w.lines[c.Line].Debts; debts[class] == nil {
			debts[class] = map[string]int64{}
		}
		maps.Copy(w.lines[c.Line].Debts[class], c.Debts)
	}
	return called
}

// fair is the published bound for a called while b waits: waits and head starts
// of b weigh less than (g/f) times those of a. It is promised to those who are
// in a line of aging or epoch; a may come from any.
func (w *running) fair(a, b waiter) bool {
	if a.Key.Place > w.now && b.Key.Place > w.now {
		return b.Key.Place > a.Key.Place || b.Key.Place == a.Key.Place && b.Key.Seq > a.Key.Seq
	}
	wa, ha := w.now-a.joined, a.joined-a.Key.Place
	wb, hb := w.now-b.joined, b.joined-b.Key.Place
	left, right := (wb+hb)*a.factor, (wa+ha)*b.factor
	if b.Key.Seq > a.Key.Seq {
		return left <= right
	}
	if !w.heads && wb*a.factor >= wa*b.factor {
		return false // the plain sentence, true without head starts
	}
	return left < right
}

func TestNobodyIsPassedBeyondTheBound(t *testing.T) {
	t.Parallel()
	passes := 0
	for seed := range uint64(snapshots() / 6) {
		r := rand.New(rand.NewPCG(seed, 3))
		rules := make([]order.Rule, 1+r.IntN(3))
		for i := range rules {
			if rules[i] = randomRule(r, 30); r.IntN(3) > 0 {
				rules[i].Discipline = order.Aging
			}
		}
		w := newRunning(r, rules...)
		for range 80 {
			switch r.IntN(5) {
			case 0, 1:
				w.now += r.Int64N(40)
			case 2, 3:
				w.join(r.IntN(len(rules)), "")
			default:
				for _, a := range w.pick(1) {
					w.leave(a)
					for _, b := range w.waits {
						if d := rules[b.line].Discipline; d == order.Strict || d == order.Ratio {
							continue
						}
						if passes++; !w.fair(a, b) {
							t.Fatalf("seed %d: at %d, %+v was called before %+v", seed, w.now, a, b)
						}
					}
				}
			}
		}
	}
	t.Logf("%d pairs", passes)
}

// What max_overtake promises, over all factors and without head starts: nobody
// passes another who has waited overtake times as long or longer.
func TestClampKeepsThePromiseOfOvertake(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	for range 20_000 {
		largest := int32(1 + r.IntN(12_000))
		thousandths := 1000 + r.Int64N(20_000)
		overtake := float64(thousandths) / 1000
		f := order.ClampOvertake(int32(r.IntN(25_000)), largest, overtake)
		g := order.ClampOvertake(int32(r.IntN(25_000)), largest, overtake)
		for _, x := range []int32{f, g} {
			if x%50 != 0 || x < 50 || x > order.RoundFactor(largest) {
				t.Fatalf("largest %d, overtake %v: factor %d", largest, overtake, x)
			}
		}
		// A member of f passes one of g only under w_b < (g/f)·w_a.
		if int64(g)*1000 > int64(f)*thousandths {
			t.Fatalf("largest %d, overtake %v: %d against %d", largest, overtake, f, g)
		}
	}
}
