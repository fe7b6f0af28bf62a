package engine

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

func (r *rig) move(action string, req dengxu.DoorRequest) dengxu.QueueView {
	r.Helper()
	done, err := r.SetDoor(r.Context(), staffer, "main", action, req)
	if err != nil {
		r.Fatal(err)
	}
	return done.Value
}

func (r *rig) door(want dengxu.Door, joins string) {
	r.Helper()
	q, err := r.Queue(r.Context(), "main")
	if err != nil {
		r.Fatal(err)
	}
	if q.Door != want {
		r.Fatalf("at %s the door is %s (%s), want %s", r.clock.Wall(), q.Door, q.DoorReason, want)
	}
	if shut := r.world.Load().queues["main"].shut(); shut != joins {
		r.Fatalf("at %s joins are refused because of %q, want %q", r.clock.Wall(), shut, joins)
	}
}

func TestADoorMovedByHand(t *testing.T) {
	t.Parallel()
	r := hall(t)
	r.door(dengxu.DoorOpen, "")
	if q := r.move("pause", dengxu.DoorRequest{Reason: "fire\u202e drill"}); q.DoorReason != "fire drill" {
		t.Errorf("reason %q", q.DoorReason)
	}
	r.door(dengxu.DoorPaused, "paused")
	r.move("open", dengxu.DoorRequest{})
	ticket := r.join("main", dengxu.JoinRequest{})
	r.move("close", dengxu.DoorRequest{})
	r.door(dengxu.DoorClosing, "closing")
	_, err := r.Join(t.Context(), staffer, "main", dengxu.JoinRequest{})
	wantCode(t, err, dengxu.Closed, "closing")
	r.mustCall("1", "A001") // those inside are served
	r.do(dengxu.VerbComplete, ticket.ID, dengxu.VerbRequest{})
	r.door(dengxu.DoorClosed, "closed")
	r.move("open", dengxu.DoorRequest{})
	r.join("main", dengxu.JoinRequest{})
	r.move("close", dengxu.DoorRequest{Now: true})
	r.door(dengxu.DoorClosed, "closed")
	r.move("close", dengxu.DoorRequest{})
	r.door(dengxu.DoorClosed, "closed")
	got := r.eventsOf(dengxu.EventDoorChanged)
	if len(got) != 6 || got[0].Queue != "main" || got[0].Reason != "fire drill" || got[3].Actor != timerName {
		t.Errorf("%d events: %+v", len(got), got)
	}
	r.move("open", dengxu.DoorRequest{})
	if got := r.move("close", dengxu.DoorRequest{}); got.Door != dengxu.DoorClosing {
		t.Errorf("with one inside the door is %s", got.Door)
	}
}

func TestDoorRequestsRefused(t *testing.T) {
	t.Parallel()
	r := hall(t)
	for _, c := range []struct {
		action string
		req    dengxu.DoorRequest
		field  string
	}{
		{"slam", dengxu.DoorRequest{}, "action"},
		{"open", dengxu.DoorRequest{Now: true}, "now"},
		{"close", dengxu.DoorRequest{Current: "complete"}, "current"},
	} {
		_, err := r.SetDoor(t.Context(), staffer, "main", c.action, c.req)
		wantInvalid(t, err, c.field)
	}
	_, err := r.SetDoor(t.Context(), staffer, "none", "open", dengxu.DoorRequest{})
	wantCode(t, err, dengxu.NotFound, "")
}

func TestARepeatedDoorMoveHasOneEffect(t *testing.T) {
	t.Parallel()
	r := hall(t)
	by := keyed("d1", 1)
	if _, err := r.SetDoor(t.Context(), by, "main", "pause", dengxu.DoorRequest{}); err != nil {
		t.Fatal(err)
	}
	r.move("open", dengxu.DoorRequest{})
	done, err := r.SetDoor(t.Context(), by, "main", "pause", dengxu.DoorRequest{})
	if err != nil || !done.Replayed || done.Value.Door != dengxu.DoorOpen {
		t.Errorf("%+v, %v", done, err)
	}
	// Also when there was nothing to do at first.
	by = keyed("d2", 1)
	if _, err := r.SetDoor(t.Context(), by, "main", "open", dengxu.DoorRequest{}); err != nil {
		t.Fatal(err)
	}
	r.move("pause", dengxu.DoorRequest{})
	done, err = r.SetDoor(t.Context(), by, "main", "open", dengxu.DoorRequest{})
	if err != nil || !done.Replayed || done.Value.Door != dengxu.DoorPaused {
		t.Errorf("%+v, %v", done, err)
	}
}

