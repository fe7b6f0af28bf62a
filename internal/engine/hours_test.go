package engine

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dengxu/dengxu"
)

func openHours(t *testing.T, text, zoneName string) *hours {
	t.Helper()
	var set dengxu.OpeningHours
	if err := json.Unmarshal([]byte(text), &set); err != nil {
		t.Fatal(err)
	}
	h, err := compileHours(&set, zone(t, zoneName), 0)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// 2026-06-01 is a Monday.
func TestHoursAt(t *testing.T) {
	t.Parallel()
	const (
		office = `{"mon-fri": ["08:00-12:00", "13:00-17:00"], "sat": ["09:00-12:00"], "last_ticket_before_seconds": 900,
			"dates": {"2026-06-03": "closed", "2026-06-07": ["10:00-11:00"]}}`
		bar     = `{"sun-tue": ["22:00-02:00"], "wed": ["22:00-24:00"]}`
		always  = `{"mon-sun": ["00:00-24:00"], "last_ticket_before_seconds": 86400}`
		holiday = `{"dates": {"2026-06-03": "closed"}}`
		berlin  = "Europe/Berlin"
	)
	for _, c := range []struct{ name, hours, zone, at, status, edge string }{
		{"before opening", office, "UTC", "2026-06-01T07:59:59Z", hoursBefore, "2026-06-01T08:00:00Z"},
		{"open until the last ticket", office, "UTC", "2026-06-01T08:00:00Z", hoursOpen, "2026-06-01T11:45:00Z"},
		{"last ticket", office, "UTC", "2026-06-01T11:45:00Z", hoursLast, "2026-06-01T12:00:00Z"},
		{"lunch", office, "UTC", "2026-06-01T12:00:00Z", hoursBefore, "2026-06-01T13:00:00Z"},
		{"evening", office, "UTC", "2026-06-01T17:00:00Z", hoursClosed, "2026-06-02T00:00:00Z"},
		{"closed by date", office, "UTC", "2026-06-03T10:00:00Z", hoursClosed, "2026-06-04T00:00:00Z"},
		{"open by date on a day that is not named", office, "UTC", "2026-06-07T10:30:00Z", hoursOpen, "2026-06-07T10:45:00Z"},
		{"sunday", office, "UTC", "2026-06-14T10:30:00Z", hoursClosed, "2026-06-15T00:00:00Z"},
		{"over midnight, before", bar, "UTC", "2026-06-01T23:00:00Z", hoursOpen, "2026-06-02T02:00:00Z"},
		{"over midnight, after", bar, "UTC", "2026-06-02T01:59:59Z", hoursOpen, "2026-06-02T02:00:00Z"},
		{"after the night", bar, "UTC", "2026-06-02T02:00:00Z", hoursBefore, "2026-06-02T22:00:00Z"},
		{"the run over the week's end", bar, "UTC", "2026-06-08T01:00:00Z", hoursOpen, "2026-06-08T02:00:00Z"},
		{"until 24:00", bar, "UTC", "2026-06-03T23:00:00Z", hoursOpen, "2026-06-04T00:00:00Z"},
		{"no day named means always, except the dates", holiday, "UTC", "2026-06-02T12:00:00Z", hoursOpen, "2026-06-03T00:00:00Z"},
		{"that date", holiday, "UTC", "2026-06-03T12:00:00Z", hoursClosed, "2026-06-04T00:00:00Z"},
		{"opening in a gap", `{"sun": ["02:30-06:00"]}`, berlin, "2026-03-29T00:59:00Z", hoursBefore, "2026-03-29T01:00:00Z"},
		{"a span that the gap swallowed", `{"sun": ["02:00-02:45"]}`, berlin, "2026-03-29T00:30:00Z", hoursClosed, "2026-03-29T22:00:00Z"},
		{"closing in a repeated hour is the first", `{"sun": ["00:00-02:30"]}`, berlin, "2026-10-25T00:29:00Z", hoursOpen, "2026-10-25T00:30:00Z"},
		{"and does not open again", `{"sun": ["00:00-02:30"]}`, berlin, "2026-10-25T01:10:00Z", hoursClosed, "2026-10-25T23:00:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			status, edge := openHours(t, c.hours, c.zone).at(instant(t, c.at))
			if status != c.status || edge != instant(t, c.edge) {
				t.Errorf("%s until %s, want %s until %s", status, time.UnixMilli(edge).UTC(), c.status, c.edge)
			}
		})
	}
	if status, edge := openHours(t, always, "UTC").at(instant(t, "2026-06-01T12:00:00Z")); status != hoursOpen || edge <= instant(t, "2026-06-01T12:00:00Z") {
		t.Errorf("always open: %s until %d", status, edge)
	}
}

