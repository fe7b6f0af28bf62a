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
		for i, cell := range l.cells(plainSeconds) {
			onPage := l.cells(clock)[i]
			if !strings.Contains(table.String(), cell) || !strings.Contains(page.String(), "<td>"+onPage+"</td>") {
				t.Errorf("%q or %q is not everywhere", cell, onPage)
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
