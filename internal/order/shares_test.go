package order_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dengxu/dengxu/internal/order"
)

// sharing watches the calls of one class of a ratio line. A group waits while a
// callable member stands, and what is promised to groups holds between calls
// through which they wait.
type sharing struct {
	share map[string]int64
	waits map[string]int // callable members, by group
	// balance is, for two groups that wait, how far their calls went apart since
	// both do, in calls times shares, with its extremes.
	balance map[[2]string]*apart
	// others is how many of other groups were called since the group was, or
	// began to wait.
	others map[string]int64
	edge   int // judgements in which two groups were as far apart as is allowed
}

type apart struct{ now, low, high int64 }

func newSharing(rule order.Rule) *sharing {
	s := &sharing{share: map[string]int64{}, waits: map[string]int{}}
	for _, group := range groups {
		s.share[group] = 1
	}
	for _, g := range rule.Groups {
		s.share[g.Name] = int64(g.Share)
	}
	s.forget()
	return s
}

// forget begins anew: what groups owe was changed by something else than calls.
func (s *sharing) forget() {
	s.balance, s.others = map[[2]string]*apart{}, map[string]int64{}
}

// stand is that n callable members of a group came or went.
func (s *sharing) stand(group string, n int) {
	if s.waits[group] += n; s.waits[group] > 0 {
		return
	}
	delete(s.others, group)
	for pair := range s.balance {
		if pair[0] == group || pair[1] == group {
			delete(s.balance, pair)
		}
	}
}

// called judges a call of a group, before its member goes.
func (s *sharing) called(group string) error {
	for _, a := range groups {
		if s.waits[a] == 0 {
			continue
		}
		if a == group {
			s.others[a] = 0
		} else if s.others[a]++; s.others[a] > s.patience(a) {
			return fmt.Errorf("%s waits for %d calls of others, %d at most", a, s.others[a], s.patience(a))
		}
		for _, b := range groups {
			if s.waits[b] == 0 || a >= b {
				continue
			}
			pair := [2]string{a, b}
			if s.balance[pair] == nil {
				s.balance[pair] = &apart{}
			}
			p := s.balance[pair]
			switch group {
			case a:
				p.now += s.share[b]
			case b:
				p.now -= s.share[a]
			}
			// n_a·s_b − n_b·s_a over a window is the difference of two of its values.
			p.low, p.high = min(p.low, p.now), max(p.high, p.now)
			most, off := s.share[a]+s.share[b], max(p.high-p.now, p.now-p.low)
			if off == most {
				s.edge++
			}
			if off > most {
				return fmt.Errorf("%s and %s: calls times shares are apart by %+v, %d at most", a, b, *p, most)
			}
		}
	}
	return nil
}

// patience is how many calls of other groups a group waits for at most: it owes
// one stride at most, and in that time each other has ⌊share/its share⌋ calls
// and the one it was about to have.
func (s *sharing) patience(group string) int64 {
	n := int64(0)
	for other, share := range s.share {
		if other != group {
			n += share/s.share[group] + 1
		}
	}
	return n
}

// ratioRun is a ratio line under three counters that call at once.
type ratioRun struct {
	*running
	classes []string
	watch   map[string]*sharing
}

func newRatioRun(r *rand.Rand) *ratioRun {
	rule := randomRule(r, 30)
	rule.Discipline = order.Ratio
	run := &ratioRun{running: newRunning(r, rule), classes: []string{"a", "b", "c"}[:1+r.IntN(3)], watch: map[string]*sharing{}}
	run.lines[0].Debts = randomDebts(r, rule, run.classes)
	for _, class := range run.classes {
		run.watch[class] = newSharing(rule)
	}
	return run
}

// count tells the watch that a member came or went; one in the future counts
// from when its place is now.
func (run *ratioRun) count(m waiter, n int) {
	if m.Key.Place <= run.now {
		run.watch[m.Lane.Class].stand(m.Lane.Group, n)
	}
}

func (run *ratioRun) step() error {
	switch run.r.IntN(40) {
	case 0: // a new day
		run.lines[0].Debts = order.Debts{}
		for _, class := range run.classes {
			run.watch[class].forget()
		}
	case 1, 2: // somebody leaves, and nobody owes for it
		if seqs := slices.Sorted(maps.Keys(run.waits)); len(seqs) > 0 {
			m := run.waits[seqs[run.r.IntN(len(seqs))]]
			run.count(m, -1)
			run.leave(m)
		}
	case 3, 4, 5, 6, 7, 8, 9:
		before := run.now
		run.now += run.r.Int64N(30)
		for _, m := range run.waits {
			if m.Key.Place > before {
				run.count(m, 1)
			}
		}
	case 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24:
		run.count(run.join(0, run.classes[run.r.IntN(len(run.classes))]), 1)
	default:
		for _, m := range run.pick(1 + run.r.IntN(3)) {
			if m.Key.Place <= run.now {
				if err := run.watch[m.Lane.Class].called(m.Lane.Group); err != nil {
					return err
				}
			}
			run.count(m, -1)
			run.leave(m)
		}
	}
	return nil
}

// While two groups wait, in any window of calls |n_a/s_a − n_b/s_b| is at most
// 1/s_a + 1/s_b, which for two groups alone is one call from their shares; and
// no group that waits is left out for long, whoever comes and goes.
func TestSharesAreKeptInEveryWindow(t *testing.T) {
	t.Parallel()
	edge := 0
	for seed := range uint64(snapshots() / 6) {
		run := newRatioRun(rand.New(rand.NewPCG(seed, 5)))
		for range 300 {
			if err := run.step(); err != nil {
				t.Fatalf("seed %d, %+v: %v", seed, run.lines[0].Rule, err)
			}
		}
		for _, s := range run.watch {
			edge += s.edge
		}
	}
	if edge == 0 {
		t.Error("no two groups were ever as far apart as is allowed: nothing was tried")
	}
	t.Logf("%d times as far apart as is allowed", edge)
}

// A counter over two groups that both wait is never more than one call away
// from their shares, and over whole rounds exactly on them.
func TestTwoGroupsShareByTheirShares(t *testing.T) {
	t.Parallel()
	for a := 1; a <= 20; a++ {
		for b := 1; b <= 20; b++ {
			rule := order.Rule{Discipline: order.Ratio, Groups: []order.Group{{Name: "a", Share: a}, {Name: "b", Share: b}}}
			var all []order.Member
			for i := range 4 * (a + b) {
				for _, g := range rule.Groups {
					all = append(all, order.Member{Lane: order.Lane{Group: g.Name}, Key: order.Key{Place: int64(i), Seq: uint64(len(all) + 1)}})
				}
			}
			line := order.Line{Rule: rule, Index: newIndex(all...)}
			n := 0
			for i, c := range order.Pick(1_000_000, []order.Line{line}, order.Oldest, 3*(a+b), 0) {
				if c.Member.Lane.Group == "a" {
					n++
				}
				calls := i + 1
				if off := n*(a+b) - calls*a; max(off, -off) > a+b || calls%(a+b) == 0 && off != 0 {
					t.Fatalf("shares %d and %d: %d of %d calls", a, b, n, calls)
				}
			}
		}
	}
}
