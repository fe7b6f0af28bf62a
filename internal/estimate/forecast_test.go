package estimate

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/estimate/gbdt"
	"github.com/dengxu/dengxu/internal/estimate/linear"
	"github.com/dengxu/dengxu/internal/order"
)

func busy(ids ...string) []Counter {
	var c []Counter
	for _, id := range ids {
		c = append(c, Counter{ID: id, Busy: true})
	}
	return c
}

// served is an estimator that saw a hundred services of a mean at each counter.
func served(mean float64, ids ...string) *Estimator {
	e := new(Estimator)
	for range 100 {
		for _, id := range ids {
			e.History.Served(1, id, mean)
		}
	}
	return e
}

func TestWhatIsUnknownHasAReason(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		state State
		want  string
	}{
		{State{Position: 3}, dengxu.UnknownNoCounter},
		{State{Position: 3, Counters: busy("a")}, dengxu.UnknownNoData},
		{State{Position: 3, Counters: busy("a"), Prior: 60, Unknown: dengxu.UnknownPaused}, dengxu.UnknownPaused},
	} {
		f := new(Estimator).Forecast(row.state)
		if f.Known || f.Reason != row.want || f.Method != MethodNone || f.Text(English) != "" {
			t.Errorf("%+v, want %s", f, row.want)
		}
	}
}

func TestTheFirstTicketGoesByThePrior(t *testing.T) {
	t.Parallel()
	f := new(Estimator).Forecast(State{Position: 1, Counters: busy("a", "b"), Prior: 120})
	if !f.Known || f.Method != MethodErlang || math.Abs(f.Recommended-60*math.Ln2) > 1e-6 || f.Low >= f.Recommended || f.High <= f.Recommended {
		t.Errorf("%+v", f)
	}
}

func TestNobodyAheadAndACounterFreeIsNow(t *testing.T) {
	t.Parallel()
	counters := append(busy("a"), Counter{ID: "b", Idle: true})
	for _, e := range []*Estimator{{}, served(100, "a")} {
		f := e.Forecast(State{Position: 1, Counters: counters})
		if !f.Known || f.Low != 0 || f.Recommended != 0 || f.High != 0 || f.Method != MethodIdle {
			t.Errorf("%+v", f)
		}
		if f = e.Forecast(State{Position: 1, Counters: counters, Closed: 600}); f.Recommended != 600 || f.High != 600 {
			t.Errorf("before opening: %+v", f)
		}
	}
	if f := served(100, "a").Forecast(State{Position: 2, Counters: counters}); f.Recommended == 0 {
		t.Errorf("somebody is ahead: %+v", f)
	}
}

func TestAClosedCounterRaisesTheEstimateAtOnce(t *testing.T) {
	t.Parallel()
	e := served(100, "a", "b")
	both := e.Forecast(State{Position: 6, Counters: busy("a", "b")})
	one := e.Forecast(State{Position: 6, Counters: busy("a")})
	if math.Abs(one.Recommended-2*both.Recommended) > 1e-6 || one.High <= both.High {
		t.Errorf("both %+v, one %+v", both, one)
	}
	if s := steady(both, e.Forecast(State{Position: 5, Counters: busy("a")})); s.Why != dengxu.RoseCounterLeft || s.Recommended < both.Recommended {
		t.Errorf("the answer says %q: %+v", s.Why, s)
	}
}

func TestTimeInWhichNobodyServesIsAdded(t *testing.T) {
	t.Parallel()
	e := served(100, "a")
	open := e.Forecast(State{Position: 3, Counters: busy("a")})
	lunch := e.Forecast(State{Position: 3, Counters: busy("a"), Closed: 1800})
	if lunch.Low != open.Low+1800 || lunch.Recommended != open.Recommended+1800 || lunch.High != open.High+1800 {
		t.Errorf("%+v, without lunch %+v", lunch, open)
	}
	// And calibration does not take the lunch for a slow line.
	for range 200 {
		e.Resolve(lunch, 1800+200)
	}
	if f := e.Plain[1].Factor(0.5); math.Abs(f-200/open.Raw[1]) > 1e-9 {
		t.Errorf("factor %g", f)
	}
}

