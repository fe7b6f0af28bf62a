package engine

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store/memstore"
	"github.com/dengxu/dengxu/internal/store/pebblestore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

// overStores runs a test on the stores that need no server.
func overStores(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		clock := storetest.NewClock()
		s := memstore.New(memstore.Options{Wall: clock.Wall, Mono: clock.Mono})
		t.Cleanup(func() { _ = s.Close() })
		test(t, rigOver(t, s, clock))
	})
	t.Run("pebble", func(t *testing.T) {
		t.Parallel()
		clock := storetest.NewClock()
		s, err := pebblestore.Open(pebblestore.Options{Dir: t.TempDir(), Wall: clock.Wall, Mono: clock.Mono})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		test(t, rigOver(t, s, clock))
	})
}

// waiting are the tokens of queue main that wait.
func (r *rig) waiting() []dengxu.Token {
	r.Helper()
	page, err := r.QueueTokens(r.Context(), "main", dengxu.TokenFilter{States: []dengxu.State{dengxu.StateWaiting}, Limit: maxPageSize})
	if err != nil || page.NextCursor != "" {
		r.Fatalf("list: %d and more, %v", len(page.Items), err)
	}
	return page.Items
}

// fairTo fails unless a, that was called at now, was allowed to pass b: what b
// has waited, and its head start, is less than g/f times that of a, or as much
// when b came later. Without head starts and misses that is the plain sentence
// of waits, and max_overtake bounds it whatever the factors are.
func (r *rig) fairTo(a, b *dengxu.Token, now time.Time, overtake float64) {
	r.Helper()
	f, g := thousandths(a.Factor), thousandths(b.Factor)
	left, right := now.Sub(b.Place).Milliseconds()*int64(f), now.Sub(a.Place).Milliseconds()*int64(g)
	if a.Place.After(now) { // then b's place is not before it
		left, right = b.Place.UnixMilli(), a.Place.UnixMilli()
		left, right = -left, -right
	}
	if left > right || left == right && a.Misses+b.Misses == 0 && a.JoinedAt.After(b.JoinedAt) {
		r.Fatalf("%s (factor %d, place %v) was called before %s (factor %d, place %v) at %v", a.Number, f, a.Place, b.Number, g, b.Place, now)
	}
	plain := a.Place.Equal(a.JoinedAt) && b.Place.Equal(b.JoinedAt)
	if waitA, waitB := now.Sub(a.JoinedAt), now.Sub(b.JoinedAt); overtake > 0 && plain && waitA < waitB && float64(waitB) >= overtake*float64(waitA)+1 {
		r.Fatalf("%s passed %s, which had waited %v and not %v: more than %v times as long", a.Number, b.Number, waitB, waitA, overtake)
	}
}

// TestBoundHoldsInARunningLine: whatever people do, short of moving somebody by
// hand, nobody is passed by more than was promised.
func TestBoundHoldsInARunningLine(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		overtake := []float64{0, 1.5, 3}[seed%3]
		heads := seed%2 == 0
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			overStores(t, func(t *testing.T, r *rig) {
				t.Helper()
				rng := rand.New(rand.NewPCG(seed, 4))
				r.agingHall(rng, overtake, heads)
				passed := make(passes)
				for range 150 {
					r.fairStep(rng, overtake, passed)
				}
				if len(passed) == 0 {
					t.Error("nobody was passed: nothing was tested")
				}
				r.clean()
			})
		})
	}
}

// agingHall is a hall with groups of random factors.
func (r *rig) agingHall(rng *rand.Rand, overtake float64, heads bool) {
	r.Helper()
	groups := map[string]dengxu.Group{"ordinary": {Factor: new(0.5 + rng.Float64())}}
	for _, name := range []string{"a", "b", "c"} {
		g := dengxu.Group{Factor: new(0.1 + 1.4*rng.Float64())}
		if heads {
			g.HeadStartSeconds = float64(rng.IntN(120) - 20)
		}
		groups[name] = g
	}
	r.site("hall", `{"time_zone":"UTC"}`)
	set := dengxu.Queue{
		Site: "hall", Groups: groups, MinFactor: new(0.05), MaxOvertake: overtake,
		CallTimeoutSeconds: new(7200.0), Missed: &dengxu.Missed{PenaltySeconds: new(20.0), MaxMisses: new(9)}, RecallGapSeconds: new(1.0),
	}
	if _, err := r.PutQueue(r.Context(), staffer, "main", set, 0); err != nil {
		r.Fatal(err)
	}
	r.counter("1", `{"site":"hall","queues":["main"]}`)
}

