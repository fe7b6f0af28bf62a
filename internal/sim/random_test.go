package sim

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
)

// drawScenario is some hall of at most a day, under any ordering.
func drawScenario(t *rapid.T) *Scenario {
	s := &Scenario{
		Days: 1, Runs: 1, Seed: rapid.Uint64Range(1, 1<<40).Draw(t, "seed"),
		Queues: make(map[dengxu.QueueID]dengxu.Queue),
	}
	classes := rapid.SampledFrom([][]string{nil, {"a"}, {"a", "b"}}).Draw(t, "classes")
	groups := []string{"ordinary", "x", "y"}[:rapid.IntRange(1, 3).Draw(t, "groups")]
	queues := []dengxu.QueueID{"main", "other"}[:rapid.IntRange(1, 2).Draw(t, "queues")]
	// A counter does not mix epoch with others, so all queues are ordered alike.
	ordering := rapid.SampledFrom([]string{"aging", "aging", "strict", "ratio", "epoch"}).Draw(t, "ordering")
	for _, id := range queues {
		s.Queues[id] = drawQueue(t, ordering, groups, classes)
		for _, group := range groups {
			for _, class := range append(classes, "")[:max(1, len(classes))] {
				s.Streams = append(s.Streams, drawStream(t, id, group, class))
			}
		}
	}
	for range rapid.IntRange(1, 3).Draw(t, "counters") {
		c := Counters{Count: new(rapid.IntRange(1, 2).Draw(t, "count"))}
		if rapid.Bool().Draw(t, "hours") {
			c.Hours = []string{"09:00-12:00", "13:00-17:00"}
		}
		if rapid.Bool().Draw(t, "listed") {
			c.Pick = "listed"
		}
		if len(classes) == 2 && rapid.Bool().Draw(t, "skilled") {
			c.Queues = []dengxu.CounterQueue{{ID: "main", Classes: []string{"a"}}}
		}
		s.Counters = append(s.Counters, c)
	}
	return s
}

func drawQueue(t *rapid.T, ordering string, groups, classes []string) dengxu.Queue {
	q := dengxu.Queue{
		Ordering: ordering, DayEnd: "expire", MinFactor: new(0.05), Groups: make(map[string]dengxu.Group),
		CallTimeoutSeconds: new(rapid.SampledFrom([]float64{20, 300}).Draw(t, "timeout")),
		Missed: &dengxu.Missed{
			Policy:         rapid.SampledFrom([]string{"requeue", "keep", "remove"}).Draw(t, "missed"),
			PenaltySeconds: new(rapid.SampledFrom([]float64{0, 300}).Draw(t, "penalty")),
		},
	}
	if rapid.Bool().Draw(t, "short") {
		q.MaxLength = 3
	}
	for _, g := range groups {
		set := dengxu.Group{}
		switch ordering {
		case strict:
			set.Rank = new(rapid.IntRange(0, 2).Draw(t, "rank"))
			q.EscalateAfterSeconds = new(rapid.SampledFrom([]float64{60, 3600}).Draw(t, "escalate"))
		case ratio:
			set.Share = new(rapid.IntRange(1, 4).Draw(t, "share"))
		default:
			set.Factor = new(rapid.SampledFrom([]float64{0.25, 0.5, 1, 2}).Draw(t, "factor"))
		}
		set.HeadStartSeconds = rapid.SampledFrom([]float64{0, 0, 45, 600, -30}).Draw(t, "head start")
		q.Groups[g] = set
	}
	if classes != nil {
		q.Classes = make(map[string]dengxu.Class)
		for _, c := range classes {
			q.Classes[c] = dengxu.Class{}
		}
	}
	return q
}

func drawStream(t *rapid.T, id dengxu.QueueID, group, class string) Stream {
	st := Stream{
		Queue: id, Group: group, Class: class,
		Arrivals: Arrivals{ByHour: map[string]float64{"08:30-11:00": rapid.Float64Range(1, 20).Draw(t, "morning"), "12:00-16:00": 6}},
		Service:  rapid.SampledFrom([]Law{{MeanSeconds: 150}, {Law: Lognormal, MeanSeconds: 200, CV: 1}, {Law: Constant, MeanSeconds: 60}}).Draw(t, "service"),
	}
	if rapid.Bool().Draw(t, "impatient") {
		st.Patience = &Patience{Law: Law{MeanSeconds: 900}, Silent: rapid.Bool().Draw(t, "silent")}
	}
	if rapid.Bool().Draw(t, "unreliable") {
		st.NoShow = &NoShow{Share: 0.2, OperatorAfterSeconds: rapid.SampledFrom([]float64{0, 15}).Draw(t, "operator")}
	}
	return st
}

