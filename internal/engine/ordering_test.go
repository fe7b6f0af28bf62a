package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
)

func TestLanesAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	queue := func(ordering string, classes, groups int) error {
		set := dengxu.Queue{Ordering: ordering, Classes: map[string]dengxu.Class{}, Groups: map[string]dengxu.Group{}}
		for i := range classes {
			set.Classes[fmt.Sprint("c", i)] = dengxu.Class{}
		}
		for i := range groups {
			set.Groups[fmt.Sprint("g", i)] = dengxu.Group{}
		}
		_, err := r.PutQueue(t.Context(), staffer, dengxu.QueueID("q-"+ordering), set, 0)
		return err
	}
	for _, c := range []struct {
		ordering        string
		classes, groups int
		field           string
	}{
		{"strict", 8, 3, ""},
		{"strict", 8, 4, "groups"},
		{"strict", 0, 31, ""},
		{"strict", 0, 32, "groups"},
		{"ratio", 16, 1, ""},
		{"ratio", 17, 1, "groups"},
		{"ratio", 32, 0, ""},
		{"ratio", 33, 0, "groups"},
		{"aging", 16, 31, ""},
		{"aging", 17, 0, "classes"},
		{"epoch", 32, 9, ""},
		{"epoch", 33, 0, "classes"},
	} {
		err := queue(c.ordering, c.classes, c.groups)
		if c.field == "" && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if c.field != "" {
			wantInvalid(t, err, c.field)
		}
	}
}

func TestCounterOverStrictAndAging(t *testing.T) {
	t.Parallel()
	r := hall(t)
	r.queue("triage", `{"site":"hall","prefix":"T","ordering":"strict","groups":{"red":{}}}`)
	r.queue("share", `{"site":"hall","prefix":"S","ordering":"ratio"}`)
	r.counter("1", `{"site":"hall","queues":["main","triage","share"]}`)
	r.join("main", dengxu.JoinRequest{})
	r.clock.Advance(time.Minute)
	r.join("triage", dengxu.JoinRequest{})
	r.clock.Advance(time.Minute)
	r.join("share", dengxu.JoinRequest{})
	r.join("triage", dengxu.JoinRequest{PriorityGroup: "red"})
	r.clock.Advance(time.Minute)
	// Between queues the longest wait counts, in each queue its own order.
	r.counter("1", `{"site":"hall","queues":["main","triage","share"],"max_serving":4}`)
	r.mustCall("1", "A001")
	r.mustCall("1", "S001")
	r.mustCall("1", "T002")
	r.mustCall("1", "T001")
	r.clean()
}

// TestRanksMayChangeWhileSomebodyWaits: so may shares, groups and the
// escalation; who stands in a group that is gone has the last rank.
func TestRanksMayChangeWhileSomebodyWaits(t *testing.T) {
	t.Parallel()
	r := hall(t)
	r.queue("main", `{"site":"hall","ordering":"strict","groups":{"red":{"rank":0},"blue":{"rank":1}}}`)
	r.counter("1", `{"site":"hall","queues":["main"],"max_serving":9}`)
	blue := r.join("main", dengxu.JoinRequest{PriorityGroup: "blue"})
	red := r.join("main", dengxu.JoinRequest{PriorityGroup: "red"})
	plain := r.join("main", dengxu.JoinRequest{})
	ranks := func(want ...int) {
		t.Helper()
		for i, id := range []dengxu.TokenID{blue.ID, red.ID, plain.ID} {
			if p, err := r.Position(t.Context(), id); err != nil || *p.Rank != want[i] {
				t.Fatalf("%s has rank %d, want %d: %v", p.Number, *p.Rank, want[i], err)
			}
		}
	}
	ranks(1, 0, 2)
	r.queue("main", `{"site":"hall","ordering":"strict","groups":{"red":{"rank":5},"blue":{"rank":1},"ordinary":{"rank":0}}}`)
	ranks(1, 2, 0)
	r.queue("main", `{"site":"hall","ordering":"strict","groups":{"blue":{"rank":3},"ordinary":{"rank":2}}}`)
	ranks(1, 2, 0) // red stands with blue, and came later
	r.clock.Advance(2 * time.Minute)
	r.queue("main", `{"site":"hall","ordering":"strict","escalate_after_seconds":60,"groups":{"blue":{"rank":3},"ordinary":{"rank":2}}}`)
	ranks(0, 1, 2)
	if _, err := r.PatchQueue(t.Context(), staffer, "main", json.RawMessage(`{"ordering":"ratio"}`), 0); dengxu.ReasonOf(err) != "not_empty" {
		t.Fatalf("ordering changed under people: %v", err)
	}
	r.mustCall("1", "A001")
	r.clean()
}

