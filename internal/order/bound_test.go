package order_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dengxu/dengxu/internal/order"
)

// waiter is a member with what the bound speaks about.
type waiter struct {
	order.Member
	joined int64
	factor int64 // that it counts with between and within lines, in twentieths
}

// running is several lines of a partition while time goes by.
type running struct {
	r      *rand.Rand
	now    int64
	lines  []order.Line
	heads  bool // head starts are given
	seq    uint64
	waits  map[uint64]waiter
	passes int
}

func newRunning(r *rand.Rand) *running {
	w := &running{r: r, now: 1_767_225_600_000, heads: r.IntN(2) == 0, waits: map[uint64]waiter{}}
	for range 1 + r.IntN(3) {
		line := order.Line{Index: newIndex()}
		if r.IntN(5) == 0 {
			line.Rule.Discipline = order.Epoch
		}
		w.lines = append(w.lines, line)
	}
	return w
}

func (w *running) join() {
	w.seq++
	line := w.lines[w.r.IntN(len(w.lines))]
	k := paces[w.r.IntN(len(paces))]
	m := waiter{joined: w.now, factor: int64(k)}
	m.Lane.K = k
	m.Key = order.Key{Place: w.now, Seq: w.seq}
	if line.Rule.Discipline == order.Epoch {
		m.factor = order.Ordinary
	}
	if w.heads && w.r.IntN(2) == 0 {
		m.Key.Place -= w.r.Int64N(200) - 60 // a negative one is a penalty
	}
	line.Index.(*sliceIndex).add(m.Member)
	w.waits[w.seq] = m
}

func (w *running) call() error {
	choices := order.Pick(w.now, w.lines, order.Oldest, 1, 0)
	if len(choices) == 0 {
		return nil
	}
	c := choices[0]
	a := w.waits[c.Member.Key.Seq]
	delete(w.waits, c.Member.Key.Seq)
	w.lines[c.Line].Index.(*sliceIndex).remove(c.Member)
	for _, b := range w.waits {
		w.passes++
		if !w.fair(a, b) {
			return fmt.Errorf("at %d, %+v was called before %+v", w.now, a, b)
		}
	}
	return nil
}

// fair is the published bound for a called while b waits: waits and head starts
// of b weigh less than (g/f) times those of a.
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
		w := newRunning(rand.New(rand.NewPCG(seed, 3)))
		for range 80 {
			switch w.r.IntN(5) {
			case 0, 1:
				w.now += w.r.Int64N(40)
			case 2, 3:
				w.join()
			default:
				if err := w.call(); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		}
		passes += w.passes
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
