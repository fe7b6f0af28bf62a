package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

// eventsOf returns the events of some types since the log began.
func (r *rig) eventsOf(types ...dengxu.EventType) []store.Event {
	r.Helper()
	page, err := r.store.Events(r.Context(), store.Cursor{Epoch: r.epoch()}, 1000)
	if err != nil {
		r.Fatal(err)
	}
	return slices.DeleteFunc(page.Events, func(ev store.Event) bool { return !slices.Contains(types, ev.Type) })
}

// epoch is that of the log's end.
func (r *rig) epoch() uint64 {
	r.Helper()
	page, err := r.store.Events(r.Context(), store.Cursor{}, 1)
	if err != nil {
		r.Fatal(err)
	}
	return page.End.Epoch
}

func TestTheTimerStartsTheDay(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.site("hall", `{"time_zone":"America/Vancouver","day_start":"04:00"}`)
	r.queue("main", `{"site":"hall"}`)
	// 09:00 UTC is 01:00 in Vancouver: still the day before.
	if s, _ := r.Site(t.Context(), "hall"); s.Day != "2026-03-01" || s.DayEndsAt != time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) {
		t.Fatalf("day %s until %s", s.Day, s.DayEndsAt)
	}
	r.pass(3*time.Hour - time.Millisecond)
	if s, _ := r.Site(t.Context(), "hall"); s.Day != "2026-03-01" {
		t.Fatalf("day %s came early", s.Day)
	}
	r.pass(time.Millisecond)
	if s, _ := r.Site(t.Context(), "hall"); s.Day != "2026-03-02" {
		t.Fatalf("day %s", s.Day)
	}
	r.pass(5 * 24 * time.Hour) // nobody was there: one day starts, not five
	if s, _ := r.Site(t.Context(), "hall"); s.Day != "2026-03-07" {
		t.Fatalf("day %s", s.Day)
	}
	got := r.eventsOf(dengxu.EventDayStarted)
	if len(got) != 2 || !strings.HasPrefix(string(got[1].Data), `{"day":"2026-03-07"`) || got[1].Site != "hall" {
		t.Errorf("events %+v", got)
	}
}

func TestTheFirstOperationStartsTheDay(t *testing.T) {
	t.Parallel()
	r := hall(t)
	if n := r.join("main", dengxu.JoinRequest{}).Number; n != "A001" {
		t.Fatal(n)
	}
	r.clock.Advance(15 * time.Hour) // midnight, and no timer has run
	if n := r.join("main", dengxu.JoinRequest{}).Number; n != "A001" {
		t.Fatalf("the series went on with %s", n)
	}
	if q, _ := r.Queue(t.Context(), "main"); q.JoinsToday != 1 || q.Counts[dengxu.StateWaiting] != 1 {
		t.Errorf("joins today %d, counts %v", q.JoinsToday, q.Counts)
	}
}

func TestDayEndEmptiesTheLine(t *testing.T) {
	t.Parallel()
	r := hall(t)
	r.queue("kept", `{"site":"hall","day_end":"keep","prefix":"K"}`)
	r.counter("1", `{"site":"hall","queues":["main"],"max_serving":9}`)
	served := r.join("main", dengxu.JoinRequest{})
	held := r.join("main", dengxu.JoinRequest{})
	for range 2 {
		r.call("1")
	}
	r.do(dengxu.VerbStart, served.ID, dengxu.VerbRequest{})
	r.do(dengxu.VerbHold, held.ID, dengxu.VerbRequest{})
	first := r.join("main", dengxu.JoinRequest{BusinessID: "w"})
	soon := r.join("main", dengxu.JoinRequest{DelaySeconds: 3600})
	later := r.join("main", dengxu.JoinRequest{BusinessID: "l", DelaySeconds: 20 * 3600})
	kept := r.join("kept", dengxu.JoinRequest{})
	place := r.state(later.ID, dengxu.StateScheduled).Place

	r.clock.Advance(14*time.Hour + 59*time.Minute)
	r.pass(0)
	called := r.call("1")
	deferred := r.join("main", dengxu.JoinRequest{})
	r.do(dengxu.VerbDefer, deferred.ID, dengxu.VerbRequest{})
	late := r.join("main", dengxu.JoinRequest{})
	r.pass(time.Minute)

	for _, id := range []dengxu.TokenID{soon.ID, held.ID, deferred.ID, late.ID} {
		if tok := r.state(id, dengxu.StateAbandoned); tok.Reason != "day_end" {
			t.Errorf("%s ended because of %q", tok.Number, tok.Reason)
		}
	}
	r.state(kept.ID, dengxu.StateWaiting)
	r.state(called.ID, dengxu.StateCalling)
	r.state(served.ID, dengxu.StateServing)
	if tok := r.state(later.ID, dengxu.StateScheduled); !tok.Place.Equal(place) {
		t.Errorf("the booked one lost its place: %s, was %s", tok.Place, place)
	}
	_, err := r.Join(t.Context(), staffer, "main", dengxu.JoinRequest{BusinessID: "l"})
	wantCode(t, err, dengxu.Exists, "already_in_line")
	r.join("main", dengxu.JoinRequest{BusinessID: "w"})
	if called.ID != first.ID {
		t.Errorf("%s was called", called.Number)
	}
	r.do(dengxu.VerbComplete, served.ID, dengxu.VerbRequest{})
	if c, _ := r.Counter(t.Context(), "1"); c.State != dengxu.CounterOpen {
		t.Errorf("the counter is %s while it has somebody of the old day", c.State)
	}
	r.pass(5 * time.Hour)
	if c, _ := r.Counter(t.Context(), "1"); c.State != dengxu.CounterClosed {
		t.Errorf("the counter is %s on the new day", c.State)
	}
	r.state(later.ID, dengxu.StateWaiting)
	if s := r.world.Load().sites["hall"]; s.state.Sweep != 0 {
		t.Errorf("sweep %d is pending", s.state.Sweep)
	}
	r.clean()
}

