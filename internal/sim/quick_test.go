package sim

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
)

func TestLawsAsText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Law{
		"120":               {Law: Exponential, MeanSeconds: 120},
		"exponential:120":   {Law: Exponential, MeanSeconds: 120},
		"lognormal:120:0.8": {Law: Lognormal, MeanSeconds: 120, CV: 0.8},
		"constant:90.5":     {Law: Constant, MeanSeconds: 90.5},
	} {
		if got, err := ParseLaw("service", text); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "abc", "constant", "constant:x", "lognormal:1", "lognormal:1:2:3", "normal:5", "exponential:5:1", "exponential:-1", "exponential:NaN"} {
		if got, err := ParseLaw("service", text); dengxu.CodeOf(err) != dengxu.Invalid {
			t.Errorf("%q: %+v %v", text, got, err)
		}
	}
}

func TestGroupsOfOneLine(t *testing.T) {
	t.Parallel()
	s, err := Quick{
		PerHour: 60, Service: "constant:50", Counters: 2, Customers: 1000,
		Groups: []string{"VIP=0.2,factor=0.5", "old=0.3,head_start=90,factor=1"},
	}.Scenario()
	if err != nil {
		t.Fatal(err)
	}
	rates := make(map[string]float64)
	for _, st := range s.Streams {
		rates[st.Group] = st.Arrivals.PerHour
	}
	if diff := cmp.Diff(map[string]float64{"VIP": 12, "old": 18, "": 30}, rates, near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s.WarmupSeconds != 6000 || len(s.Policies) != 2 || string(s.Policies[1].Queues["main"]) != `{"groups":{"VIP":{"factor":0.5},"old":{"factor":1,"head_start_seconds":90}}}` {
		t.Errorf("%+v", s)
	}
	for _, q := range []Quick{
		{Service: "5", Counters: 1, Customers: 5},
		{PerHour: 5, Service: "x", Counters: 1, Customers: 5},
		{PerHour: 5, Service: "5", Counters: -1, Customers: 5},
		{PerHour: 5, Service: "5", Counters: 1},
		{PerHour: 5, Service: "5", Counters: 1, Customers: 5, Patience: "x"},
		{PerHour: 5, Service: "5", Counters: 1, Customers: 5, NoShow: 1},
		{PerHour: 5, Service: "5", Counters: 1, Customers: 5, Groups: []string{"VIP"}},
		{PerHour: 5, Service: "5", Counters: 1, Customers: 5, Groups: []string{"VIP=2"}},
		{PerHour: 5, Service: "5", Counters: 1, Customers: 5, Groups: []string{"VIP=0.6", "old=0.6"}},
		{PerHour: 5, Service: "5", Counters: 1, Customers: 5, Groups: []string{"VIP=0.1", "VIP=0.1"}},
		{PerHour: 5, Service: "5", Counters: 1, Customers: 5, Groups: []string{"VIP=0.1,speed=2"}},
	} {
		if _, err := q.Scenario(); dengxu.CodeOf(err) != dengxu.Invalid {
			t.Errorf("%+v: %v", q, err)
		}
	}
}
