package engine

import (
	"cmp"
	"math"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// booking is a queue's appointments in the engine's units, ms.
type booking struct {
	early, late, headStart int64
	keep                   bool // the late keep the place of their booked time
}

// reasonLate is the reason of a check-in after the late window.
const reasonLate = "late"

// compileBooking takes the queue's appointments into the engine's units.
func (q *queue) compileBooking() {
	q.booking = nil
	if a := q.set.Appointments; a != nil {
		q.booking = &booking{
			early: ms(*a.EarlySeconds), late: ms(*a.LateSeconds), headStart: ms(*a.HeadStartSeconds),
			keep: a.Late == "keep",
		}
	}
}

func checkAppointments(a *dengxu.Appointments) error {
	if a == nil {
		return nil
	}
	return firstError(
		checkSeconds("appointments.early_seconds", a.EarlySeconds),
		checkSeconds("appointments.late_seconds", a.LateSeconds),
		checkRange("appointments.head_start_seconds", a.HeadStartSeconds, 0, maxHeadStart),
		checkOneOf("appointments.late", a.Late, dengxu.PlaceTail, "keep"),
	)
}

// book makes a joining token one with an appointment. Its place is the booked
// time less the head starts; it is callable from the early window on, or when
// it has checked in, where that is required.
func (q *queue) book(t *store.Token, req dengxu.JoinRequest, now int64) error {
	const field = "appointment_at"
	b := q.booking
	switch {
	case b == nil:
		return dengxu.Fieldf(dengxu.Invalid, field, "queue %s takes no appointments", q.id)
	case req.DelaySeconds > 0 || !req.RunAt.IsZero():
		return dengxu.Fieldf(dengxu.Invalid, field, "an appointment says by itself when it can be called: give no delay_seconds or run_at with it")
	case !plausible(req.AppointmentAt):
		return dengxu.Fieldf(dengxu.Invalid, field, "that is too far away")
	}
	t.Booked = req.AppointmentAt.UnixMilli()
	t.Place = q.bookedPlace(t)
	switch from := t.Booked - b.early; {
	case q.mustCheckIn(req.Channel):
		t.State, t.Why, t.Due = dengxu.StateScheduled, whyCheckIn, q.checkInUntil(t.Booked, now)
	case from > now:
		t.State, t.Why, t.Due = dengxu.StateScheduled, whyAppointment, from
	case b.isLate(t.Booked, now):
		t.Place = store.Now - t.HeadStart
	}
	return nil
}

// bookedPlace is the place of a token with an appointment that is not late.
func (q *queue) bookedPlace(t *store.Token) int64 {
	place := t.Booked - t.HeadStart
	if q.booking != nil {
		place -= q.booking.headStart
	}
	return place
}

// isLate reports whether who comes at now for booked has lost the place that
// goes with it.
func (b *booking) isLate(booked, now int64) bool { return !b.keep && now > booked+b.late }

// checkInUntil is when a token that has not checked in is abandoned, 0 = never:
// within_seconds after the booked time, never inside the late window, and never
// sooner than for somebody who joins without an appointment.
func (q *queue) checkInUntil(booked, now int64) int64 {
	if q.checkInWithin == 0 {
		return 0
	}
	if until := booked + max(q.checkInWithin, q.booking.late); until > now+q.checkInWithin {
		return until
	}
	return store.Now + q.checkInWithin
}

func decideCheckIn(c *command, ch *change) error {
	switch {
	case c.t.Why != whyCheckIn && c.t.Why != whyDeferred:
		return c.noCheckIn()
	case c.t.Why == whyCheckIn && c.t.Booked != 0 && c.q.booking != nil:
		c.checkInBooked(ch)
	default:
		c.wait(ch, dengxu.EventCheckedIn)
	}
	return nil
}

// noCheckIn refuses the check-in of a token that needs none, and says what it
// stands at instead.
func (c *command) noCheckIn() error {
	t := c.t
	switch {
	case t.State == dengxu.StateWaiting:
		return c.conflict("state", "it needs no check-in: it waits already")
	case t.Why != whyAppointment:
		return c.conflict("state", "there is nothing to check in for: %s", t.Why)
	case lastSpan(t, dengxu.VerbCheckIn, math.MaxInt64) != nil:
		return c.conflict("state", "it has checked in already; it waits from %s on", rfc3339(t.Due, c.q))
	default:
		return c.conflict("state", "it needs no check-in: it waits by itself from %s on", rfc3339(t.Due, c.q))
	}
}

// rfc3339 is a moment on the clock of a queue's site.
func rfc3339(ms int64, q *queue) string { return at(ms).In(q.site.zone).Format(time.RFC3339) }

// checkInBooked is a check-in of somebody with an appointment: before the early
// window it is only noted, after the late window it costs the place.
func (c *command) checkInBooked(ch *change) {
	t, b := c.t, c.q.booking
	if from := t.Booked - b.early; c.now < from {
		next := c.become(ch, dengxu.StateScheduled, dengxu.EventCheckedIn)
		next.Why, next.Due = whyAppointment, from
		return
	}
	next := c.wait(ch, dengxu.EventCheckedIn)
	if b.isLate(t.Booked, c.now) {
		c.tail(ch)
		next.Reason = cmp.Or(next.Reason, reasonLate)
	}
}

// comesBack is when a scheduled token comes back by itself, and until when it
// has to check in; 0 = not, or not known.
func comesBack(t *store.Token) (notBefore, checkInBy int64) {
	switch {
	case t.State != dengxu.StateScheduled:
		return 0, 0
	case t.Why == whyCheckIn:
		return 0, t.Due
	default:
		return t.Due, 0
	}
}

// waitsFrom is when a token's wait began: at the join, or at the booked time
// when that was later.
func waitsFrom(t *store.Token) int64 { return max(t.JoinedAt, t.Booked) }