func TestNextOpeningIsFoundOverHolidays(t *testing.T) {
	t.Parallel()
	const far = `{"mon": ["08:00-12:00"], "dates": {"2026-06-08": "closed", "2026-06-15": "closed"}}`
	opens, ok := openHours(t, far, "UTC").nextOpening(instant(t, "2026-06-01T12:00:00Z"))
	if !ok || opens != instant(t, "2026-06-22T08:00:00Z") {
		t.Errorf("opens at %s, %v", time.UnixMilli(opens).UTC(), ok)
	}
	if opens, ok := openHours(t, `{"mon": []}`, "UTC").nextOpening(instant(t, "2026-06-01T12:00:00Z")); ok {
		t.Errorf("a site that never opens opens at %s", time.UnixMilli(opens).UTC())
	}
}

func TestHoursRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set   dengxu.OpeningHours
		field string
	}{
		"overlap":              {dengxu.OpeningHours{Days: map[string][]string{"mon": {"08:00-12:00", "11:00-13:00"}}}, "opening_hours.mon[1]"},
		"overlap on a date":    {dengxu.OpeningHours{Dates: map[string][]string{"2026-01-01": {"08:00-12:00", "08:00-12:00"}}}, "opening_hours.dates.2026-01-01[1]"},
		"into the next day":    {dengxu.OpeningHours{Days: map[string][]string{"mon": {"22:00-06:00"}, "tue": {"05:00-08:00"}}}, "opening_hours"},
		"over the week's end":  {dengxu.OpeningHours{Days: map[string][]string{"sun": {"22:00-06:00"}, "mon": {"05:00-08:00"}}}, "opening_hours"},
		"unknown day":          {dengxu.OpeningHours{Days: map[string][]string{"monday": {"08:00-12:00"}}}, "opening_hours.monday"},
		"a list is no key":     {dengxu.OpeningHours{Days: map[string][]string{"sat,sun": {"08:00-12:00"}}}, "opening_hours.sat,sun"},
		"not a span":           {dengxu.OpeningHours{Days: map[string][]string{"mon": {"8-12"}}}, "opening_hours.mon[0]"},
		"last ticket too long": {dengxu.OpeningHours{LastTicketBeforeSeconds: 90_000}, "opening_hours.last_ticket_before_seconds"},
	} {
		_, err := compileHours(&c.set, time.UTC, 0)
		coded, ok := errors.AsType[*dengxu.Error](err)
		if !ok || coded.Code != dengxu.Invalid || coded.Field != c.field {
			t.Errorf("%s: got %v, want invalid %s", name, err, c.field)
		}
	}
}

// Walking from edge to edge meets every minute's status: between two edges it
// does not change, and edges always lie ahead.
func TestHoursEdgesMissNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		z, err := time.LoadLocation(rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "Pacific/Apia", "Australia/Lord_Howe"}).Draw(rt, "zone"))
		if err != nil {
			rt.Fatal(err)
		}
		h := &hours{zone: z, dayStart: rapid.IntRange(0, 1439).Draw(rt, "day start"), dates: map[int][]span{}}
		h.lastTicket = rapid.Int64Range(0, 240).Draw(rt, "last ticket") * msMinute
		for day := range h.week {
			from := rapid.IntRange(0, 1439).Draw(rt, "from")
			h.week[day] = []span{{from, from + rapid.IntRange(1, 1440).Draw(rt, "length")}}
		}
		start := rapid.Int64Range(1_300_000_000, 1_900_000_000).Draw(rt, "at") * 1000
		edge := int64(0)
		var status string
		for at := start; at < start+5*msDay; at += 13 * msMinute {
			now, next := h.at(at)
			if next <= at {
				rt.Fatalf("edge %d is not after %d", next, at)
			}
			if at < edge && now != status {
				rt.Fatalf("%s became %s at %d, before the edge %d", status, now, at, edge)
			}
			status, edge = now, next
		}
	})
}