// The closing door that a crash left behind is closed by its timer.
func TestAnEmptyClosingDoorIsRechecked(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := memstore.New(memstore.Options{Wall: clock.Wall, Mono: clock.Mono})
	t.Cleanup(func() { _ = s.Close() })
	r := rigOver(t, s, clock)
	r.site("hall", `{"time_zone":"UTC"}`)
	r.queue("main", `{"site":"hall"}`)
	ticket := r.join("main", dengxu.JoinRequest{})
	old := rigOver(t, s, clock) // a process that does not know of the closing
	r.move("close", dengxu.DoorRequest{})
	r.pass(31 * time.Second)
	r.door(dengxu.DoorClosing, "closing")
	old.do(dengxu.VerbCancel, ticket.ID, dengxu.VerbRequest{})
	r.pass(30 * time.Second)
	r.door(dengxu.DoorClosed, "closed")
}

const office = `{"time_zone":"UTC","opening_hours":{"mon-fri":["10:00-12:00","13:00-17:00"],"last_ticket_before_seconds":1800}}`

// A Monday from nine in the morning.
func TestOpeningHoursMoveTheDoor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.site("hall", office)
	r.queue("main", `{"site":"hall","day_end":"keep"}`)
	r.counter("1", `{"site":"hall","queues":["main"]}`)
	r.door(dengxu.DoorClosed, "before_opening")
	_, err := r.Join(t.Context(), staffer, "main", dengxu.JoinRequest{})
	wantCode(t, err, dengxu.Closed, "before_opening")
	r.clock.Advance(time.Hour) // 10:00, and no timer has run
	_ = r.join("main", dengxu.JoinRequest{})
	r.pass(0)
	r.door(dengxu.DoorOpen, "")
	r.pass(90 * time.Minute) // 11:30
	r.door(dengxu.DoorClosing, "last_ticket")
	r.pass(30 * time.Minute) // 12:00, one is still inside
	r.door(dengxu.DoorClosing, "before_opening")
	r.do(dengxu.VerbComplete, r.mustCall("1", "A001").ID, dengxu.VerbRequest{})
	r.door(dengxu.DoorClosed, "before_opening")
	r.pass(time.Hour) // 13:00
	r.door(dengxu.DoorOpen, "")
	r.pass(4 * time.Hour) // 17:00
	r.door(dengxu.DoorClosed, "closed")
	r.pass(7 * time.Hour) // Tuesday, 00:00
	r.door(dengxu.DoorClosed, "before_opening")
	r.pass(10 * time.Hour)
	r.door(dengxu.DoorOpen, "")
	r.pass(4 * 24 * time.Hour) // Saturday
	r.door(dengxu.DoorClosed, "closed")
}

func TestAManualChangeHoldsUntilTheNextEdge(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.site("hall", office)
	r.queue("main", `{"site":"hall"}`)
	r.move("open", dengxu.DoorRequest{}) // 09:00
	r.door(dengxu.DoorOpen, "")
	r.pass(59 * time.Minute)
	r.move("pause", dengxu.DoorRequest{Reason: "not yet"})
	r.pass(time.Minute) // 10:00
	r.door(dengxu.DoorOpen, "")
	r.move("pause", dengxu.DoorRequest{})
	r.pass(89 * time.Minute)
	r.door(dengxu.DoorPaused, "paused")
	r.pass(time.Minute)                      // 11:30
	r.door(dengxu.DoorClosed, "last_ticket") // nobody is inside
	r.pass(6 * time.Hour)                    // 17:30
	r.move("open", dengxu.DoorRequest{Reason: "late night"})
	r.pass(7 * time.Hour) // past midnight: nothing opens or closes there
	r.door(dengxu.DoorOpen, "")
	r.pass(10 * time.Hour) // Tuesday, 10:30
	r.pass(time.Hour)
	r.door(dengxu.DoorClosed, "last_ticket") // nobody is inside
}

