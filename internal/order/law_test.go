package order_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dengxu/dengxu/internal/order"
)

// Laws that hold without an oracle, on lines longer than the oracle's.

// drawLine is a line of up to 200 members in up to 12 lanes for each class.
func drawLine(t *rapid.T, now int64, classes ...string) (order.Line, []order.Member) {
	line := order.Line{Rule: order.Rule{
		Discipline: rapid.SampledFrom([]order.Discipline{order.Aging, order.Epoch, order.Strict, order.Ratio}).Draw(t, "discipline"),
		Groups:     drawGroups(t),
	}}
	ks := rapid.SliceOfN(rapid.IntRange(1, 400), 1, 12).Draw(t, "ks")
	// Few ages make many ties; many make few.
	span := rapid.SampledFrom([]int64{5, 400, 1_000_000, 3_000_000_000}).Draw(t, "span")
	line.Rule.Escalate = rapid.Int64Range(1, span).Draw(t, "escalate")
	ages := rapid.SliceOfN(rapid.Int64Range(-span/4-1, span), 1, 200).Draw(t, "ages")
	var all []order.Member
	for i, age := range ages {
		lane := order.Lane{Class: classes[i%len(classes)], K: ks[i%len(ks)]}
		if line.Rule.Discipline == order.Strict || line.Rule.Discipline == order.Ratio {
			lane.Group, lane.K = groups[ks[i%len(ks)]%len(groups)], 0
		}
		// 7919 is a prime above 200: seq is no longer the order of the list.
		all = append(all, order.Member{
			Lane: lane,
			Key:  order.Key{Place: now - age, Seq: uint64(1 + i*7919%199 + 199*(i/199))},
		})
	}
	line.Index = newIndex(all...)
	line.Debts = drawDebts(t, classes)
	return line, all
}

func drawGroups(t *rapid.T) []order.Group {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom(groups), 0, len(groups), rapid.ID).Draw(t, "groups")
	var all []order.Group
	for _, name := range names {
		all = append(all, order.Group{Name: name, Rank: rapid.IntRange(-2, 2).Draw(t, "rank"), Share: rapid.IntRange(1, 20).Draw(t, "share")})
	}
	return all
}

// drawDebts may owe more than a stride, as after a change of shares.
func drawDebts(t *rapid.T, classes []string) order.Debts {
	debts := order.Debts{}
	for _, class := range classes {
		debts[class] = rapid.MapOf(rapid.SampledFrom(groups), rapid.Int64Range(0, 50_000)).Draw(t, "debts")
	}
	return debts
}

// Who has rank r is called r-th when time stands still, and ranks are 0 … n−1.
func TestRanksAreTheOrderOfCalls(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const now = 1_767_225_600_000
		line, all := drawLine(t, now, "a", "b", "c")
		picked := order.Pick(now, []order.Line{line}, order.Oldest, len(all)+1, 0)
		if len(picked) != len(all) {
			t.Fatalf("picked %d of %d", len(picked), len(all))
		}
		for i, c := range picked {
			if rank := order.Rank(now, c.Member, line); rank != i {
				t.Fatalf("%+v is picked as %d but has rank %d", c.Member, i, rank)
			}
			if i > 0 && line.Rule.Discipline != order.Ratio && !order.Before(now, picked[i-1].Member, c.Member, line.Rule) {
				t.Fatalf("%+v is not before %+v", picked[i-1].Member, c.Member)
			}
		}
	})
}

