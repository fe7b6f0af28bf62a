package rule_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/rule"
)

// TestNeeds: of each kind the longest window counts, wherever it stands.
func TestNeeds(t *testing.T) {
	t.Parallel()
	set := compile(
		t,
		dengxu.Rule{Name: "a", Condition: `missed_within("1h") && !(waiting > 3 && served_within("2d"))`, Action: "-0.1"},
		dengxu.Rule{Name: "b", Condition: `ext_attrs.x ? missed_within("90m") : missed_within("5m")`, Action: "-0.1"},
	)
	want := rule.Needs{Missed: 90 * time.Minute, Served: 48 * time.Hour, Waiting: true}
	if diff := cmp.Diff(want, set.Needs()); diff != "" {
		t.Errorf("needs (-want +got):\n%s", diff)
	}
	clock := compile(t, dengxu.Rule{Name: "a", Condition: "now.hour > 3", Action: "-0.1"}).Needs()
	if clock != (rule.Needs{Clock: true}) {
		t.Errorf("a rule that looks at the clock needs %+v", clock)
	}
	if n := compile(t, dengxu.Rule{Name: "a", Condition: "party_size > 3", Action: "-0.1"}).Needs(); n != (rule.Needs{}) {
		t.Errorf("a rule that looks at the join needs %+v", n)
	}
}

// TestRetryAfter: a refusal says when the history alone would let the join in.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	in := rule.Input{
		Attrs: map[string]any{"age": 30.0}, Now: noon,
		History: rule.History{
			Joined: noon.Add(-10 * time.Minute), Missed: noon.Add(-20 * time.Minute), Served: noon.Add(-time.Hour),
		},
	}
	no := func(name, condition string) dengxu.Rule {
		return dengxu.Rule{Name: name, Condition: condition, Reject: "wait_" + name}
	}
	for name, c := range map[string]struct {
		rules []dengxu.Rule
		retry time.Duration
	}{
		"one window":              {[]dengxu.Rule{no("a", `joined_within("30m")`)}, 20 * time.Minute},
		"no window":               {[]dengxu.Rule{no("a", "true")}, 0},
		"a window and more":       {[]dengxu.Rule{no("a", `joined_within("30m") && ext_attrs.age < 60`)}, 20 * time.Minute},
		"either of two":           {[]dengxu.Rule{no("a", `joined_within("30m") && missed_within("25m")`)}, 5 * time.Minute},
		"both of two":             {[]dengxu.Rule{no("a", `joined_within("30m") || missed_within("2h")`)}, 100 * time.Minute},
		"a window beside a fact":  {[]dengxu.Rule{no("a", `joined_within("30m") || ext_attrs.age < 60`)}, 0},
		"two rules":               {[]dengxu.Rule{no("a", `joined_within("30m")`), no("b", `missed_within("1h")`)}, 40 * time.Minute},
		"a rule that stands":      {[]dengxu.Rule{no("a", `joined_within("30m")`), no("b", "true")}, 0},
		"a window that has ended": {[]dengxu.Rule{no("a", `joined_within("30m") || served_within("30m")`)}, 20 * time.Minute},
		// Later the second would reject, and later still neither.
		"one after the other": {
			[]dengxu.Rule{no("a", `joined_within("30m")`), no("b", `!joined_within("15m") && missed_within("1h")`)}, 40 * time.Minute,
		},
		"not too soon after": {[]dengxu.Rule{no("a", `joined_within("30m") || !joined_within("1h")`)}, 20 * time.Minute},
		"never again":        {[]dengxu.Rule{no("a", `joined_within("30m") || !joined_within("30m")`)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := &rule.Rejection{Rule: "a", Reason: "wait_a", RetryAfter: c.retry}
			if diff := cmp.Diff(want, compile(t, c.rules...).Evaluate(in).Reject); diff != "" {
				t.Errorf("rejection (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMarkAhead: a mark that is younger than now, as after a step of a clock, is
// within every window.
func TestMarkAhead(t *testing.T) {
	t.Parallel()
	in := rule.Input{Now: noon, History: rule.History{Joined: noon.Add(time.Second)}}
	if !matches(t, `joined_within("1s")`, in) {
		t.Error("who joined a moment ahead has not joined lately")
	}
}
