package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/pebblestore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

// briefRules are the rules that dengxu was asked for, as settings.
const briefRules = `"queue_rules": [
	{"name": "vip_priority",          "condition": "ext_attrs.vip_level >= 2",  "action": "-0.3"},
	{"name": "elderly_priority",      "condition": "ext_attrs.age >= 70",       "action": "-0.2"},
	{"name": "recent_missed_penalty", "condition": "missed_within(\"1h\")",     "action": "+0.5"},
	{"name": "once_per_half_hour",    "condition": "joined_within(\"30m\")",    "reject": "once_per_half_hour"},
	{"name": "big_table",             "condition": "party_size > 4",            "class": "large", "head_start_seconds": 0}
]`

// ruled is a hall with those rules, in which a miss ends the stay.
func ruled(t *testing.T, more string) *rig {
	t.Helper()
	r := newRig(t)
	r.site("hall", `{"time_zone":"Asia/Shanghai"}`)
	r.queue("main", `{"site":"hall","missed":{"policy":"remove"},"classes":{"small":{},"large":{"prefix":"L"}},"default_class":"small",`+
		`"groups":{"VIP":{"factor":0.5,"head_start_seconds":60}},`+briefRules+more+`}`)
	r.counter("1", `{"site":"hall","queues":["main"]}`)
	return r
}

// shown is what rules made of a token.
type shown struct {
	factor  float64
	clipped bool
	class   string
	head    float64
	rules   []string
}

func (r *rig) shown(id dengxu.TokenID) shown {
	r.Helper()
	t, now, err := r.read(r.Context(), id)
	if err != nil {
		r.Fatal(err)
	}
	view := staff(&t, 0, now)
	return shown{view.Factor, t.Clipped, t.Class, seconds(t.HeadStart), t.Rules}
}

