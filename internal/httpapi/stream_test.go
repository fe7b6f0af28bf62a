package httpapi

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/feed"
	"github.com/dengxu/dengxu/internal/store"
)

// beating makes heartbeats quick enough to wait for.
func beating(o *Options) { o.Heartbeat = 50 * time.Millisecond }

// TestEventsResume: what happens while the reader is away comes after its
// cursor, once and in order.
func TestEventsResume(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.must("operator@hall", post, "/counter/1/open", "", 200, nil)
	live := r.stream("operator@hall", "/events?site=hall")
	opening, _ := live.next()
	if opening.id == "" {
		t.Fatal("a stream begins without a cursor, so one that is cut early loses events")
	}
	r.join("far", `{}`) // another site
	r.join("main", `{}`)
	r.join("side", `{}`)
	r.call("1")
	var want []dengxu.Event
	for range 3 {
		var e dengxu.Event
		m := live.message(&e)
		if m.id != e.ID || m.event != string(e.Type) || e.Site != "hall" || e.TokenID == "" {
			t.Errorf("message %+v", m)
		}
		want = append(want, e)
	}
	r.join("main", `{}`)
	for name, again := range map[string]*messages{
		"header": r.stream("operator@hall", "/events?site=hall", "Last-Event-ID", want[0].ID),
		"query":  r.stream("operator@hall", "/events?site=hall&after="+want[0].ID),
		"both":   r.stream("operator@hall", "/events?site=hall&after="+opening.id, "Last-Event-ID", want[0].ID),
	} {
		for i := range 3 {
			var e dengxu.Event
			again.message(&e)
			if i < 2 && e.ID != want[i+1].ID || i == 2 && e.Number != "A002" {
				t.Errorf("%s: event %d is %s %s", name, i, e.Type, e.Number)
			}
		}
	}
	r.refused("operator@hall", get, "/events?site=hall&after="+want[0].ID+"x", "", dengxu.Invalid)
	r.refused("operator@hall", get, "/events", "", dengxu.Forbidden)
	r.refused("admin", get, "/events?site=nowhere", "", dengxu.NotFound)
}

// TestEventsOfADisplay have ref and number, and nothing to act or to pry with.
func TestEventsOfADisplay(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	display, all := r.stream("display@hall", "/events?site=hall"), r.stream("admin", "/events")
	ticket := r.join("main", `{"name":"Anna","business_id":"patient-42"}`)
	r.must("admin", post, "/token/"+string(ticket.ID)+"/abandon", `{"reason":"fainted"}`, 200, nil)
	for range 2 {
		var e, full dengxu.Event
		m := display.message(&e)
		all.message(&full)
		if e.Ref == "" || e.Number != "A001" || full.TokenID != ticket.ID || full.Actor == "" {
			t.Errorf("display %+v, admin %+v", e, full)
		}
		for _, secret := range []string{string(ticket.ID), "patient-42", "Anna", "fainted", "key:"} {
			if strings.Contains(m.data, secret) {
				t.Errorf("a display sees %q: %s", secret, m.data)
			}
		}
	}
}

// TestEventsHeartbeatAndReset: a quiet stream lives and moves its cursor on; a
// cursor of an older log is told to read anew.
func TestEventsHeartbeatAndReset(t *testing.T) {
	t.Parallel()
	r := newRig(t, beating)
	quiet := r.stream("operator@annex", "/events?site=annex")
	first, _ := quiet.next()
	r.join("main", `{}`)
	for {
		beat, ok := quiet.next()
		if !ok || beat.data != "" {
			t.Fatalf("a quiet stream got %+v", beat)
		}
		if beat.id != first.id {
			break // the other site's event moved the cursor on
		}
	}
	old := feed.Cursor{store.Cursor{Epoch: 1, Number: 1}}.String()
	again := r.stream("operator@hall", "/events?site=hall", "Last-Event-ID", old)
	var told struct{ Cursor string }
	if m := again.message(&told); m.event != "reset" || told.Cursor == "" || told.Cursor != m.id {
		t.Errorf("reset %+v", m)
	}
	r.join("main", `{}`)
	var e dengxu.Event
	if again.message(&e); e.Number != "A002" {
		t.Errorf("after the reset: %s", e.Number)
	}
}

// TestEventsEndWithTheKey: a key that is taken away ends its streams.
func TestEventsEndWithTheKey(t *testing.T) {
	t.Parallel()
	r := newRig(t, beating)
	s := r.stream("operator@hall", "/events?site=hall")
	s.next()
	r.must("admin", del, "/key/operator-hall", "", 204, nil)
	for {
		if _, more := s.next(); !more {
			break
		}
	}
	r.refused("operator@hall", get, "/sites", "", dengxu.Unauthenticated)
}

