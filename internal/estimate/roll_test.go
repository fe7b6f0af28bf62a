package estimate

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dengxu/dengxu/internal/order"
)

func lane(group string, k int) order.Lane { return order.Lane{Group: group, K: k} }

func member(l order.Lane, place int64, seq uint64) order.Member {
	return order.Member{Lane: l, Key: order.Key{Place: place, Seq: seq}}
}

// TestRollAgainstSimulation holds the position against what came, in lines of
// three counters with a mean service of 100 seconds.
func TestRollAgainstSimulation(t *testing.T) {
	t.Parallel()
	const mean, counters = 100.0, 3
	flow := func(k int, head, load float64) Flow {
		return Flow{Lane: lane("", k), HeadStart: int64(head * mean * 1000), PerSecond: load * counters / mean}
	}
	for _, row := range []struct {
		name  string
		flows []Flow
	}{
		{"b 1 4, load .80", []Flow{flow(80, 0, .4), flow(20, 0, .4)}},
		{"b 1 4, load .93", []Flow{flow(80, 0, .465), flow(20, 0, .465)}},
		{"head start 1, load .93", []Flow{flow(20, 0, .465), flow(20, 1, .465)}},
		{"b 1 2 5, head start 1 of 5, load .90", []Flow{flow(100, 0, .3), flow(50, 0, .3), flow(20, .2, .3)}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			// Lanes of one pace are told apart by their group.
			for i := range row.flows {
				row.flows[i].Lane.Group = fmt.Sprint(i)
			}
			said := map[uint64]Place{}
			off, n := map[string]float64{}, map[string]float64{}
			h := &hall{flows: row.flows, counters: counters, service: exponential(mean)}
			h.joins = func(now int64, line lanes, me order.Member, _ []Counter) {
				l := Line{Now: now, Order: order.Line{Index: line}, Flows: row.flows, Crews: []Crew{{PerSecond: counters / mean}}}
				p, ok := l.Place(me)
				if !ok || math.Abs(p.Seconds*counters/mean-p.Services) > 1e-9 {
					t.Errorf("%v: %+v %v", me, p, ok)
				}
				said[me.Key.Seq] = p
			}
			h.called = func(_ int64, me order.Member, wait float64) {
				if p, ok := said[me.Key.Seq]; ok {
					off[me.Lane.Group] += (p.Seconds - wait) / mean
					n[me.Lane.Group]++
				}
			}
			h.run(5, 30_000)
			for group := range n {
				if bias := off[group] / n[group]; math.Abs(bias) > 0.15 {
					t.Errorf("class %s: %.3f services of %g people", group, bias, n[group])
				}
			}
		})
	}
}

func TestRollFirstComeFirstServed(t *testing.T) {
	t.Parallel()
	all := lineOf(member(lane("", 20), 1000, 1), member(lane("", 20), 2000, 2), member(lane("", 20), 3000, 3))
	l := Line{Now: 10_000, Order: order.Line{Index: all}, Crews: []Crew{{PerSecond: 0.5}}}
	for i, place := range []int64{1000, 2000, 3000} {
		p, ok := l.Place(member(lane("", 20), place, uint64(i+1)))
		if want := (Place{Services: float64(i + 1), Ahead: i, Seconds: 2 * float64(i+1)}); !ok || p != want {
			t.Errorf("in line: %+v, want %+v", p, want)
		}
	}
	p, ok := l.Place(member(lane("", 20), 10_000, 9))
	if want := (Place{Services: 4, Ahead: 3, Seconds: 8}); !ok || p != want {
		t.Errorf("who joins: %+v, want %+v", p, want)
	}
	if _, ok := (&Line{Order: order.Line{Index: all}}).Place(member(lane("", 20), 0, 9)); ok {
		t.Error("no crew, and a place")
	}
}

func TestRollSkills(t *testing.T) {
	t.Parallel()
	a, b := order.Lane{Class: "a", K: 20}, order.Lane{Class: "b", K: 20}
	all := lineOf(member(a, 1, 1), member(a, 2, 2), member(b, 3, 3), member(a, 4, 4))
	l := Line{Now: 1000, Order: order.Line{Index: all}, Crews: []Crew{
		{PerSecond: 0.1, Classes: []string{"a"}},
		{PerSecond: 0.1, Classes: []string{"a", "b"}},
	}}
	// At 10 s both take an a, at 20 s the second takes the b, the first the last a.
	for _, row := range []struct {
		me   order.Member
		want Place
	}{
		{member(a, 1, 1), Place{Services: 2, Seconds: 10}},
		{member(b, 3, 3), Place{Services: 2, Ahead: 1, Seconds: 20}},
		{member(b, 9, 9), Place{Services: 3, Ahead: 2, Seconds: 30}},
		{member(a, 9, 9), Place{Services: 6, Ahead: 4, Seconds: 30}},
	} {
		if p, ok := l.Place(row.me); !ok || math.Abs(p.Services-row.want.Services) > 1e-9 || math.Abs(p.Seconds-row.want.Seconds) > 1e-9 {
			t.Errorf("%v: %+v, want %+v", row.me, p, row.want)
		}
	}
	if _, ok := l.Place(member(order.Lane{Class: "c"}, 9, 9)); ok {
		t.Error("nobody serves c, and it has a place")
	}
	if _, ok := l.Place(member(order.Lane{Class: "@desk"}, 9, 9)); ok {
		t.Error("nobody is @desk, and it has a place")
	}
}