// fataler is what a test and a property have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// says is a model that multiplies the base by the same numbers whatever comes.
func says(t fataler, ratios [3]float64) *Model {
	t.Helper()
	m := &Model{Version: modelVersion, Method: MethodTrees}
	m.Features = m.names()
	columns := make([][]float64, len(m.Features))
	for i := range columns {
		columns[i] = []float64{1}
	}
	for i, p := range quantiles {
		trees, err := gbdt.Train(gbdt.Rows{Columns: columns, Target: ratios[i : i+1]}, gbdt.Default(p))
		if err != nil {
			t.Fatal(err)
		}
		m.Trees[i] = &Forest{*trees}
		m.Lines[i] = &linear.Model{Quantile: p, Intercept: ratios[i], Features: make([]linear.Feature, len(columns))}
		for k := range m.Lines[i].Features {
			m.Lines[i].Features[k].Sd = 1
		}
	}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTheGuardHoldsAModelToTheLine(t *testing.T) {
	t.Parallel()
	// 35 ahead and 35 served in an hour: whatever a model says, 20 minutes is
	// impossible.
	e := served(3600.0/35, "a")
	e.Model = says(t, [3]float64{0.1, 0.3, 0.4})
	f := e.Forecast(State{Position: 36, Counters: busy("a")})
	if f.Recommended < 39*60 || !f.Calibrated || f.High < f.Recommended || f.Low > f.Recommended {
		t.Errorf("%+v: %.1f min", f, f.Recommended/60)
	}
	e.Model = says(t, [3]float64{1, 9, 10})
	if f = e.Forecast(State{Position: 36, Counters: busy("a")}); f.Recommended > 90*60 || !f.Calibrated {
		t.Errorf("%+v: %.1f min", f, f.Recommended/60)
	}
	e.Model = says(t, [3]float64{0.7, 1, 1.3})
	if f = e.Forecast(State{Position: 36, Counters: busy("a")}); f.Calibrated || math.Abs(f.Recommended-3600.0/35*36) > 1e-6 {
		t.Errorf("%+v: %.1f min", f, f.Recommended/60)
	}
}

func TestForecastsKeepTheirOrderAndTheBand(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := served(rapid.Float64Range(1, 2000).Draw(t, "mean"), "a", "b")
		if rapid.Bool().Draw(t, "learned") {
			r := rapid.Float64Range(-1, 5)
			e.Model = says(t, [3]float64{r.Draw(t, "low"), r.Draw(t, "mid"), r.Draw(t, "high")})
		}
		position := rapid.Float64Range(0.5, 500).Draw(t, "position")
		counters := busy("a", "b", "c")[:rapid.IntRange(1, 3).Draw(t, "counters")]
		for range rapid.IntRange(0, 40).Draw(t, "resolved") {
			e.Resolve(e.Forecast(State{Position: position, Counters: counters}), rapid.Float64Range(0, 1e5).Draw(t, "wait"))
		}
		f := e.Forecast(State{Position: position, Counters: counters})
		if !f.Known || !(0 <= f.Low && f.Low <= f.Recommended && f.Recommended <= f.High) || math.IsInf(f.High, 0) {
			t.Fatalf("%+v", f)
		}
		low, high := Guard(f.Sample.Position, f.Sample.PerSecond)
		if f.Recommended < low || f.Recommended > high {
			t.Fatalf("%g is not within %g and %g", f.Recommended, low, high)
		}
		// A step forward is never told as a rise above the earlier band.
		next := steady(f, e.Forecast(State{Position: position * rapid.Float64Range(0.1, 1).Draw(t, "step"), Counters: counters}))
		if next.Recommended > high*(1+1e-12) && next.Why == "" {
			t.Fatalf("%+v after %+v", next, f)
		}
	})
}

