package estimate

import (
	"math"
	"slices"
	"testing"
)

// TestFeaturesHaveNoUnit: where services, waits and ages take three times as
// long, what is learned from is the same. Flows are counted in minutes and are
// left out here.
func TestFeaturesHaveNoUnit(t *testing.T) {
	t.Parallel()
	features := func(times int64) Numbers {
		e := new(Estimator)
		h := &e.History
		for i := range int64(30) {
			h.Called(i*1000*times, float64((10+i)*times))
			h.Served(i*60_000*times, string(rune('a'+i%2)), float64((60+2*i)*times))
		}
		now := 29 * 60_000 * times
		return e.Forecast(State{
			Now: now + 5000*times, Position: 3.5, Length: 4, Oldest: float64(70 * times),
			Counters: []Counter{{ID: "a", Busy: true, Since: now - 20_000*times}, {ID: "b", Busy: true, Since: now - 80_000*times}, {ID: "c"}},
		}).Sample.Features
	}
	one, three := features(1), features(3)
	for i, name := range FeatureNames {
		if name == "calls_10m" || name == "calls_30m" || name == "joins_10m" {
			continue
		}
		if math.IsNaN(one[i]) || math.Abs(one[i]-three[i]) > 1e-9 {
			t.Errorf("%s: %g, and %g where all takes three times as long", name, one[i], three[i])
		}
	}
	at := func(name string) float64 { return one[slices.Index(FeatureNames, name)] }
	for name, want := range map[string]float64{"position": 3.5, "open": 3, "busy_share": 2.0 / 3, "behind": 1.5} {
		if math.Abs(at(name)-want) > 1e-9 {
			t.Errorf("%s: %g, want %g", name, at(name), want)
		}
	}
	if age := at("service_age"); age < 0.5 || age > 0.7 { // 25 and 85 of about 90 s
		t.Errorf("service age %g", age)
	}
}
