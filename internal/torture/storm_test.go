package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

// storm is many callers at once on the walk's hall, two processes' timers, and
// a clock that runs, jumps and ends days, over a store that loses answers.
// Nothing is foretold; what the log tells afterwards has to be possible.
type storm struct {
	*testing.T
	seed    uint64
	engines []*engine.Engine
	store   *lossy
	clock   *storetest.Clock

	mu  sync.Mutex // guards ids
	ids []dengxu.TokenID
}

const (
	stormCallers = 6
	stormSteps   = 120
)

// TestStorm holds the whole log of a storm against what is always true.
func TestStorm(t *testing.T) {
	t.Parallel()
	for name, open := range among() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seeds(t, stored(name, 8, 200), func(t *testing.T, seed uint64) {
				clock := storetest.NewClock()
				faults := &lossy{Store: open(t, clock), rng: dice(seed, 0), off: true}
				s := &storm{T: t, seed: seed, store: faults, clock: clock}
				s.engines = append(s.engines, openEngine(t, faults))
				from := store.Cursor{Partition: s.engines[0].PartitionOf(hallID)}
				page, err := faults.Events(t.Context(), from, 1)
				if err != nil {
					t.Fatal(err)
				}
				from.Epoch, from.Number = page.End.Epoch, page.End.Number
				walkHall().build(t, direct{s.engines[0]})
				site, err := s.engines[0].Site(t.Context(), hallID)
				if err != nil {
					t.Fatal(err)
				}
				today, err := dayNumber(site.Day)
				if err != nil {
					t.Fatal(err)
				}
				beside := faults.beside(t, dice(seed, 1))
				s.engines = append(s.engines, openEngine(t, beside)) // another process
				for _, l := range []*lossy{faults, beside} {
					l.unknown, l.down, l.blind, l.off = 0.02, 0.01, 0.01, false
				}
				s.rage()
				faults.calm()
				beside.calm()
				s.settle()
				s.judge(from, today)
			})
		})
	}
}

// rage lets everybody loose at once.
func (s *storm) rage() {
	var callers, clocks sync.WaitGroup
	ctx, cancel := context.WithCancel(s.Context())
	for i := range stormCallers {
		callers.Go(func() {
			rng := dice(s.seed, uint64(i+1))
			for range stormSteps {
				s.step(ctx, rng, s.engines[i%len(s.engines)])
			}
		})
	}
	for i, e := range s.engines {
		clocks.Go(func() {
			rng := dice(s.seed, uint64(100+i))
			for ctx.Err() == nil {
				if i == 0 {
					s.turnClock(rng)
				}
				_, _ = e.Tick(ctx) // what fails is due still
			}
		})
	}
	callers.Wait()
	cancel()
	clocks.Wait()
}

// turnClock lets the clock run on, and sometimes jump.
func (s *storm) turnClock(rng *rand.Rand) {
	s.clock.Advance(time.Duration(rng.IntN(5000)) * time.Millisecond)
	switch rng.IntN(60) {
	case 0:
		s.clock.JumpWall(-time.Hour)
	case 1:
		s.clock.JumpWall(24 * time.Hour)
	case 2:
		s.clock.Advance(time.Duration(rng.IntN(6)) * time.Hour)
	}
}

func (s *storm) someone(rng *rand.Rand) dengxu.TokenID {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ids) == 0 {
		return "none"
	}
	return s.ids[max(0, len(s.ids)-25)+rng.IntN(min(len(s.ids), 25))]
}

// step does one thing and believes no answer.
func (s *storm) step(ctx context.Context, rng *rand.Rand, e *engine.Engine) {
	by := engine.By{Kind: engine.Operator, Name: pick(rng, actors...), Scope: "storm", Pick: true, Move: true}
	id := s.someone(rng)
	desk := pick[dengxu.CounterID](rng, "1", "2", "3", "4")
	queue := pick[dengxu.QueueID](rng, "a", "b", "c")
	var err error
	switch roll := rng.IntN(100); {
	case roll < 30:
		req := dengxu.JoinRequest{BusinessID: business(rng.IntN(10)), Channel: pick(rng, "", "web")}
		var done engine.Done[dengxu.Ticket]
		if done, err = e.Join(ctx, by, queue, req); err == nil {
			s.mu.Lock()
			s.ids = append(s.ids, done.Value.ID)
			s.mu.Unlock()
		}
	case roll < 55:
		req := dengxu.CallRequest{Current: pick(rng, "", "complete", "complete", "miss", "requeue")}
		_, err = e.CallNext(ctx, by, desk, "", req)
	case roll < 58:
		_, err = e.CallToken(ctx, by, desk, id, dengxu.VerbRequest{Reason: "asked for"})
	case roll < 60:
		_, err = e.SetDoor(ctx, by, queue, pick(rng, "open", "open", "open", "open", "open", "pause", "close"), dengxu.DoorRequest{})
	case roll < 62:
		_, err = e.SetCounterState(ctx, by, desk, pick(rng, "open", "open", "pause"), dengxu.DoorRequest{})
	default:
		verb, req := pick(rng, walkVerbs...), dengxu.VerbRequest{}
		switch verb { //nolint:exhaustive // the others say nothing
		case dengxu.VerbTransfer:
			req.QueueID = queue
		case dengxu.VerbMove:
			req.Place, req.Reason = &dengxu.Place{After: new(rng.IntN(3))}, "as agreed"
		case dengxu.VerbRate:
			req.Stars = 5
		}
		_, err = e.Act(ctx, by, verb, id, req)
	}
	if dengxu.CodeOf(err) == dengxu.Internal {
		s.Errorf("seed %d: %v", s.seed, err)
	}
}