func TestRollOvertaking(t *testing.T) {
	t.Parallel()
	const second = 1000
	groups := []order.Group{{Name: "first", Rank: 1, Share: 1}, {Name: "last", Rank: 2, Share: 1}}
	strict := order.Rule{Discipline: order.Strict, Escalate: 3600 * second, Groups: groups}
	soon := strict
	soon.Escalate = 30 * second
	for _, row := range []struct {
		name string
		rule order.Rule
		me   order.Member
		flow Flow
		want float64 // services until and with the own; one counter, 10 s each
	}{
		// One of the first group comes in 20 s: 10 + 10·w/20 = w.
		{"strict, a better rank comes", strict, member(lane("last", 0), 0, 1), Flow{Lane: lane("first", 0), PerSecond: 0.05}, 2},
		{"strict, overdue in 5 s", soon, member(lane("last", 0), -25*second, 1), Flow{Lane: lane("first", 0), PerSecond: 0.05}, 1.25},
		{"strict, a worse rank comes", strict, member(lane("first", 0), 0, 1), Flow{Lane: lane("last", 0), PerSecond: 0.05}, 1},
		{"strict, a head start of 6 s in my tier", strict, member(lane("first", 0), 0, 1), Flow{Lane: lane("first", 0), PerSecond: 0.05, HeadStart: 6 * second}, 1.3},
		{"aging, the same pace", order.Rule{}, member(lane("", 20), 0, 1), Flow{Lane: lane("", 20), PerSecond: 0.05}, 1},
		// Twice the pace: who comes in the first half of the wait passes.
		{"aging, twice the pace", order.Rule{}, member(lane("", 40), 0, 1), Flow{Lane: lane("", 20), PerSecond: 0.05}, 1 / (1 - 0.25)},
		{"aging, my place is in the future", order.Rule{}, member(lane("", 20), 3600*second, 1), Flow{Lane: lane("", 20), PerSecond: 0.05}, 2},
		// Half the factor since the day began 100 s ago: who comes in less than
		// ... place 0 − 100 + (100 + a)/2 < 0 for a < 100.
		{"epoch", order.Rule{Discipline: order.Epoch}, member(lane("", 0), 0, 1), Flow{Lane: lane("", 0), PerSecond: 0.05, Factor: 500}, 2},
		{"ratio, the other group has a turn", order.Rule{Discipline: order.Ratio, Groups: groups}, member(lane("last", 0), 0, 1), Flow{Lane: lane("first", 0), PerSecond: 0.02}, 1.25},
	} {
		l := Line{Order: order.Line{Rule: row.rule, Index: lineOf()}, Flows: []Flow{row.flow}, Crews: []Crew{{PerSecond: 0.1}}, DayStart: -100 * second}
		p, ok := l.Place(row.me)
		if !ok || math.Abs(p.Services-row.want) > 1e-4 {
			t.Errorf("%s: %+v, want %g services", row.name, p, row.want)
		}
	}
}

func TestRollRatioOwesTurns(t *testing.T) {
	t.Parallel()
	groups := []order.Group{{Name: "a", Share: 1}, {Name: "b", Share: 1}}
	own := lane("b", 0)
	l := Line{
		Now:   1000,
		Order: order.Line{Rule: order.Rule{Discipline: order.Ratio, Groups: groups}, Index: lineOf(member(own, 1, 1), member(own, 2, 2)), Debts: order.Debts{"": {"b": 1}}},
		Flows: []Flow{{Lane: lane("a", 0), PerSecond: 10}}, // as many as want to
		Crews: []Crew{{PerSecond: 0.1}},
	}
	// b owes a call, so a has two turns before b's second, one before its first.
	for seq, want := range map[uint64]float64{1: 3, 2: 5} {
		if p, ok := l.Place(member(own, int64(seq), seq)); !ok || p.Services > want+1e-9 || p.Services < want-1-1e-9 {
			t.Errorf("%d: %+v, want at most %g", seq, p, want)
		}
	}
}

