package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dengxu/dengxu/internal/order"
)

// frontsOf are the fronts of a line, cut off behind the first members.
func frontsOf(l lanes, now int64, most int) *Fronts {
	var fronts []Front
	for lane, keys := range l.Sorted {
		fronts = append(fronts, Front{Lane: lane, Len: len(keys), Keys: keys[:min(most, len(keys))]})
	}
	return NewFronts(now, fronts)
}

func drawLine(t *rapid.T) (lanes, int64) {
	const now = 10_000_000
	l := lineOf()
	for seq := range rapid.IntRange(0, 60).Draw(t, "members") {
		lane := order.Lane{
			Class: rapid.SampledFrom([]string{"", "cards"}).Draw(t, "class"),
			K:     rapid.SampledFrom([]int{10, 20}).Draw(t, "k"),
		}
		l.add(order.Member{Lane: lane, Key: order.Key{Place: rapid.Int64Range(now-3_600_000, now).Draw(t, "place"), Seq: uint64(seq) + 1}})
	}
	return l, now
}

func TestFrontsThatKnowAllAreTheLine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l, now := drawLine(t)
		f := frontsOf(l, now, 1000)
		if diff := cmp.Diff(slices.Collect(l.Lanes()), slices.Collect(f.Lanes())); diff != "" {
			t.Fatal(diff)
		}
		for lane, keys := range l.Sorted {
			if f.Len(lane) != len(keys) {
				t.Fatalf("%d members, want %d", f.Len(lane), len(keys))
			}
			for i := -1; i <= len(keys); i++ {
				got, ok := f.At(lane, i)
				want, there := l.At(lane, i)
				if got != want || ok != there {
					t.Fatalf("at %d: %v, %v, want %v, %v", i, got, ok, want, there)
				}
				if there && f.Below(lane, want) != i {
					t.Fatalf("%d below the member %d", f.Below(lane, want), i)
				}
			}
		}
		absent := order.Lane{Class: "nobody"}
		if _, ok := f.At(absent, 0); ok || f.Len(absent) != 0 || f.Below(absent, order.Key{Place: now}) != 0 {
			t.Fatal("a lane that is not there has somebody")
		}
	})
}

// What is not known is guessed in order, and never more than there is.
func TestFrontsThatAreCutOffKeepTheOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l, now := drawLine(t)
		f := frontsOf(l, now, rapid.IntRange(0, 5).Draw(t, "most"))
		for lane, keys := range l.Sorted {
			last := order.Key{}
			for i := range keys {
				key, ok := f.At(lane, i)
				if !ok || key.Place < last.Place || key.Place > now {
					t.Fatalf("at %d of %d: %v after %v, %v", i, len(keys), key, last, ok)
				}
				last = key
			}
			if _, ok := f.At(lane, len(keys)); ok {
				t.Fatal("one more than there are")
			}
			before := 0
			for at := keys[0].Place; at <= now+1; at += 60_000 {
				n := f.Below(lane, order.Key{Place: at})
				if n < before || n > len(keys) {
					t.Fatalf("%d of %d below %d, %d a minute before", n, len(keys), at, before)
				}
				before = n
			}
			if n := f.Below(lane, order.Key{Place: now + 1}); n != len(keys) {
				t.Fatalf("%d of %d below now", n, len(keys))
			}
		}
	})
}

// A line of two paces of which the first 50 of each are known is rolled forward
// as well as one that is known whole.
func TestARollOverFronts(t *testing.T) {
	t.Parallel()
	const now = 10_000_000
	random := rand.New(rand.NewPCG(5, 6))
	l := lineOf()
	for seq := range uint64(600) {
		lane := order.Lane{K: []int{10, 20, 20}[seq%3]}
		l.add(order.Member{Lane: lane, Key: order.Key{Place: now - random.Int64N(6_000_000), Seq: seq + 1}})
	}
	me := order.Member{Lane: order.Lane{K: 20}, Key: order.Key{Place: now, Seq: 1000}}
	line := Line{
		Now: now, Crews: []Crew{{PerSecond: 0.1}},
		Flows: []Flow{{Lane: order.Lane{K: 10}, PerSecond: 0.02}},
	}
	line.Order.Index = l
	whole, _ := line.Place(me)
	line.Order.Index = frontsOf(l, now, 50)
	cut, _ := line.Place(me)
	if off := cut.Services/whole.Services - 1; math.Abs(off) > 0.02 {
		t.Errorf("%.1f services of %.1f", cut.Services, whole.Services)
	}
}

// Where everybody stands in one lane, the rank says what rolling would find.
func TestALoneLaneNeedsNoRolling(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const now = 10_000_000
		l := lineOf()
		for seq := range rapid.IntRange(0, 40).Draw(t, "members") {
			l.add(order.Member{Lane: order.Lane{K: 20}, Key: order.Key{Place: rapid.Int64Range(now-3_600_000, now).Draw(t, "place"), Seq: uint64(seq) + 1}})
		}
		line := Line{
			Now: now, Order: order.Line{Index: l}, Crews: []Crew{{PerSecond: 0.05}},
			Flows:  []Flow{{Lane: order.Lane{K: 10}, PerSecond: rapid.Float64Range(0, 0.03).Draw(t, "flow")}},
			GiveUp: rapid.SampledFrom([]float64{0, 1e-4}).Draw(t, "give up"),
		}
		me := order.Member{Lane: order.Lane{K: 20}, Key: order.Key{Place: now, Seq: 1000}}
		r := newRoll(&line, me)
		if !r.alone() {
			t.Fatal("somebody else is there")
		}
		near, far := r.forward(), newRoll(&line, me).lone()
		if near.Ahead != far.Ahead || math.Abs(near.Seconds-far.Seconds) > 1e-3*near.Seconds {
			t.Fatalf("rolled %+v, ranked %+v", near, far)
		}
	})
}

func TestThoseWhoGiveUpAreSummedAtOnce(t *testing.T) {
	t.Parallel()
	for _, giveUp := range []float64{1e-6, 1e-4, 1e-2, 0.05} {
		r := &roll{Line: &Line{GiveUp: giveUp}, rate: 0.05}
		for _, services := range []float64{0.5, 31.5, 33, 100.25, 4000.75} {
			want, i := 0.0, 0.0
			for ; i+1 <= services; i++ {
				want += 1 / (r.rate + i*giveUp)
			}
			want += (services - i) / (r.rate + i*giveUp)
			if got := r.thinned(services); math.Abs(got/want-1) > 1e-8 {
				t.Errorf("%g services, %g give up: %.9f, want %.9f", services, giveUp, got, want)
			}
		}
	}
}
