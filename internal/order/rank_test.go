package order_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dengxu/dengxu/internal/order"
)

func TestRankIsHowManyWouldBeCalledBefore(t *testing.T) {
	t.Parallel()
	ranks := 0
	eachSnapshot(t, func(_ *rand.Rand, s *snapshot) error {
		for _, m := range s.tokens {
			ranks++
			line := s.lines[m.line]
			want := s.rank(m)
			if got := order.Rank(s.now, m.member, line); got != want {
				return fmt.Errorf("rank of seq %d in its line: got %d, want %d", m.member.Key.Seq, got, want)
			}
			// The same when m does not stand there.
			index := line.Index.(*sliceIndex)
			index.remove(m.member)
			got := order.Rank(s.now, m.member, line)
			index.add(m.member)
			if got != want {
				return fmt.Errorf("rank of seq %d out of its line: got %d, want %d", m.member.Key.Seq, got, want)
			}
		}
		return nil
	})
	t.Logf("%d ranks", ranks)
}

// Before and Better are total orders, and Rank and Pick are about the same one.
func TestBeforeIsTheOrder(t *testing.T) {
	t.Parallel()
	eachSnapshot(t, func(_ *rand.Rand, s *snapshot) error {
		for _, a := range s.tokens {
			for _, b := range s.tokens {
				ra, rb := s.lines[a.line].Rule, s.lines[b.line].Rule
				want := a.member != b.member && s.better(a, b)
				if got := order.Better(s.now, a.member, ra.Discipline, b.member, rb.Discipline); got != want {
					return fmt.Errorf("seq %d better than %d: %v, want %v", a.member.Key.Seq, b.member.Key.Seq, got, want)
				}
				if a.line != b.line || ra.Discipline == order.Ratio {
					continue
				}
				want = a.member != b.member && s.before(a, b)
				if got := order.Before(s.now, a.member, b.member, ra); got != want {
					return fmt.Errorf("seq %d before %d: %v, want %v", a.member.Key.Seq, b.member.Key.Seq, got, want)
				}
			}
		}
		return nil
	})
}

// A member of aging without K must not divide by zero: it is ordinary.
func TestLaneWithoutFactorIsOrdinary(t *testing.T) {
	t.Parallel()
	none := order.Member{Key: order.Key{Place: 900, Seq: 2}}
	slow := order.Member{Lane: order.Lane{K: 40}, Key: order.Key{Place: 810, Seq: 1}}
	line := order.Line{Index: newIndex(none, slow)}
	for _, m := range []order.Member{none, slow} {
		want := 0
		if m == slow {
			want = 1 // 190/2 against 100/1
		}
		if got := order.Rank(1000, m, line); got != want {
			t.Errorf("rank of seq %d: got %d, want %d", m.Key.Seq, got, want)
		}
	}
}

// One count a lane, however long the line.
func TestRankAsksOnceALane(t *testing.T) {
	t.Parallel()
	index, members := longLine(12, 50)
	index.asked = 0
	order.Rank(longNow, members[77], order.Line{Index: index})
	if index.asked != 12 {
		t.Errorf("asked %d times for 12 lanes", index.asked)
	}
}

const longNow = 1_767_225_600_000

// longLine has members spread over lanes of one class, with many ties.
func longLine(lanes, each int) (*sliceIndex, []order.Member) {
	r := rand.New(rand.NewPCG(7, 7))
	var members []order.Member
	for i := range lanes * each {
		k := 4 * (1 + i%lanes)
		members = append(members, order.Member{
			Lane: order.Lane{K: k},
			Key:  order.Key{Place: longNow - r.Int64N(int64(each))*int64(k)*250, Seq: uint64(i + 1)},
		})
	}
	sorted := slices.Clone(members)
	slices.SortFunc(sorted, func(a, b order.Member) int { return compareKeys(a.Key, b.Key) })
	index := &sliceIndex{keys: map[order.Lane][]order.Key{}}
	for _, m := range sorted {
		if index.keys[m.Lane] == nil {
			index.lanes = append(index.lanes, m.Lane)
		}
		index.keys[m.Lane] = append(index.keys[m.Lane], m.Key)
	}
	return index, members
}

func BenchmarkRank(b *testing.B) {
	eachBench(b, func(line order.Line, all []order.Member, i int) {
		order.Rank(longNow, all[i%len(all)], line)
	})
}
