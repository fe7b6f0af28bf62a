package sim

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
)

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

func TestQuantilesAndErrors(t *testing.T) {
	t.Parallel()
	w := waitOf([]int64{0, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000})
	if w != (Wait{Calls: 10, Mean: 4.5, P50: 4, P90: 8, P99: 9, Longest: 9}) {
		t.Errorf("%+v", w)
	}
	if w := waitOf([]int64{7000}); w.P50 != 7 || w.P99 != 7 {
		t.Errorf("%+v", w)
	}
	// Of 1, 2, 3, 4 the deviation is √(5/3), and of their mean half of it.
	if se := standardError([]float64{1, 2, 3, 4}); math.Abs(se-math.Sqrt(5./3)/2) > 1e-12 {
		t.Errorf("standard error %g", se)
	}
	if se := standardError([]float64{1}); se != 0 {
		t.Errorf("of one mean: %g", se)
	}
	if means := batchMeans(make([]int64, 45)); len(means) != batchesOfOne {
		t.Errorf("%d batches", len(means))
	}
	if means := batchMeans(make([]int64, 19)); means != nil {
		t.Errorf("batches of nothing: %v", means)
	}
}

func TestAims(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text string
		want Aim
	}{
		{"p90<15m", Aim{"p90", "", 900, "p90<15m"}},
		{"mean[VIP] < 90s", Aim{"mean", "VIP", 90, "mean[VIP] < 90s"}},
		{"gave_up<5%", Aim{"gave_up", "", 0.05, "gave_up<5%"}},
	} {
		if got, err := ParseAim(row.text); err != nil || got != row.want {
			t.Errorf("%s: %+v %v", row.text, got, err)
		}
	}
	for _, text := range []string{"", "p91<5m", "p90>5m", "p90<5", "p90<-5m", "gave_up<5", "gave_up<5m", "gave_up<500%", "p90[]<5m"} {
		if got, err := ParseAim(text); dengxu.CodeOf(err) != dengxu.Invalid {
			t.Errorf("%q: %+v %v", text, got, err)
		}
	}
}

// TestFindIsTheFewest: what is found keeps the aim, and one counter less does
// not, whether the search begins below or above.
func TestFindIsTheFewest(t *testing.T) {
	t.Parallel()
	aim, err := ParseAim("p90[high]<150s")
	if err != nil {
		t.Fatal(err)
	}
	for _, start := range []int{1, 4, 19} {
		s := scenarioOf(start, 600, stream{"low", 2, exponential(), factor(1)}, stream{"high", 3.5, exponential(), factor(1)})
		s.Runs = 2
		s.Policies = []Policy{{Name: "fifo"}, patchPolicy("groups", map[string]any{"groups": map[string]any{"high": map[string]any{"factor": 0.1}}})}
		if err := s.check(); err != nil {
			t.Fatal(err)
		}
		told := 0
		r, err := Find(t.Context(), s, aim, "", Options{}, func(Try) { told++ })
		if err != nil {
			t.Fatal(err)
		}
		tried := make(map[string]map[int]bool)
		for _, try := range r.Tries {
			if tried[try.Policy] == nil {
				tried[try.Policy] = make(map[int]bool)
			}
			if _, twice := tried[try.Policy][try.Counters]; twice {
				t.Errorf("%s with %d was tried twice", try.Policy, try.Counters)
			}
			tried[try.Policy][try.Counters] = try.Kept
		}
		for _, p := range r.Policies {
			n := p.Counters
			fewer, wasTried := tried[p.Name][n-1]
			if !tried[p.Name][n] || !wasTried || fewer {
				t.Errorf("from %d: %s found %d, tries %v", start, p.Name, n, tried[p.Name])
			}
		}
		if told != len(r.Tries) || r.Policies[0].Counters <= r.Policies[1].Counters {
			t.Errorf("told %d, tries %v", told, r.Tries)
		}
	}
}

// TestWhoIsNeverCalledKeepsNoAim: those left over count as waiting for ever.
func TestWhoIsNeverCalledKeepsNoAim(t *testing.T) {
	t.Parallel()
	line := Line{People: 10, LeftOver: 2, waits: []int64{1, 2, 3, 4, 5, 6, 7, 8}}
	for _, row := range []struct {
		aim  string
		want float64
	}{{"p50<1s", 0.005}, {"p90<1s", math.Inf(1)}, {"mean<1s", math.Inf(1)}} {
		aim, err := ParseAim(row.aim)
		if err != nil {
			t.Fatal(err)
		}
		if got := aim.of(&line); got != row.want {
			t.Errorf("%s: %g, want %g", row.aim, got, row.want)
		}
	}
}

