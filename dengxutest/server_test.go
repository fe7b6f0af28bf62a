package dengxutest_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/dengxutest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAdvanceRunsWhatIsDueBeforeItReturns(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	ticket := s.Join("main", 1)[0]
	s.Call("1")
	s.Clock.Advance(299 * time.Second)
	if got := s.State(ticket.ID); got != dengxu.StateCalling {
		t.Errorf("a second before the call times out: %s", got)
	}
	s.Clock.Advance(time.Second)
	if got := s.State(ticket.ID); got == dengxu.StateCalling {
		t.Errorf("when the call times out: %s", got)
	}
}

func TestTheDayEndsAtMidnightUTC(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t, dengxutest.Options{Start: time.Date(2026, 3, 2, 23, 59, 0, 0, time.UTC)})
	ticket := s.Join("main", 1)[0]
	s.Clock.Advance(time.Minute)
	if got := s.State(ticket.ID); got != dengxu.StateAbandoned {
		t.Errorf("after midnight: %s", got)
	}
	if again := s.Join("main", 1)[0]; again.Number != "A001" {
		t.Errorf("the first number of the new day is %s", again.Number)
	}
}

func TestAClockThatIsSetBackDoesNotTurnTimeBack(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	first := s.Join("main", 1)[0]
	s.Clock.SetWall(s.Clock.Now().Add(-time.Hour))
	second := s.Join("main", 1)[0]
	if second.JoinedAt.Before(first.JoinedAt) {
		t.Errorf("the second one joined at %v, before the first at %v", second.JoinedAt, first.JoinedAt)
	}
	if got := s.Call("1").Number; got != first.Number {
		t.Errorf("called %s, want %s", got, first.Number)
	}
}

func TestWatchSeesWhatTheTestDoes(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	ticket := s.Join("main", 2)[1]
	var seen []string
	for p, err := range s.WithKey("").Watch(t.Context(), ticket.ID) {
		if err != nil {
			t.Fatal(err)
		}
		if now := string(p.State) + " " + p.Ahead.String(); len(seen) == 0 || seen[len(seen)-1] != now {
			seen = append(seen, now) // else only the estimate is another
		}
		switch {
		case p.Ahead == 1:
			_, err = s.Client.Complete(t.Context(), s.Call("1").ID, dengxu.VerbRequest{})
		case p.Ahead == 0 && p.Estimate.Method == "idle": // the counter is done with the one before
			s.Call("1")
		case p.State == dengxu.StateCalling:
			_, err = s.Client.Complete(t.Context(), ticket.ID, dengxu.VerbRequest{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"waiting 1", "waiting 0", "calling –", "completed –"}
	if len(seen) != len(want) {
		t.Fatalf("saw %v, want %v", seen, want)
	}
	for i := range want {
		if seen[i] != want[i] {
			t.Errorf("saw %v, want %v", seen, want)
		}
	}
}

func TestEventsResumeByTheirCursor(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	cursor, err := s.Client.Cursor(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	s.Join("main", 2)
	next := func() dengxu.EventType { // a stream of its own for each event
		for e, err := range s.Client.Events(t.Context(), "main", cursor) {
			if err != nil {
				t.Fatal(err)
			}
			cursor = e.ID
			return e.Type
		}
		return ""
	}
	s.Call("1")
	for _, want := range []dengxu.EventType{dengxu.EventJoined, dengxu.EventJoined, dengxu.EventCounterState, dengxu.EventCalled} {
		if got := next(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestABareServerIsEmpty(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t, dengxutest.Options{Bare: true})
	sites, err := s.Client.Sites(t.Context())
	if err != nil || len(sites) != 0 {
		t.Errorf("%v, %v", sites, err)
	}
}

func TestWhoeverDoesNotComeIsBackAfterAWhile(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	ticket := s.Join("main", 1)[0]
	s.Call("1")
	s.Clock.Advance(5 * time.Minute)
	if got := s.State(ticket.ID); got != dengxu.StateScheduled {
		t.Errorf("after the countdown: %s", got)
	}
	s.Clock.Advance(30 * time.Second)
	if got := s.State(ticket.ID); got != dengxu.StateWaiting {
		t.Errorf("after the gap: %s", got)
	}
}

// TestTimersFireAtTheirOwnTime advances over a call timeout and the way back into
// line at once: both happen, each when it is due.
func TestTimersFireAtTheirOwnTime(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	ticket := s.Join("main", 1)[0]
	start := s.Clock.Now()
	s.Call("1")
	s.Clock.Advance(time.Hour)
	h, err := s.Client.History(t.Context(), ticket.ID)
	if err != nil {
		t.Fatal(err)
	}
	var at []time.Duration
	for _, span := range h.Spans[1:] {
		at = append(at, span.From.Sub(start))
	}
	// called at once, missed after the countdown, back in line after the gap
	if len(at) != 3 || at[0] != 0 || at[1] != 5*time.Minute || at[2] != 5*time.Minute+30*time.Second {
		t.Errorf("spans began after %v", at)
	}
}