// TestRollProperties are those that hold without numbers.
func TestRollProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ks := []int{20, 40, 100}
		all := lineOf()
		n := rapid.IntRange(0, 30).Draw(t, "waiting")
		for seq := range n {
			k := rapid.SampledFrom(ks).Draw(t, "k")
			all.add(member(lane("", k), -rapid.Int64Range(0, 2_000_000).Draw(t, "age"), uint64(seq)+1))
		}
		var flows []Flow
		for _, k := range ks {
			flows = append(flows, Flow{Lane: lane("", k), PerSecond: rapid.Float64Range(0, 0.01).Draw(t, "flow")})
		}
		place := func(all lanes, flows []Flow, rate float64, me order.Member) Place {
			p, ok := (&Line{Order: order.Line{Index: all}, Flows: flows, Crews: []Crew{{PerSecond: rate}}}).Place(me)
			if !ok {
				t.Fatal("no place")
			}
			return p
		}
		me := member(lane("", rapid.SampledFrom(ks).Draw(t, "mine")), 0, 1000)
		p := place(all, flows, 0.05, me)
		if p.Services < float64(p.Ahead+1)-1e-6 {
			t.Fatalf("%+v: more ahead than services", p)
		}
		// Same lane, later: never earlier.
		if later := place(all, flows, 0.05, member(me.Lane, 0, 1001)); later.Seconds < p.Seconds-1e-6 {
			t.Fatalf("later in the lane: %+v, earlier %+v", later, p)
		}
		// Twice the factor for all changes nothing.
		twice, fast := lineOf(), []Flow(nil)
		for l, keys := range all.Sorted {
			twice.Sorted[order.Lane{K: 2 * l.K}] = keys
		}
		for _, f := range flows {
			f.Lane.K *= 2
			fast = append(fast, f)
		}
		if q := place(twice, fast, 0.05, member(lane("", 2*me.Lane.K), 0, 1000)); q != p {
			t.Fatalf("twice the factor: %+v, want %+v", q, p)
		}
		// No flow and one pace for all: first come, first served.
		same := lineOf()
		for _, keys := range all.Sorted {
			for _, k := range keys {
				same.add(order.Member{Lane: lane("", 20), Key: k})
			}
		}
		if q := place(same, nil, 0.05, member(lane("", 20), 0, 1000)); q.Ahead != n || math.Abs(q.Services-float64(n+1)) > 1e-9 {
			t.Fatalf("one pace: %+v, want %d ahead", q, n)
		}
	})
}

func TestRollDeepInALine(t *testing.T) {
	t.Parallel()
	all := lineOf()
	for i := range int64(6000) {
		all.Sorted[lane("", 40)] = append(all.Sorted[lane("", 40)], order.Key{Place: i, Seq: uint64(i + 1)})
	}
	flows := []Flow{{Lane: lane("", 20), PerSecond: 0.1}}
	l := Line{Now: 6000, Order: order.Line{Index: all}, Flows: flows, Crews: []Crew{{PerSecond: 1}}}
	near, _ := l.Place(member(lane("", 40), 3998, 3999))
	far, ok := l.Place(member(lane("", 40), 4002, 4003))
	if !ok || far.Ahead != 4002 || near.Ahead != 3998 {
		t.Fatalf("%+v after %+v", far, near)
	}
	if perHead := (far.Seconds - near.Seconds) / 4; math.Abs(perHead-1/0.95) > 0.002 {
		t.Errorf("%+v after %+v: %g s a head", far, near, perHead)
	}
}

func TestRollOfThoseWhoGiveUp(t *testing.T) {
	t.Parallel()
	all := lineOf(member(lane("", 20), 1, 1), member(lane("", 20), 2, 2))
	l := Line{Now: 1000, Order: order.Line{Index: all}, Crews: []Crew{{PerSecond: 0.1}}, GiveUp: 0.01}
	p, ok := l.Place(member(lane("", 20), 1000, 9))
	if want := 1/0.1 + 1/0.11 + 1/0.12; !ok || math.Abs(p.Seconds-want) > 1e-9 || math.Abs(p.Services-want*0.1) > 1e-9 || p.Ahead != 2 {
		t.Errorf("%+v, want %g s", p, want)
	}
	l.Order.Rule = order.Rule{Discipline: order.Ratio}
	if q, _ := l.Place(member(lane("", 20), 1000, 9)); q != p {
		t.Errorf("ratio: %+v, want %+v", q, p)
	}
	if p, _ := l.Place(member(lane("", 20), 1, 1)); p.Seconds != 10 {
		t.Errorf("nobody ahead could give up: %+v", p)
	}
}

func TestRollUnderMoreThanCanBeServed(t *testing.T) {
	t.Parallel()
	// Ten in a second come and pass, of whom a tenth can be served.
	groups := []order.Group{{Name: "first", Rank: 1}, {Name: "last", Rank: 2}}
	l := Line{
		Order: order.Line{Rule: order.Rule{Discipline: order.Strict, Escalate: 1 << 40, Groups: groups}, Index: lineOf()},
		Flows: []Flow{{Lane: lane("first", 0), PerSecond: 10}}, Crews: []Crew{{PerSecond: 1}},
	}
	if p, ok := l.Place(member(lane("last", 0), 0, 1)); !ok || p.Services < 15 || p.Services > 20 {
		t.Errorf("%+v, want at most 20 services", p)
	}
}