// TestAShutDoorTellsWhenItOpens: what lies between, such as the day's end, only
// changes why it is shut.
func TestAShutDoorTellsWhenItOpens(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.site("hall", office)
	r.queue("main", `{"site":"hall"}`)
	until := func(want time.Time) {
		t.Helper()
		if q, err := r.Queue(t.Context(), "main"); err != nil || !q.DoorUntil.Equal(want) {
			t.Errorf("at %s: %s until %s, want %s, %v", r.clock.Wall(), q.Door, q.DoorUntil, want, err)
		}
	}
	until(time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)) // Monday, 09:00
	r.pass(time.Hour)
	until(time.Date(2026, 3, 2, 11, 30, 0, 0, time.UTC)) // open until the last ticket
	r.pass(90 * time.Minute)
	until(time.Date(2026, 3, 2, 13, 0, 0, 0, time.UTC)) // past the last ticket
	r.pass(6 * time.Hour)
	until(time.Date(2026, 3, 3, 10, 0, 0, 0, time.UTC)) // 17:30, for today
	r.move("open", dengxu.DoorRequest{})
	r.pass(17 * time.Hour)
	r.pass(60 * time.Minute) // Tuesday, 11:30
	r.move("open", dengxu.DoorRequest{})
	until(time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC)) // by hand, until closing
}