func TestRulesJudgeAJoin(t *testing.T) {
	t.Parallel()
	r := ruled(t, "")
	attrs := func(s string) json.RawMessage { return json.RawMessage(s) }
	for name, c := range map[string]struct {
		req  dengxu.JoinRequest
		want shown
	}{
		"nobody special":  {dengxu.JoinRequest{}, shown{factor: 1, class: "small"}},
		"a member":        {dengxu.JoinRequest{ExtAttrs: attrs(`{"vip_level":2}`)}, shown{factor: 0.7, class: "small", rules: []string{"vip_priority"}}},
		"an age in words": {dengxu.JoinRequest{ExtAttrs: attrs(`{"age":"70"}`)}, shown{factor: 1, class: "small"}},
		"an old member of the group": {
			dengxu.JoinRequest{PriorityGroup: "VIP", ExtAttrs: attrs(`{"vip_level":3,"age":80}`)},
			shown{factor: 0.25, clipped: true, class: "small", head: 60, rules: []string{"vip_priority", "elderly_priority"}},
		},
		"a family": {
			dengxu.JoinRequest{PriorityGroup: "VIP", PartySize: 5},
			shown{factor: 0.5, class: "large", head: 0, rules: []string{"big_table"}},
		},
	} {
		ticket := r.join("main", c.req)
		if diff := cmp.Diff(c.want, r.shown(ticket.ID), cmp.AllowUnexported(shown{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if want := c.want.class == "large"; strings.HasPrefix(ticket.Number, "L") != want {
			t.Errorf("%s has number %s", name, ticket.Number)
		}
	}
	// Factor 0.7 against 1: a member who came a second later waits faster.
	r.clean()
}

// TestRulesLookBack: what a holder has been through in the queue, and the order
// in which refusals are told.
func TestRulesLookBack(t *testing.T) {
	t.Parallel()
	r := ruled(t, `,"max_length":2`)
	ann := dengxu.JoinRequest{BusinessID: "ann"}
	keyed := staffer
	keyed.Key, keyed.Hash = "k1", [16]byte{1}
	first, err := r.Join(t.Context(), keyed, "main", ann)
	if err != nil {
		t.Fatal(err)
	}
	// A repeat is the same join, and being inside is told before any rule.
	if again, err := r.Join(t.Context(), keyed, "main", ann); err != nil || again.Value.ID != first.Value.ID || !again.Replayed {
		t.Fatalf("the repeat: %+v %v", again, err)
	}
	refused := func(req dengxu.JoinRequest, code dengxu.Code, reason string) (retry time.Duration) {
		t.Helper()
		_, err := r.Join(t.Context(), staffer, "main", req)
		wantCode(t, err, code, reason)
		return err.(*dengxu.Error).RetryAfter //nolint:errorlint // wantCode has looked at it
	}
	refused(ann, dengxu.Exists, "already_in_line")
	r.mustCall("1", "A001")
	r.pass(5 * time.Minute) // the call times out: missed
	r.state(first.Value.ID, dengxu.StateAbandoned)
	if retry := refused(ann, dengxu.TooMany, "once_per_half_hour"); retry != 25*time.Minute {
		t.Errorf("retry after %v, want the rest of half an hour", retry)
	}
	r.join("main", dengxu.JoinRequest{})
	r.join("main", dengxu.JoinRequest{})
	refused(ann, dengxu.TooMany, "once_per_half_hour") // before full
	if _, err := r.SetDoor(t.Context(), staffer, "main", "pause", dengxu.DoorRequest{}); err != nil {
		t.Fatal(err)
	}
	refused(ann, dengxu.Closed, "paused") // the door is told first
	if _, err := r.SetDoor(t.Context(), staffer, "main", "open", dengxu.DoorRequest{}); err != nil {
		t.Fatal(err)
	}
	r.clock.Advance(25 * time.Minute)
	refused(ann, dengxu.Full, "max_length")
	late := r.call("1")
	r.do(dengxu.VerbComplete, late.ID, dengxu.VerbRequest{})
	second := r.join("main", ann)
	want := shown{factor: 1.5, class: "small", rules: []string{"recent_missed_penalty"}}
	if diff := cmp.Diff(want, r.shown(second.ID), cmp.AllowUnexported(shown{})); diff != "" {
		t.Errorf("half an hour after a miss (-want +got):\n%s", diff)
	}
	r.do(dengxu.VerbCancel, second.ID, dengxu.VerbRequest{})
	r.clock.Advance(36 * time.Minute) // the miss is over an hour ago
	if got := r.shown(r.join("main", ann).ID); got.factor != 1 {
		t.Errorf("an hour after the miss: %+v", got)
	}
	r.clean()
}

// TestMarksOnlyWhereAsked: a queue keeps no history that its rules do not ask.
func TestMarksOnlyWhereAsked(t *testing.T) {
	t.Parallel()
	r := ruled(t, "")
	r.queue("plain", `{"site":"hall","prefix":"P"}`)
	r.join("main", dengxu.JoinRequest{BusinessID: "ann"})
	r.join("plain", dengxu.JoinRequest{BusinessID: "ann"})
	called := r.call("1")
	r.do(dengxu.VerbComplete, called.ID, dengxu.VerbRequest{})
	ask := store.Ask{}
	for _, q := range []dengxu.QueueID{"main", "plain"} {
		for _, kind := range []store.MarkKind{store.MarkJoined, store.MarkMissed, store.MarkServed} {
			ask.Marks = append(ask.Marks, store.MarkKey{Queue: q, Business: "ann", Kind: kind})
		}
	}
	v, err := r.view(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	for i, at := range v.Marks {
		if want := i == 0; at != 0 != want {
			t.Errorf("mark %+v is %d", ask.Marks[i], at)
		}
	}
}

// TestServedAndUndone: served_within, and that what was undone has not
// happened.
func TestServedAndUndone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.site("hall", `{"time_zone":"UTC"}`)
	r.queue("main", `{"site":"hall","queue_rules":[
		{"name":"served","condition":"served_within(\"24h\")","action":"+0.2"},
		{"name":"missed","condition":"missed_within(\"1h\")","action":"+0.4"}]}`)
	r.counter("1", `{"site":"hall","queues":["main"]}`)
	judged := func(want ...string) {
		t.Helper()
		id := r.join("main", dengxu.JoinRequest{BusinessID: "ann"}).ID
		if got := r.shown(id).rules; !slices.Equal(got, want) {
			t.Errorf("matched %v, want %v", got, want)
		}
		r.do(dengxu.VerbCancel, id, dengxu.VerbRequest{})
	}
	judged()
	ann := r.join("main", dengxu.JoinRequest{BusinessID: "ann"})
	r.mustCall("1", ann.Number)
	r.do(dengxu.VerbMiss, ann.ID, dengxu.VerbRequest{})
	r.do(dengxu.VerbUndo, ann.ID, dengxu.VerbRequest{})
	r.do(dengxu.VerbCancel, ann.ID, dengxu.VerbRequest{})
	judged() // the miss was taken back
	ann = r.join("main", dengxu.JoinRequest{BusinessID: "ann"})
	r.mustCall("1", ann.Number)
	r.do(dengxu.VerbComplete, ann.ID, dengxu.VerbRequest{})
	judged("served")
	r.clock.Advance(24 * time.Hour)
	judged()
	r.clean()
}

// TestRulesAskWhenAndHowMany: the site's clock and the number waiting.
func TestRulesAskWhenAndHowMany(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.site("hall", `{"time_zone":"Asia/Tokyo"}`)
	local := r.clock.Wall().In(time.FixedZone("Tokyo", 9*3600))
	r.queue("main", fmt.Sprintf(`{"site":"hall","queue_rules":[
		{"name":"this_hour","condition":"now.hour == %d && now.date == \"%s\"","action":"-0.1"},
		{"name":"crowded","condition":"waiting >= 2","reject":"crowded"}]}`, local.Hour(), local.Format(time.DateOnly)))
	for range 2 {
		if got := r.shown(r.join("main", dengxu.JoinRequest{}).ID).rules; !slices.Equal(got, []string{"this_hour"}) {
			t.Errorf("matched %v", got)
		}
	}
	_, err := r.Join(t.Context(), staffer, "main", dengxu.JoinRequest{})
	wantCode(t, err, dengxu.TooMany, "crowded")
	if e := err.(*dengxu.Error); e.RetryAfter != 0 { //nolint:errorlint // wantCode has looked at it
		t.Errorf("time does not cure a crowd, retry after %v", e.RetryAfter)
	}
}

// TestOneOfTwoJoins: of two joins of one person at once, a rule that looks at
// joins lets exactly one in, on a store in memory and on disk.
func TestOneOfTwoJoins(t *testing.T) {
	t.Parallel()
	for name, rigged := range map[string]func(*testing.T) *rig{
		"memstore": newRig,
		"pebblestore": func(t *testing.T) *rig {
			t.Helper()
			clock := storetest.NewClock()
			s, err := pebblestore.Open(pebblestore.Options{Dir: t.TempDir(), Wall: clock.Wall, Mono: clock.Mono})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return rigOver(t, s, clock)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rigged(t)
			r.site("hall", `{"time_zone":"UTC"}`)
			r.queue("main", `{"site":"hall","unique":false,"queue_rules":[
				{"name":"once","condition":"joined_within(\"30m\")","reject":"once"}]}`)
			for round := range 10 {
				r.joinAtOnce(dengxu.JoinRequest{BusinessID: fmt.Sprint("p", round)}, 4)
			}
			r.clean()
		})
	}
}

// joinAtOnce joins n times at once and wants one to succeed, the others to be
// refused by the rule.
func (r *rig) joinAtOnce(req dengxu.JoinRequest, n int) {
	r.Helper()
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { _, errs[i] = r.Join(r.Context(), staffer, "main", req) })
	}
	all.Wait()
	in := 0
	for _, err := range errs {
		if err == nil {
			in++
		} else {
			wantCode(r.T, err, dengxu.TooMany, "once")
		}
	}
	if in != 1 {
		r.Errorf("%d of %d joins of one person were let in", in, n)
	}
}