func TestFindSaysWhatItCannot(t *testing.T) {
	t.Parallel()
	s := scenarioOf(1, 50, stream{"low", .5, exponential(), factor(1)})
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ aim, vary, want string }{
		{"p90[nobody]<5s", "", `there is neither a group nor a class "nobody"`},
		{"p90<5s", "desk", `there are no counters "desk"`},
	} {
		aim, err := ParseAim(row.aim)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Find(t.Context(), s, aim, row.vary, Options{}, func(Try) {})
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", row.aim, err)
		}
	}
}

// two is a report of two policies and days.
func two(t *testing.T) *Report {
	t.Helper()
	s, err := Parse([]byte(`
name: <b>a clinic</b>
days: 1
runs: 3
queues: {main: {groups: {vip: {}}, max_length: 2}}
counters: [{count: 2, hours: ["08:00-17:00"]}]
streams:
  - {arrivals: {by_hour: {"08:00-16:00": 30}}, service: {mean_seconds: 200}, patience: {mean_seconds: 600}}
  - {group: vip, arrivals: {by_hour: {"08:00-16:00": 9}}, service: {mean_seconds: 200}, no_show: {share: 0.1, operator_after_seconds: 30}}
policies:
  - {name: fifo}
  - {name: "vip & others", queues: {main: {groups: {vip: {factor: 0.5}}}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Play(t.Context(), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReports: the same figures in the table, in JSON and on the page.
func TestReports(t *testing.T) {
	t.Parallel()
	r := two(t)
	var table, text, page strings.Builder
	for _, err := range []error{r.Print(&table), r.WriteJSON(&text), r.WriteHTML(&page)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(r.Policies) != 2 || len(r.Policies[0].Lines) != 3 || r.Policies[1].Lines[1].Wait.Mean >= r.Policies[0].Lines[1].Wait.Mean {
		t.Fatalf("%s", table.String())
	}
	for _, l := range r.Policies[1].Lines {
		for _, cell := range l.cells() {
			if !strings.Contains(table.String(), cell) || !strings.Contains(page.String(), "<td>"+cell+"</td>") {
				t.Errorf("%q is not everywhere", cell)
			}
		}
	}
	for _, want := range []string{"3 runs, seeds 1 to 3", "vip & others: counters busy", "were given no number"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("no %q in\n%s", want, table.String())
		}
	}
	var back Report
	if err := json.Unmarshal([]byte(text.String()), &back); err != nil {
		t.Fatal(err)
	}
	if back.Policies[1].Lines[2].Wait != r.Policies[1].Lines[2].Wait || len(back.Policies[0].Length) != dayBins || back.Runs[2].Seed != 3 {
		t.Errorf("%s", text.String())
	}
}

// TestThePageNeedsNothingElse: no script, no address, and names are text.
func TestThePageNeedsNothingElse(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	r := two(t)
	if err := r.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	html := page.String()
	for _, bad := range []string{"<script", "http:", "https:", "src=", "href=", "url(", "@import", "ZgotmplZ", "<b>", "NaN", "Inf"} {
		if strings.Contains(html, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	// Three kinds of people and the line by the hour, a curve for each policy.
	if n := strings.Count(html, "<polyline"); n != 4*2 {
		t.Errorf("%d curves", n)
	}
	if !strings.Contains(html, "&lt;b&gt;a clinic&lt;/b&gt;") || !strings.Contains(html, "vip &amp; others") {
		t.Error("names are not on the page")
	}
}

func TestStepsOfAnAxis(t *testing.T) {
	t.Parallel()
	for _, most := range []float64{0.003, 0.7, 1, 4.2, 7, 10, 99, 100, 12345} {
		s := step(most)
		if n := upTo(most, s) / s; n < 4 || n > 10 {
			t.Errorf("up to %g in steps of %g: %g of them", most, s, n)
		}
		if upTo(most, s) < most-1e-9 {
			t.Errorf("%g is not on the axis", most)
		}
	}
	if step(0) != 1 || upTo(0, 1) != 1 {
		t.Error("an empty axis")
	}
}

// TestOneRunIsCutIntoBatches: one long run has a standard error too.
func TestOneRunIsCutIntoBatches(t *testing.T) {
	t.Parallel()
	s := scenarioOf(2, 4000, stream{"ordinary", 1.6, exponential(), dengxu.Group{}})
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	r, err := Play(t.Context(), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	line := r.Policies[0].Lines[0]
	if se := line.Wait.StandardError / line.Wait.Mean; se < 0.01 || se > 0.5 {
		t.Errorf("%+v", line.Wait)
	}
	var told strings.Builder
	if err := r.Print(&told); err != nil || !strings.Contains(told.String(), "20 batches") {
		t.Errorf("%v %s", err, told.String())
	}
}
