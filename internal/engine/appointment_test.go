package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// surgery is a hall whose queue takes appointments; its clock begins at 09:00.
func surgery(t *testing.T, set string) *rig {
	t.Helper()
	r := newRig(t)
	r.site("hall", `{"time_zone":"UTC"}`)
	r.queue("main", `{"site":"hall",`+set+`}`)
	r.counter("1", `{"site":"hall","queues":["main"],"max_serving":9}`)
	return r
}

// on is a time of the first day.
func on(hour, minute int) time.Time { return time.Date(2026, 3, 2, hour, minute, 0, 0, time.UTC) }

func (r *rig) book(at time.Time, req dengxu.JoinRequest) dengxu.Token {
	r.Helper()
	req.AppointmentAt = at
	ticket := r.join("main", req)
	t, err := r.Token(r.Context(), ticket.ID)
	if err != nil || !t.AppointmentAt.Equal(at) {
		r.Fatalf("booked %v: %+v, %v", at, t, err)
	}
	return t
}

func TestBookingStandsByTheBookedTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, set string
		booked    time.Time
		state     dengxu.State
		place     time.Time
		due       time.Time // NotBefore or CheckInBy
	}{
		{"later", `"appointments":{}`, on(10, 0), dengxu.StateScheduled, on(9, 30), on(9, 30)},
		{"in the early window", `"appointments":{}`, on(9, 20), dengxu.StateWaiting, on(8, 50), time.Time{}},
		{"early window before the place", `"appointments":{"early_seconds":7200}`, on(10, 30), dengxu.StateWaiting, on(10, 0), time.Time{}},
		{"just in time", `"appointments":{}`, on(8, 50), dengxu.StateWaiting, on(8, 20), time.Time{}},
		{"late", `"appointments":{}`, on(8, 49), dengxu.StateWaiting, on(9, 0), time.Time{}},
		{"late and kept", `"appointments":{"late":"keep"}`, on(8, 49), dengxu.StateWaiting, on(8, 19), time.Time{}},
		{"with the group's head start", `"appointments":{},"groups":{"ordinary":{"head_start_seconds":60}}`, on(10, 0), dengxu.StateScheduled, on(9, 29), on(9, 30)},
		{"late with the group's head start", `"appointments":{},"groups":{"ordinary":{"head_start_seconds":60}}`, on(8, 0), dengxu.StateWaiting, on(8, 59), time.Time{}},
		{"to check in", `"appointments":{},"check_in":{"required":"all","within_seconds":900}`, on(10, 0), dengxu.StateScheduled, on(9, 30), on(10, 15)},
		{"to check in, late window longer", `"appointments":{"late_seconds":1200},"check_in":{"required":"all","within_seconds":900}`, on(10, 0), dengxu.StateScheduled, on(9, 30), on(10, 20)},
		{"to check in, booked too late", `"appointments":{},"check_in":{"required":"all","within_seconds":900}`, on(8, 30), dengxu.StateScheduled, on(8, 0), on(9, 15)},
		{"to check in, without limit", `"appointments":{},"check_in":{"required":"all"}`, on(10, 0), dengxu.StateScheduled, on(9, 30), time.Time{}},
		// Half of the time since midnight, counted to 09:30.
		{"epoch", `"ordering":"epoch","groups":{"ordinary":{"factor":0.5}},"appointments":{}`, on(10, 0), dengxu.StateScheduled, on(4, 45), on(9, 30)},
		{"epoch on another day", `"ordering":"epoch","groups":{"ordinary":{"factor":0.5}},"appointments":{}`, on(34, 0), dengxu.StateScheduled, on(28, 45), on(33, 30)},
		{"epoch and late", `"ordering":"epoch","groups":{"ordinary":{"factor":0.5}},"appointments":{}`, on(7, 0), dengxu.StateWaiting, on(4, 30), time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := surgery(t, c.set)
			got := r.book(c.booked, dengxu.JoinRequest{})
			due := got.NotBefore
			if due.IsZero() {
				due = got.CheckInBy
			}
			if got.State != c.state || !got.Place.Equal(c.place) || !due.Equal(c.due) {
				t.Errorf("it is %s at %v until %v, want %s at %v until %v", got.State, got.Place, due, c.state, c.place, c.due)
			}
			r.clean()
		})
	}
}

