package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dengxu/dengxu/internal/order"
)

// orderWarnings say what a queue's order and appointments could do that was
// perhaps not meant.
func (q *queue) orderWarnings() (warnings []string) {
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	for _, name := range sortedKeys(q.groups) {
		switch head := q.groups[name].headStart; {
		case head <= 0:
		case q.order.Discipline == order.Strict && head >= q.order.Escalate:
			warn("the head start of group %s makes its people overdue as they join: they go before every rank", name)
		case q.order.Discipline == order.Ratio:
			warn("in ordering ratio the head start of group %s decides only between groups that owe the same", name)
		case q.set.MaxOvertake > 0 && !q.byGroup():
			warn("the head start of group %s escapes max_overtake, which bounds factors only", name)
		}
	}
	if idle := q.idleSettings(); len(idle) > 0 {
		warn("in ordering %s these settings play no part: %s", q.set.Ordering, strings.Join(idle, ", "))
	}
	if fast := q.fasterThanOrdinary(); q.epoch() && len(fast) > 0 {
		warn("in ordering epoch what %s gains grows through the day: it is measured from the day's start, not from the join", strings.Join(fast, ", "))
	}
	return append(warnings, q.bookingWarnings()...)
}

// idleSettings are what the queue's groups are given and its ordering does not
// look at.
func (q *queue) idleSettings() (idle []string) {
	for _, name := range sortedKeys(q.set.Groups) {
		g := q.set.Groups[name]
		field := "groups." + name
		if q.byGroup() && *g.Factor != 1 {
			idle = append(idle, field+".factor")
		}
		if q.order.Discipline != order.Strict && g.Rank != nil {
			idle = append(idle, field+".rank")
		}
		if q.order.Discipline != order.Ratio && g.Share != nil {
			idle = append(idle, field+".share")
		}
	}
	if q.byGroup() && q.set.MaxOvertake > 0 {
		idle = append(idle, "max_overtake")
	}
	if q.order.Discipline != order.Strict && q.set.EscalateAfterSeconds != nil {
		idle = append(idle, "escalate_after_seconds")
	}
	return idle
}

// fasterThanOrdinary are the groups whose factor is below 1.
func (q *queue) fasterThanOrdinary() (names []string) {
	for _, name := range sortedKeys(q.groups) {
		if q.groups[name].factor < 1000 {
			names = append(names, name)
		}
	}
	return names
}

func (q *queue) bookingWarnings() (warnings []string) {
	b := q.booking
	if b == nil {
		return nil
	}
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	if b.early > b.headStart {
		warn("people with an appointment can be called %g s before their place in line: until then they stand behind all others", seconds(b.early-b.headStart))
	}
	if q.order.Discipline == order.Strict && b.headStart >= q.order.Escalate {
		warn("people with an appointment are overdue before the booked time: the head start is not less than escalate_after_seconds")
	}
	if q.set.MaxOvertake > 0 && !q.byGroup() && b.headStart > 0 {
		warn("the head start of appointments escapes max_overtake, which bounds factors only")
	}
	if p := q.set.PublicJoin; p.Loopback || slices.Contains(p.Fields, "appointment_at") {
		warn("public_join lets anybody claim an appointment, and with it a place in line")
	}
	if q.set.DayEnd == "expire" {
		warn("who books a later day keeps the number of the day of the booking, which the later day may give again: let them join with a class that has a prefix of its own")
	}
	return warnings
}
