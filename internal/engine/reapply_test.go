package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// reapplied judges those who wait anew, and wants so many looked at and
// changed, and nothing the second time.
func (r *rig) reapplied(id dengxu.QueueID, checked, changed int) {
	r.Helper()
	for _, want := range []dengxu.RulesReapplied{{Checked: checked, Changed: changed}, {Checked: checked}} {
		got, err := r.ReapplyRules(r.Context(), staffer, id)
		if err != nil || got != want {
			r.Fatalf("reapplied %+v %v, want %+v", got, err, want)
		}
	}
	r.clean()
}

// factors are the factors of tokens.
func (r *rig) factors(ids ...dengxu.TokenID) (all []float64) {
	r.Helper()
	for _, id := range ids {
		all = append(all, r.shown(id).factor)
	}
	return all
}

func old(age int) dengxu.JoinRequest {
	return dengxu.JoinRequest{ExtAttrs: json.RawMessage(fmt.Sprintf(`{"age":%d}`, age))}
}

// TestAChangeOfRulesMovesNobody, until somebody asks for it.
func TestAChangeOfRulesMovesNobody(t *testing.T) {
	t.Parallel()
	r := hall(t)
	young, aged := r.join("main", old(30)).ID, r.join("main", old(80)).ID
	called := r.join("main", old(90)).ID
	if _, err := r.CallToken(t.Context(), staffer, "1", called, dengxu.VerbRequest{Reason: "test"}); err != nil {
		t.Fatal(err)
	}
	r.queue("main", `{"site":"hall","queue_rules":[{"name":"elderly","condition":"ext_attrs.age >= 70","action":"-0.2"}]}`)
	if got := r.factors(young, aged); !slices.Equal(got, []float64{1, 1}) {
		t.Errorf("saving rules changed factors: %v", got)
	}
	r.reapplied("main", 2, 1)
	if got := r.factors(young, aged, called); !slices.Equal(got, []float64{1, 0.8, 1}) {
		t.Errorf("factors %v", got)
	}
	token := r.state(aged, dengxu.StateWaiting)
	if token.Reason != "rules_reapplied" || token.Version != 2 {
		t.Errorf("the token says %q, version %d", token.Reason, token.Version)
	}
	page, err := r.store.Events(t.Context(), store.Cursor{}, 1000)
	if err == nil {
		page, err = r.store.Events(t.Context(), store.Cursor{Epoch: page.End.Epoch}, 1000)
	}
	if err != nil || len(page.Events) == 0 {
		t.Fatal(page, err)
	}
	last := page.Events[len(page.Events)-1]
	if last.Type != dengxu.EventMoved || last.Reason != "rules_reapplied" || last.Token != aged || last.Actor != staffer.Name {
		t.Errorf("the last event is %+v", last)
	}
	// Who came later waits faster: after ten minutes 10/0.8 > 10/1.
	r.clock.Advance(10 * time.Minute)
	if got := r.state(aged, dengxu.StateWaiting); *got.Rank != 0 {
		t.Errorf("rank %d", *got.Rank)
	}
	r.queue("main", `{"site":"hall"}`)
	r.reapplied("main", 2, 1)
	if got := r.shown(aged); got.factor != 1 || got.rules != nil {
		t.Errorf("without rules: %+v", got)
	}
}

func TestReapplyNeedsTheRightMove(t *testing.T) {
	t.Parallel()
	r := hall(t)
	by := staffer
	by.Move = false
	_, err := r.ReapplyRules(t.Context(), by, "main")
	wantCode(t, err, dengxu.Forbidden, "move")
	_, err = r.ReapplyRules(t.Context(), staffer, "nowhere")
	wantCode(t, err, dengxu.NotFound, "")
}