// TestRandomHalls: whatever the settings, no call breaks what the ordering
// promises, the books close, and the store's indexes agree with its records.
func TestRandomHalls(t *testing.T) {
	t.Parallel()
	rounds := 1 // of 100 halls
	if torture() {
		rounds = 30
	}
	for range rounds {
		rapid.Check(t, playsByTheBook)
	}
}

func playsByTheBook(t *rapid.T) {
	s := drawScenario(t)
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	p, err := s.plan()
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.begin(t.Context(), &p.Policies[0], 0, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.playAll(t.Context()); err != nil {
		t.Fatalf("%s: %v", r.at(), err)
	}
	r.end()
	if found, err := r.hall.Audit(t.Context()); err != nil || len(found) > 0 {
		t.Fatalf("audit: %v %v", found, err)
	}
	books(t, r)
}

// books holds the counts against each other.
func books(t *rapid.T, r *run) {
	people, waits, ended := 0, int64(0), 0
	for i := range r.m.lines {
		l := &r.m.lines[i]
		people += l.came
		for _, n := range l.outcomes {
			ended += n
		}
		if calls := len(l.waits); calls > l.came || l.missed > l.calls || l.outcomes[served] > l.calls {
			t.Errorf("%v: %d came, %d waits, %d calls, %d missed, %v", r.lines[i], l.came, calls, l.calls, l.missed, l.outcomes)
		}
		for _, w := range l.waits {
			waits += w
		}
	}
	if people != len(r.people) || ended != people {
		t.Errorf("%d people drawn, %d came, %d ended", len(r.people), people, ended)
	}
	area, all := 0.0, 0
	for _, n := range r.m.length.bins {
		area += n
	}
	for i := range r.stays {
		if s := &r.stays[i]; s.outcome == served && s.calls == 1 {
			all++
		}
	}
	// Little's law, person by person: the area under the length of the line is
	// the sum of the waits, when all were served at their first call.
	if all == people && area != float64(waits) {
		t.Errorf("people waited %d ms altogether, and the line was %.0f ms long", waits, area)
	}
}

// TestABreachEndsARun: the judge is told other settings than the engine, and must
// find calls that break them.
func TestABreachEndsARun(t *testing.T) {
	t.Parallel()
	groups := map[string]dengxu.Group{"ordinary": {Rank: new(1), Share: new(3)}, "vip": {Rank: new(0), Share: new(1), Factor: new(0.5)}}
	for _, row := range []struct{ played, judged, words string }{
		{"aging", epoch, "first come, first served"},
		{"aging", strict, "ranks are served in their order"},
		{"aging", ratio, "one was called too often"},
		{"strict", aging, "nobody is passed who has waited"},
		{"ratio", strict, "ranks are served in their order"},
		{"strict", ratio, "one was called too often"},
	} {
		s := scenarioOf(1, 2000, stream{"ordinary", .5, exponential(), groups["ordinary"]}, stream{"vip", .49, exponential(), groups["vip"]})
		q := s.Queues["main"]
		q.Ordering, q.EscalateAfterSeconds = row.played, nil
		if row.played == strict {
			q.EscalateAfterSeconds = new(1e6)
		}
		q.Groups = only(groups, row.played)
		s.Queues["main"] = q
		if err := s.check(); err != nil {
			t.Fatal(err)
		}
		p, err := s.plan()
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.begin(t.Context(), &p.Policies[0], 0, func(int) {})
		if err != nil {
			t.Fatalf("%s: %v", row.played, err)
		}
		r.hall.queues[0].ordering, r.hall.queues[0].groups, r.hall.queues[0].escalate = row.judged, groups, 1e12
		err = r.playAll(t.Context())
		if !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), row.words) {
			t.Errorf("%s judged as %s: %v", row.played, row.judged, err)
		}
	}
}