func TestNewOpeningHoursMoveTheDoorsAtOnce(t *testing.T) {
	t.Parallel()
	r := hall(t)
	r.queue("side", `{"site":"hall"}`)
	ticket, err := r.Join(t.Context(), staffer, "side", dengxu.JoinRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.PutSite(t.Context(), staffer, "hall", setting[dengxu.Site](t, office), 0); err != nil {
		t.Fatal(err)
	}
	r.door(dengxu.DoorClosed, "before_opening")
	if q, _ := r.Queue(t.Context(), "side"); q.Door != dengxu.DoorClosing || !q.DoorUntil.Equal(time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("side is %s until %s", q.Door, q.DoorUntil)
	}
	r.do(dengxu.VerbCancel, ticket.Value.ID, dengxu.VerbRequest{})
	if _, err := r.PatchSite(t.Context(), staffer, "hall", json.RawMessage(`{"opening_hours":null}`), 0); err != nil {
		t.Fatal(err)
	}
	if q, _ := r.Queue(t.Context(), "main"); !q.DoorUntil.IsZero() {
		t.Errorf("an edge is left at %s", q.DoorUntil)
	}
}

func TestCounterStates(t *testing.T) {
	t.Parallel()
	r := hall(t)
	ctx := t.Context()
	set := func(action string, req dengxu.DoorRequest) (dengxu.CounterView, error) {
		done, err := r.SetCounterState(ctx, staffer, "1", action, req)
		return done.Value, err
	}
	if c, _ := r.Counter(ctx, "1"); c.State != dengxu.CounterClosed {
		t.Fatalf("a new counter is %s", c.State)
	}
	if c, err := set("pause", dengxu.DoorRequest{Reason: "lunch"}); err != nil || c.State != dengxu.CounterPaused || c.StateReason != "lunch" {
		t.Fatalf("%+v, %v", c, err)
	}
	ticket := r.join("main", dengxu.JoinRequest{})
	_, err := r.CallNext(ctx, staffer, "1", "", dengxu.CallRequest{})
	wantCode(t, err, dengxu.Conflict, "counter_paused")
	if _, err := set("open", dengxu.DoorRequest{}); err != nil {
		t.Fatal(err)
	}
	r.mustCall("1", "A001")
	_, err = set("close", dengxu.DoorRequest{})
	wantCode(t, err, dengxu.Conflict, "has_tokens")
	c, err := set("close", dengxu.DoorRequest{Current: "requeue"})
	if err != nil || c.State != dengxu.CounterClosed || len(c.Tokens) != 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	r.state(ticket.ID, dengxu.StateWaiting)
	r.mustCall("1", "A001") // the first call opens it
	if c, err = set("close", dengxu.DoorRequest{Current: "hold"}); err != nil || c.State != dengxu.CounterClosed || len(c.Tokens) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	r.state(ticket.ID, dengxu.StateHeld)
	if _, err := set("open", dengxu.DoorRequest{}); err != nil {
		t.Fatal(err)
	}
	r.pass(24 * time.Hour)
	if c, _ := r.Counter(ctx, "1"); c.State != dengxu.CounterClosed {
		t.Errorf("on the next day it is %s", c.State)
	}
	if _, err := set("close", dengxu.DoorRequest{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		action string
		req    dengxu.DoorRequest
		field  string
	}{
		{"slam", dengxu.DoorRequest{}, "action"},
		{"close", dengxu.DoorRequest{Now: true}, "now"},
		{"pause", dengxu.DoorRequest{Current: "hold"}, "current"},
		{"close", dengxu.DoorRequest{Current: "eat"}, "current"},
	} {
		_, err := set(c.action, c.req)
		wantInvalid(t, err, c.field)
	}
	_, err = r.SetCounterState(ctx, staffer, "none", "open", dengxu.DoorRequest{})
	wantCode(t, err, dengxu.NotFound, "")
	r.clean()
}

func TestARepeatedCloseTouchesNobodyElse(t *testing.T) {
	t.Parallel()
	r := hall(t)
	r.join("main", dengxu.JoinRequest{})
	second := r.join("main", dengxu.JoinRequest{})
	r.mustCall("1", "A001")
	by := keyed("c1", 1)
	if _, err := r.SetCounterState(t.Context(), by, "1", "close", dengxu.DoorRequest{Current: "complete"}); err != nil {
		t.Fatal(err)
	}
	r.mustCall("1", "A002")
	done, err := r.SetCounterState(t.Context(), by, "1", "close", dengxu.DoorRequest{Current: "complete"})
	if err != nil || !done.Replayed || done.Value.State != dengxu.CounterOpen {
		t.Errorf("%+v, %v", done, err)
	}
	r.state(second.ID, dengxu.StateCalling)
}

// A second process hears of changes by the log.
func TestObserveFollowsAnotherProcess(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := memstore.New(memstore.Options{Wall: clock.Wall, Mono: clock.Mono})
	t.Cleanup(func() { _ = s.Close() })
	a, b := rigOver(t, s, clock), rigOver(t, s, clock)
	hear := func() {
		t.Helper()
		before := a.world.Load()
		for _, ev := range a.eventsOf(dengxu.EventSiteChanged, dengxu.EventQueueChanged, dengxu.EventCounterChanged,
			dengxu.EventDoorChanged, dengxu.EventCounterState, dengxu.EventDayStarted) {
			a.Observe(t.Context(), 0, []store.Event{ev})
			b.Observe(t.Context(), 0, []store.Event{ev})
		}
		if a.world.Load() != before {
			t.Error("a process read anew what it had written itself")
		}
	}
	a.site("hall", `{"time_zone":"UTC"}`)
	a.queue("main", `{"site":"hall"}`)
	a.counter("1", `{"site":"hall","queues":["main"]}`)
	hear()
	a.move("pause", dengxu.DoorRequest{})
	hear()
	b.door(dengxu.DoorPaused, "paused")
	a.move("open", dengxu.DoorRequest{})
	a.join("main", dengxu.JoinRequest{})
	a.mustCall("1", "A001") // opens the counter
	hear()
	if c, _ := b.Counter(t.Context(), "1"); c.State != dengxu.CounterOpen {
		t.Errorf("the counter is %s", c.State)
	}
	a.pass(15 * time.Hour)
	hear()
	if s, _ := b.Site(t.Context(), "hall"); s.Day != "2026-03-03" {
		t.Errorf("day %s", s.Day)
	}
}