// TestReapplyUsesTheInputsOfTheJoin: the class asked for, the time, how many
// waited and the history are those of the join, whatever has happened since.
func TestReapplyUsesTheInputsOfTheJoin(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.site("hall", `{"time_zone":"UTC"}`)
	const classes = `{"site":"hall","day_end":"keep","unique":false,"classes":{"small":{},"large":{}},"default_class":"small","queue_rules":[`
	const look = `{"name":"again","condition":"joined_within(\"30m\")","action":"+0.1"},{"name":"crowd","condition":"waiting >= 1","action":"+0.2"}`
	r.queue("main", classes+look+`,{"name":"asked","condition":"class == \"small\"","class":"large"}]}`)
	joined := r.clock.Wall().UTC()
	ann := dengxu.JoinRequest{BusinessID: "ann"}
	first, second := r.join("main", ann).ID, r.join("main", ann).ID
	ann.Class = "small"
	third := r.join("main", ann).ID
	want := []shown{
		{factor: 1, class: "small"},
		{factor: 1.3, class: "small", rules: []string{"again", "crowd"}},
		{factor: 1.3, class: "large", rules: []string{"again", "crowd", "asked"}},
	}
	check := func(what string) {
		t.Helper()
		for i, id := range []dengxu.TokenID{first, second, third} {
			if diff := cmp.Diff(want[i], r.shown(id), cmp.AllowUnexported(shown{})); diff != "" {
				t.Errorf("%s: token %d (-want +got):\n%s", what, i+1, diff)
			}
		}
	}
	check("joined")
	r.clock.Advance(40 * time.Minute)
	r.reapplied("main", 3, 0)
	check("40 minutes later")
	r.queue("main", classes+look+fmt.Sprintf(`,{"name":"then","condition":"now.hour == %d && now.minute == %d","action":"-0.5"}]}`, joined.Hour(), joined.Minute()))
	r.reapplied("main", 3, 3)
	want[0] = shown{factor: 0.5, class: "small", rules: []string{"then"}}
	want[1] = shown{factor: 0.8, class: "small", rules: []string{"again", "crowd", "then"}}
	want[2] = shown{factor: 0.8, class: "small", rules: []string{"again", "crowd", "then"}} // as it had asked
	check("by the time of the join")
}

// TestReapplyToMany goes in several commits, and past those who leave
// meanwhile.
func TestReapplyToMany(t *testing.T) {
	t.Parallel()
	r, s := raced(t, `{"site":"hall","queues":["main"]}`)
	var ids []dengxu.TokenID
	for i := range 250 {
		ids = append(ids, r.join("main", old(i)).ID)
	}
	r.queue("main", `{"site":"hall","queue_rules":[{"name":"elderly","condition":"ext_attrs.age >= 70","action":"-0.2"}]}`)
	s.next = func() { r.do(dengxu.VerbCancel, ids[80], dengxu.VerbRequest{}) }
	got, err := r.ReapplyRules(t.Context(), staffer, "main")
	if want := (dengxu.RulesReapplied{Checked: 250, Changed: 179}); err != nil || got != want {
		t.Errorf("%+v %v, want %+v", got, err, want)
	}
	r.reapplied("main", 249, 0)
	for i, id := range ids {
		want := 1.0
		if i >= 70 && i != 80 {
			want = 0.8
		}
		if got := r.shown(id).factor; got != want {
			t.Fatalf("token %d has factor %v", i, got)
		}
	}
}

// TestReapplyOpensNoLaneTooMany: at most 32 factor lanes; the others take the
// nearest.
func TestReapplyOpensNoLaneTooMany(t *testing.T) {
	t.Parallel()
	r := hall(t)
	var ids []dengxu.TokenID
	for i := range 40 {
		ids = append(ids, r.join("main", old(i)).ID)
	}
	var rules []string
	for i := range 40 {
		rules = append(rules, fmt.Sprintf(`{"name":"r%d","condition":"ext_attrs.age == %d","action":"+%.2f"}`, i, i, float64(i)*0.05))
	}
	r.queue("main", `{"site":"hall","queue_rules":[`+strings.Join(rules, ",")+`]}`)
	r.reapplied("main", 40, 40)
	v, err := r.view(context.Background(), store.Ask{Lines: []store.LineKey{r.world.Load().queues["main"].line()}})
	if err != nil || len(v.Lines[0].Lanes) != maxLanes {
		t.Errorf("%d lanes %v", len(v.Lines[0].Lanes), err)
	}
	if got := r.shown(ids[39]); !got.clipped || got.factor != 1+0.05*(maxLanes-1) {
		t.Errorf("the last took %+v", got)
	}
}

// TestReapplyInEpoch: there the place says the factor, so that it is counted
// anew from the join.
func TestReapplyInEpoch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.site("hall", `{"time_zone":"UTC"}`)
	r.queue("main", `{"site":"hall","ordering":"epoch"}`)
	r.queue("other", `{"site":"hall","prefix":"B","ordering":"epoch","queue_rules":[{"name":"elderly","condition":"ext_attrs.age >= 70","action":"-0.2"}]}`)
	r.clock.Advance(time.Hour)
	before := r.join("main", old(80)).ID
	want := r.join("other", old(80)).ID // as if the rule had been there
	r.queue("main", `{"site":"hall","ordering":"epoch","queue_rules":[{"name":"elderly","condition":"ext_attrs.age >= 70","action":"-0.2"}]}`)
	r.reapplied("main", 1, 1)
	a, b := r.state(before, dengxu.StateWaiting), r.state(want, dengxu.StateWaiting)
	if a.Factor != b.Factor || !a.Place.Equal(b.Place) {
		t.Errorf("judged anew: factor %v at %v, at the join: %v at %v", a.Factor, a.Place, b.Factor, b.Place)
	}
	r.queue("main", `{"site":"hall","ordering":"epoch"}`)
	r.reapplied("main", 1, 1)
	if a = r.state(before, dengxu.StateWaiting); !a.Place.Equal(a.JoinedAt) {
		t.Errorf("with factor 1 the place is %v, joined at %v", a.Place, a.JoinedAt)
	}
}