// passes are the numbers of those who came later and were called before a
// token, while it waited.
type passes map[dengxu.TokenID]map[string]bool

// fairStep does one thing in the hall, notes who was passed by it, and holds
// what somebody's explanation says against what was noted.
func (r *rig) fairStep(rng *rand.Rand, overtake float64, passed passes) {
	r.Helper()
	r.clock.Advance(time.Millisecond) // what happens at once is not told apart
	switch rng.IntN(8) {
	case 0, 1, 2:
		r.join("main", dengxu.JoinRequest{PriorityGroup: []string{"ordinary", "a", "b", "c"}[rng.IntN(4)]})
		return
	case 3, 4:
		r.pass(time.Duration(rng.IntN(20_000)) * time.Millisecond)
		return
	case 5:
		if all := r.waiting(); len(all) > 0 {
			r.do(dengxu.VerbCancel, all[rng.IntN(len(all))].ID, dengxu.VerbRequest{})
		}
		return
	}
	before := r.waiting()
	current := []string{"complete", "complete", "miss", "requeue"}[rng.IntN(4)]
	done, err := r.CallNext(r.Context(), staffer, "1", "", dengxu.CallRequest{Current: current})
	if err != nil {
		r.Fatal(err)
	}
	called := done.Value.Token
	if called == nil {
		return
	}
	for i := range before {
		b := &before[i]
		if b.ID == called.ID {
			r.trueOf(b, passed)
			continue
		}
		r.fairTo(called, b, called.CalledAt, overtake)
		if b.Number < called.Number { // which is the order of arrival here
			if passed[b.ID] == nil {
				passed[b.ID] = make(map[string]bool)
			}
			passed[b.ID][called.Number] = true
		}
		if i == 0 {
			r.trueOf(b, passed)
		}
	}
}

// trueOf fails unless an explanation names exactly those who passed, each with
// a reason, and none that its bound excludes.
func (r *rig) trueOf(b *dengxu.Token, passed passes) {
	r.Helper()
	x := r.explain(b.ID)
	named := make(map[string]bool)
	for _, p := range x.PassedBy {
		named[p.Number] = true
		switch {
		case p.Why == rivalUnknown && b.Misses == 0 && x.Place.Equal(b.Place):
			other, _ := r.SiteTokens(r.Context(), "hall", dengxu.TokenFilter{Number: p.Number})
			if other.Items[0].Misses == 0 {
				r.Fatalf("%s was passed by %s for no reason: %+v", x.Number, p.Number, p)
			}
		case x.Bound != nil && !x.Bound.Before.IsZero() && !p.JoinedAt.Before(x.Bound.Before):
			r.Fatalf("%s was passed by %s, which joined at %v: %+v", x.Number, p.Number, p.JoinedAt, x.Bound)
		}
	}
	if x.PassedByWhole && !maps.Equal(named, passed[b.ID]) || !x.PassedByWhole && len(named) != maxRivals {
		r.Fatalf("%s was passed by %v, and is told %v (whole: %t)", x.Number, passed[b.ID], named, x.PassedByWhole)
	}
}

// TestSharesHoldAtThreeCounters: three counters call at once, as fast as they
// can, and in every window of calls each group has its share, to within one call
// of each.
func TestSharesHoldAtThreeCounters(t *testing.T) {
	t.Parallel()
	const calls = 60
	for _, shares := range []map[string]int{
		{"ordinary": 1, "VIP": 3},
		{"ordinary": 2, "VIP": 3, "staff": 1, "press": 7},
	} {
		t.Run(fmt.Sprint(shares), func(t *testing.T) {
			t.Parallel()
			overStores(t, func(t *testing.T, r *rig) {
				t.Helper()
				r.site("hall", `{"time_zone":"UTC"}`)
				set := dengxu.Queue{Site: "hall", Ordering: orderRatio, Groups: map[string]dengxu.Group{}}
				for name, share := range shares {
					set.Groups[name] = dengxu.Group{Share: &share}
				}
				if _, err := r.PutQueue(t.Context(), staffer, "main", set, 0); err != nil {
					t.Fatal(err)
				}
				for name := range shares {
					for range calls { // so that every group always waits
						r.join("main", dengxu.JoinRequest{PriorityGroup: name})
					}
				}
				wantShares(t, r.callAtOnce(calls), shares)
				r.clean()
			})
		})
	}
}

