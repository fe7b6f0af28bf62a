package engine

import (
	"math"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// stats asks for the estimates of a span around now.
func (r *rig) stats(q dengxu.QueueID, before, after time.Duration) *dengxu.EstimateStats {
	r.Helper()
	now := r.clock.Wall().UTC()
	s, err := r.Stats(r.Context(), q, now.Add(-before), now.Add(after), max(time.Second, (before+after)/2))
	if err != nil {
		r.Fatal(err)
	}
	return s.Estimates
}

// TestWhatWasToldIsInTheStats, from the first call on, kept or not, and for
// whoever asks another process later.
func TestWhatWasToldIsInTheStats(t *testing.T) {
	t.Parallel()
	r := newLounge(t, "")
	r.shut("2")
	if got := r.stats("main", time.Hour, time.Hour); got != nil {
		t.Fatalf("nobody was told anything, and there is %+v", got)
	}
	r.join("main", dengxu.JoinRequest{})
	r.mustCall("1", "A001")
	r.hear()
	told := r.join("main", dengxu.JoinRequest{}).Estimate
	if !told.Known || *told.RecommendedSeconds != 208 { // the median of one service of 300 s
		t.Fatalf("told %+v", told)
	}
	r.clock.Advance(250 * time.Second)
	r.do(dengxu.VerbComplete, r.mustAt("1"), dengxu.VerbRequest{})
	r.mustCall("1", "A002")
	r.hear()

	want := func(who string, got *dengxu.EstimateStats) {
		t.Helper()
		if got == nil || got.N != 1 || got.Free != 1 || got.FreeWait != 0 || len(got.ByPosition) != 1 || len(got.ByHour) != 1 {
			t.Fatalf("%s: %+v", who, got)
		}
		p, h := got.ByPosition[0], got.ByHour[0]
		// A001 found the counter free, which is not scored.
		if p.Ahead != "0" || p.N != 1 || p.MeanWait != 250 || math.Abs(p.BiasSeconds+42.05) > 0.1 || math.Abs(p.WAPE-0.168) > 0.001 || p.Coverage != [3]float64{0, 0, 1} {
			t.Errorf("%s: by position %+v", who, p)
		}
		if math.Abs(p.FloorWAPE-0.693) > 0.0005 || got.FloorWAPE != 0 {
			t.Errorf("%s: floors %g and %g", who, p.FloorWAPE, got.FloorWAPE)
		}
		if h.Hour == nil || *h.Hour != 9 || h.N != 1 || h.Ahead != "" {
			t.Errorf("%s: by hour %+v", who, h)
		}
	}
	want("before it is kept", r.stats("main", time.Hour, time.Hour))
	if err := r.KeepEstimates(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	want("once it is kept", r.stats("main", time.Hour, time.Hour))
	other := rigOver(t, r.store, r.clock)
	want("in another process", other.stats("main", time.Hour, time.Hour))

	r.pass(36 * time.Hour)
	if got := r.stats("main", time.Hour, time.Hour); got != nil {
		t.Errorf("the days of yesterday count today: %+v", got)
	}
	want("two days later", r.stats("main", 2*24*time.Hour, 0))
	want("of a span of years", r.stats("main", 10*365*24*time.Hour, 10*365*24*time.Hour))
	r.pass(promiseDays * 24 * time.Hour)
	if got := r.stats("main", 90*24*time.Hour, 0); got != nil {
		t.Errorf("more than %d days are summed: %+v", promiseDays, got)
	}
}

// TestDaysOfEstimatesGo when they are too old, also those that lie between days
// on which nobody came.
func TestDaysOfEstimatesGo(t *testing.T) {
	t.Parallel()
	l := newLounge(t, "")
	kept := func() (days int) {
		t.Helper()
		ask := store.Ask{}
		for day := range 200 {
			ask.Docs = append(ask.Docs, promiseKey("main", l.world.Load().sites["hall"].state.Day-day))
		}
		v, err := l.store.View(t.Context(), ask)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range v.Docs {
			if d != nil {
				days++
			}
		}
		return days
	}
	for i, step := range []struct{ days, kept int }{{0, 1}, {1, 2}, {3, 3}, {36, 1}, {34, 2}, {1, 2}} {
		l.pass(time.Duration(step.days) * 24 * time.Hour)
		l.open("1") // a new day finds it closed
		token := l.join("main", dengxu.JoinRequest{})
		l.do(dengxu.VerbComplete, l.mustCall("1", token.Number).ID, dengxu.VerbRequest{})
		l.hear()
		if err := l.KeepEstimates(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if got := kept(); got != step.kept {
			t.Errorf("step %d: %d days are kept, want %d", i, got, step.kept)
		}
	}
}

// mustAt is the token that a counter has.
func (r *rig) mustAt(c dengxu.CounterID) dengxu.TokenID {
	r.Helper()
	v, err := r.Counter(r.Context(), c)
	if err != nil || len(v.Tokens) != 1 {
		r.Fatalf("at counter %s: %v %v", c, v.Tokens, err)
	}
	return v.Tokens[0].ID
}
