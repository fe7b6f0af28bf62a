package order_test

import (
	"math/rand/v2"
	"testing"

	"github.com/dengxu/dengxu/internal/order"
)

// allowance is who may still be called before somebody who is overdue.
type allowance struct {
	left  int
	since int64
}

// Whoever is overdue in strict waits for those only who stand before them by
// (place, seq), and a later arrival is one of these by a head start alone: so
// nobody waits for ever, however many of better groups come.
func TestOverdueWaitForNobodyBehindThem(t *testing.T) {
	t.Parallel()
	judged, passed := 0, 0
	for seed := range uint64(snapshots() / 6) {
		r := rand.New(rand.NewPCG(seed, 6))
		rule := randomRule(r, 30)
		rule.Discipline = order.Strict
		rules := []order.Rule{rule}
		if r.IntN(2) == 0 {
			rules = append(rules, randomRule(r, 30))
		}
		w := newRunning(r, rules...)
		overdue := map[uint64]*allowance{}
		for range 150 {
			switch r.IntN(5) {
			case 0:
				w.now += r.Int64N(30)
			case 1, 2:
				came := w.join(r.IntN(len(rules)), []string{"a", "b"}[r.IntN(2)])
				for seq, o := range overdue {
					if came.line == 0 && came.Key.Less(w.waits[seq].Key) {
						o.left++
					}
				}
			default:
				for _, m := range w.pick(1 + r.IntN(2)) {
					if m.line != 0 {
						w.leave(m)
						continue
					}
					delete(overdue, m.Key.Seq)
					w.leave(m)
					for seq, o := range overdue {
						if o.left--; o.left < 0 {
							t.Fatalf("seed %d: %+v was called before %+v, overdue since %d", seed, m, w.waits[seq], o.since)
						}
					}
				}
			}
			for seq, m := range w.waits {
				if m.line != 0 || w.now-m.Key.Place < rule.Escalate || overdue[seq] != nil {
					continue
				}
				o := &allowance{since: w.now}
				for _, other := range w.waits {
					if other.line == 0 && other.Key.Less(m.Key) {
						o.left++
					}
				}
				overdue[seq] = o
				judged++
				passed += o.left
			}
		}
	}
	if judged == 0 || passed == 0 {
		t.Errorf("%d were overdue behind %d: nothing was tried", judged, passed)
	}
	t.Logf("%d were overdue, behind %d", judged, passed)
}