// TestAJoinIsDecidedOnTheHistoryItRead: between the reading and the commit the
// same person joins.
func TestAJoinIsDecidedOnTheHistoryItRead(t *testing.T) {
	t.Parallel()
	r, s := raced(t, `{"site":"hall","queues":["main"]}`)
	r.queue("main", `{"site":"hall","unique":false,"queue_rules":[{"name":"again","condition":"joined_within(\"30m\")","action":"+0.5"}]}`)
	ann := dengxu.JoinRequest{BusinessID: "ann"}
	s.next = func() { r.join("main", ann) }
	second := r.join("main", ann)
	if got := r.shown(second.ID); got.factor != 1.5 {
		t.Errorf("the second was judged by the history before the first: %+v", got)
	}
}

// TestBrokenRulesAreToldWhenSaved holds the fields and that nothing was saved.
func TestBrokenRulesAreToldWhenSaved(t *testing.T) {
	t.Parallel()
	r := hall(t)
	for rules, want := range map[string][2]string{
		`[{"name":"a","condition":"true","action":"-0.1"},{"name":"b","condition":"age > 3","action":"-0.1"}]`: {"queue_rules[1].condition", "line 1, column 1: unknown name age"},
		`[{"name":"a","condition":"true","class":"large"}]`:                                                    {"queue_rules[0].class", "not declared"},
		`[{"name":"a","condition":"true"}]`:                                                                    {"queue_rules[0]", "does nothing"},
		`[{"name":"a","condition":"true","head_start_seconds":1e9}]`:                                           {"queue_rules[0].head_start_seconds", "2592000"},
	} {
		_, err := r.PutQueue(t.Context(), staffer, "main", setting[dengxu.Queue](t, `{"site":"hall","queue_rules":`+rules+`}`), 0)
		wantCode(t, err, dengxu.Invalid, "")
		if e := err.(*dengxu.Error); e.Field != want[0] || !strings.Contains(e.Message, want[1]) { //nolint:errorlint // wantCode has looked at it
			t.Errorf("%s: %s: %s", rules, e.Field, e.Message)
		}
	}
	if v, err := r.Queue(t.Context(), "main"); err != nil || v.Version != 1 {
		t.Errorf("%+v %v", v, err)
	}
}