func TestSteady(t *testing.T) {
	t.Parallel()
	e := served(100, "a")
	before := e.Forecast(State{Position: 10, Counters: busy("a")})
	_, most := Guard(10, 0.01)

	over := e.Forecast(State{Position: 9, Counters: busy("a")})
	over.Recommended, over.High = most+50, most+90
	if s := steady(before, over); s.Recommended != most || !s.Calibrated || s.Why != "" || s.Low > most {
		t.Errorf("%+v, at most %g", s, most)
	}
	behind := over
	behind.Position = 11
	if s := steady(before, behind); s.Recommended != most+50 {
		t.Errorf("the position rose, and the estimate may: %+v", s)
	}
	slow := served(1000, "a").Forecast(State{Position: 9, Counters: busy("a")})
	if s := steady(before, slow); s.Why != dengxu.RoseSlowerService || s.Recommended != slow.Recommended {
		t.Errorf("ten times slower: %+v", s)
	}
	if s := steady(Forecast{}, over); s.Recommended != over.Recommended {
		t.Errorf("nothing was told before: %+v", s)
	}
}

func TestWindowIsTheBriefsFormula(t *testing.T) {
	t.Parallel()
	e := served(120, "a", "b")
	e.Window = true
	f := e.Forecast(State{Position: 3, Counters: busy("a", "b")})
	if f.Method != MethodWindow || f.Recommended != (2+2)*120/2 || f.Low >= f.Recommended || f.High <= f.Recommended {
		t.Errorf("%+v", f)
	}
	if Window(3, 2, 120, 0) != 0 {
		t.Error("no counter")
	}
}

func TestUnresolvableWaitsChangeNothing(t *testing.T) {
	t.Parallel()
	e := served(100, "a")
	was := *e
	e.Resolve(Forecast{}, 10)
	e.Resolve(e.Forecast(State{Position: 1, Counters: []Counter{{ID: "a", Idle: true}}}), 10)
	e.Resolve(e.Forecast(State{Position: 1, Counters: busy("a")}), math.NaN())
	if diff := cmp.Diff(was, *e, cmpopts.IgnoreUnexported(Calibration{})); diff != "" {
		t.Error(diff)
	}
}

// TestQueueLengthAgainstSimulation holds the base and the brief's formula
// against lines whose answer is known: bias 0, and (c−1)/c services.
func TestQueueLengthAgainstSimulation(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		c                                 int
		load, wape, window, windowWAPE, r float64 // r: tolerance of shares
	}{
		{c: 1, load: .90, wape: .226, window: 0, windowWAPE: .226, r: .1},
		{c: 5, load: .90, wape: .226, window: .799, windowWAPE: .446, r: .1},
		{c: 10, load: .95, wape: .157, window: .898, windowWAPE: .452, r: .15},
	} {
		type said struct{ base, window float64 }
		told := map[uint64]said{}
		var n, wait, off, deviation, windowOff, windowDeviation float64
		h := &hall{
			counters: row.c, service: exponential(1),
			flows: []Flow{{Lane: lane("", 20), PerSecond: row.load * float64(row.c)}},
		}
		h.joins = func(_ int64, line lanes, me order.Member, _ []Counter) {
			p := float64(line.len() + 1)
			told[me.Key.Seq] = said{p / float64(row.c), Window(p-1, float64(row.c), 1, row.c)}
		}
		h.called = func(_ int64, me order.Member, w float64) {
			s := told[me.Key.Seq]
			n, wait = n+1, wait+w
			off, deviation = off+s.base-w, deviation+math.Abs(s.base-w)
			windowOff, windowDeviation = windowOff+s.window-w, windowDeviation+math.Abs(s.window-w)
		}
		h.run(11, 150_000)
		near := func(name string, got, want, tolerance float64) {
			if math.Abs(got-want) > tolerance {
				t.Errorf("c %d, %s: %.3f, want %.3f", row.c, name, got, want)
			}
		}
		near("bias", off/n, 0, .03+.04/float64(row.c))
		near("WAPE", deviation/wait, row.wape, row.r*row.wape)
		near("window bias", windowOff/n, row.window, .03+.04/float64(row.c))
		near("window WAPE", windowDeviation/wait, row.windowWAPE, row.r*row.windowWAPE)
	}
}

// steady is Steady of values.
func steady(before, now Forecast) Forecast { return *Steady(&before, &now) }
