package torture

import (
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

// walk is a random run of one caller over all operations, each of which is
// foretold: what is refused and why, who is called, what a verb leads to.
type walk struct {
	*testing.T
	*engine.Engine
	seed  uint64
	rng   *rand.Rand
	store store.Store
	clock *storetest.Clock

	ids    []dengxu.TokenID
	marks  map[store.MarkKey]int64
	closed map[dengxu.TokenID]bool // archived
	log    []store.Event           // all of it
	end    store.Cursor
	steps  []string // what was done, for the report
	done   map[string]int
}

// actors are who acts in the walk: an undo belongs to one of them.
var actors = []string{"key:front", "key:back"}

func newWalk(t *testing.T, seed uint64, s store.Store, clock *storetest.Clock) *walk {
	t.Helper()
	w := &walk{
		T: t, Engine: openEngine(t, s), seed: seed, rng: dice(seed, 7), store: s, clock: clock,
		marks: make(map[store.MarkKey]int64), closed: make(map[dengxu.TokenID]bool), done: make(map[string]int),
	}
	page, err := s.Events(t.Context(), store.Cursor{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	w.end = page.End
	walkHall().build(t, direct{w.Engine})
	w.follow()
	return w
}

func (w *walk) fatal(format string, args ...any) {
	w.Helper()
	for _, step := range w.steps[max(0, len(w.steps)-15):] {
		w.Log(step)
	}
	w.Fatalf("seed %d, step %d: %s", w.seed, len(w.steps), fmt.Sprintf(format, args...))
}

func (w *walk) note(format string, args ...any) {
	w.steps = append(w.steps, fmt.Sprintf(format, args...))
}

func (w *walk) by() engine.By {
	return engine.By{
		Kind: engine.Operator, Name: actors[w.rng.IntN(len(actors))], Scope: "walk", Pick: true, Move: true,
	}
}

// follow reads what was logged since it was last called.
func (w *walk) follow() []store.Event {
	w.Helper()
	var all []store.Event
	for {
		page, err := w.store.Events(w.Context(), w.end, 1000)
		if err != nil || page.Reset {
			w.fatal("events after %v: %v, reset %v", w.end, err, page.Reset)
		}
		if len(page.Events) == 0 {
			w.log = append(w.log, all...)
			return all
		}
		all = append(all, page.Events...)
		w.end = page.End
	}
}

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

// someone is a token, mostly one that is in line still.
func (w *walk) someone(p *picture) *store.Token {
	if len(w.ids) == 0 {
		return nil
	}
	t := p.tokens[w.ids[w.rng.IntN(len(w.ids))]]
	for range 8 {
		if !t.State.Ended() {
			break
		}
		t = p.tokens[w.ids[w.rng.IntN(len(w.ids))]]
	}
	return t
}

// step does one thing.
func (w *walk) step(jumps bool) {
	p := w.look()
	p.marks, p.closed = w.marks, w.closed
	switch roll := w.rng.IntN(100); {
	case roll < 28:
		w.join(p)
	case roll < 50:
		w.call(p)
	case roll < 53:
		w.callToken(p)
	case roll < 86:
		w.verb(p)
	case roll < 89:
		w.doors(p)
	case jumps && roll < 92:
		by := pick(w.rng, -time.Hour, 24*time.Hour, time.Duration(w.rng.Int64N(int64(4*time.Hour)))-2*time.Hour)
		w.note("the wall clock jumps by %v", by)
		w.clock.JumpWall(by)
	default:
		w.wait(p)
	}
}

func (w *walk) join(p *picture) {
	q := pick[dengxu.QueueID](w.rng, "a", "b", "c")
	req := dengxu.JoinRequest{
		PriorityGroup: pick(w.rng, "", "", "VIP"), Channel: pick(w.rng, "", "web", "kiosk"),
	}
	if q == "b" || w.rng.IntN(25) == 0 {
		req.Class = pick(w.rng, "", "x", "y")
	}
	if q == "a" || w.rng.IntN(25) == 0 {
		req.PriorityGroup = pick(w.rng, "", "VIP", "old", "slow")
	}
	if w.rng.IntN(2) == 0 {
		req.BusinessID = fmt.Sprintf("person-%d", w.rng.IntN(8))
	}
	if w.rng.IntN(10) == 0 {
		req.DelaySeconds = float64(1 + w.rng.IntN(200))
	}
	by := w.by()
	w.note("join %s %+v", q, req)
	ticket, err := w.Join(w.Context(), by, q, req)
	w.expect("join", p.onJoin(q, req), err)
	if err == nil {
		w.ids = append(w.ids, ticket.Value.ID)
	}
	after := w.after(p, err)
	if err != nil {
		return
	}
	t := after.tokens[ticket.Value.ID]
	r := walkRules[q]
	want := dengxu.StateWaiting
	if req.DelaySeconds > 0 || r.remote && req.Channel == "web" {
		want = dengxu.StateScheduled
	}
	g := r.groups[groupOr(req.PriorityGroup)]
	place := after.now - g.headStart
	if r.epoch {
		day := int64(after.day) * 86_400_000
		place = day + floor((place-day)*g.k, 20)
	}
	if t.State != want || t.Version != 1 || t.Place != place || t.JoinedAt != after.now || t.Gen != after.gen(q) {
		w.fatal("joined %+v, want %s at place %d of generation %d", t, want, place, after.gen(q))
	}
	if want == dengxu.StateWaiting && *ticket.Value.Rank != after.rank(t) {
		w.fatal("joined at rank %d, is at %d", *ticket.Value.Rank, after.rank(t))
	}
}

func floor(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func (w *walk) call(p *picture) {
	id := pick[dengxu.CounterID](w.rng, "1", "2", "3", "4")
	var queue dengxu.QueueID
	req := dengxu.CallRequest{Current: pick(w.rng, "", "complete", "complete", "complete", "miss", "requeue")}
	if w.rng.IntN(12) == 0 {
		queue = pick[dengxu.QueueID](w.rng, "a", "b", "c")
	}
	if w.rng.IntN(14) == 0 {
		req.Class = pick(w.rng, "x", "y")
	}
	if at := p.at(id); len(at) > 0 && req.Current != "" && w.rng.IntN(2) == 0 {
		req.CurrentTokenID = at[w.rng.IntN(len(at))].ID
	}
	w.note("call at %s of %q %+v", id, queue, req)
	current, verdict := p.onCall(id, queue, req)
	done, err := w.CallNext(w.Context(), w.by(), id, queue, req)
	w.expect("call_next", verdict, err)
	var not dengxu.TokenID
	if current != nil {
		not = current.ID
	}
	after := w.after(p, err)
	if err != nil {
		return
	}
	want := p.next(id, queue, req.Class, not)
	switch got := done.Value.Token; {
	case want == nil && got == nil:
	case want == nil || got == nil || got.ID != want.ID:
		w.fatal("counter %s called %v, want %v", id, got, want)
	default:
		w.called(p, after, want.ID, id)
	}
	if current != nil {
		w.became(p, after, current.ID, dengxu.Verb(req.Current), dengxu.VerbRequest{})
	}
}

// called holds a call against what it has to be.
func (w *walk) called(p, after *picture, id dengxu.TokenID, at dengxu.CounterID) {
	w.Helper()
	before, t := p.tokens[id], after.tokens[id]
	r := walkRules[t.Queue]
	first := before.FirstCalled
	if first == 0 {
		first = after.now
	}
	if t.State != dengxu.StateCalling || t.Counter != at || t.CallCount != 1 || t.CalledAt != after.now ||
		t.FirstCalled != first || t.Deadline != after.now+r.timeout || t.Place != before.Place || t.Confirmed {
		w.fatal("called %+v", t)
	}
	for _, o := range after.tokens {
		if o.ID != t.ID && o.CallNo >= t.CallNo {
			w.fatal("call %d of %s after call %d of %s", t.CallNo, t.Label(), o.CallNo, o.Label())
		}
	}
}

func (w *walk) callToken(p *picture) {
	t := w.someone(p)
	if t == nil {
		return
	}
	id := pick[dengxu.CounterID](w.rng, "1", "2", "3", "4")
	req := dengxu.VerbRequest{Reason: pick(w.rng, "", "asked for", "asked for", "asked for")}
	w.note("call %s at %s by hand %+v", t.Label(), id, req)
	_, err := w.CallToken(w.Context(), w.by(), id, t.ID, req)
	w.expect("call by hand", p.onCallToken(id, t, req), err)
	if after := w.after(p, err); err == nil {
		w.called(p, after, t.ID, id)
	}
}

// expect holds a result against its verdict.
func (w *walk) expect(what string, v verdict, err error) {
	w.Helper()
	code, reason := dengxu.CodeOf(err), dengxu.ReasonOf(err)
	if code != v.code || v.reason != "" && reason != v.reason {
		w.fatal("%s: %v (%s %s), want %q %q", what, err, code, reason, v.code, v.reason)
	}
	w.done[fmt.Sprintf("%s %s %s", what, code, v.reason)]++
}

// after takes the next picture and holds every change against the log and the
// table; after a refusal nothing may have changed.
func (w *walk) after(p *picture, err error) *picture {
	w.Helper()
	after, events := w.look(), w.follow()
	if err != nil && slices.ContainsFunc(events, func(e store.Event) bool { return e.Token != "" && e.Actor != "timer" }) {
		w.fatal("refused, and yet logged %+v", events)
	}
	w.changes(p, after, events)
	return after
}

// TestWalk: long random runs do what the rules say, and nothing else.
func TestWalk(t *testing.T) {
	t.Parallel()
	walkOver(t, 16, 200, false)
}

// TestWalkWithClockJumps: the same while the wall clock is set back by an hour
// or forward by a day, and by anything between.
func TestWalkWithClockJumps(t *testing.T) {
	t.Parallel()
	walkOver(t, 16, 200, true)
}

func walkOver(t *testing.T, share, all int, jumps bool) {
	t.Helper()
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex // guards done
			done := make(map[string]int)
			n := stored(name, share, all)
			if n >= share { // fewer walks meet less
				t.Cleanup(func() { sometimes(t, done) })
			}
			seeds(t, n, func(t *testing.T, seed uint64) {
				clock := storetest.NewClock()
				w := newWalk(t, seed, open(t, clock), clock)
				for range 400 {
					w.step(jumps)
				}
				w.invariants()
				mu.Lock()
				defer mu.Unlock()
				for what, n := range w.done {
					done[what] += n
				}
			})
		})
	}
}

// sometimes fails the test unless the walks together did every verb with
// success and met every refusal: else they prove less than they seem to.
func sometimes(t *testing.T, done map[string]int) {
	t.Helper()
	if t.Failed() {
		return
	}
	want := []string{
		"join  ", "join exists already_in_line", "join closed paused", "join closed closed", "join closed closing",
		"join too_many rejoin_after", "join full max_length", "call_next  ", "call_next conflict counter_busy",
		"call_next conflict counter_paused", "call_next conflict state", "call_next invalid not_served", "call by hand  ",
		"call by hand conflict not_served", "call by hand conflict counter_busy",
		"recall too_many too_early",
		"resume conflict no_room", "transfer exists already_in_line",
		"undo conflict nothing_to_undo", "undo conflict other_actor", "undo conflict undo_too_late", "undo conflict no_room",
		"timer token.due", "timer token.missed", "timer token.started", "timer token.abandoned", "timer token.asked",
		"timer token.deferred", "complete conflict stale_version", "complete conflict state",
	}
	if storetest.Torture() { // too rare for the few walks of an ordinary run
		want = append(want, "recall conflict max_calls", "confirm conflict confirmed_already",
			"defer conflict defer_max", "complete conflict other_counter", "rate conflict rated_already")
	}
	for _, verb := range walkVerbs {
		want = append(want, string(verb)+"  ")
	}
	for _, what := range want {
		if done[what] == 0 {
			t.Errorf("no walk met: %s", what)
		}
	}
}
