package estimate

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestFactorIsTheConformalQuantile(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c Calibration
		var all []float64
		for range rapid.IntRange(0, 700).Draw(t, "n") {
			said := rapid.Float64Range(0, 100).Draw(t, "said")
			wait := rapid.Float64Range(0, 200).Draw(t, "wait")
			c.Add(wait, said)
			all = append(all, wait/max(1, said))
		}
		all = all[max(0, len(all)-500):]
		slices.Sort(all)
		n := len(all)
		for _, p := range []float64{0.1, 0.5, 0.9} {
			want := 1.0
			if n >= 10 {
				want = all[min(n, max(1, int(math.Ceil(float64(n+1)*p))))-1]
				want = min(2, max(0.5, math.Pow(want, min(1, float64(n)/90))))
			}
			if got := c.Factor(p); got != want {
				t.Fatalf("%d ratios, %g: %g, want %g", n, p, got, want)
			}
		}
		b, err := json.Marshal(&c)
		var loaded Calibration
		if err != nil || json.Unmarshal(b, &loaded) != nil || loaded.Factor(0.9) != c.Factor(0.9) {
			t.Fatalf("loaded: %v, %g and %g", err, loaded.Factor(0.9), c.Factor(0.9))
		}
	})
}

// TestCalibrationFollowsAChange: a quantile that says 40 % too little from one
// moment on covers again what it promises, although answers come late.
func TestCalibrationFollowsAChange(t *testing.T) {
	t.Parallel()
	const late = 30
	r := rand.New(rand.NewPCG(3, 4))
	var c Calibration
	waits, within, n := []float64(nil), 0, 0
	for i := range 6000 {
		wait := r.ExpFloat64() * 100
		if i > 3000 {
			wait *= 1.4
		}
		said := 100 * math.Log(10)
		if i > 3600 {
			n++
			if wait <= said*c.Factor(0.9) {
				within++
			}
		}
		if waits = append(waits, wait); i >= late {
			c.Add(waits[i-late], said)
		}
	}
	if share := float64(within) / float64(n); math.Abs(share-0.9) > 0.02 {
		t.Errorf("covers %.3f", share)
	}
}