// settle does what is due when no fault is left.
func (s *storm) settle() {
	for _, e := range s.engines {
		if _, err := e.Tick(s.Context()); err != nil {
			s.Fatalf("seed %d: tick: %v", s.seed, err)
		}
	}
}

// judge reads the whole log since a cursor, when it was that day, and the whole
// store.
func (s *storm) judge(from store.Cursor, today int) {
	s.Helper()
	l := &ledger{T: s.T, seed: s.seed, tokens: make(map[dengxu.TokenID]*entry), next: make(map[byte]int), day: today}
	for {
		page, err := s.store.Events(s.Context(), from, 1000)
		if err != nil || page.Reset {
			s.Fatalf("seed %d: events: %v, reset %v", s.seed, err, page.Reset)
		}
		if len(page.Events) == 0 {
			break
		}
		for _, e := range page.Events {
			l.take(e)
		}
		from = store.Cursor{Partition: from.Partition, Epoch: page.End.Epoch, Number: page.End.Number}
	}
	sound(s.T, s.seed, s.store)
	ids := make([]dengxu.TokenID, 0, len(l.tokens))
	for id := range l.tokens {
		ids = append(ids, id)
	}
	v, err := s.store.View(s.Context(), store.Ask{Partition: from.Partition, Tokens: ids})
	if err != nil {
		s.Fatalf("seed %d: view: %v", s.seed, err)
	}
	for i, t := range v.Tokens {
		switch e := l.tokens[ids[i]]; {
		case t == nil:
			s.Errorf("seed %d: a token of the log is gone", s.seed)
		case t.State != e.state || t.Version != e.version && !(t.State.Ended() && t.Version == e.version+1):
			s.Errorf("seed %d: %s is %s v%d, and the log knows %s v%d", s.seed, t.Label(), t.State, t.Version, e.state, e.version)
		case t.Due != 0 && t.Due <= v.Now && !t.State.Ended():
			s.Errorf("seed %d: %s (%s) is overdue", s.seed, t.Label(), t.State)
		case t.State == dengxu.StateWaiting && t.Gen != 0 && t.Gen != l.day:
			s.Errorf("seed %d: %s waits in a line that is over: day %d of %d", s.seed, t.Label(), t.Gen, l.day)
		}
	}
	if len(ids) < 10 {
		s.Errorf("seed %d: %d people only", s.seed, len(ids))
	}
}

// ledger replays a log, and fails the test at what cannot be.
type ledger struct {
	*testing.T
	seed   uint64
	tokens map[dengxu.TokenID]*entry
	next   map[byte]int
	day    int
	number uint64
}

type entry struct {
	state   dengxu.State
	version uint64
	desk    dengxu.CounterID
}

func (l *ledger) take(e store.Event) {
	l.Helper()
	if l.number != 0 && e.Number != l.number+1 {
		l.Errorf("seed %d: event %d follows %d", l.seed, e.Number, l.number)
	}
	l.number = e.Number
	switch {
	case e.Type == dengxu.EventDayStarted:
		clear(l.next)
		l.day = setting[struct{ Day day }](l.T, string(e.Data)).Day.number
	case e.Token != "":
		l.change(e)
	}
}

// change takes in a change of a token.
func (l *ledger) change(e store.Event) {
	l.Helper()
	t := l.tokens[e.Token]
	if t == nil {
		t = &entry{}
		l.tokens[e.Token] = t
		l.next[e.Label[0]]++
		if e.Type != dengxu.EventJoined || numberOf(e.Label) != l.next[e.Label[0]] {
			l.Errorf("seed %d: %s of %s, and %d was next", l.seed, e.Type, e.Label, l.next[e.Label[0]])
		}
	} else if !slices.ContainsFunc(verbsOfEvents[e.Type], func(v dengxu.Verb) bool {
		return dengxu.Leads(dengxu.KindPeople, t.state, v, e.State)
	}) {
		l.Errorf("seed %d: %s took %s from %s to %s", l.seed, e.Type, e.Label, t.state, e.State)
	}
	if e.Version != t.version+1 {
		l.Errorf("seed %d: %s of %s has version %d after %d", l.seed, e.Type, e.Label, e.Version, t.version)
	}
	*t = entry{e.State, e.Version, ""}
	if !e.State.AtCounter() {
		return
	}
	t.desk = e.Counter
	busy := 0
	for _, o := range l.tokens {
		if o.desk == e.Counter {
			busy++
		}
	}
	if busy > walkDesks[e.Counter].room {
		l.Errorf("seed %d: counter %s has %d tokens after %s of %s", l.seed, e.Counter, busy, e.Type, e.Label)
	}
}

// day is a business day in an event's data.
type day struct{ number int }

// UnmarshalText reads YYYY-MM-DD.
func (d *day) UnmarshalText(text []byte) (err error) {
	if d.number, err = dayNumber(string(text)); err != nil {
		return fmt.Errorf("day: %w", err)
	}
	return nil
}
