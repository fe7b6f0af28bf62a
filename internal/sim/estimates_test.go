package sim

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// month is the example, of so many days and one seed.
func month(t *testing.T, days int, seed uint64) *Scenario {
	t.Helper()
	s, err := ReadFile("../../examples/sim/month.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s.Days, s.Seed = days, seed
	return s
}

// playOne plays the only run of a scenario, and keeps it.
func playOne(t *testing.T, s *Scenario) (*run, *Estimates) {
	t.Helper()
	p, err := s.plan()
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.begin(t.Context(), &p.Policies[0], 0, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.playAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.end()
	return r, p.estimates([]*measures{r.m})
}

// between fails when a share is not where it has to be.
func between(t *testing.T, what string, of *Kept, share, least, most float64) {
	t.Helper()
	if of.People < 50 || !(share >= least && share <= most) {
		t.Errorf("%s: %.3f of %d, and it has to be from %.2f to %.2f", what, share, of.People, least, most)
	}
}

// TestPromisesAreKept: over a month with a rush hour, a counter that leaves at
// midday, groups of three factors and one with a head start, people who give up
// and who do not come, nine of ten wait at most as long as they were told. In
// short it is a week, of which the first days know little.
func TestPromisesAreKept(t *testing.T) {
	t.Parallel()
	days, seeds := 7, uint64(1)
	least, most, slack := 0.86, 0.93, 0.06
	if torture() {
		days, seeds = 28, 3
		least, most, slack = 0.88, 0.92, 0.04
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed+1), func(t *testing.T) {
			t.Parallel()
			_, e := playOne(t, month(t, days, seed+1))
			t.Logf("%+v", e.All)
			between(t, "high covers", &e.All, e.All.High, least, most)
			between(t, "recommended covers", &e.All, e.All.Recommended, 0.5-slack, 0.5+slack)
			between(t, "low covers", &e.All, e.All.Low, 0.1-slack, 0.1+slack)
			for n, week := range e.weeks() {
				between(t, fmt.Sprintf("high covers in week %d", n+1), &week, week.High, 0.86, 0.93)
			}
			for _, l := range e.Lines {
				between(t, "high covers "+l.Group, &l.Kept, l.High, 0.80, 0.96)
			}
			for _, a := range e.Ahead {
				// Of the longest lines a week has but two or three, and whoever stands
				// in one of them shares its luck.
				between(t, "high covers with "+a.Ahead+" ahead", &a.Kept, a.High, least-2*slack, most+slack)
			}
			if e.All.WAPE > 0.25 || len(e.Unknown) > 0 || e.IdleWaited > 0 {
				t.Errorf("%+v", e)
			}
		})
	}
}

// TestEstimatesAreScoredAlike: the simulator and the engine, which count apart,
// say the same of the same promises.
func TestEstimatesAreScoredAlike(t *testing.T) {
	t.Parallel()
	r, e := playOne(t, month(t, 2, 7))
	scores := r.hall.EstimateScores()
	engines := scores.ByPosition.All()
	n := e.All.People
	if engines.N != n || scores.Free.N != e.Idle || n < 500 {
		t.Errorf("the engine scored %d, the simulator %d", engines.N, n)
	}
	// What is told is whole seconds; what is scored is not.
	of := float64(n)
	if off := engines.Off/of - e.All.Bias; math.Abs(off) > 0.1 {
		t.Errorf("the biases differ by %.3f s", off)
	}
	if wait := engines.Wait/of - e.All.Wait; math.Abs(wait) > 0.001 {
		t.Errorf("the waits differ by %.3f s", wait)
	}
	for q, share := range []float64{e.All.Low, e.All.Recommended, e.All.High} {
		mine := share * of
		if diff := float64(engines.Within[q]) - mine; math.Abs(diff) > 0.01*of {
			t.Errorf("quantile %d: the engine counts %d, the simulator %.0f", q, engines.Within[q], mine)
		}
	}
}

// TestBeingToldChangesNothing: the same people wait as long.
func TestBeingToldChangesNothing(t *testing.T) {
	t.Parallel()
	var waits [2][]int64
	for i, told := range []bool{true, false} {
		s := month(t, 2, 3)
		s.Estimates = told
		r, _ := playOne(t, s)
		for n := range r.m.lines {
			waits[i] = append(waits[i], r.m.lines[n].waits...)
		}
	}
	if diff := cmp.Diff(waits[0], waits[1]); diff != "" || len(waits[0]) < 500 {
		t.Errorf("told (-) and not told (+), %d waits: %s", len(waits[0]), diff)
	}
}