func TestABookedHolderWhoJoinedAgainKeepsOnePlace(t *testing.T) {
	t.Parallel()
	r := hall(t)
	booked := r.join("main", dengxu.JoinRequest{BusinessID: "p", DelaySeconds: 20 * 3600})
	r.clock.Advance(15 * time.Hour)
	r.join("main", dengxu.JoinRequest{BusinessID: "p"}) // before the sweep
	r.pass(0)
	r.state(booked.ID, dengxu.StateAbandoned)
	r.clean()
}

// stubborn is a store that refuses some tokens in every batch, or all batches
// that write tokens.
type stubborn struct {
	store.Store
	refuse dengxu.TokenID
	down   bool
}

func (s *stubborn) Commit(ctx context.Context, b store.Batch) (store.Result, error) {
	for _, w := range b.Tokens {
		if s.down {
			return store.Result{}, store.ErrUnavailable
		}
		if w.Token.ID == s.refuse {
			return store.Result{}, errors.New("a bad record")
		}
	}
	return s.Store.Commit(ctx, b)
}

func stubbornHall(t *testing.T) (*rig, *stubborn) {
	t.Helper()
	clock := storetest.NewClock()
	s := &stubborn{Store: memstore.New(memstore.Options{Wall: clock.Wall, Mono: clock.Mono})}
	t.Cleanup(func() { _ = s.Close() })
	r := rigOver(t, s, clock)
	r.site("hall", `{"time_zone":"UTC"}`)
	r.queue("main", `{"site":"hall"}`)
	return r, s
}

func TestOneBadTokenDoesNotStopTheSweep(t *testing.T) {
	t.Parallel()
	r, s := stubbornHall(t)
	var ids []dengxu.TokenID
	for range 250 {
		ids = append(ids, r.join("main", dengxu.JoinRequest{}).ID)
	}
	s.refuse = ids[120]
	r.pass(15 * time.Hour)
	for i, id := range ids {
		if i != 120 {
			r.state(id, dengxu.StateAbandoned)
		}
	}
	r.state(ids[120], dengxu.StateWaiting)
	s.refuse = ""
	r.pass(5 * time.Second)
	r.state(ids[120], dengxu.StateAbandoned)
	r.clean()
}

func TestTheSweepGoesOnAfterACrash(t *testing.T) {
	t.Parallel()
	r, s := stubbornHall(t)
	ticket := r.join("main", dengxu.JoinRequest{})
	s.down = true
	r.pass(15 * time.Hour) // the day starts, then the store is lost
	s.down = false
	r.state(ticket.ID, dengxu.StateWaiting)
	again := rigOver(t, s, r.clock)
	if again.world.Load().sites["hall"].state.Sweep == 0 {
		t.Fatal("the sweep was forgotten")
	}
	again.pass(0)
	again.state(ticket.ID, dengxu.StateAbandoned)
	if again.world.Load().sites["hall"].state.Sweep != 0 {
		t.Error("the sweep does not end")
	}
}

func TestRacingForTheDayStartsItOnce(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := memstore.New(memstore.Options{Wall: clock.Wall, Mono: clock.Mono})
	t.Cleanup(func() { _ = s.Close() })
	a := rigOver(t, s, clock)
	a.site("hall", `{"time_zone":"UTC"}`)
	b := rigOver(t, s, clock)
	clock.Advance(15 * time.Hour)
	for _, r := range []*rig{a, b, a} {
		if err := r.startDay(t.Context(), "hall", clock.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if got := a.eventsOf(dengxu.EventDayStarted); len(got) != 1 {
		t.Errorf("%d days started", len(got))
	}
	// A caller whose clock is ahead starts nothing.
	if err := a.startDay(t.Context(), "hall", clock.Now()+msDay); err != nil {
		t.Fatal(err)
	}
	if s, _ := a.Site(t.Context(), "hall"); s.Day != "2026-03-03" {
		t.Errorf("day %s", s.Day)
	}
}

// The day's number never falls, whatever happens to the zone.
func TestANewZoneMovesTheEndOfTheDay(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.site("hall", `{"time_zone":"Pacific/Kiritimati"}`) // UTC+14: 23:00 of 2 March
	r.queue("main", `{"site":"hall"}`)
	if n := r.join("main", dengxu.JoinRequest{}).Number; n != "A001" {
		t.Fatal(n)
	}
	r.pass(2 * time.Hour)
	if s, _ := r.Site(t.Context(), "hall"); s.Day != "2026-03-03" {
		t.Fatal(s.Day)
	}
	if _, err := r.PatchSite(t.Context(), staffer, "hall", json.RawMessage(`{"time_zone":"America/Vancouver"}`), 0); err != nil {
		t.Fatal(err)
	}
	if s, _ := r.Site(t.Context(), "hall"); s.Day != "2026-03-03" || s.DayEndsAt != time.Date(2026, 3, 4, 8, 0, 0, 0, time.UTC) {
		t.Fatalf("day %s until %s", s.Day, s.DayEndsAt)
	}
	if _, err := r.PatchSite(t.Context(), staffer, "hall", json.RawMessage(`{"time_zone":null}`), 0); err != nil {
		t.Fatal(err)
	}
	if s, _ := r.Site(t.Context(), "hall"); s.TimeZone != "America/Vancouver" {
		t.Errorf("the recorded zone was forgotten: %s", s.TimeZone)
	}
	r.pass(48 * time.Hour)
	if s, _ := r.Site(t.Context(), "hall"); s.Day != "2026-03-04" {
		t.Errorf("day %s", s.Day)
	}
}
