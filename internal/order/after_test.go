package order_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/dengxu/dengxu/internal/order"
)

// farthest is the age in ms behind which After places nobody: 2^35.
const farthest = 34_359_738_368

// afterAsk is one random question to After.
type afterAsk struct {
	s        *snapshot
	line     int
	x        order.Member
	n        int
	dayStart int64
	factor   int32
	own      []token // x's class without x
}

func randomAfter(r *rand.Rand, s *snapshot) afterAsk {
	a := afterAsk{s: s, line: r.IntN(len(s.lines)), dayStart: s.now - r.Int64N(5000), factor: int32(50 * (1 + r.IntN(60)))}
	a.x = order.Member{Lane: order.Lane{K: paces[r.IntN(len(paces))]}, Key: order.Key{Place: s.now - 7, Seq: 1000}}
	if len(s.tokens) > 0 {
		m := s.tokens[r.IntN(len(s.tokens))]
		a.line = m.line
		if a.x.Lane.Class = m.member.Lane.Class; r.IntN(2) == 0 {
			a.x = m.member // stands in the line and is left out
		}
	}
	for _, t := range s.tokens {
		if t.line == a.line && t.member.Lane.Class == a.x.Lane.Class && t.member != a.x {
			a.own = append(a.own, t)
		}
	}
	a.n = r.IntN(len(a.own) + 3)
	return a
}

func (a afterAsk) epoch() bool { return a.s.lines[a.line].Rule.Discipline == order.Epoch }

// tail is the place of joining now.
func (a afterAsk) tail() int64 {
	if a.epoch() {
		return floorScale(a.s.now, a.dayStart, a.factor)
	}
	return a.s.now
}

func floorScale(place, dayStart int64, factor int32) int64 {
	x := new(big.Int).Mul(big.NewInt(place-dayStart), big.NewInt(int64(factor)))
	return dayStart + x.Div(x, big.NewInt(1000)).Int64() // Euclid: down for a positive divisor
}

// rankAt is how many of x's class are before x at a place with the newest seq.
func (a afterAsk) rankAt(place int64) int {
	one := snapshot{now: a.s.now, lines: []order.Line{{Rule: a.s.lines[a.line].Rule, Index: newIndex()}}}
	one.add(0, order.Member{Lane: a.x.Lane, Key: order.Key{Place: place, Seq: math.MaxUint64}})
	x, n := one.tokens[0], 0
	for _, t := range a.own {
		if a.s.before(t, x, t.priority, x.priority) {
			n++
		}
	}
	return n
}

// firstPlace bisects for the first place from low at which rankAt is at least n.
func (a afterAsk) firstPlace(low int64, n int) int64 {
	high := a.s.now + 10 // behind all futures
	return low + int64(sort.Search(int(high-low), func(i int) bool { return a.rankAt(low+int64(i)) >= n }))
}

// place is what After must answer, found by trying places.
func (a afterAsk) place() int64 {
	switch {
	case len(a.own) == 0:
		return max(0, a.tail())
	case a.n > len(a.own):
		last := a.own[0]
		for _, t := range a.own {
			if a.s.before(last, t, last.priority, t.priority) {
				last = t
			}
		}
		return max(0, a.tail(), last.member.Key.Place)
	case a.n == 0:
		return max(0, min(a.tail(), a.firstPlace(0, 1)-1))
	case a.epoch():
		return a.firstPlace(0, a.n)
	}
	return a.firstPlace(max(0, a.s.now-farthest), a.n)
}

// exact is the published condition under which rank n itself is reached.
func (a afterAsk) exact() bool {
	slices.SortFunc(a.own, func(p, q token) int {
		if a.s.before(p, q, p.priority, q.priority) {
			return -1
		}
		return 1
	})
	if a.n == len(a.own) {
		return true
	}
	t, u := a.own[a.n-1].member, a.own[a.n].member
	if a.epoch() || t.Key.Place > a.s.now {
		return u.Key.Place > t.Key.Place
	}
	kx, kt, ku := int64(a.x.Lane.K), int64(t.Lane.K), int64(u.Lane.K)
	return u.Key.Place > a.s.now || (a.s.now-t.Key.Place)*kx/kt*ku > (a.s.now-u.Key.Place)*kx
}

