package sim

import (
	stdcmp "cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
)

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
		want := []Fewest{{"p90[high]<150s", "fifo", "", r.Policies[0].Counters}, {"p90[high]<150s", "groups", "", r.Policies[1].Counters}}
		if diff := cmp.Diff(want, r.Fewest); diff != "" {
			t.Errorf("from %d (-want +got):\n%s", start, diff)
		}
		if !slices.IsSortedFunc(r.Tries, func(a, b Try) int {
			return stdcmp.Or(stdcmp.Compare(a.Policy, b.Policy), stdcmp.Compare(a.Counters, b.Counters))
		}) {
			t.Errorf("tries stand in no order: %v", r.Tries)
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
		_, err = Find(t.Context(), s, aim, row.vary, Options{}, func(try Try) { t.Errorf("%s: was begun: %v", row.aim, try) })
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", row.aim, err)
		}
	}
	recorded, err := Recorded("../replay/testdata/small.csv", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Find(t.Context(), recorded, Aim{}, "", Options{}, func(Try) {})
	if err == nil || !strings.Contains(err.Error(), "who serves is in the recording") {
		t.Errorf("a recording: %v", err)
	}
}

// TestTheAnswerIsStated: the fewest counters in words, under which policy when
// there are several, and which counters when there are several kinds.
func TestTheAnswerIsStated(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		fewest []Fewest
		want   []string
	}{
		{nil, nil},
		{[]Fewest{{"p90<15m", "as given", "", 5}}, []string{"fewest: 5 counters keep p90<15m"}},
		{[]Fewest{{"gave_up<5%", "as given", "", 1}}, []string{"fewest: 1 counter keeps gave_up<5%"}},
		{
			[]Fewest{{"mean<90s", "fifo", "desk", 2}, {"mean<90s", "strict", "desk", 1}},
			[]string{`fewest under fifo: 2 counters "desk" keep mean<90s`, `fewest under strict: 1 counter "desk" keeps mean<90s`},
		},
	} {
		r := Report{Fewest: row.fewest}
		if diff := cmp.Diff(row.want, r.answers()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestTheVariedCounterIsNamed when the scenario has several kinds, by its id or
// by what its ids begin with.
func TestTheVariedCounterIsNamed(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ counters, vary, want string }{
		{"[{id: desk}]", "desk", ""},
		{"[{id: desk}, {id: help, count: 0}]", "desk", "desk"},
		{"[{}, {id: help, count: 0}]", "", "counter"},
	} {
		s, err := Parse([]byte("customers: 20\nruns: 1\nqueues: {main: {}}\nstreams: [{arrivals: {per_hour: 5}, service: {mean_seconds: 9}}]\ncounters: " + row.counters + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		aim, err := ParseAim("p50<1h")
		if err != nil {
			t.Fatal(err)
		}
		r, err := Find(t.Context(), s, aim, row.vary, Options{}, func(Try) {})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]Fewest{{"p50<1h", "as given", row.want, 1}}, r.Fewest); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.counters, diff)
		}
	}
}