// callAtOnce lets three counters call at once until so many were called, and
// returns the groups in the order of the calls.
func (r *rig) callAtOnce(calls int) (groups []string) {
	r.Helper()
	var all []dengxu.Token
	var mu sync.Mutex // guards all
	var wait sync.WaitGroup
	for _, id := range []dengxu.CounterID{"1", "2", "3"} {
		r.counter(id, `{"site":"hall","queues":["main"]}`)
		wait.Go(func() {
			for range calls / 3 {
				done, err := r.CallNext(context.Background(), staffer, id, "", dengxu.CallRequest{Current: "complete"})
				if err != nil || done.Value.Token == nil {
					r.Errorf("counter %s called %v, %v", id, done.Value.Token, err)
					return
				}
				mu.Lock()
				all = append(all, *done.Value.Token)
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	slices.SortFunc(all, func(a, b dengxu.Token) int { return int(a.CallNo) - int(b.CallNo) })
	for i := range all {
		groups = append(groups, all[i].PriorityGroup)
	}
	return groups
}

// wantShares holds every window of calls against the guarantee of order:
// |n_a/s_a − n_b/s_b| ≤ 1/s_a + 1/s_b, in whole numbers.
func wantShares(t *testing.T, groups []string, shares map[string]int) {
	t.Helper()
	for from := range groups {
		n := make(map[string]int)
		for to := from; to < len(groups); to++ {
			n[groups[to]]++
			for a, sa := range shares {
				for b, sb := range shares {
					if off := n[a]*sb - n[b]*sa; off > sa+sb {
						t.Fatalf("in the calls from %d to %d %s has %d and %s has %d: %v", from, to, a, n[a], b, n[b], groups[from:to+1])
					}
				}
			}
		}
	}
}

// TestNobodyWaitsForEver: before every call somebody joins who goes first, and
// whoever is worst off is called all the same, after as many calls as each
// ordering promises at most.
func TestNobodyWaitsForEver(t *testing.T) {
	t.Parallel()
	const inLine, every = 6, 10 * time.Second
	for _, c := range []struct {
		name, set string
		before    int // of the same group, before the last
		most      int // calls
	}{
		// It is passed by those who join in the first three quarters of its
		// wait: of those in the last quarter and the line so many are before it.
		{"aging", `{"groups":{"VIP":{"factor":0.25}}}`, 0, 4 * (inLine + 3)},
		{"aging with head starts", `{"groups":{"VIP":{"factor":0.5,"head_start_seconds":100}}}`, 0, 2 * (inLine + 3 + 10)},
		// After six minutes it is overdue; before it go only those who are too.
		{"strict", `{"ordering":"strict","escalate_after_seconds":360,"groups":{"VIP":{}}}`, 0, 360/10 + inLine + 3},
		// One of twenty calls is its group's, and two of the group are before it.
		{"ratio", `{"ordering":"ratio","groups":{"VIP":{"share":19}}}`, 2, 3 * 20},
		// It joined four minutes after the day's start: who joins eight minutes
		// later than that, at half the time, stands behind it.
		{"epoch", `{"ordering":"epoch","groups":{"VIP":{"factor":0.5}}}`, 0, 2*240/10 + inLine},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			overStores(t, func(t *testing.T, r *rig) {
				t.Helper()
				r.site("hall", `{"time_zone":"UTC","day_start":"09:00"}`)
				r.clock.Advance(4 * time.Minute)
				set := setting[dengxu.Queue](t, c.set)
				set.Site = "hall"
				if _, err := r.PutQueue(t.Context(), staffer, "main", set, 0); err != nil {
					t.Fatal(err)
				}
				r.counter("1", `{"site":"hall","queues":["main"]}`)
				for range inLine {
					r.join("main", dengxu.JoinRequest{PriorityGroup: "VIP"})
				}
				for range c.before {
					r.join("main", dengxu.JoinRequest{})
				}
				last := r.join("main", dengxu.JoinRequest{})
				for n := 1; ; n++ {
					r.clock.Advance(every)
					r.join("main", dengxu.JoinRequest{PriorityGroup: "VIP"})
					done, err := r.CallNext(t.Context(), staffer, "1", "", dengxu.CallRequest{Current: "complete"})
					if err != nil {
						t.Fatal(err)
					}
					if done.Value.Token.ID == last.ID {
						t.Logf("called after %d of at most %d", n, c.most)
						return
					}
					if n > c.most {
						t.Fatalf("not called in %d calls", n)
					}
				}
			})
		})
	}
}