// only are groups with what an ordering knows of them.
func only(groups map[string]dengxu.Group, ordering string) map[string]dengxu.Group {
	out := make(map[string]dengxu.Group)
	for name, g := range groups {
		switch ordering {
		case strict:
			out[name] = dengxu.Group{Rank: g.Rank}
		case ratio:
			out[name] = dengxu.Group{Share: g.Share}
		default:
			out[name] = dengxu.Group{Factor: g.Factor}
		}
	}
	return out
}

// TestBreach: the sentences of the bound, case by case.
func TestBreach(t *testing.T) {
	t.Parallel()
	const now = 1_000_000
	main, other := &queue{id: "main", ordering: aging}, &queue{id: "other", ordering: aging}
	tiers := &queue{ordering: strict, escalate: 500_000, groups: map[string]dengxu.Group{"vip": {Rank: new(0)}, "low": {Rank: new(5)}}}
	scaled := &queue{ordering: epoch}
	at := func(q *queue, group string, k int, age int64, seq uint64) contender {
		return contender{queue: q, lane: order.Lane{Group: group, K: k}, key: order.Key{Place: now - age, Seq: seq}}
	}
	for _, row := range []struct {
		name   string
		a, b   contender
		breach bool
	}{
		{"half the factor passes less than twice the wait", at(main, "", 10, 100, 9), at(main, "", 20, 199, 1), false},
		{"and not twice the wait of an earlier one", at(main, "", 10, 100, 9), at(main, "", 20, 200, 1), true},
		{"but of a later one", at(main, "", 10, 100, 1), at(main, "", 20, 200, 9), false},
		{"and not more", at(main, "", 10, 100, 1), at(main, "", 20, 201, 9), true},
		{"between queues too", at(main, "", 10, 100, 9), at(other, "", 20, 200, 1), true},
		{"equal factors", at(main, "", 20, 100, 2), at(main, "", 20, 101, 3), true},
		{"the future waits", at(main, "", 20, -1, 1), at(main, "", 20, 0, 2), true},
		{"the future waits in turn", at(main, "", 1, -5, 1), at(main, "", 400, -4, 2), true},
		{"the future is passed", at(main, "", 400, 0, 2), at(main, "", 1, -1, 1), false},
		{"a better rank", at(tiers, "vip", 0, 1, 9), at(tiers, "low", 0, 499_999, 1), false},
		{"a worse rank", at(tiers, "low", 0, 499_999, 1), at(tiers, "vip", 0, 1, 9), true},
		{"an overdue one", at(tiers, "vip", 0, 499_999, 1), at(tiers, "low", 0, 500_000, 9), true},
		{"both overdue", at(tiers, "vip", 0, 500_001, 1), at(tiers, "low", 0, 500_000, 9), false},
		{"an unknown group is last", at(tiers, "else", 0, 5, 1), at(tiers, "low", 0, 1, 9), true},
		{"scaled places", at(scaled, "", 0, 5, 2), at(scaled, "", 0, 5, 1), true},
		{"scaled places in order", at(scaled, "", 0, 5, 1), at(scaled, "", 0, 5, 2), false},
		{"queues of another ordering promise nothing to each other", at(scaled, "", 0, 1, 2), at(main, "", 1, 500, 1), false},
	} {
		if words := breach(now, &row.a, &row.b); (words != "") != row.breach {
			t.Errorf("%s: %q", row.name, words)
		}
	}
}

// TestPoliciesHaveTheSamePeople: what chance decides does not depend on the
// policy.
func TestPoliciesHaveTheSamePeople(t *testing.T) {
	t.Parallel()
	s := scenarioOf(2, 500, stream{"ordinary", .9, exponential(), factor(1)}, stream{"vip", .9, exponential(), factor(1)})
	s.Policies = []Policy{{Name: "a"}, {Name: "b", Queues: map[dengxu.QueueID]json.RawMessage{"main": json.RawMessage(`{"groups":{"vip":{"factor":1}}}`)}}}
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	r, err := Play(t.Context(), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, b := r.Policies[0], r.Policies[1]
	for i := range a.Lines {
		if a.Lines[i].Wait != b.Lines[i].Wait || a.Lines[i].Wait.Mean == 0 {
			t.Errorf("%+v and %+v", a.Lines[i].Wait, b.Lines[i].Wait)
		}
	}
}
