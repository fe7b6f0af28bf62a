package estimate

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestMeanGoesFromThePriorToTheLastHundred(t *testing.T) {
	t.Parallel()
	var h History
	if h.Mean(0) != 0 || h.PerSecond("a", 0) != 0 {
		t.Error("nothing is known, and there is a rate")
	}
	if h.Mean(60) != 60 || h.PerSecond("a", 60) != 1.0/60 {
		t.Errorf("prior: %g, %g", h.Mean(60), h.PerSecond("a", 60))
	}
	for range 10 {
		h.Served(1, "a", 120)
	}
	if h.Mean(60) != 90 || h.Mean(0) != 120 {
		t.Errorf("half of twenty: %g with, %g without a prior", h.Mean(60), h.Mean(0))
	}
	for range 300 {
		h.Served(2, "a", 30)
	}
	if h.Mean(60) != 30 || len(h.Services) != 100 {
		t.Errorf("the last hundred: %g of %d", h.Mean(60), len(h.Services))
	}
}

func TestACountersOwnMeanIsShrunkToTheQueues(t *testing.T) {
	t.Parallel()
	var h History
	for range 50 {
		h.Served(1, "slow", 300)
		h.Served(1, "fast", 100)
	}
	slow, fast, other := 1/h.PerSecond("slow", 0), 1/h.PerSecond("fast", 0), 1/h.PerSecond("new", 0)
	if other != 200 || !(slow > 250 && slow < 280 && fast > 120 && fast < 150) {
		t.Errorf("slow %g, fast %g, new %g s", slow, fast, other)
	}
	if unknown := 1 / h.PerSecond("", 0); unknown != 200 {
		t.Errorf("a counter that is not known: %g", unknown)
	}
	h.Forget("slow")
	if forgotten := 1 / h.PerSecond("slow", 0); forgotten != 200 {
		t.Errorf("forgotten: %g", forgotten)
	}
	for range 200 {
		h.Served(2, "instant", 0)
	}
	if rate := h.PerSecond("instant", 0); math.IsInf(rate, 0) || rate <= 0 {
		t.Errorf("services without length: %g", rate)
	}
}

func TestTallyCountsTheLastHalfHour(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var tally Tally
		now, all := int64(1_000_000_000_000), []int64(nil)
		for range rapid.IntRange(0, 60).Draw(t, "n") {
			now += rapid.Int64Range(0, 400_000).Draw(t, "gap")
			tally.Add(now)
			all = append(all, now)
		}
		now += rapid.Int64Range(0, 4_000_000).Draw(t, "later")
		for _, seconds := range []int{600, 1800} {
			want := 0
			for _, at := range all {
				if at/10_000 > now/10_000-int64(seconds)/10 {
					want++
				}
			}
			if got := tally.Within(now, seconds); got != want {
				t.Fatalf("in %d s: %d, want %d", seconds, got, want)
			}
		}
	})
	var tally Tally
	tally.Add(10_000_000)
	tally.Add(1) // long before: it would stand where something else does
	if n := tally.Within(10_000_000, 1800); n != 1 {
		t.Errorf("%d", n)
	}
}

func TestAHistorySurvivesJSON(t *testing.T) {
	t.Parallel()
	e := &Estimator{}
	for i := range int64(150) {
		e.History.Joined(i*7000, lane("", 20), 0)
		e.History.Called(i*7000, float64(i%3)*40)
		e.History.Served(i*7000+500, "a", float64(60+i))
	}
	s := State{Now: 1_100_000, Position: 2, Counters: []Counter{{ID: "a", Busy: true, Since: 1_000_000}}}
	f := e.Forecast(s)
	for i := range 30 {
		e.Resolve(f, float64(50+i))
	}
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	loaded := new(Estimator)
	if err := json.Unmarshal(b, loaded); err != nil {
		t.Fatal(err)
	}
	same := cmp.Options{cmpopts.EquateNaNs()}
	if diff := cmp.Diff(e.Forecast(s), loaded.Forecast(s), same); diff != "" {
		t.Error(diff)
	}
	// And goes on as the other does.
	e.Resolve(f, 1000)
	loaded.Resolve(f, 1000)
	if diff := cmp.Diff(e.Forecast(s), loaded.Forecast(s), same); diff != "" {
		t.Error(diff)
	}
	// A sample is kept with its token, unknown numbers too.
	var sample Sample
	first := (&Estimator{}).Forecast(State{Position: 1, Prior: 60, Counters: []Counter{{}}, Covariates: map[string]float64{"rain": 3}})
	if b, err = json.Marshal(first.Sample); err != nil || json.Unmarshal(b, &sample) != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.Sample, sample, same); diff != "" {
		t.Error(diff)
	}
}

func TestWhoWillComeAndWhoGivesUp(t *testing.T) {
	t.Parallel()
	var h History
	if h.GiveUpPerSecond() != 0 || h.Flows(0) != nil {
		t.Error("nobody came, and somebody will")
	}
	vip, ordinary := lane("VIP", 10), lane("ordinary", 20)
	const start = int64(1_000_000_000)
	for i := range int64(60) {
		h.Joined(start+i*10_000, ordinary, 0)
		if i%3 == 0 {
			h.Joined(start+i*10_000, vip, 90_000)
		}
	}
	want := []Flow{{Lane: ordinary, PerSecond: 60.0 / 1800}, {Lane: vip, PerSecond: 20.0 / 1800, HeadStart: 90_000}}
	if diff := cmp.Diff(want, h.Flows(start+600_000)); diff != "" {
		t.Error(diff)
	}
	if flows := h.Flows(start + 3_600_000); flows != nil {
		t.Errorf("half an hour later: %v", flows)
	}
	// Lanes that were used once do not stay for ever.
	for i := range 200 {
		h.Joined(start+3_600_000+int64(i)*60_000, lane("", i), 0)
	}
	if len(h.Lanes) > maxLanes {
		t.Errorf("%d lanes", len(h.Lanes))
	}

	for range 200 {
		h.Called(start, 100)
		h.GaveUp(100)
	}
	h.Called(start, 0) // did not wait
	if got := h.GiveUpPerSecond(); math.Abs(got-1.0/200) > 1e-4 {
		t.Errorf("%g in a second", got)
	}
}