func TestBookingRefused(t *testing.T) {
	t.Parallel()
	r := surgery(t, `"appointments":{}`)
	r.queue("none", `{"site":"hall","prefix":"N"}`)
	for _, c := range []struct {
		queue dengxu.QueueID
		req   dengxu.JoinRequest
	}{
		{"none", dengxu.JoinRequest{AppointmentAt: on(10, 0)}},
		{"main", dengxu.JoinRequest{AppointmentAt: on(10, 0), DelaySeconds: 1}},
		{"main", dengxu.JoinRequest{AppointmentAt: on(10, 0), RunAt: on(10, 0)}},
		{"main", dengxu.JoinRequest{AppointmentAt: time.Date(1970, 12, 31, 23, 0, 0, 0, time.UTC)}},
		{"main", dengxu.JoinRequest{AppointmentAt: time.Date(2286, 1, 1, 0, 0, 0, 0, time.UTC)}},
	} {
		_, err := r.Join(t.Context(), staffer, c.queue, c.req)
		wantInvalid(t, err, "appointment_at")
	}
	r.book(time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC), dengxu.JoinRequest{})
	r.book(time.Date(2285, 12, 31, 23, 0, 0, 0, time.UTC), dengxu.JoinRequest{})
	r.clean()
}

// TestBookedMoveOn: at the day's end bookings of the new day and of later ones
// stay, also one that waits already, and others do not.
func TestBookedMoveOn(t *testing.T) {
	t.Parallel()
	r := surgery(t, `"appointments":{},"check_in":{"required":"remote"}`)
	waits := r.book(on(24, 10), dengxu.JoinRequest{})
	tomorrow := r.book(on(33, 0), dengxu.JoinRequest{BusinessID: "ann", Channel: "web"})
	missed := r.book(on(10, 0), dengxu.JoinRequest{Channel: "web"})
	walkIn := r.join("main", dengxu.JoinRequest{})
	r.pass(14*time.Hour + 50*time.Minute)
	r.state(waits.ID, dengxu.StateWaiting)
	r.pass(10*time.Minute + time.Second)
	r.state(walkIn.ID, dengxu.StateAbandoned)
	if got := r.state(missed.ID, dengxu.StateAbandoned); got.Reason != "day_end" {
		t.Errorf("whoever did not come is out because of %s", got.Reason)
	}
	r.state(tomorrow.ID, dengxu.StateScheduled)
	if got := r.call("1"); got == nil || got.ID != waits.ID || got.WaitSeconds != 0 {
		t.Fatalf("called %+v", got)
	}
	_, err := r.Join(t.Context(), staffer, "main", dengxu.JoinRequest{BusinessID: "ann"})
	wantCode(t, err, dengxu.Exists, "already_in_line")
	r.pass(8*time.Hour + 30*time.Minute)
	r.do(dengxu.VerbCheckIn, tomorrow.ID, dengxu.VerbRequest{})
	r.state(tomorrow.ID, dengxu.StateWaiting)
	r.clean()
}

