package engine

import (
	"slices"
	"strconv"
	"time"

	"github.com/dengxu/dengxu"
)

// The sides of the opening hours. The middle two are reasons of refused joins
// too.
const (
	hoursOpen   = "open"
	hoursBefore = "before_opening" // it opens later in this business day
	hoursLast   = "last_ticket"    // open, but no more joining
	hoursClosed = "closed"         // it does not open again in this business day
)

// hours is a site's opening hours, ready to be asked.
type hours struct {
	zone       *time.Location
	dayStart   int // minutes
	week       [7][]span
	dates      map[int][]span // by days since 1970-01-01
	lastTicket int64          // ms
}

// span is from when to when a day is open, in minutes after its midnight by
// the wall clock. To may lie past 24:00.
type span struct{ from, to int }

// compileHours reads opening hours; nil means always open. Without any day of
// the week, all days are open except as dates says. It returns Invalid with
// the field when a key or span cannot be read, or when spans overlap.
func compileHours(set *dengxu.OpeningHours, zone *time.Location, dayStart int) (*hours, error) {
	if set == nil {
		return nil, nil
	}
	if err := set.Check(); err != nil {
		return nil, err
	}
	h := &hours{
		zone: zone, dayStart: dayStart, lastTicket: ms(set.LastTicketBeforeSeconds),
		dates: make(map[int][]span, len(set.Dates)),
	}
	for key, texts := range set.Days {
		days, err := dengxu.ParseDays(key)
		if err != nil {
			return nil, err
		}
		spans, err := parseSpans("opening_hours."+key, texts)
		if err != nil {
			return nil, err
		}
		for _, day := range days {
			h.week[day] = spans
		}
	}
	if err := h.checkWeek(); err != nil {
		return nil, err
	}
	if len(set.Days) == 0 {
		for day := range h.week {
			h.week[day] = []span{{0, dayMinutes}}
		}
	}
	for date, texts := range set.Dates {
		at, err := time.Parse(time.DateOnly, date)
		if err != nil {
			return nil, dengxu.Fieldf(dengxu.Invalid, "opening_hours.dates."+date, "not a date")
		}
		spans, err := parseSpans("opening_hours.dates."+date, texts)
		if err != nil {
			return nil, err
		}
		h.dates[int(floorDiv(at.UnixMilli(), msDay))] = spans
	}
	return h, nil
}

func parseSpans(field string, texts []string) ([]span, error) {
	spans := make([]span, 0, len(texts))
	for i, text := range texts {
		from, to, err := dengxu.ParseHours(text)
		if err != nil {
			return nil, err
		}
		for j, other := range spans {
			if from < other.to && other.from < to {
				return nil, dengxu.Fieldf(dengxu.Invalid, field+"["+strconv.Itoa(i)+"]", "%q overlaps %q", text, texts[j])
			}
		}
		spans = append(spans, span{from, to})
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	return spans, nil
}

// checkWeek refuses a day that is still open when the next one opens.
func (h *hours) checkWeek() error {
	for day := range h.week {
		next := h.week[(day+1)%7]
		for _, s := range h.week[day] {
			if len(next) > 0 && s.to-dayMinutes > next[0].from {
				return dengxu.Fieldf(dengxu.Invalid, "opening_hours", "the hours of %s after midnight overlap those of the next day",
					time.Weekday(day))
			}
		}
	}
	return nil
}

// interval is a time of being open, in ms.
type interval struct{ from, to int64 }

// at tells on which side of the opening hours the instant t lies, and when
// that should be asked again: at the next change at the latest.
func (h *hours) at(t int64) (status string, edge int64) {
	for _, open := range h.around(t) {
		last := max(open.from, open.to-h.lastTicket)
		switch {
		case t < open.from:
			_, dayEnd := dayAt(h.zone, h.dayStart, t)
			if open.from < dayEnd {
				return hoursBefore, open.from
			}
			// An opening at the very end of the day is that moment's business.
			return hoursClosed, dayEnd
		case t < last:
			return hoursOpen, last
		case t < open.to:
			return hoursLast, open.to
		}
	}
	_, dayEnd := dayAt(h.zone, h.dayStart, t)
	return hoursClosed, dayEnd
}

// openingSearch is how far ahead an opening is looked for: past the longest
// holidays.
const openingSearch = 31 * msDay

// nextOpening is the first opening after t, if there is one in the next month.
func (h *hours) nextOpening(t int64) (opens int64, ok bool) {
	for ahead := int64(0); ahead < openingSearch; ahead += 3 * msDay { // around reaches as far
		for _, open := range h.around(t + ahead) {
			if open.from > t {
				return open.from, true
			}
		}
	}
	return 0, false
}

// around returns the open times from the day before yesterday to three days
// ahead, joined where they touch: more than a day beyond t, so that the end of
// the window is never within the longest last_ticket_before_seconds.
func (h *hours) around(t int64) []interval {
	_, offset := time.UnixMilli(t).In(h.zone).Zone()
	today := int(floorDiv(t+int64(offset)*1000, msDay))
	var open []interval
	for day := today - 2; day <= today+3; day++ {
		spans, dated := h.dates[day]
		if !dated {
			// 1970-01-01 was a Thursday.
			spans = h.week[((day+4)%7+7)%7]
		}
		midnight := int64(day) * msDay
		for _, s := range spans {
			open = append(open, interval{
				wallInstant(h.zone, midnight+int64(s.from)*msMinute),
				wallInstant(h.zone, midnight+int64(s.to)*msMinute),
			})
		}
	}
	slices.SortFunc(open, func(a, b interval) int { return int(min(1, max(-1, a.from-b.from))) })
	joined := open[:0]
	for _, next := range open {
		if next.from >= next.to {
			continue // the clock jumped over it
		}
		if n := len(joined); n > 0 && next.from <= joined[n-1].to {
			joined[n-1].to = max(joined[n-1].to, next.to)
			continue
		}
		joined = append(joined, next)
	}
	return joined
}