func (a afterAsk) judge() error {
	got := order.After(a.s.now, a.x, a.n, a.s.lines[a.line], a.dayStart, a.factor)
	want := order.Placed{Place: a.place()}
	want.Rank = a.rankAt(want.Place)
	if got != want {
		return fmt.Errorf("got %+v, want %+v", got, want)
	}
	near := a.epoch() || a.s.now-got.Place < farthest
	if a.n >= 1 && a.n <= len(a.own) && near && got.Place > 0 && (got.Rank == a.n) != a.exact() {
		return fmt.Errorf("rank %d reached, but exact is %v", got.Rank, a.exact())
	}
	return nil
}

func TestAfterIsTheFirstPlaceBehind(t *testing.T) {
	t.Parallel()
	exact, inexact := 0, 0
	eachSnapshot(t, func(r *rand.Rand, s *snapshot) error {
		for range 2 {
			a := randomAfter(r, s)
			if err := a.judge(); err != nil {
				return fmt.Errorf("after %d of line %d, x %+v, day start %d, factor %d: %w", a.n, a.line, a.x, a.dayStart, a.factor, err)
			}
			if a.n < 1 || a.n > len(a.own) {
				continue
			}
			if a.exact() {
				exact++
			} else {
				inexact++
			}
		}
		return nil
	})
	if exact == 0 || inexact == 0 {
		t.Errorf("%d exact and %d inexact asks: one kind was not tried", exact, inexact)
	}
	t.Logf("%d exact, %d inexact", exact, inexact)
}

// Bisection in the test above rests on this: every place of a small line tried.
func TestRankNeverFallsAsPlaceGrows(t *testing.T) {
	t.Parallel()
	tried := 0
	for seed := range uint64(snapshots() / 10) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := randomSnapshot(r)
		a := randomAfter(r, s)
		oldest := s.now
		for _, t := range a.own {
			oldest = min(oldest, t.member.Key.Place)
		}
		if s.now-oldest > 100 {
			continue
		}
		last, first := 0, map[int]int64{}
		own := order.Line{Rule: order.Rule{Discipline: s.lines[a.line].Rule.Discipline}, Index: newIndex(members(a.own)...)}
		low := max(0, s.now-1000)
		for p := low; p < s.now+10; p++ {
			rank := a.rankAt(p)
			if rank < last {
				t.Fatalf("seed %d: rank %d at age %d, %d before\n%s", seed, rank, s.now-p, last, s)
			}
			if _, known := first[rank]; !known {
				first[rank] = p
			}
			last = rank
			x := order.Member{Lane: a.x.Lane, Key: order.Key{Place: p, Seq: math.MaxUint64}}
			if got := order.Rank(s.now, x, own); got != rank {
				t.Fatalf("seed %d: Rank %d at age %d, want %d\n%s", seed, got, s.now-p, rank, s)
			}
		}
		for rank, p := range first {
			if a.firstPlace(low, rank) != p {
				t.Fatalf("seed %d: bisection missed the first place of rank %d\n%s", seed, rank, s)
			}
		}
		tried++
	}
	if tried < 20 {
		t.Errorf("only %d lines were small enough", tried)
	}
}

func members(tokens []token) []order.Member {
	var all []order.Member
	for _, t := range tokens {
		all = append(all, t.member)
	}
	return all
}

