package dengxu_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/dengxu/dengxu"
)

func TestOpeningHoursJSON(t *testing.T) {
	t.Parallel()
	const flat = `{
		"mon-fri": ["08:00-12:00", "13:30-17:30"], "sat": ["22:00-02:00"], "sun": [],
		"dates": {"2026-10-01": "closed", "2026-10-02": [], "2026-10-10": ["08:00-12:00"]},
		"last_ticket_before_seconds": 1800}`
	var got dengxu.OpeningHours
	if err := json.Unmarshal([]byte(flat), &got); err != nil {
		t.Fatal(err)
	}
	want := dengxu.OpeningHours{
		Days: map[string][]string{"mon-fri": {"08:00-12:00", "13:30-17:30"}, "sat": {"22:00-02:00"}, "sun": {}},
		Dates: map[string][]string{
			"2026-10-01": {}, "2026-10-02": {}, "2026-10-10": {"08:00-12:00"},
		},
		LastTicketBeforeSeconds: 1800,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	const written = `{"dates":{"2026-10-01":"closed","2026-10-02":"closed","2026-10-10":["08:00-12:00"]},` +
		`"last_ticket_before_seconds":1800,"mon-fri":["08:00-12:00","13:30-17:30"],"sat":["22:00-02:00"],"sun":[]}`
	if string(b) != written {
		t.Errorf("written:\n%s\nwant:\n%s", b, written)
	}
}

// refusals are JSON texts that a settings type must refuse, and the field that
// the error must blame.
type refusals map[string]string

func (r refusals) check(t *testing.T, into func() any) {
	t.Helper()
	for text, field := range r {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			target := into()
			wantInvalid(t, json.Unmarshal([]byte(text), target), field)
			if diff := cmp.Diff(into(), target); diff != "" {
				t.Errorf("a refused text changed the target:\n%s", diff)
			}
		})
	}
}

func wantInvalid(t *testing.T, err error, field string) {
	t.Helper()
	e, ok := errors.AsType[*dengxu.Error](err)
	if !ok || e.Code != dengxu.Invalid || e.Field != field {
		t.Errorf("error %#v, want invalid on %q", err, field)
	}
}

func TestOpeningHoursRefusals(t *testing.T) {
	t.Parallel()
	refusals{
		`null`:                                  "opening_hours",
		`[]`:                                    "opening_hours",
		`"closed"`:                              "opening_hours",
		`{"monday": []}`:                        "opening_hours.monday",
		`{"Mon": []}`:                           "opening_hours.Mon",
		`{"mon-": []}`:                          "opening_hours.mon-",
		`{"mon-mon": []}`:                       "opening_hours.mon-mon",
		`{"": []}`:                              "opening_hours.",
		`{"mon": null}`:                         "opening_hours.mon",
		`{"mon": "closed"}`:                     "opening_hours.mon",
		`{"mon": "08:00-12:00"}`:                "opening_hours.mon",
		`{"mon": [null]}`:                       "opening_hours.mon",
		`{"mon": [8]}`:                          "opening_hours.mon",
		`{"mon": ["08:00-12:00", "8-12"]}`:      "opening_hours.mon[1]",
		`{"mon": ["08:00-08:00"]}`:              "opening_hours.mon[0]",
		`{"mon": ["24:00-02:00"]}`:              "opening_hours.mon[0]",
		`{"mon": ["08:60-12:00"]}`:              "opening_hours.mon[0]",
		`{"mon": ["08:00-24:01"]}`:              "opening_hours.mon[0]",
		`{"mon": ["+8:00-12:00"]}`:              "opening_hours.mon[0]",
		`{"mon": ["08:00–12:00"]}`:              "opening_hours.mon[0]",
		`{"mon-fri": [], "wed": []}`:            "opening_hours.wed",
		`{"dates": null}`:                       "opening_hours.dates",
		`{"dates": []}`:                         "opening_hours.dates",
		`{"dates": {"2026-02-30": "closed"}}`:   "opening_hours.dates.2026-02-30",
		`{"dates": {"01.10.2026": "closed"}}`:   "opening_hours.dates.01.10.2026",
		`{"dates": {"2026-10-01": "shut"}}`:     "opening_hours.dates.2026-10-01",
		`{"dates": {"2026-10-01": null}}`:       "opening_hours.dates.2026-10-01",
		`{"dates": {"2026-10-01": ["8-9"]}}`:    "opening_hours.dates.2026-10-01[0]",
		`{"last_ticket_before_seconds": null}`:  "opening_hours.last_ticket_before_seconds",
		`{"last_ticket_before_seconds": "30"}`:  "opening_hours.last_ticket_before_seconds",
		`{"last_ticket_before_seconds": -1}`:    "opening_hours.last_ticket_before_seconds",
		`{"last_ticket_before_seconds": 86401}`: "opening_hours.last_ticket_before_seconds",
	}.check(t, func() any { return &dengxu.OpeningHours{LastTicketBeforeSeconds: 7} })
}

