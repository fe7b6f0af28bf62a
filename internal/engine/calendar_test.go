package engine

import (
	"testing"
	"time"
	_ "time/tzdata" // the tests need zones that the machine may lack

	"pgregory.net/rapid"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := loadZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func instant(t *testing.T, text string) int64 {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixMilli()
}

func TestDayAt(t *testing.T) {
	t.Parallel()
	const at0230, at0400 = 150, 240
	for _, c := range []struct {
		name, zone string
		dayStart   int
		at         string
		day, ends  string
	}{
		{"vancouver at 17:00 is the same day, though UTC is not", "America/Vancouver", 0, "2026-07-01T17:00:00-07:00", "2026-07-01", "2026-07-02T00:00:00-07:00"},
		{"vancouver in the last millisecond", "America/Vancouver", 0, "2026-07-01T23:59:59.999-07:00", "2026-07-01", "2026-07-02T00:00:00-07:00"},
		{"vancouver at 24:00", "America/Vancouver", 0, "2026-07-02T00:00:00-07:00", "2026-07-02", "2026-07-03T00:00:00-07:00"},
		{"tokyo before midnight", "Asia/Tokyo", 0, "2026-03-31T23:59:59+09:00", "2026-03-31", "2026-04-01T00:00:00+09:00"},
		{"tokyo at midnight", "Asia/Tokyo", 0, "2026-04-01T00:00:00+09:00", "2026-04-01", "2026-04-02T00:00:00+09:00"},
		{"before a start at 04:00 it is yesterday", "Asia/Tokyo", at0400, "2026-04-01T03:59:59+09:00", "2026-03-31", "2026-04-01T04:00:00+09:00"},
		{"at 04:00 it is today", "Asia/Tokyo", at0400, "2026-04-01T04:00:00+09:00", "2026-04-01", "2026-04-02T04:00:00+09:00"},
		{"berlin's short day", "Europe/Berlin", 0, "2026-03-29T12:00:00+02:00", "2026-03-29", "2026-03-30T00:00:00+02:00"},
		{"berlin's long day", "Europe/Berlin", 0, "2026-10-25T12:00:00+01:00", "2026-10-25", "2026-10-26T00:00:00+01:00"},
		{"04:00 on the short day", "Europe/Berlin", at0400, "2026-03-29T03:59:00+02:00", "2026-03-28", "2026-03-29T04:00:00+02:00"},
		{"04:00 on the long day", "Europe/Berlin", at0400, "2026-10-25T03:59:00+01:00", "2026-10-24", "2026-10-25T04:00:00+01:00"},
		{"before the gap that has no 02:30", "Europe/Berlin", at0230, "2026-03-29T01:59:59+01:00", "2026-03-28", "2026-03-29T03:00:00+02:00"},
		{"right after the gap the day has begun", "Europe/Berlin", at0230, "2026-03-29T03:00:00+02:00", "2026-03-29", "2026-03-30T02:30:00+02:00"},
		{"before the first 02:30 of two", "Europe/Berlin", at0230, "2026-10-25T02:29:59+02:00", "2026-10-24", "2026-10-25T02:30:00+02:00"},
		{"at the first 02:30", "Europe/Berlin", at0230, "2026-10-25T02:30:00+02:00", "2026-10-25", "2026-10-26T02:30:00+01:00"},
		{"at the second 02:10 the day is not undone", "Europe/Berlin", at0230, "2026-10-25T02:10:00+01:00", "2026-10-25", "2026-10-26T02:30:00+01:00"},
		{"at the second 02:30 nothing begins", "Europe/Berlin", at0230, "2026-10-25T02:30:00+01:00", "2026-10-25", "2026-10-26T02:30:00+01:00"},
		{"midnight that does not exist (Santiago)", "America/Santiago", 0, "2026-09-05T23:59:59-04:00", "2026-09-05", "2026-09-06T01:00:00-03:00"},
		{"apia left out 2011-12-30", "Pacific/Apia", 0, "2011-12-29T23:00:00-10:00", "2011-12-29", "2011-12-31T00:00:00+14:00"},
		{"the last day of a leap year, by the rule for the future", "Europe/Berlin", 0, "2040-12-31T12:00:00+01:00", "2040-12-31", "2041-01-01T00:00:00+01:00"},
		{"before the epoch", "UTC", 0, "1969-12-31T12:00:00Z", "1969-12-31", "1970-01-01T00:00:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			day, ends := dayAt(zone(t, c.zone), c.dayStart, instant(t, c.at))
			if dayText(day) != c.day || ends != instant(t, c.ends) {
				t.Errorf("day %s until %s, want %s until %s", dayText(day), time.UnixMilli(ends).UTC(), c.day, c.ends)
			}
		})
	}
}

// Days tile time: whatever the zone and the start of the day, each instant is
// in exactly one day, which begins where the one before ends.
func TestDaysTileTime(t *testing.T) {
	t.Parallel()
	zones := []string{
		"UTC", "Europe/Berlin", "America/Vancouver", "Asia/Tokyo", "Australia/Lord_Howe", "Pacific/Apia",
		"America/Santiago", "Asia/Kathmandu", "Africa/Casablanca", "America/Caracas", "Antarctica/Troll",
		"Pacific/Kwajalein", "Asia/Pyongyang", "Europe/Dublin", "Asia/Manila", "America/Juneau",
	}
	first, last := instant(t, "1840-01-01T00:00:00Z"), instant(t, "2060-01-01T00:00:00Z")
	rapid.Check(t, func(rt *rapid.T) {
		z, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(rt, "zone"))
		if err != nil {
			rt.Fatal(err)
		}
		dayStart := rapid.IntRange(0, 24*60-1).Draw(rt, "day start")
		at := rapid.Int64Range(first, last).Draw(rt, "at")
		day, ends := dayAt(z, dayStart, at)
		for range 400 {
			began := dayBegin(z, dayStart, day)
			if began > at || ends <= at {
				rt.Fatalf("%d is not in day %s, %d to %d", at, dayText(day), began, ends)
			}
			if d, e := dayAt(z, dayStart, ends-1); d != day || e != ends {
				rt.Fatalf("the last ms of day %s is in day %s", dayText(day), dayText(d))
			}
			next, nextEnds := dayAt(z, dayStart, ends)
			if next <= day || dayBegin(z, dayStart, next) != ends {
				rt.Fatalf("day %s ends at %d, day %s begins at %d", dayText(day), ends, dayText(next), dayBegin(z, dayStart, next))
			}
			day, at, ends = next, ends, nextEnds
		}
	})
}

func TestParseDayStart(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"00:00": 0, "04:05": 245, "23:59": 1439} {
		if got, err := parseDayStart(text); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "24:00", "4:00", "04:60", "+4:00", "04-00", "04:000", "ab:cd"} {
		if _, err := parseDayStart(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
