package order_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dengxu/dengxu/internal/order"
)

func TestFactorsRoundUpward(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		factor, rounded int32
		k               int
	}{
		{math.MinInt32, 50, 1},
		{-50, 50, 1},
		{0, 50, 1},
		{1, 50, 1},
		{50, 50, 1},
		{51, 100, 2},
		{100, 100, 2},
		{333, 350, 7},
		{999, 1000, 20},
		{1000, 1000, order.Ordinary},
		{1001, 1050, 21},
		{19_951, 20_000, 400},
		{20_000, 20_000, 400},
		{20_001, 20_000, 400},
		{math.MaxInt32, 20_000, 400},
	} {
		if got := order.RoundFactor(c.factor); got != c.rounded {
			t.Errorf("RoundFactor(%d) = %d, want %d", c.factor, got, c.rounded)
		}
		if got := order.KOf(c.factor); got != c.k {
			t.Errorf("KOf(%d) = %d, want %d", c.factor, got, c.k)
		}
		if got := order.FactorOf(c.k); got != c.rounded {
			t.Errorf("FactorOf(%d) = %d, want %d", c.k, got, c.rounded)
		}
	}
	if low, high := order.FactorOf(-1), order.FactorOf(math.MaxInt); low != 50 || high != 20_000 {
		t.Errorf("FactorOf beyond the ends: %d, %d", low, high)
	}
}

func TestClampOvertake(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		factor, largest int32
		overtake        float64
		want            int32
	}{
		{250, 1000, 2, 500},
		{500, 1000, 2, 500},
		{700, 1000, 2, 700},
		{1500, 1000, 2, 1000},
		{250, 1000, 3, 350},    // 333.3 goes upward
		{250, 1900, 1.9, 1000}, // 1.9 is a little less in binary
		{250, 1100, 1.1, 1000},
		{250, 3000, 1.017, 2950}, // times 1000 it is a little less than 1017
		{250, 1000, 1.9996, 550}, // the fourth decimal counts as cut off
		{250, 1000, 1, 1000},
		{250, 1000, 0.3, 1000},
		{250, 1000, 0, 250},
		{1500, 1000, 0, 1500},
		{260, 1000, -1, 300},
		{260, 1000, math.NaN(), 300},
		{260, 1000, math.Inf(1), 300},
		{20, 1010, 2, 550}, // the largest is 1050 in a lane
		{20, 1000, 1e9, 50},
	} {
		if got := order.ClampOvertake(c.factor, c.largest, c.overtake); got != c.want {
			t.Errorf("ClampOvertake(%d, %d, %v) = %d, want %d", c.factor, c.largest, c.overtake, got, c.want)
		}
	}
}

func TestNearestLane(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		k    int
		open []int
		want int
		ok   bool
	}{
		{20, nil, 0, false},
		{20, []int{400}, 400, true},
		{20, []int{10, 19, 22}, 19, true},
		{20, []int{18, 22}, 22, true}, // as near: the larger
		{20, []int{22, 18}, 22, true},
		{20, []int{30, 20, 10}, 20, true},
		{1, []int{2, 3}, 2, true},
		{400, []int{1}, 1, true},
	} {
		if got, ok := order.NearestLane(c.k, c.open); got != c.want || ok != c.ok {
			t.Errorf("NearestLane(%d, %v) = %d, %v, want %d, %v", c.k, c.open, got, ok, c.want, c.ok)
		}
	}
}

func TestScaleRoundsDown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		place, dayStart int64
		factor          int32
		want            int64
	}{
		{1000, 0, 1000, 1000},
		{1000, 0, 500, 500},
		{1001, 0, 500, 500},
		{1000, 400, 350, 610},
		{399, 400, 500, 399}, // half a millisecond before the day start is before it
		{400, 400, 500, 400},
		{0, 1000, 20_000, -19_000},
	} {
		if got := order.Scale(c.place, c.dayStart, c.factor); got != c.want {
			t.Errorf("Scale(%d, %d, %d) = %d, want %d", c.place, c.dayStart, c.factor, got, c.want)
		}
	}
	r := rand.New(rand.NewPCG(5, 5))
	for range 10_000 {
		place, dayStart := r.Int64N(10_000_000_000_000), r.Int64N(10_000_000_000_000)
		factor := int32(50 * (1 + r.IntN(400)))
		if got, want := order.Scale(place, dayStart, factor), floorScale(place, dayStart, factor); got != want {
			t.Fatalf("Scale(%d, %d, %d) = %d, want %d", place, dayStart, factor, got, want)
		}
	}
}
