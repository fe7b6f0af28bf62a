package engine

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
)

func TestJoinsRefused(t *testing.T) {
	t.Parallel()
	r := hall(t)
	r.queue("asks", `{"site":"hall","series":"Q","fields":[{"name":"phone","type":"phone","required":true},{"name":"age","type":"number"}]}`)
	for name, x := range map[string]struct {
		queue dengxu.QueueID
		req   dengxu.JoinRequest
		field string
	}{
		"a delay that is no number":  {"main", dengxu.JoinRequest{DelaySeconds: math.NaN()}, "delay_seconds"},
		"a negative delay":           {"main", dengxu.JoinRequest{DelaySeconds: -1}, "delay_seconds"},
		"a delay beyond any clock":   {"main", dengxu.JoinRequest{DelaySeconds: 1e300}, "delay_seconds"},
		"a time beyond any clock":    {"main", dengxu.JoinRequest{RunAt: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}, "run_at"},
		"a delay and a time":         {"main", dengxu.JoinRequest{DelaySeconds: 1, RunAt: time.Now()}, "run_at"},
		"a party too large":          {"main", dengxu.JoinRequest{PartySize: maxParty + 1}, "party_size"},
		"a long note":                {"main", dengxu.JoinRequest{Note: strings.Repeat("x", maxNote+1)}, "note"},
		"a name that is no text":     {"main", dengxu.JoinRequest{Name: "\xff"}, "name"},
		"attributes that are a list": {"main", dengxu.JoinRequest{ExtAttrs: []byte(`[1]`)}, "ext_attrs"},
		"attributes in attributes":   {"main", dengxu.JoinRequest{ExtAttrs: []byte(`{"a":{}}`)}, "ext_attrs.a"},
		"an unknown class":           {"main", dengxu.JoinRequest{Class: "loan"}, "class"},
		"an unknown group":           {"main", dengxu.JoinRequest{PriorityGroup: "VIP"}, "priority_group"},
		"a required field":           {"asks", dengxu.JoinRequest{}, "phone"},
		"a phone that is none":       {"asks", dengxu.JoinRequest{Phone: "call me"}, "phone"},
		"a field of another type":    {"asks", dengxu.JoinRequest{Phone: "1", ExtAttrs: []byte(`{"age":"70"}`)}, "age"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := r.Join(t.Context(), staffer, x.queue, x.req)
			wantInvalid(t, err, x.field)
		})
	}
}

func TestTextsArePlain(t *testing.T) {
	t.Parallel()
	r := hall(t)
	r.join("main", dengxu.JoinRequest{Note: strings.Repeat("椅", maxNote)}) // characters, not bytes
	ticket := r.join("main", dengxu.JoinRequest{Name: " Ann\u202e\u200b\x00 "})
	if tok := r.state(ticket.ID, dengxu.StateWaiting); tok.Name != "Ann" {
		t.Errorf("the name is %q", tok.Name)
	}
	done, err := r.CallToken(t.Context(), staffer, "1", ticket.ID, dengxu.VerbRequest{Reason: "\u202elate "})
	if err != nil || done.Value.Reason != "late" {
		t.Errorf("called for %q: %v", done.Value.Reason, err)
	}
	_, err = r.CallToken(t.Context(), staffer, "1", ticket.ID, dengxu.VerbRequest{Reason: "\u200b"})
	wantInvalid(t, err, "reason")
}

// TestStatsHaveMilliseconds: as every time of an answer.
func TestStatsHaveMilliseconds(t *testing.T) {
	t.Parallel()
	r := hall(t)
	from := r.clock.Wall().Add(123_456_789 * time.Nanosecond)
	stats, err := r.Stats(t.Context(), "main", from, from.Add(time.Minute), 20*time.Second+1)
	if err != nil || len(stats.Buckets) != 3 {
		t.Fatalf("%+v, %v", stats, err)
	}
	for i, b := range stats.Buckets {
		want := r.clock.Wall().Add(123*time.Millisecond + time.Duration(i)*20*time.Second)
		if !b.From.Equal(want) || !b.To.Equal(want.Add(20*time.Second)) {
			t.Errorf("bucket %d is %s to %s", i, b.From, b.To)
		}
	}
}

func TestStatsBounds(t *testing.T) {
	t.Parallel()
	r := hall(t)
	from := r.clock.Wall()
	for bucket, buckets := range map[time.Duration]int{time.Minute: maxBuckets, 366 * 24 * time.Hour: 1} {
		stats, err := r.Stats(t.Context(), "main", from, from.Add(maxBuckets*time.Minute), bucket)
		if err != nil || len(stats.Buckets) != buckets {
			t.Errorf("buckets of %s: %d, %v; want %d", bucket, len(stats.Buckets), err, buckets)
		}
	}
	_, err := r.Stats(t.Context(), "main", from, from.Add(maxBuckets*time.Minute+time.Millisecond), time.Minute)
	wantInvalid(t, err, "bucket")
	// Years that have no form in JSON, and a span longer than a Duration.
	for field, span := range map[string][2]time.Time{
		"from": {time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC), from},
		"to":   {from, time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)},
	} {
		_, err := r.Stats(t.Context(), "main", span[0], span[1], 366*24*time.Hour)
		wantInvalid(t, err, field)
	}
	// Without a span it is the last day by the store's clock.
	stats, err := r.Stats(t.Context(), "main", time.Time{}, time.Time{}, time.Hour)
	if now := time.UnixMilli(r.clock.Now()); err != nil || len(stats.Buckets) != 24 || !stats.Buckets[23].To.Equal(now) {
		t.Errorf("the last day: %d buckets, %v", len(stats.Buckets), err)
	}
}