// TestPositionStream: a snapshot, then every change at once near the head, and
// the end after a final state.
func TestPositionStream(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.join("main", `{}`)
	ticket := r.join("main", `{}`)
	s := r.stream("", "/queue/token/"+string(ticket.ID)+"/stream")
	var p dengxu.Position
	next := func() dengxu.Position {
		t.Helper()
		p = dengxu.Position{}
		if m := s.message(&p); m.event != "position" {
			t.Fatalf("event %q", m.event)
		}
		return p
	}
	if next(); p.Rank == nil || *p.Rank != 1 {
		t.Fatalf("snapshot %+v", p)
	}
	first := r.call("1")
	for next(); p.Rank == nil || *p.Rank != 0; next() {
	}
	r.must("operator@hall", post, "/token/"+string(first.ID)+"/complete", "", 200, nil)
	r.call("1")
	for next(); p.State != dengxu.StateCalling; next() {
	}
	if p.CounterID != "1" || p.CallDeadline.IsZero() {
		t.Errorf("called to %q until %v", p.CounterID, p.CallDeadline)
	}
	r.must("operator@hall", post, "/token/"+string(ticket.ID)+"/complete", "", 200, nil)
	for next(); p.State != dengxu.StateCompleted; next() {
	}
	if _, more := s.next(); more {
		t.Error("the stream goes on after a final state")
	}
	r.server.watches.mu.Lock()
	defer r.server.watches.mu.Unlock()
	if n := len(r.server.watches.queues); n != 0 {
		t.Errorf("%d queues are watched after the end", n)
	}
}

// TestStreamsOfOneTokenAreBounded, and leave room for those of others.
func TestStreamsOfOneTokenAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ticket, other := r.join("main", `{}`), r.join("main", `{}`)
	path := "/queue/token/" + string(ticket.ID) + "/stream"
	for range maxWatchersOfToken {
		r.stream("", path)
	}
	if p := r.refused("", get, path, "", dengxu.TooMany); p.Reason != "subscribers" {
		t.Errorf("reason %q", p.Reason)
	}
	r.stream("", "/queue/token/"+string(other.ID)+"/stream")
}

// TestFarPlacesAreWokenTogether: a burst in the queue costs a far stream one
// look a pace, not one an event.
func TestFarPlacesAreWokenTogether(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.Pace = 100 * time.Millisecond })
	h := &r.server.watches
	rank := 8
	p := dengxu.Position{Ticket: dengxu.Ticket{ID: "far", QueueID: "main", State: dengxu.StateWaiting, Rank: &rank}, Site: "hall"}
	w, wake, err := h.add(t.Context(), &p)
	if err != nil {
		t.Fatal(err)
	}
	defer h.remove(w)
	h.settle(w, &p)
	began := time.Now()
	for range 200 {
		h.take(feed.Item{Event: dengxu.Event{QueueID: "main", Site: "hall", TokenID: "other"}})
	}
	looks := 0
	for time.Since(began) < 350*time.Millisecond {
		select {
		case <-wake:
			looks++
			h.look(w)
			h.settle(w, &p)
		case <-time.After(400 * time.Millisecond):
		}
	}
	if looks < 1 || looks > 4 {
		t.Errorf("%d looks in 350 ms at a pace of 100 ms", looks)
	}
	h.take(feed.Item{Event: dengxu.Event{QueueID: "side", Site: "hall", TokenID: "far"}})
	<-wake // its own event wakes it at once
	rank = 2
	h.settle(w, &p)
	h.take(feed.Item{Event: dengxu.Event{QueueID: "main", Site: "hall", TokenID: "other"}})
	<-wake // near the head every change does
}

// TestStreamsEndWithTheServer: nothing keeps a stopping server waiting.
func TestStreamsEndWithTheServer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ticket := r.join("main", `{}`)
	events, position := r.stream("admin", "/events"), r.stream("", "/queue/token/"+string(ticket.ID)+"/stream")
	events.next()
	var p dengxu.Position
	position.message(&p)
	r.stop()
	for _, s := range []*messages{events, position} {
		for {
			if _, more := s.next(); !more {
				break
			}
		}
	}
}

// TestSlowReaderIsDropped: a subscriber who reads nothing is dropped by the
// feed, and its stream ends, so that it comes back with its cursor.
func TestSlowReaderIsDropped(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	sub, err := r.server.Feed.Subscribe(t.Context(), feed.Filter{Site: "hall"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	hints, stop, err := r.server.Feed.Hint(t.Context(), feed.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	began := r.server.Feed.Head()[0].Number
	for range 1100 {
		if _, err := r.engine.Join(t.Context(), staffBy, "main", dengxu.JoinRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	for r.server.Feed.Head()[0].Number < began+1100 {
		<-hints // the feed goes on without waiting for the reader
	}
	for err == nil {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		_, err = sub.Next(ctx)
		cancel()
	}
	if !errors.Is(err, feed.ErrSlow) {
		t.Fatalf("the slow reader got %v", err)
	}
	again := r.stream("admin", "/events?site=hall", "Last-Event-ID", sub.Cursor().String())
	var e dengxu.Event
	again.message(&e)
	if e.Number != "A1025" { // after the 1,024 that the feed kept for it
		t.Errorf("resumed at %s", e.Number)
	}
}
