package dengxu

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// dayMinutes is the length of a day of 24 hours, and the minute named 24:00.
const dayMinutes = 24 * 60

var weekdays = map[string]time.Weekday{
	"mon": time.Monday, "tue": time.Tuesday, "wed": time.Wednesday, "thu": time.Thursday,
	"fri": time.Friday, "sat": time.Saturday, "sun": time.Sunday,
}

// ParseDays reads a key of OpeningHours.Days: one day ("mon") or a run of days
// ("mon-fri"), which may go over the week's end ("sat-mon"). It returns the
// days in that order, or an Invalid error, field opening_hours.
func ParseDays(key string) ([]time.Weekday, error) {
	first, last, run := strings.Cut(key, "-")
	if !run {
		last = first
	}
	from, okFrom := weekdays[first]
	to, okTo := weekdays[last]
	if !okFrom || !okTo || run && to == from {
		return nil, Fieldf(Invalid, fieldHours, "%q is not a day or a run of days", key)
	}
	days := []time.Weekday{from}
	for day := from; day != to; {
		day = (day + 1) % 7
		days = append(days, day)
	}
	return days, nil
}

// ParseHours reads a span "HH:MM-HH:MM" and returns its ends in minutes after
// the day's midnight by the wall clock. The end is after the start: "22:00-02:00"
// ends at 26 hours. 24:00 is an end only; a span without length, and anything
// else, is an Invalid error, field opening_hours.
func ParseHours(span string) (from, to int, err error) {
	start, end, dash := strings.Cut(span, "-")
	from, okFrom := ParseClock(start)
	to, okTo := ParseClock(end)
	if !dash || !okFrom || !okTo || from == to || from == dayMinutes {
		return 0, 0, errSpan(fieldHours, span)
	}
	if to < from {
		to += dayMinutes
	}
	return from, to, nil
}

func errSpan(field, span string) error {
	return Fieldf(Invalid, field, `%q is not a span such as "08:00-12:00"; the whole day is "00:00-24:00"`, span)
}

// ParseClock reads a time on the clock, "HH:MM" from 00:00 to 24:00, and
// returns it in minutes after midnight. ok is false for anything else.
func ParseClock(text string) (minute int, ok bool) {
	if len(text) != 5 || text[2] != ':' {
		return 0, false
	}
	// ParseUint takes no sign, so "+8:00" is not a time.
	h, errHour := strconv.ParseUint(text[:2], 10, 8)
	m, errMinute := strconv.ParseUint(text[3:], 10, 8)
	minute = int(h)*60 + int(m)
	return minute, errHour == nil && errMinute == nil && m < 60 && minute <= dayMinutes
}

func checkSpans(field string, spans []string) error {
	for i, span := range spans {
		if _, _, err := ParseHours(span); err != nil {
			return errSpan(field+"["+strconv.Itoa(i)+"]", span)
		}
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