func TestOrderWarnings(t *testing.T) {
	t.Parallel()
	r := hall(t)
	for _, c := range []struct{ set, warning string }{
		{`"ordering":"strict","groups":{"red":{"head_start_seconds":3600}}`, "overdue as they join"},
		{`"ordering":"strict","groups":{"red":{"factor":0.5}}`, "play no part: groups.red.factor"},
		{`"ordering":"strict","max_overtake":2`, "play no part: max_overtake"},
		{`"ordering":"ratio","groups":{"red":{"head_start_seconds":60}}`, "decides only between groups that owe the same"},
		{`"ordering":"ratio","groups":{"red":{"rank":3}}`, "play no part: groups.red.rank"},
		{`"groups":{"red":{"share":3}},"escalate_after_seconds":60`, "play no part: groups.red.share, escalate_after_seconds"},
		{`"groups":{"red":{"head_start_seconds":60}},"max_overtake":2`, "escapes max_overtake"},
		{`"ordering":"epoch","groups":{"red":{"factor":0.5}}`, "grows through the day"},
		{`"appointments":{"early_seconds":3600}`, "stand behind all others"},
		{`"appointments":{},"max_overtake":2`, "head start of appointments escapes"},
		{`"appointments":{},"public_join":{"fields":["appointment_at"]}`, "lets anybody claim an appointment"},
		{`"appointments":{}`, "keeps the number of the day of the booking"},
		{`"appointments":{"head_start_seconds":3600},"ordering":"strict"`, "overdue before the booked time"},
	} {
		done, err := r.PutQueue(t.Context(), staffer, "main", setting[dengxu.Queue](t, `{"site":"hall",`+c.set+`}`), 0)
		if err != nil {
			t.Fatalf("%s: %v", c.set, err)
		}
		if all := strings.Join(done.Value.Warnings, "\n"); !strings.Contains(all, c.warning) {
			t.Errorf("%s warns %q, want %q", c.set, all, c.warning)
		}
	}
	for _, plain := range []string{
		`"ordering":"strict","groups":{"red":{},"blue":{"rank":1}}`, `"ordering":"ratio","groups":{"red":{"share":3}}`,
		`"groups":{"red":{"factor":0.5}}`, `"ordering":"epoch"`, `"appointments":{},"day_end":"keep"`,
	} {
		done, err := r.PutQueue(t.Context(), staffer, "main", setting[dengxu.Queue](t, `{"site":"hall",`+plain+`}`), 0)
		if err != nil || len(done.Value.Warnings) > 0 {
			t.Errorf("%s warns %q, %v", plain, done.Value.Warnings, err)
		}
	}
}

func TestFairnessInWords(t *testing.T) {
	t.Parallel()
	r := hall(t)
	for _, c := range []struct{ set, says string }{
		{`"groups":{"VIP":{"factor":0.5}}`, "VIP passes ordinary only while that one has waited less than 2 times as long"},
		{`"groups":{"VIP":{"head_start_seconds":60}}`, "VIP passes ordinary only while that one has waited less than 1 times as long, head starts counted as waiting"},
		{`"groups":{"VIP":{"factor":0.3}},"max_overtake":2`, "less than 2 times as long"},
		{`"ordering":"strict","escalate_after_seconds":1800,"groups":{"red":{}}`, "until somebody has stood 30:00"},
		{`"ordering":"ratio","groups":{"VIP":{"share":3}}`, "VIP gets 3 of 4 calls"},
		{`"ordering":"epoch","groups":{"VIP":{"factor":0.5}}`, "somebody of factor 1 stands who joins at 0.5·x"},
	} {
		done, err := r.PutQueue(t.Context(), staffer, "main", setting[dengxu.Queue](t, `{"site":"hall",`+c.set+`}`), 0)
		if err != nil {
			t.Fatalf("%s: %v", c.set, err)
		}
		if all := strings.Join(done.Value.Fairness, "\n"); !strings.Contains(all, c.says) {
			t.Errorf("%s says %q, want %q", c.set, all, c.says)
		}
	}
	if v, err := hall(t).Queue(t.Context(), "main"); err != nil || len(v.Fairness) > 0 {
		t.Errorf("first come, first served has nothing to say: %q %v", v.Fairness, err)
	}
}