// TestWhatIsTold is a morning so small that it can be told by hand.
func TestWhatIsTold(t *testing.T) {
	t.Parallel()
	// Before the door's counter opens, one each at 08:00:00, 08:00:10, 08:00:20,
	// and one who gives up.
	s := small(t, "x,28000 x,28810 x,28820 x,28830 y,28840", `
days: 1
runs: 1
estimates: true
queues: {main: {expected_service_seconds: 100, on_call_timeout: ask}}
counters: [{hours: ["08:00-09:00"]}]
streams:
  - {arrivals: {csv: arrivals.csv, column: at, where: {who: x}}, service: {law: constant, mean_seconds: 1}}
  - {arrivals: {csv: arrivals.csv, column: at, where: {who: y}}, service: {law: constant, mean_seconds: 1}}
`)
	_, e := playOne(t, s)
	// The first was told nothing, since nobody was there; the others a free counter.
	if diff := cmp.Diff(map[string]int{"no_counter_open": 1}, e.Unknown); diff != "" || e.Idle != 4 || e.All.People != 0 {
		t.Errorf("%+v", e)
	}
	s = small(t, "x,28810 x,28820 x,28830", `
days: 1
runs: 1
estimates: true
queues: {main: {expected_service_seconds: 100, on_call_timeout: ask, estimates: {method: erlang}}}
counters: [{hours: ["08:00-09:00"]}]
streams: [{arrivals: {csv: arrivals.csv, column: at}, service: {law: constant, mean_seconds: 100}}]
`)
	r, e := playOne(t, s)
	if len(e.Unknown) != 0 || e.Idle != 1 || e.All.People != 2 || e.Methods["erlang"] != 2 {
		t.Fatalf("%+v", e)
	}
	// One service of 100 s ahead, exponential as far as is known: 10.5, 69.3 and
	// 230.3 s; and of two 53.2, 167.8 and 389.0.
	var said [][3]float64
	for _, p := range r.promises[1:] {
		said = append(said, p.said)
	}
	if diff := cmp.Diff([][3]float64{{11, 69, 230}, {53, 168, 389}}, said); diff != "" {
		t.Error(diff)
	}
	// They waited 90 and 180 s.
	want := Kept{People: 2, Wait: 135, High: 1, Bias: (69. - 90 + 168 - 180) / 2, WAPE: (21. + 12) / 270}
	if diff := cmp.Diff(want, e.All); diff != "" {
		t.Error(diff)
	}
	if e.Ahead[0].People != 1 || e.Ahead[1].People != 1 || e.Days[0] != e.All {
		t.Errorf("%+v", e)
	}
}

// TestDesksAreManned: what is told knows when a counter has gone.
func TestDesksAreManned(t *testing.T) {
	t.Parallel()
	arrivals := "x,28810 x,28820" // both serve
	for _, at := range []string{"x,30630", "x,32430", "x,32440"} {
		arrivals += " " + at // 08:30:30 with two counters; 09:00:30 with one, which is busy with the next
	}
	s := small(t, arrivals, `
days: 1
runs: 1
estimates: true
queues: {main: {expected_service_seconds: 100, on_call_timeout: ask}}
counters: [{id: a, hours: ["08:00-10:00"]}, {id: b, hours: ["08:00-09:00"]}]
streams: [{arrivals: {csv: arrivals.csv, column: at}, service: {law: constant, mean_seconds: 60}}]
`)
	r, e := playOne(t, s)
	if e.Idle != 4 || e.All.People != 1 || e.All.High != 1 {
		t.Errorf("%+v", e)
	}
	if last := r.promises[4]; last.method != "erlang" || last.position != 1 {
		t.Errorf("the last one was told %+v", last)
	}
}

// TestEstimatesInReports: the same figures in the table and on the page.
func TestEstimatesInReports(t *testing.T) {
	t.Parallel()
	s := month(t, 2, 5)
	s.Policies = []Policy{{Name: "learned"}, patchPolicy("window", map[string]any{"estimates": map[string]any{"method": "window"}})}
	r, err := Play(t.Context(), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e := r.Policies[0].Estimates; e.Unknown == nil || len(e.Days) != 2 {
		t.Errorf("%+v", e)
	}
	var table, page strings.Builder
	for _, err := range []error{r.Print(&table), r.WriteHTML(&page)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	plain, clocks := r.estimateRows(plainSeconds), r.estimateRows(clock)
	if len(plain) != 2*(4+7+1) {
		t.Errorf("%d rows", len(plain))
	}
	for i, row := range plain {
		for n, cell := range row.cells {
			if !strings.Contains(table.String(), cell) || !strings.Contains(page.String(), "<td>"+strings.ReplaceAll(clocks[i].cells[n], "+", "&#43;")+"</td>") {
				t.Errorf("%q or %q of %s %s is not everywhere", cell, clocks[i].cells[n], row.policy, row.who)
			}
		}
	}
	for _, want := range []string{"10-19 ahead", "urgent", "found a free counter", "learned: "} {
		if !strings.Contains(table.String(), want) || !strings.Contains(page.String(), want) {
			t.Errorf("no %q in\n%s", want, table.String())
		}
	}
	for _, bad := range []string{"ZgotmplZ", "NaN", "Inf", "<no value>"} {
		if strings.Contains(page.String(), bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	// The formula that is kept for who relies on it says too much.
	if window := r.Policies[1].Estimates.All; window.Bias < 30 || window.Recommended < 0.6 {
		t.Errorf("window: %+v", window)
	}
}