// TestReapplyElsewhere: who was transferred is judged by the rules of the queue
// that it is in, and keeps the counter that it waits for.
func TestReapplyElsewhere(t *testing.T) {
	t.Parallel()
	r := ruled(t, "")
	r.queue("side", `{"site":"hall","prefix":"S","queue_rules":[{"name":"elderly","condition":"ext_attrs.age >= 60","action":"-0.1"}]}`)
	r.counter("2", `{"site":"hall","queues":["side"]}`)
	req := old(80)
	req.BusinessID, req.PartySize = "ann", 6
	id := r.join("main", req).ID
	moved := r.do(dengxu.VerbTransfer, id, dengxu.VerbRequest{QueueID: "side", CounterID: "2"})
	if want := (shown{factor: 0.9, rules: []string{"elderly"}}); !cmp.Equal(want, r.shown(moved.ID), cmp.AllowUnexported(shown{})) {
		t.Errorf("transferred: %+v", r.shown(moved.ID))
	}
	r.reapplied("side", 1, 0)
	r.queue("side", `{"site":"hall","prefix":"S"}`)
	r.reapplied("side", 1, 1)
	r.mustCall("2", moved.Number) // the lane is still that of the counter
	back := r.do(dengxu.VerbTransfer, id, dengxu.VerbRequest{QueueID: "main", Class: "large"})
	if want := (shown{factor: 0.8, class: "large", rules: []string{"elderly_priority", "big_table"}}); !cmp.Equal(want, r.shown(back.ID), cmp.AllowUnexported(shown{})) {
		t.Errorf("back: %+v", r.shown(back.ID))
	}
	undone := r.do(dengxu.VerbUndo, id, dengxu.VerbRequest{})
	if got := r.shown(undone.ID); got.factor != 1 || got.rules != nil {
		t.Errorf("undone: %+v", got)
	}
}

// TestReapplyByGroup: in strict the class and group make the lane.
func TestReapplyByGroup(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.site("hall", `{"time_zone":"UTC"}`)
	const strict = `{"site":"hall","ordering":"strict","groups":{"red":{}},"classes":{"a":{},"b":{}},"default_class":"a"`
	r.queue("main", strict+`}`)
	r.counter("1", `{"site":"hall","queues":[{"id":"main","classes":["b"]}]}`)
	id := r.join("main", dengxu.JoinRequest{PriorityGroup: "red", PartySize: 5}).ID
	r.queue("main", strict+`,"queue_rules":[{"name":"big","condition":"party_size > 4","class":"b"}]}`)
	r.reapplied("main", 1, 1)
	if got := r.call("1"); got == nil || got.ID != id {
		t.Errorf("counter 1 serves class b and called %v", got)
	}
}

// TestReapplyOfALostClass: who waits in a class that the queue has no more gets
// the one that a join gets which names none, for counters may serve no other.
func TestReapplyOfALostClass(t *testing.T) {
	t.Parallel()
	for _, ordering := range []string{"aging", "strict", "ratio"} {
		r := newRig(t)
		r.site("hall", `{"time_zone":"UTC"}`)
		set := `{"site":"hall","ordering":"` + ordering + `","default_class":"a","classes":{"a":{}`
		r.queue("main", set+`,"b":{},"c":{}}}`)
		r.counter("1", `{"site":"hall","queues":[{"id":"main","classes":["a"]}]}`)
		lost := r.join("main", dengxu.JoinRequest{Class: "b"}).ID
		kept := r.join("main", dengxu.JoinRequest{Class: "c"}).ID
		r.queue("main", set+`,"c":{}}}`)
		r.reapplied("main", 2, 1)
		r.reapplied("main", 2, 0)
		if got := r.call("1"); got == nil || got.ID != lost || got.Class != "a" {
			t.Errorf("%s: counter 1 serves class a and called %v", ordering, got)
		}
		if got := r.shown(kept); got.class != "c" {
			t.Errorf("%s: class c is still there, and who waits in it is %+v", ordering, got)
		}
		for _, counter := range []dengxu.CounterID{"1", "2"} {
			r.counter(counter, `{"site":"hall","queues":["main"]}`)
		}
		r.queue("main", `{"site":"hall","ordering":"`+ordering+`"}`)
		r.reapplied("main", 1, 1)
		if got := r.call("2"); got == nil || got.ID != kept || got.Class != "" {
			t.Errorf("%s: in a queue without classes counter 2 called %v", ordering, got)
		}
	}
}

