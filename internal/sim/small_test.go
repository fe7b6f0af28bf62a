package sim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// small parses a scenario in a folder with a file arrivals.csv: who, at seconds.
func small(t *testing.T, arrivals, text string) *Scenario {
	t.Helper()
	folder := t.TempDir()
	rows := "who,at\n" + strings.Join(strings.Fields(arrivals), "\n") + "\n"
	if err := os.WriteFile(filepath.Join(folder, "arrivals.csv"), []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "scenario.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// came are the lines of a report by their group, or class, with waits in seconds.
type came struct {
	Waits                                           []float64
	Served, GaveUp, NeverCame, TurnedAway, LeftOver int
	MissedRate                                      float64
	Passed                                          float64
	Most                                            int
	By                                              float64
}

func cameOf(l *Line) came {
	c := came{
		Served: l.Served, GaveUp: l.GaveUp, NeverCame: l.NeverCame, TurnedAway: l.TurnedAway, LeftOver: l.LeftOver,
		MissedRate: l.MissedRate, Passed: l.PassedRate, Most: l.MostPassed, By: l.OvertakenBySeconds,
	}
	for _, ms := range l.waits {
		c.Waits = append(c.Waits, seconds(ms))
	}
	return c
}

// TestStories are days so small that what comes of them can be told by hand.
func TestStories(t *testing.T) {
	t.Parallel()
	for _, story := range []struct {
		name, arrivals, text string
		want                 []came // by line, without the last, which is everybody
		utilisation          float64
	}{
		{
			name:     "a head start passes who came before",
			arrivals: "low,0 low,10 vip,20",
			text: `
days: 1
runs: 1
queues: {main: {groups: {vip: {head_start_seconds: 60}}, on_call_timeout: ask}}
counters: [{}]
streams:
  - {arrivals: {csv: arrivals.csv, column: at, where: {who: low}}, service: {law: constant, mean_seconds: 100}}
  - {group: vip, arrivals: {csv: arrivals.csv, column: at, where: {who: vip}}, service: {law: constant, mean_seconds: 50}}
`,
			want: []came{
				{Waits: []float64{0, 140}, Served: 2, Passed: 0.5, Most: 1, By: 10},
				{Waits: []float64{80}, Served: 1},
			},
			utilisation: 250. / 86400,
		},
		{
			name:     "a counter finishes after its hours, and who still waits at night is left over",
			arrivals: "x,28200 x,32370 x,32700", // 07:50, 08:59:30, 09:05
			text: `
days: 1
runs: 1
queues: {main: {on_call_timeout: ask}}
counters: [{hours: ["08:00-09:00"]}]
streams: [{arrivals: {csv: arrivals.csv, column: at}, service: {law: constant, mean_seconds: 120}}]
`,
			want:        []came{{Waits: []float64{0, 600}, Served: 2, LeftOver: 1}},
			utilisation: 240. / 3690,
		},
		{
			name:     "a counter is open as long as it says, though nobody comes any more",
			arrivals: "x,28800",
			text: `
days: 2
runs: 1
queues: {main: {on_call_timeout: ask}}
counters: [{hours: ["08:00-09:00", "10:00-10:30"]}]
streams: [{arrivals: {csv: arrivals.csv, column: at}, service: {law: constant, mean_seconds: 120}}]
`,
			want:        []came{{Waits: []float64{0}, Served: 1}},
			utilisation: 120. / (2 * 5400),
		},
		{
			name:     "nobody comes, and the timeout tells",
			arrivals: "x,0 x,10",
			text: `
days: 1
runs: 1
queues: {main: {call_timeout_seconds: 60, missed: {policy: remove}}}
counters: [{}]
streams: [{arrivals: {csv: arrivals.csv, column: at}, service: {law: constant, mean_seconds: 1}, no_show: {share: 0.9999999}}]
`,
			want:        []came{{Waits: []float64{0, 50}, NeverCame: 2, MissedRate: 1}},
			utilisation: 120. / 86400,
		},
		{
			name:     "nobody comes, the operator tells, and both are called again",
			arrivals: "x,0 x,10",
			text: `
days: 1
runs: 1
queues: {main: {missed: {policy: requeue, penalty_seconds: 0, max_misses: 1}}}
counters: [{}]
streams: [{arrivals: {csv: arrivals.csv, column: at}, service: {law: constant, mean_seconds: 1}, no_show: {share: 0.9999999, operator_after_seconds: 20}}]
`,
			want:        []came{{Waits: []float64{0, 10}, NeverCame: 2, MissedRate: 1}},
			utilisation: 80. / 86400,
		},
		{
			name:     "patience ends",
			arrivals: "x,0 x,10 x,40 x,95",
			text: `
days: 1
runs: 1
queues: {main: {on_call_timeout: ask}}
counters: [{}]
streams: [{arrivals: {csv: arrivals.csv, column: at}, service: {law: constant, mean_seconds: 100}, patience: {law: constant, mean_seconds: 50}}]
`,
			want:        []came{{Waits: []float64{0, 5}, Served: 2, GaveUp: 2}},
			utilisation: 200. / 86400,
		},
		{
			name:     "patience ends silently, and the call finds out",
			arrivals: "x,0 x,10 x,90",
			text: `
days: 1
runs: 1
queues: {main: {missed: {policy: remove}}}
counters: [{}]
streams: [{arrivals: {csv: arrivals.csv, column: at}, service: {law: constant, mean_seconds: 100}, patience: {law: constant, mean_seconds: 50, silent: true}, no_show: {share: 0, operator_after_seconds: 5}}]
`,
			want:        []came{{Waits: []float64{0, 15}, Served: 2, GaveUp: 1, MissedRate: 1. / 3}},
			utilisation: 205. / 86400,
		},
		{
			name:     "a counter calls its classes only",
			arrivals: "a,0 a,1 b,2 b,3",
			text: `
days: 1
runs: 1
queues: {main: {classes: {a: {}, b: {}}, on_call_timeout: ask}}
counters: [{queues: [{id: main, classes: [a]}]}, {id: other, queues: [{id: main, classes: [b]}]}]
streams:
  - {class: a, arrivals: {csv: arrivals.csv, column: at, where: {who: a}}, service: {law: constant, mean_seconds: 100}}
  - {class: b, arrivals: {csv: arrivals.csv, column: at, where: {who: b}}, service: {law: constant, mean_seconds: 10}}
`,
			want:        []came{{Waits: []float64{0, 99}, Served: 2}, {Waits: []float64{0, 9}, Served: 2}},
			utilisation: 220. / (2 * 86400),
		},
		{
			name:     "a closed door gives no numbers, a full line neither",
			arrivals: "x,10 x,28800 x,28801 x,28802 x,28803",
			text: `
days: 1
runs: 1
site: {opening_hours: {mon-sun: ["08:00-12:00"]}}
queues: {main: {max_length: 1, on_call_timeout: ask}}
counters: [{}]
streams: [{arrivals: {csv: arrivals.csv, column: at}, service: {law: constant, mean_seconds: 100}}]
`,
			want:        []came{{Waits: []float64{0, 99}, Served: 2, TurnedAway: 3}},
			utilisation: 200. / 86400,
		},
		{
			name:     "who is asked says yes",
			arrivals: "x,0 x,1 x,2",
			text: `
days: 1
runs: 1
queues: {main: {ask: {after_seconds: 60, grace_seconds: 30}, call_timeout_seconds: 30}}
counters: [{}]
streams: [{arrivals: {csv: arrivals.csv, column: at}, service: {law: constant, mean_seconds: 400}}]
`,
			want:        []came{{Waits: []float64{0, 399, 798}, Served: 3}},
			utilisation: 1200. / 86400,
		},
	} {
		t.Run(story.name, func(t *testing.T) {
			t.Parallel()
			r, err := Play(t.Context(), small(t, story.arrivals, story.text), Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []came
			for _, l := range r.Policies[0].Lines {
				if !l.All {
					got = append(got, cameOf(&l))
				}
			}
			if diff := cmp.Diff(story.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(story.utilisation, r.Policies[0].Utilisation, near); diff != "" {
				t.Errorf("utilisation (-want +got):\n%s", diff)
			}
		})
	}
}

// near compares figures that were added up in another order.
var near = cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })

// TestARecordingIsPlayedSlotBySlot: the made-up day that replay plays too.
func TestARecordingIsPlayedSlotBySlot(t *testing.T) {
	t.Parallel()
	s, err := Recorded("../replay/testdata/small.csv", []string{"2030-01-07"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Play(t.Context(), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string][]came)
	for _, p := range r.Policies {
		for _, l := range p.Lines {
			if !l.All {
				got[p.Name] = append(got[p.Name], cameOf(&l))
			}
		}
	}
	// First come, first served: who joined at 161 is called by the slot at 170
	// and has gone, and 210 finds 212.
	fifo := []came{
		{Waits: []float64{0, 5, 8, 9, 35}, Served: 5, GaveUp: 2},
		{Waits: []float64{2, 40}, Served: 2},
	}
	want := map[string][]came{"fifo": fifo, "as recorded": {
		// Who came at 161 and gave up at 300 saw those of 162, 163 and 210 go.
		{Waits: []float64{0, 5, 8, 9, 35}, Served: 5, GaveUp: 2, Passed: 1. / 7, Most: 3, By: 49},
		{Waits: []float64{2, 40}, Served: 2},
	}, "head start 90 s": {
		{Waits: []float64{0, 5, 8, 9, 45}, Served: 5, GaveUp: 2, Passed: 1. / 7, Most: 1, By: 5},
		{Waits: []float64{2, 30}, Served: 2},
	}, "factor 0.5": {
		{Waits: []float64{0, 5, 8, 9, 45}, Served: 5, GaveUp: 2, Passed: 1. / 7, Most: 1, By: 5},
		{Waits: []float64{2, 30}, Served: 2},
	}, "factor 0.25": {
		{Waits: []float64{0, 5, 8, 9, 45}, Served: 5, GaveUp: 2, Passed: 1. / 7, Most: 1, By: 5},
		{Waits: []float64{2, 30}, Served: 2},
	}}
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