func TestOpeningHoursMarshalRefusals(t *testing.T) {
	t.Parallel()
	for field, hours := range map[string]dengxu.OpeningHours{
		// A key of its own must not pass as a day and swallow the real one.
		"opening_hours.dates":                      {Days: map[string][]string{"dates": {"08:00-12:00"}}},
		"opening_hours.last_ticket_before_seconds": {LastTicketBeforeSeconds: math.NaN()},
		"opening_hours.mon[0]":                     {Days: map[string][]string{"mon": {"late"}}},
	} {
		_, err := json.Marshal(dengxu.Site{OpeningHours: &hours})
		wantInvalid(t, err, field)
	}
}

func TestParseDays(t *testing.T) {
	t.Parallel()
	for key, want := range map[string][]time.Weekday{
		"sun":     {time.Sunday},
		"mon-wed": {time.Monday, time.Tuesday, time.Wednesday},
		"sat-mon": {time.Saturday, time.Sunday, time.Monday},
		"tue-mon": {2, 3, 4, 5, 6, 0, 1},
	} {
		got, err := dengxu.ParseDays(key)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("ParseDays(%q): %v\n%s", key, err, diff)
		}
	}
	for _, key := range []string{"", "-", "mon-fri-sun", "mon-xyz", "MON", "fri-fri"} {
		_, err := dengxu.ParseDays(key)
		wantInvalid(t, err, "opening_hours")
	}
}

func TestParseHours(t *testing.T) {
	t.Parallel()
	for span, want := range map[string][2]int{
		"08:00-12:30": {480, 750},
		"00:00-24:00": {0, 1440},
		"22:00-02:00": {1320, 1560},
		"22:00-00:00": {1320, 1440},
		"00:01-00:00": {1, 1440},
	} {
		from, to, err := dengxu.ParseHours(span)
		if err != nil || from != want[0] || to != want[1] {
			t.Errorf("ParseHours(%q) = %d, %d, %v; want %v", span, from, to, err, want)
		}
	}
	for _, span := range []string{"", "-", "08:00", "08:00-", "8:00-12:00", "08:00-12:00-13:00", "08:00 -12:00", "24:00-24:00", "-8:00-12:00"} {
		_, _, err := dengxu.ParseHours(span)
		wantInvalid(t, err, "opening_hours")
	}
}

func TestCounterQueueJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]dengxu.CounterQueue{
		`"clinic"`: {ID: "clinic"},
		`{"classes":["first","return"],"id":"clinic"}`: {ID: "clinic", Classes: []string{"first", "return"}},
	} {
		var got dengxu.CounterQueue
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("read %s (-want +got):\n%s", text, diff)
		}
		if b, err := json.Marshal(got); err != nil || string(b) != text {
			t.Errorf("written %s, %v; want %s", b, err, text)
		}
	}
	var all dengxu.CounterQueue
	if err := json.Unmarshal([]byte(`{"id": "clinic", "classes": []}`), &all); err != nil || all.Classes != nil {
		t.Errorf("no classes: %v, %v; want nil, which means all", all.Classes, err)
	}
	refusals{
		`null`:                                  "queues",
		`7`:                                     "queues",
		`["clinic"]`:                            "queues",
		`""`:                                    "queues",
		`"token"`:                               "queues",
		`"a b"`:                                 "queues",
		`{}`:                                    "queues",
		`{"classes": ["first"]}`:                "queues",
		`{"id": null}`:                          "queues.id",
		`{"ID": "clinic"}`:                      "queues.ID",
		`{"id": "clinic", "class": "first"}`:    "queues.class",
		`{"id": "clinic", "classes": null}`:     "queues.classes",
		`{"id": "clinic", "classes": "first"}`:  "queues.classes",
		`{"id": "clinic", "classes": [""]}`:     "queues.classes",
		`{"id": "clinic", "classes": [null]}`:   "queues.classes",
		`{"id": "clinic", "classes":["a","a"]}`: "queues.classes",
	}.check(t, func() any { return &dengxu.CounterQueue{ID: "before"} })
}

func TestCounterQueueNullInList(t *testing.T) {
	t.Parallel()
	var c dengxu.Counter
	wantInvalid(t, json.Unmarshal([]byte(`{"queues": ["a", null]}`), &c), "queues")
}

func TestPublicJoinJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]dengxu.PublicJoin{
		`false`:                 {},
		`"loopback"`:            {Loopback: true},
		`{}`:                    {Allowed: true},
		`{"fields":["name"]}`:   {Allowed: true, Fields: []string{"name"}},
		`{"classes":["first"]}`: {Allowed: true, Classes: []string{"first"}},
		`{"fields":["name","phone"],"classes":["first"]}`: {
			Allowed: true, Fields: []string{"name", "phone"}, Classes: []string{"first"},
		},
	} {
		var got dengxu.PublicJoin
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("read %s (-want +got):\n%s", text, diff)
		}
		if b, err := json.Marshal(got); err != nil || string(b) != text {
			t.Errorf("written %s, %v; want %s", b, err, text)
		}
	}
	refusals{
		`null`:                   "public_join",
		`true`:                   "public_join",
		`0`:                      "public_join",
		`"false"`:                "public_join",
		`"Loopback"`:             "public_join",
		`["name"]`:               "public_join",
		`{"field": ["name"]}`:    "public_join.field",
		`{"Fields": ["name"]}`:   "public_join.Fields",
		`{"fields": null}`:       "public_join.fields",
		`{"fields": "name"}`:     "public_join.fields",
		`{"fields": ["a", "a"]}`: "public_join.fields",
		`{"classes": [1]}`:       "public_join.classes",
	}.check(t, func() any { return &dengxu.PublicJoin{Loopback: true} })
	for _, bad := range []dengxu.PublicJoin{
		{Loopback: true, Allowed: true},
		{Loopback: true, Fields: []string{"name"}},
		{Classes: []string{"first"}},
	} {
		_, err := json.Marshal(dengxu.Queue{PublicJoin: &bad})
		wantInvalid(t, err, "public_join")
	}
}

// TestSettingsRoundTrip: what is written is read back the same, and the second
// writing is the first one byte by byte.
func TestSettingsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		roundTrip(t, dengxu.Site{OpeningHours: new(hoursGen().Draw(t, "hours"))})
		roundTrip(t, dengxu.Counter{Queues: rapid.SliceOfN(counterQueueGen(), 1, 4).Draw(t, "queues")})
		roundTrip(t, dengxu.Queue{PublicJoin: new(publicJoinGen().Draw(t, "public join"))})
	})
}

func roundTrip[T any](t *rapid.T, want T) {
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got T
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", b, diff)
	}
	again, err := json.Marshal(got)
	if err != nil || string(again) != string(b) {
		t.Fatalf("written again as %s, %v; first %s", again, err, b)
	}
}

func hoursGen() *rapid.Generator[dengxu.OpeningHours] {
	minute := rapid.IntRange(0, 1439)
	span := rapid.Custom(func(t *rapid.T) string {
		from := minute.Draw(t, "from")
		to := rapid.IntRange(0, 1440).Filter(func(to int) bool { return to != from }).Draw(t, "to")
		return fmt.Sprintf("%02d:%02d-%02d:%02d", from/60, from%60, to/60, to%60)
	})
	spans := rapid.SliceOfN(span, 0, 3)
	date := rapid.Map(rapid.IntRange(0, 4000), func(n int) string {
		return time.Date(2024, 1, 1+n, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	})
	return rapid.Custom(func(t *rapid.T) dengxu.OpeningHours {
		return dengxu.OpeningHours{
			Days:                    rapid.MapOf(rapid.SampledFrom([]string{"mon", "tue-thu", "fri", "sat-sun"}), spans).Draw(t, "days"),
			Dates:                   rapid.MapOf(date, spans).Draw(t, "dates"),
			LastTicketBeforeSeconds: float64(rapid.IntRange(0, 86_400_000).Draw(t, "last ticket")) / 1000,
		}
	})
}

func counterQueueGen() *rapid.Generator[dengxu.CounterQueue] {
	return rapid.Custom(func(t *rapid.T) dengxu.CounterQueue {
		return dengxu.CounterQueue{
			ID:      dengxu.QueueID(rapid.StringMatching(`[A-Za-z0-9_.-]{6,64}`).Draw(t, "id")),
			Classes: namesGen().Draw(t, "classes"),
		}
	})
}

func publicJoinGen() *rapid.Generator[dengxu.PublicJoin] {
	return rapid.OneOf(
		rapid.SampledFrom([]dengxu.PublicJoin{{}, {Loopback: true}}),
		rapid.Custom(func(t *rapid.T) dengxu.PublicJoin {
			return dengxu.PublicJoin{
				Allowed: true, Fields: namesGen().Draw(t, "fields"), Classes: namesGen().Draw(t, "classes"),
			}
		}),
	)
}

func namesGen() *rapid.Generator[[]string] {
	return rapid.SliceOfNDistinct(rapid.StringN(1, 12, -1), 0, 3, rapid.ID[string])
}