func TestRulesAreTested(t *testing.T) {
	t.Parallel()
	r := ruled(t, "")
	r.join("main", dengxu.JoinRequest{})
	got, err := r.TestRules(t.Context(), staffer, "main", dengxu.RulesTest{Holders: []dengxu.RuleHolder{
		{},
		{ExtAttrs: json.RawMessage(`{"vip_level":2,"age":71}`)},
		{PriorityGroup: "VIP", ExtAttrs: json.RawMessage(`{"vip_level":2}`)},
		{PartySize: 6, PriorityGroup: "VIP"},
		{MissedAgoSeconds: new(60.0), JoinedAgoSeconds: new(1200.0)},
		{MissedAgoSeconds: new(3600.0), JoinedAgoSeconds: new(1800.0)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := []dengxu.RuleVerdict{
		{Matched: []string{}, Factor: 1, Class: "small"},
		{Matched: []string{"vip_priority", "elderly_priority"}, Factor: 0.5, Class: "small"},
		{Matched: []string{"vip_priority"}, Factor: 0.25, Clipped: true, Class: "small", HeadStartSeconds: 60},
		{Matched: []string{"big_table"}, Factor: 0.5, Class: "large"},
		{
			Matched: []string{"recent_missed_penalty", "once_per_half_hour"}, Factor: 1.5, Class: "small",
			Reject: &dengxu.RuleRefusal{Rule: "once_per_half_hour", Reason: "once_per_half_hour", RetryAfterSeconds: 600},
		},
		{Matched: []string{}, Factor: 1, Class: "small"},
	}
	if diff := cmp.Diff(want, got.Items); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	other := []dengxu.Rule{{Name: "crowd", Condition: `waiting > 0 && now.weekday == 6`, Action: "-0.1"}}
	saturday := time.Date(2026, 2, 13, 17, 0, 0, 0, time.UTC) // in Shanghai
	got, err = r.TestRules(t.Context(), staffer, "main", dengxu.RulesTest{QueueRules: other, Holders: []dengxu.RuleHolder{
		{Now: saturday}, {Now: saturday, Waiting: new(0)}, {Now: saturday.Add(-2 * time.Hour)}, {Now: saturday, PriorityGroup: "VIP"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want = []dengxu.RuleVerdict{
		{Matched: []string{"crowd"}, Factor: 0.9, Class: "small"},
		{Matched: []string{}, Factor: 1, Class: "small"},
		{Matched: []string{}, Factor: 1, Class: "small"},
		{Matched: []string{"crowd"}, Factor: 0.4, Class: "small", HeadStartSeconds: 60},
	}
	if diff := cmp.Diff(want, got.Items); diff != "" {
		t.Errorf("verdicts of other rules (-want +got):\n%s", diff)
	}
	if v, err := r.Queue(t.Context(), "main"); err != nil || v.Version != 1 || v.JoinsToday != 1 {
		t.Errorf("a test has changed the queue: %+v %v", v, err)
	}
}

func TestTestsOfRulesAreChecked(t *testing.T) {
	t.Parallel()
	r := ruled(t, "")
	holders := []dengxu.RuleHolder{{}}
	for field, req := range map[string]dengxu.RulesTest{
		"holders":                       {},
		"holders[1].class":              {Holders: []dengxu.RuleHolder{{}, {Class: "huge"}}},
		"holders[0].priority_group":     {Holders: []dengxu.RuleHolder{{PriorityGroup: "nobles"}}},
		"holders[0].party_size":         {Holders: []dengxu.RuleHolder{{PartySize: -1}}},
		"holders[0].waiting":            {Holders: []dengxu.RuleHolder{{Waiting: new(-1)}}},
		"holders[0].now":                {Holders: []dengxu.RuleHolder{{Now: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}}},
		"holders[0].ext_attrs":          {Holders: []dengxu.RuleHolder{{ExtAttrs: json.RawMessage(`[1]`)}}},
		"holders[0].missed_ago_seconds": {Holders: []dengxu.RuleHolder{{MissedAgoSeconds: new(-1.0)}}},
		"queue_rules[0].condition":      {Holders: holders, QueueRules: []dengxu.Rule{{Name: "a", Condition: "(", Action: "-0.1"}}},
		"queue_rules[0].class":          {Holders: holders, QueueRules: []dengxu.Rule{{Name: "a", Condition: "true", Class: "huge"}}},
	} {
		_, err := r.TestRules(t.Context(), staffer, "main", req)
		if e, ok := err.(*dengxu.Error); !ok || e.Code != dengxu.Invalid || e.Field != field { //nolint:errorlint // it has a code
			t.Errorf("want invalid %s, got %v", field, err)
		}
	}
}