// TestCheckInOfAppointments: what a check-in before, in and after its time does,
// and after the queue has given up appointments.
func TestCheckInOfAppointments(t *testing.T) {
	t.Parallel()
	const set = `"appointments":{},"check_in":{"required":"all"}`
	r := surgery(t, set)
	early, in, late, gone := r.book(on(11, 0), dengxu.JoinRequest{}), r.book(on(9, 0), dengxu.JoinRequest{}),
		r.book(on(8, 0), dengxu.JoinRequest{}), r.book(on(12, 0), dengxu.JoinRequest{})
	if got := r.do(dengxu.VerbCheckIn, early.ID, dengxu.VerbRequest{}); got.State != dengxu.StateScheduled || !got.NotBefore.Equal(on(10, 30)) {
		t.Errorf("early: %+v", got)
	}
	r.refuse(dengxu.VerbCheckIn, early.ID, dengxu.VerbRequest{}, dengxu.Conflict, "state")
	if got := r.do(dengxu.VerbCheckIn, in.ID, dengxu.VerbRequest{}); got.State != dengxu.StateWaiting || !got.Place.Equal(on(8, 30)) {
		t.Errorf("in time: %+v", got)
	}
	if got := r.do(dengxu.VerbCheckIn, late.ID, dengxu.VerbRequest{}); !got.Place.Equal(on(9, 0)) || got.Reason != reasonLate {
		t.Errorf("late: %+v", got)
	}
	r.queue("main", `{"site":"hall","check_in":{"required":"all"}}`)
	if got := r.do(dengxu.VerbCheckIn, gone.ID, dengxu.VerbRequest{}); got.State != dengxu.StateWaiting || !got.Place.Equal(on(11, 30)) {
		t.Errorf("without appointments: %+v", got)
	}
	r.pass(90 * time.Minute)
	r.state(early.ID, dengxu.StateWaiting)
	r.clean()
}

// TestOtherTokensLeaveLaterAppointments: who is called today keeps the
// appointment of next week.
func TestOtherTokensLeaveLaterAppointments(t *testing.T) {
	t.Parallel()
	r := surgery(t, `"appointments":{}`)
	r.site("hall", `{"time_zone":"UTC","other_tokens":"cancel"}`)
	r.queue("lab", `{"site":"hall","prefix":"L","appointments":{}}`)
	r.counter("2", `{"site":"hall","queues":["lab"]}`)
	next := r.book(on(24*7, 0), dengxu.JoinRequest{BusinessID: "ann"})
	today := r.join("lab", dengxu.JoinRequest{BusinessID: "ann"})
	called := r.call("2")
	if called == nil || called.ID != today.ID {
		t.Fatalf("called %+v", called)
	}
	if err := r.OtherTokens(t.Context(), store.Event{Type: dengxu.EventCalled, Site: "hall", Token: today.ID}); err != nil {
		t.Fatal(err)
	}
	r.state(next.ID, dengxu.StateScheduled)
}

// TestACheckInThatNeedsNone: holders and staff are told that there is nothing to
// do, and from when on the token waits.
func TestACheckInThatNeedsNone(t *testing.T) {
	t.Parallel()
	r := surgery(t, `"appointments":{},"check_in":{"required":"remote"}`)
	later, now := r.book(on(11, 0), dengxu.JoinRequest{Channel: "staff"}), r.book(on(9, 10), dengxu.JoinRequest{Channel: "staff"})
	remote := r.book(on(12, 0), dengxu.JoinRequest{Channel: "web"})
	r.do(dengxu.VerbCheckIn, remote.ID, dengxu.VerbRequest{})
	for _, c := range []struct {
		id   dengxu.TokenID
		want string
	}{
		{later.ID, "it needs no check-in: it waits by itself from 2026-03-02T10:30:00Z on"},
		{now.ID, "it needs no check-in: it waits already"},
		{remote.ID, "it has checked in already; it waits from 2026-03-02T11:30:00Z on"},
	} {
		for _, by := range []By{staffer, {Kind: Holder}} {
			_, err := r.Act(t.Context(), by, dengxu.VerbCheckIn, c.id, dengxu.VerbRequest{})
			wantCode(t, err, dengxu.Conflict, "state")
			if e, ok := errors.AsType[*dengxu.Error](err); !ok || e.Message != c.want {
				t.Errorf("%v: %v, want %s", by.Kind, err, c.want)
			}
		}
	}
}