// TestAStoredRuleThatIsRefusedToday stops nobody, and the queue says so.
func TestAStoredRuleThatIsRefusedToday(t *testing.T) {
	t.Parallel()
	r := hall(t)
	body := `{"site":"hall","queue_rules":[{"name":"old","condition":"gone()","reject":"no"},{"name":"lost","condition":"true","class":"large"},{"name":"good","condition":"true","action":"-0.1"}]}`
	if _, err := r.store.Commit(context.Background(), store.Batch{Site: "hall", Docs: []store.DocWrite{
		{Doc: store.Doc{Key: store.DocKey{Kind: store.DocQueue, ID: "main"}, Site: "hall", Body: []byte(body)}, Expect: 1},
	}}); err != nil {
		t.Fatal(err)
	}
	if err := r.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := shown{factor: 0.9, rules: []string{"lost", "good"}}
	if diff := cmp.Diff(want, r.shown(r.join("main", dengxu.JoinRequest{}).ID), cmp.AllowUnexported(shown{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.warned("main", "matches nobody in this version", "gone is not known")
}

// TestEstimateKnowsTheRules: "if I joined now" is judged by what is known.
func TestEstimateKnowsTheRules(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.site("hall", `{"time_zone":"UTC"}`)
	r.queue("main", `{"site":"hall","classes":{"small":{},"large":{}},"default_class":"small","queue_rules":[
		{"name":"big","condition":"party_size > 4","class":"large","head_start_seconds":600},
		{"name":"crowd","condition":"waiting >= 2 && party_size == 1","action":"-0.5"}]}`)
	r.counter("1", `{"site":"hall","queues":["main"]}`)
	r.join("main", dengxu.JoinRequest{})
	r.join("main", dengxu.JoinRequest{})
	r.clock.Advance(time.Minute)
	for party, want := range map[int]struct {
		class string
		rank  int
	}{0: {"small", 2}, 1: {"small", 2}, 6: {"large", 0}} {
		got, err := r.Estimate(t.Context(), "main", "", "", party)
		if err != nil || got.Class != want.class || got.Rank != want.rank {
			t.Errorf("a party of %d: class %s, rank %d, %v, want %+v", party, got.Class, got.Rank, err, want)
		}
	}
	_, err := r.Estimate(t.Context(), "main", "huge", "", 6)
	wantCode(t, err, dengxu.Invalid, "")
	_, err = r.Estimate(t.Context(), "main", "", "nobles", 0)
	wantCode(t, err, dengxu.Invalid, "")
}