// Who is placed behind the n-th and joins there has the rank that was answered,
// is never before the n-th, and asking again from there moves nothing.
func TestAfterKeepsItsWord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const now = 1_767_225_600_000
		line, all := drawLine(t, now, "")
		index := line.Index.(*sliceIndex)
		x := all[rapid.IntRange(0, len(all)-1).Draw(t, "x")]
		n := rapid.IntRange(0, len(all)+1).Draw(t, "n")
		dayStart := int64(now - rapid.IntRange(0, 86_400_000).Draw(t, "since"))
		factor := order.FactorOf(x.Lane.K)

		got := order.After(now, x, n, line, dayStart, factor)
		byGroup := line.Rule.Discipline == order.Strict || line.Rule.Discipline == order.Ratio
		if least := min(n, len(all)-1); got.Rank < least && !(byGroup && got.Place == now) {
			t.Fatalf("rank %d, want at least %d", got.Rank, least)
		}
		index.remove(x)
		moved := order.Member{Lane: x.Lane, Key: order.Key{Place: got.Place, Seq: 1 << 40}}
		index.add(moved)
		if rank := order.Rank(now, moved, line); rank != got.Rank {
			t.Fatalf("answered rank %d, reached %d", got.Rank, rank)
		}
		if again := order.After(now, moved, n, line, dayStart, factor); again != got {
			t.Fatalf("asked again: %+v, then %+v", got, again)
		}
	})
}

// Within a lane (place, seq) decides at every moment.
func TestLaneNeverTurnsRound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		key := func(name string, seq uint64) order.Key {
			return order.Key{Place: rapid.Int64Range(0, 9_999_999_999_999).Draw(t, name), Seq: seq}
		}
		lane := order.Lane{K: rapid.IntRange(1, 400).Draw(t, "k")}
		a, b := order.Member{Lane: lane, Key: key("a", 2)}, order.Member{Lane: lane, Key: key("b", 1)}
		now := rapid.Int64Range(0, 9_999_999_999_999).Draw(t, "now")
		for _, d := range []order.Discipline{order.Aging, order.Epoch, order.Strict} {
			if got := order.Before(now, a, b, order.Rule{Discipline: d}); got != a.Key.Less(b.Key) {
				t.Fatalf("discipline %d at %d: a before b is %v", d, now, got)
			}
		}
	})
}

// Who waits with a smaller factor loses nothing to a larger one as time goes
// by: once ahead of it, and not in the future, it stays ahead.
func TestSmallerFactorStaysAhead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := rapid.Int64Range(1_000_000, 5_000_000_000_000).Draw(t, "now")
		ks := []int{rapid.IntRange(1, 400).Draw(t, "k"), rapid.IntRange(1, 400).Draw(t, "other k")}
		slices.Sort(ks)
		a := order.Member{Lane: order.Lane{K: ks[0]}, Key: order.Key{Place: now - rapid.Int64Range(0, 1_000_000).Draw(t, "age"), Seq: 1}}
		b := order.Member{Lane: order.Lane{K: ks[1]}, Key: order.Key{Place: now - rapid.Int64Range(0, 1_000_000).Draw(t, "other age"), Seq: 2}}
		if rapid.Bool().Draw(t, "later seq") {
			a.Key.Seq, b.Key.Seq = b.Key.Seq, a.Key.Seq
		}
		later := now + rapid.Int64Range(0, 1_000_000_000).Draw(t, "later")
		if order.Before(now, a, b, order.Rule{}) && !order.Before(later, a, b, order.Rule{}) {
			t.Fatalf("%+v fell behind %+v", a, b)
		}
	})
}

// The arithmetic holds to the ends of what an index can keep.
func TestOrderHoldsAtTheEndsOfTime(t *testing.T) {
	t.Parallel()
	const last = 9_999_999_999_999
	slow := order.Member{Lane: order.Lane{K: 400}, Key: order.Key{Place: 0, Seq: 1}}
	// slow counts as 9,999,999,999,999/400, just below 25,000,000,000.
	behind := order.Member{Lane: order.Lane{K: 1}, Key: order.Key{Place: last - 24_999_999_999, Seq: 2}}
	ahead := order.Member{Lane: order.Lane{K: 1}, Key: order.Key{Place: last - 25_000_000_000, Seq: math.MaxUint64}}
	line := order.Line{Index: newIndex(slow, behind, ahead)}
	for m, want := range map[order.Member]int{ahead: 0, slow: 1, behind: 2} {
		if got := order.Rank(last, m, line); got != want {
			t.Errorf("rank of seq %d: got %d, want %d", m.Key.Seq, got, want)
		}
	}
}
