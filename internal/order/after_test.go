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
	// ranks of ratio, by how many of own have a place that is not later, and
	// whether x is in the future.
	ranks map[[2]int]int
}

func randomAfter(r *rand.Rand, s *snapshot) afterAsk {
	a := afterAsk{s: s, line: r.IntN(len(s.lines)), dayStart: s.now - r.Int64N(5000), factor: int32(50 * (1 + r.IntN(60))), ranks: map[[2]int]int{}}
	a.x = order.Member{Key: order.Key{Place: s.now - 7, Seq: 1000}}
	if len(s.tokens) > 0 {
		m := s.tokens[r.IntN(len(s.tokens))]
		a.line = m.line
		if a.x.Lane.Class = m.member.Lane.Class; r.IntN(2) == 0 {
			a.x = m.member // stands in the line and is left out
		}
	}
	if a.x.Key.Seq == 1000 {
		a.x.Lane = randomLane(r, a.rule(), a.x.Lane.Class, paces)
	}
	for _, t := range s.tokens {
		if t.line == a.line && t.member.Lane.Class == a.x.Lane.Class && t.member != a.x {
			a.own = append(a.own, t)
		}
	}
	a.n = r.IntN(len(a.own) + 3)
	return a
}

func (a afterAsk) rule() order.Rule { return a.s.lines[a.line].Rule }

func (a afterAsk) epoch() bool { return a.rule().Discipline == order.Epoch }

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

// rankAt is how many of x's class are called before x at a place with the
// newest seq.
func (a afterAsk) rankAt(place int64) int {
	x := a.s.token(a.line, order.Member{Lane: a.x.Lane, Key: order.Key{Place: place, Seq: math.MaxUint64}})
	if a.rule().Discipline != order.Ratio {
		n := 0
		for _, t := range a.own {
			if a.s.before(t, x) {
				n++
			}
		}
		return n
	}
	// Only who has an earlier place matters, so one place stands for many.
	stands := [2]int{}
	for _, t := range a.own {
		if t.member.Key.Place <= place {
			stands[0]++
		}
	}
	if place > a.s.now {
		stands[1] = 1
	}
	if n, known := a.ranks[stands]; known {
		return n
	}
	f := a.s.freeze(append(slices.Clone(a.own), x))
	for n := 0; ; n++ {
		t, _ := f.winner(a.line, f.left)
		if t.member == x.member {
			a.ranks[stands] = n
			return n
		}
		f.call(t)
	}
}

// firstPlace bisects for the first place from low at which rankAt is at least n.
func (a afterAsk) firstPlace(low int64, n int) int64 {
	high := a.s.now + 10 // behind all futures
	return low + int64(sort.Search(int(high-low), func(i int) bool { return a.rankAt(low+int64(i)) >= n }))
}

// sort puts x's class in the order in which it is called.
func (a afterAsk) sort() {
	f := a.s.freeze(a.own)
	for i := range a.own {
		a.own[i], _ = f.winner(a.line, f.left)
		f.call(a.own[i])
	}
}

// place is what After must answer, found by trying places; own is sorted.
func (a afterAsk) place() int64 {
	switch {
	case len(a.own) == 0:
		return max(0, a.tail())
	case a.n > len(a.own):
		return max(0, a.tail(), a.own[len(a.own)-1].member.Key.Place)
	case a.n > 0 && a.own[a.n-1].member.Key.Place > a.s.now:
		return a.own[a.n-1].member.Key.Place
	}
	low := max(0, a.s.now-farthest)
	switch a.rule().Discipline {
	case order.Aging:
		if a.n == 0 {
			return max(0, min(a.s.now, a.firstPlace(0, 1)-1))
		}
		return a.firstPlace(low, a.n)
	case order.Epoch:
		if a.n == 0 {
			return max(0, min(a.tail(), a.firstPlace(0, 1)-1))
		}
		return a.firstPlace(0, a.n)
	case order.Strict, order.Ratio:
	}
	if a.rankAt(a.s.now) < a.n {
		return a.s.now
	}
	least := a.firstPlace(low, a.n)
	most := min(a.s.now, a.firstPlace(low, a.rankAt(least)+1)-1)
	wish := a.s.now
	if a.n > 0 {
		wish = a.own[a.n-1].member.Key.Place
	}
	return min(max(wish, least), most)
}

// exact is the published condition under which rank n itself is reached; own
// is sorted, and n is one of it.
func (a afterAsk) exact() bool {
	if a.n == len(a.own) && (a.rule().Discipline == order.Aging || a.rule().Discipline == order.Epoch) {
		return true
	}
	t := a.own[a.n-1].member
	if t.Key.Place > a.s.now || a.rule().Discipline == order.Epoch {
		return a.n == len(a.own) || a.own[a.n].member.Key.Place > t.Key.Place
	}
	if a.rule().Discipline != order.Aging {
		return a.rankAt(a.s.now) >= a.n && a.rankAt(a.firstPlace(max(0, a.s.now-farthest), a.n)) == a.n
	}
	u := a.own[a.n].member
	kx, kt, ku := int64(a.x.Lane.K), int64(t.Lane.K), int64(u.Lane.K)
	return u.Key.Place > a.s.now || (a.s.now-t.Key.Place)*kx/kt*ku > (a.s.now-u.Key.Place)*kx
}

func (a afterAsk) judge() error {
	a.sort()
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
	for seed := range uint64(snapshots() / 20) {
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
		own := order.Line{Rule: a.rule(), Debts: s.lines[a.line].Debts, Index: newIndex(members(a.own)...)}
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
	if tried < 10 {
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
	eachBench(b, func(line order.Line, all []order.Member, i int) {
		order.After(longNow, all[0], 1+i*7919%len(all), line, 0, 0)
	})
}
