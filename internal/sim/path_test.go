package sim

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
)

// played is one run of the first policy.
func played(t *testing.T, s *Scenario) (*plan, *measures) {
	t.Helper()
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	p, err := s.plan()
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.play(t.Context(), &p.Policies[0], 0, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	return p, m
}

// TestWaitsAreThoseOfTheRecursion: under first come, first served the engine's
// waits are those of Kiefer and Wolfowitz on the same people, to the millisecond.
func TestWaitsAreThoseOfTheRecursion(t *testing.T) {
	t.Parallel()
	laws := map[string]Law{
		"exponential": exponential(),
		"lognormal":   {Law: Lognormal, MeanSeconds: 100, CV: 1.7},
		"constant":    {Law: Constant, MeanSeconds: 100},
	}
	for _, c := range []int{1, 2, 5, 12} {
		for name, law := range laws {
			t.Run(fmt.Sprintf("%s at %d", name, c), func(t *testing.T) {
				t.Parallel()
				p, m := played(t, scenarioOf(c, 1500, stream{"ordinary", .95 * float64(c), law, dengxu.Group{}}))
				if diff := cmp.Diff(fifo(p.people(0), c, 1), m.lines[0].waits); diff != "" {
					t.Errorf("(-recursion +engine):\n%s", diff)
				}
			})
		}
	}
}

// TestEqualFactorsAreFirstComeFirstServed: groups that differ in nothing but
// their names are one line.
func TestEqualFactorsAreFirstComeFirstServed(t *testing.T) {
	t.Parallel()
	e := exponential()
	same := dengxu.Group{Factor: new(0.5), HeadStartSeconds: 45}
	p, m := played(t, scenarioOf(3, 3000, stream{"a", 1, e, same}, stream{"b", .8, e, same}, stream{"c", 1, e, same}))
	people := p.people(0)
	want := make([][]int64, 3)
	for i, wait := range fifo(people, 3, 1) {
		want[people[i].stream] = append(want[people[i].stream], wait)
	}
	for i := range want {
		if diff := cmp.Diff(want[i], m.lines[i].waits); diff != "" {
			t.Errorf("group %s (-recursion +engine):\n%s", p.lines[i].Group, diff)
		}
		if m.lines[i].passed != 0 || m.lines[i].mostPassed != 0 || m.lines[i].overtaken != 0 {
			t.Errorf("group %s was passed: %+v", p.lines[i].Group, m.lines[i])
		}
	}
}
