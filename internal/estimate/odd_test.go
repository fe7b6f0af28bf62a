package estimate

import (
	"math"
	"testing"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/estimate/linear"
)

// Whoever loads a model may have made it by hand: a slope without bounds must
// not make a wait without bounds of it.
func TestAModelOfAbsurdSlopesSaysNothingAbsurd(t *testing.T) {
	t.Parallel()
	for _, slope := range []float64{1e300, -1e300, 1e308} {
		m := &Model{Method: MethodLinear}
		for i, p := range quantiles {
			m.Lines[i] = &linear.Model{Quantile: p, Intercept: 1, Features: make([]linear.Feature, len(FeatureNames))}
			for f := range m.Lines[i].Features {
				m.Lines[i].Features[f] = linear.Feature{Slope: slope, Sd: 1e-300, Min: -1e300, Max: 1e300}
			}
			m.Lines[i].Features[1].Slope = -slope
		}
		e := Estimator{Model: m}
		f := e.Forecast(State{Now: 1_000_000, Position: 5, Prior: 180, Counters: []Counter{{ID: "1", Busy: true}}})
		if !(0 <= f.Low && f.Low <= f.Recommended && f.Recommended <= f.High && f.High <= 200*5*180) {
			t.Errorf("slopes of %g: %g, %g, %g s", slope, f.Low, f.Recommended, f.High)
		}
	}
}

// Staff who try the kiosk take numbers and give them back at once. That says
// nothing about who has waited for twenty minutes.
func TestWhoGivesUpAtOnceDoesNotShortenTheLine(t *testing.T) {
	t.Parallel()
	var h History
	for range 10 {
		h.GaveUp(2)
	}
	h.Called(1000, 2)
	l := Line{Now: 1_000_000, Crews: []Crew{{PerSecond: 1.0 / 180}}, GiveUp: h.GiveUpPerSecond()}
	r := roll{Line: &l, rate: 1.0 / 180}
	if wait := r.thinned(20.0); wait < 0.9*20*180 {
		t.Errorf("20 services of 180 s take %.0f s after ten people gave up at once", wait)
	}
	for range 200 {
		h.Called(1000, 300)
	}
	for range 20 {
		h.GaveUp(300)
	}
	if theta := h.GiveUpPerSecond(); math.Abs(theta-30.0/66_000) > 0.15*30/66_000 {
		t.Errorf("of many who waited 300 s one in ten gave up: %g a second", theta)
	}
}

// Who was told that a counter is free hears why that is no longer so.
func TestACounterThatLeavesIsToldToWhoFoundItFree(t *testing.T) {
	t.Parallel()
	var e Estimator
	state := State{Now: 1_000_000, Position: 1, Prior: 300, Counters: []Counter{{ID: "1", Idle: true}, {ID: "2", Busy: true, Since: 900_000}}}
	before := e.Forecast(state)
	state.Counters = state.Counters[1:]
	now := e.Forecast(state)
	if before.Method != MethodIdle || Steady(&before, &now).Why != dengxu.RoseCounterLeft {
		t.Errorf("%s with %.0f s, then %.0f s because of %q", before.Method, before.Recommended, now.Recommended, Steady(&before, &now).Why)
	}
}
