package engine

import "time"

const (
	dayMinutes = 24 * 60
	msMinute   = int64(60_000)
	msDay      = dayMinutes * msMinute
)

// wallInstant returns the first instant at which the clocks of zone show wall
// or later, where wall is the time on the clock counted as if in UTC, in ms.
// So a time that a spring gap skips is the first instant after the gap, and of
// a time that comes twice it is the first.
func wallInstant(zone *time.Location, wall int64) int64 {
	// No offset from UTC ever reached 26 hours: 36 hours before, the clock
	// surely showed less than wall.
	at := wall - 36*60*msMinute
	for {
		t := time.UnixMilli(at).In(zone)
		_, offset := t.Zone()
		reached := max(at, wall-int64(offset)*1000)
		_, end := t.ZoneBounds()
		until := end.UnixMilli()
		if until <= at {
			// On 31 December of leap years the standard library says so, where
			// a zone goes by its rule for the future (Go 1.26). No rule changes
			// the offset on that day.
			until = at + 60*msMinute
		}
		if end.IsZero() || reached < until {
			return reached
		}
		at = until
	}
}

// dayBegin returns when a business day begins, in ms. Day counts from
// 1970-01-01 by the local date of its start.
func dayBegin(zone *time.Location, dayStart, day int) int64 {
	return wallInstant(zone, int64(day)*msDay+int64(dayStart)*msMinute)
}

// dayAt returns the business day of an instant and when that day ends: the
// first instant of the next. Days follow each other without gap or overlap; a
// date that a zone left out (a move over the date line) has no day.
func dayAt(zone *time.Location, dayStart int, ms int64) (day int, endsAt int64) {
	_, offset := time.UnixMilli(ms).In(zone).Zone()
	day = int(floorDiv(ms+int64(offset)*1000-int64(dayStart)*msMinute, msDay))
	// The guess by the clock is wrong near a change of the offset only: in the
	// second run of a repeated hour, or after a gap that swallowed the start.
	for dayBegin(zone, dayStart, day) > ms {
		day--
	}
	for {
		endsAt = dayBegin(zone, dayStart, day+1)
		if endsAt > ms {
			return day, endsAt
		}
		day++
	}
}

// dayText is the date of a business day, YYYY-MM-DD.
func dayText(day int) string {
	return time.UnixMilli(int64(day) * msDay).UTC().Format(time.DateOnly)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}
