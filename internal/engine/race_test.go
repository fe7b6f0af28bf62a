package engine

import (
	"context"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

// interrupted is a store in which something else happens after a read.
type interrupted struct {
	store.Store
	next func() // once
}

func (s *interrupted) View(ctx context.Context, a store.Ask) (store.View, error) {
	v, err := s.Store.View(ctx, a)
	if f := s.next; f != nil {
		s.next = nil
		f()
	}
	return v, err
}

// after has something happen after so many more reads and one.
func (s *interrupted) after(reads int, f func()) {
	s.next = f
	if reads > 0 {
		s.next = func() { s.after(reads-1, f) }
	}
}

// raced is a hall in which others act between an operation's reading and its
// writing.
func raced(t *testing.T, counter string) (*rig, *interrupted) {
	t.Helper()
	clock := storetest.NewClock()
	s := &interrupted{Store: memstore.New(memstore.Options{Wall: clock.Wall, Mono: clock.Mono})}
	r := rigOver(t, s, clock)
	r.site("hall", `{"time_zone":"UTC"}`)
	r.queue("main", `{"site":"hall"}`)
	r.counter("1", counter)
	return r, s
}

func TestCurrentIsWhatTheCounterHasAtTheCommit(t *testing.T) {
	t.Parallel()
	for name, counter := range map[string]string{
		"one place":  `{"site":"hall","queues":["main"]}`,
		"two places": `{"site":"hall","queues":["main"],"max_serving":2}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, s := raced(t, counter)
			a := r.join("main", dengxu.JoinRequest{})
			r.join("main", dengxu.JoinRequest{})
			s.next = func() { r.mustCall("1", "A001") }
			done, err := r.CallNext(t.Context(), staffer, "1", "", dengxu.CallRequest{Current: "complete"})
			if err != nil || done.Value.Token == nil || done.Value.Token.Number != "A002" {
				t.Fatalf("complete and call: %+v %v, want A002", done.Value, err)
			}
			r.state(a.ID, dengxu.StateCompleted)
		})
	}
}

func TestCurrentIsNotGuessedAmongSeveral(t *testing.T) {
	t.Parallel()
	r, s := raced(t, `{"site":"hall","queues":["main"],"max_serving":2}`)
	for range 3 {
		r.join("main", dengxu.JoinRequest{})
	}
	a := r.mustCall("1", "A001")
	s.next = func() { r.mustCall("1", "A002") }
	_, err := r.CallNext(t.Context(), staffer, "1", "", dengxu.CallRequest{Current: "complete"})
	if dengxu.CodeOf(err) != dengxu.Invalid {
		t.Fatalf("complete one of two: %v, want invalid", err)
	}
	r.state(a.ID, dengxu.StateCalling)
}

func TestACallThatFoundNobodyIsNotDenied(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.NewFaulty(memstore.New(memstore.Options{Wall: clock.Wall, Mono: clock.Mono}))
	r := rigOver(t, s, clock)
	r.site("hall", `{"time_zone":"UTC"}`)
	r.queue("main", `{"site":"hall"}`)
	r.counter("1", `{"site":"hall","queues":["main"]}`)
	a := r.join("main", dengxu.JoinRequest{})
	r.mustCall("1", "A001")
	s.FailRead(1) // after the commit, of the reason: the current one is known
	done, err := r.CallNext(t.Context(), staffer, "1", "", dengxu.CallRequest{Current: "complete"})
	if err != nil || done.Value.Token != nil {
		t.Fatalf("complete with nobody left: %+v %v", done.Value, err)
	}
	r.state(a.ID, dengxu.StateCompleted)
}

func TestARepeatSeesWhatTheFirstChanged(t *testing.T) {
	t.Parallel()
	r := hall(t)
	other, err := Open(t.Context(), Options{Store: r.store}) // another process, with the picture of before
	if err != nil {
		t.Fatal(err)
	}
	by := staffer
	by.Key = "k"
	req := dengxu.DoorRequest{Reason: "lunch"}
	for i, e := range []*Engine{r.Engine, other} {
		done, err := e.SetDoor(t.Context(), by, "main", "pause", req)
		if err != nil || done.Replayed != (i == 1) || done.Value.Door != dengxu.DoorPaused || done.Value.DoorReason != "lunch" {
			t.Errorf("engine %d: replayed %v, door %s %q, %v", i, done.Replayed, done.Value.Door, done.Value.DoorReason, err)
		}
	}
}

func TestClosingACounterOnceMoreMeanwhile(t *testing.T) {
	t.Parallel()
	r, s := raced(t, `{"site":"hall","queues":["main"]}`)
	a := r.join("main", dengxu.JoinRequest{})
	r.mustCall("1", "A001")
	by := staffer
	by.Key = "k"
	shut := func() dengxu.CounterState {
		done, err := r.SetCounterState(t.Context(), by, "1", "close", dengxu.DoorRequest{Current: "requeue"})
		if err != nil {
			t.Fatalf("close: %v", err)
		}
		return done.Value.State
	}
	s.next = func() { // after it was read that the key is new
		s.next = func() { shut() } // after the counter's token was read
	}
	if got := shut(); got != dengxu.CounterClosed {
		t.Errorf("the counter is %s", got)
	}
	if got := r.state(a.ID, dengxu.StateWaiting); got.Version != 3 {
		t.Errorf("version %d: put back more than once", got.Version)
	}
}

func TestTheTokenLastSeenAtACounterMayBeArchived(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.site("hall", `{"time_zone":"UTC"}`)
	r.queue("main", `{"site":"hall","retain_seconds":0}`)
	r.counter("1", `{"site":"hall","queues":["main"]}`)
	a := r.join("main", dengxu.JoinRequest{})
	r.join("main", dengxu.JoinRequest{})
	r.mustCall("1", "A001")
	r.do(dengxu.VerbComplete, a.ID, dengxu.VerbRequest{})
	r.pass(0)
	done, err := r.CallNext(t.Context(), staffer, "1", "", dengxu.CallRequest{Current: "complete"})
	if err != nil || done.Value.Token == nil || done.Value.Token.Number != "A002" {
		t.Fatalf("called %+v, %v", done.Value, err)
	}
}

// turning is a store that lets something happen between the refusal of a commit
// and what its caller makes of it.
type turning struct {
	store.Store
	refused func() // once
}

func (s *turning) Commit(ctx context.Context, b store.Batch) (store.Result, error) {
	r, err := s.Store.Commit(ctx, b)
	if f := s.refused; err != nil && f != nil {
		s.refused = nil
		f()
	}
	return r, err
}

func TestADayThatSomebodyElseStartedMeanwhile(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := &turning{Store: memstore.New(memstore.Options{Wall: clock.Wall, Mono: clock.Mono})}
	r := rigOver(t, s, clock)
	r.site("hall", `{"time_zone":"UTC"}`)
	r.queue("main", `{"site":"hall"}`)
	r.join("main", dengxu.JoinRequest{})
	clock.Advance(24 * time.Hour)
	s.refused = func() { r.join("main", dengxu.JoinRequest{}) } // starts the day and takes its first number
	if got := r.join("main", dengxu.JoinRequest{}); got.Number != "A002" {
		t.Errorf("joined as %s, want A002 of the new day", got.Number)
	}
}