// A negative n is before the first, and a line without the asker's lane works.
func TestAfterEdges(t *testing.T) {
	t.Parallel()
	at := func(k int, place int64, seq uint64) order.Member {
		return order.Member{Lane: order.Lane{Class: "a", K: k}, Key: order.Key{Place: place, Seq: seq}}
	}
	const now = 1_000_000
	x := at(10, now-50, 9)
	aging := func(m ...order.Member) order.Line { return order.Line{Index: newIndex(m...)} }
	epoch := func(m ...order.Member) order.Line {
		return order.Line{Index: newIndex(m...), Rule: order.Rule{Discipline: order.Epoch}}
	}
	for _, c := range []struct {
		name string
		line order.Line
		n    int
		want order.Placed
	}{
		{"nobody", aging(), 0, order.Placed{Place: now}},
		{"only oneself", aging(x), 1, order.Placed{Place: now}},
		{"only oneself, tail of epoch", epoch(x), 5, order.Placed{Place: now - 500}},
		{"negative", aging(at(20, now-100, 1)), -3, order.Placed{Place: now - 51}},
		{"first", aging(at(20, now-100, 1)), 0, order.Placed{Place: now - 51}},
		{"first of only futures", aging(at(20, now+100, 1)), 0, order.Placed{Place: now}},
		{"first behind 1970", aging(at(20, 0, 1), at(10, 0, 2)), 0, order.Placed{Place: 0, Rank: 1}},
		{"behind one", aging(at(20, now-101, 1)), 1, order.Placed{Place: now - 50, Rank: 1}},
		{"behind a tie of two", aging(at(20, now-100, 1), at(10, now-50, 2)), 1, order.Placed{Place: now - 50, Rank: 2}},
		{"behind more than stand", aging(at(20, now-100, 1)), 2, order.Placed{Place: now, Rank: 1}},
		{"behind the last future", aging(at(20, now+100, 1)), 2, order.Placed{Place: now + 100, Rank: 1}},
		{"first of epoch", epoch(at(0, now-900, 1)), 0, order.Placed{Place: now - 901}},
		{"first of epoch, as if joining now", epoch(at(0, now+100, 1)), 0, order.Placed{Place: now - 500}},
		{"other classes do not count", aging(order.Member{Lane: order.Lane{Class: "b", K: 10}}), 1, order.Placed{Place: now}},
	} {
		if got := order.After(now, x, c.n, c.line, now-1000, 500); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// A token that waited longer than 2^35 ms cannot be stood behind by the factor.
func TestAfterReachesBackOnlySoFar(t *testing.T) {
	t.Parallel()
	const now = 1_767_225_600_000
	old := order.Member{Lane: order.Lane{K: 10}, Key: order.Key{Place: now - farthest, Seq: 1}}
	mid := order.Member{Lane: order.Lane{K: 10}, Key: order.Key{Place: now - farthest + 5, Seq: 2}}
	x := order.Member{Lane: order.Lane{K: 20}, Key: order.Key{Place: now, Seq: 3}}
	got := order.After(now, x, 1, order.Line{Index: newIndex(old, mid)}, 0, 0)
	if want := (order.Placed{Place: now - farthest, Rank: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Finding the n-th must not scan the line, also where the lanes do not mix and
// the middles of all but one say nothing.
func TestAfterAsksByLanes(t *testing.T) {
	t.Parallel()
	mixed, _ := longLine(12, 2000)
	apart := &sliceIndex{keys: map[order.Lane][]order.Key{}}
	for lane := range 12 {
		l := order.Lane{K: 20 + lane}
		apart.lanes = append(apart.lanes, l)
		for i := range 2000 {
			place := longNow - 1_000_000_000 + int64(lane)*80_000_000 + int64(i)
			apart.keys[l] = append(apart.keys[l], order.Key{Place: place, Seq: uint64(lane*2000 + i + 1)})
		}
	}
	for name, index := range map[string]*sliceIndex{"mixed": mixed, "apart": apart} {
		most := 0
		for n := 1; n <= 24_000; n += 991 {
			index.asked = 0
			x := order.Member{Lane: order.Lane{K: 20}, Key: order.Key{Place: longNow, Seq: 1 << 40}}
			order.After(longNow, x, n, order.Line{Index: index}, 0, 0)
			most = max(most, index.asked)
		}
		// At most log(24,000)/log(4/3) = 35 rounds of 12 counts and 12 middles.
		t.Logf("%s: at most %d", name, most)
		if most > 35*24+4*12 {
			t.Errorf("%s: asked %d times", name, most)
		}
	}
}

func BenchmarkAfter(b *testing.B) {
	index, all := longLine(12, 5000)
	line := order.Line{Index: index}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		order.After(longNow, all[0], 1+i*7919%len(all), line, 0, 0)
	}
}
