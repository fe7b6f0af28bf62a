package torture

import (
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// walkVerbs are the verbs of a walk, by weight.
var walkVerbs = []dengxu.Verb{
	dengxu.VerbCheckIn, dengxu.VerbCheckIn, dengxu.VerbRecall, dengxu.VerbRecall, dengxu.VerbConfirm, dengxu.VerbStart,
	dengxu.VerbStart, dengxu.VerbComplete, dengxu.VerbComplete, dengxu.VerbMiss, dengxu.VerbMiss, dengxu.VerbMiss,
	dengxu.VerbReinstate, dengxu.VerbReinstate, dengxu.VerbRequeue, dengxu.VerbDefer, dengxu.VerbHold, dengxu.VerbHold,
	dengxu.VerbResume, dengxu.VerbResume, dengxu.VerbTransfer, dengxu.VerbTransfer, dengxu.VerbMove, dengxu.VerbCancel,
	dengxu.VerbAbandon, dengxu.VerbRate, dengxu.VerbUndo, dengxu.VerbUndo, dengxu.VerbUndo,
}

func (w *walk) verb(p *picture) {
	verb := pick(w.rng, walkVerbs...)
	t := w.someone(p)
	for n := w.rng.IntN(20); n > 0 && t != nil && !suits(t, verb); n-- {
		t = p.tokens[w.ids[w.rng.IntN(len(w.ids))]]
	}
	if t == nil {
		return
	}
	req := w.request(t, verb)
	by := w.by()
	w.note("%s %s (%s) by %s %+v", verb, t.Label(), t.State, by.Name, req)
	_, err := w.Act(w.Context(), by, verb, t.ID, req)
	w.expect(string(verb), p.onVerb(t, verb, req, by.Name), err)
	if after := w.after(p, err); err == nil {
		w.became(p, after, t.ID, verb, req)
	}
}

// suits reports whether there is something to a verb on a token.
func suits(t *store.Token, verb dengxu.Verb) bool {
	return dengxu.Allowed(dengxu.KindPeople, t.State, verb) && (verb != dengxu.VerbUndo || t.Undo != nil)
}

// request draws what a verb says.
func (w *walk) request(t *store.Token, verb dengxu.Verb) dengxu.VerbRequest {
	req := dengxu.VerbRequest{}
	if w.rng.IntN(8) == 0 {
		req.Version = uint64(w.rng.IntN(int(t.Version) + 2))
	}
	if w.rng.IntN(8) == 0 && verb != dengxu.VerbTransfer {
		req.CounterID = pick[dengxu.CounterID](w.rng, "1", "2", "3", "4")
	}
	place := pick(w.rng, nil, nil, &dengxu.Place{At: dengxu.PlaceTail}, &dengxu.Place{At: dengxu.PlaceOriginal}, &dengxu.Place{After: new(w.rng.IntN(4))})
	switch verb { //nolint:exhaustive // the others say nothing of their own
	case dengxu.VerbTransfer:
		req.QueueID = pick[dengxu.QueueID](w.rng, "a", "b", "c", "nowhere", "")
		req.Class = pick(w.rng, "", "", "x", "y")
		if w.rng.IntN(5) == 0 {
			req.CounterID = pick[dengxu.CounterID](w.rng, "1", "2", "3", "4")
		}
		req.Place = place
	case dengxu.VerbReinstate:
		req.Place = place
	case dengxu.VerbMove:
		req.Place, req.Reason = place, pick(w.rng, "", "as agreed", "as agreed")
	case dengxu.VerbRate:
		req.Stars = w.rng.IntN(7)
	}
	return req
}

// became holds what a verb made of a token against the rules.
func (w *walk) became(p, after *picture, id dengxu.TokenID, verb dengxu.Verb, req dengxu.VerbRequest) {
	w.Helper()
	b, t := p.tokens[id], after.tokens[id]
	r, now := walkRules[b.Queue], after.now
	want := store.Token{State: t.State, Queue: b.Queue, Place: b.Place, Misses: b.Misses, Defers: b.Defers, Due: t.Due}
	named := req.Place != nil && (req.Place.After != nil || req.Place.At == dengxu.PlaceTail)
	switch verb { //nolint:exhaustive // the others keep all of these
	case dengxu.VerbMiss:
		want.Misses++
		want.State, want.Place, want.Due = r.miss(p, b, now)
	case dengxu.VerbReinstate:
		want.State, want.Due = dengxu.StateWaiting, r.asks(now)
		if b.Origin != 0 {
			want.Place = b.Origin
		}
	case dengxu.VerbDefer:
		want.State, want.Due = dengxu.StateScheduled, now+r.deferFor
		want.Defers++
	case dengxu.VerbRequeue, dengxu.VerbCheckIn:
		want.State, want.Due = dengxu.StateWaiting, r.asks(now)
	case dengxu.VerbTransfer:
		want.State, want.Queue, want.Due = dengxu.StateWaiting, req.QueueID, walkRules[req.QueueID].asks(now)
		if b.Origin != 0 || r.epoch || walkRules[req.QueueID].epoch {
			want.Place = t.Place // judged by the next call
		}
	case dengxu.VerbMove:
		if b.Origin != 0 {
			want.Place = b.Origin
		}
	case dengxu.VerbUndo:
		u := b.Undo.Before
		want.State, want.Queue, want.Place, want.Misses = u.State, u.Queue, u.Place, u.Misses
		if t.Counter != u.Counter || t.Seq != u.Seq || t.Lane != u.Lane || t.Class != u.Class {
			w.fatal("undone to %+v, was %+v", t, u)
		}
	case dengxu.VerbConfirm, dengxu.VerbRecall:
		if b.State == dengxu.StateWaiting {
			want.Due = r.asks(now)
			break
		}
		left := r.timeout
		if verb == dengxu.VerbConfirm {
			left = r.arrive
		}
		want.Due = now + left
		if r.onTimeout == "ask" {
			want.Due = 0
		}
		if t.Deadline != now+left {
			w.fatal("%s: the deadline is in %d ms, want %d", verb, t.Deadline-now, left)
		}
	}
	if named {
		want.Place = t.Place // judged by ranks and calls
	}
	if t.State != want.State || t.Queue != want.Queue || t.Place != want.Place || t.Misses != want.Misses || t.Defers != want.Defers || t.Due != want.Due {
		w.fatal("%s made\n%+v of\n%+v,\nwant state %s, queue %s, place %d, misses %d, defers %d, due %d",
			verb, t, b, want.State, want.Queue, want.Place, want.Misses, want.Defers, want.Due)
	}
}

// miss is what a miss leads to: state, place and when it is due.
func (r rules) miss(p *picture, b *store.Token, now int64) (state dengxu.State, place, due int64) {
	switch {
	case r.missed == "keep" && !p.over(b):
		return dengxu.StateMissed, b.Place, now + r.keepMissed
	case r.missed == "requeue" && !p.over(b) && b.Misses < r.maxMisses:
		return dengxu.StateScheduled, max(b.Place, now) + r.penalty, now + r.recallGap
	}
	return dengxu.StateAbandoned, b.Place, now + 172_800_000
}

// doors moves a door or a counter.
func (w *walk) doors(p *picture) {
	if w.rng.IntN(2) == 0 {
		id, action := pick[dengxu.CounterID](w.rng, "1", "2", "3", "4"), pick(w.rng, "open", "open", "open", "pause")
		w.note("%s counter %s", action, id)
		_, err := w.SetCounterState(w.Context(), w.by(), id, action, dengxu.DoorRequest{})
		w.expect(action+" counter", granted, err)
		w.after(p, err)
		return
	}
	id, action := pick[dengxu.QueueID](w.rng, "a", "b", "c"), pick(w.rng, "open", "open", "open", "open", "open", "open", "pause", "close")
	req := dengxu.DoorRequest{Now: action == "close" && w.rng.IntN(2) == 0}
	w.note("%s queue %s %+v", action, id, req)
	_, err := w.SetDoor(w.Context(), w.by(), id, action, req)
	w.expect(action+" queue", granted, err)
	w.after(p, err)
}

// wait lets time pass, often to the next thing that is due, and lets the timers
// do what is.
func (w *walk) wait(p *picture) {
	by := time.Duration(w.rng.Int64N(int64(40 * time.Second)))
	switch w.rng.IntN(8) {
	case 0:
		by = time.Duration(w.rng.Int64N(int64(10 * time.Minute)))
	case 1, 2:
		by = w.untilDue(p)
	case 3:
		if w.rng.IntN(4) == 0 {
			by = time.Duration(w.rng.Int64N(int64(20 * time.Hour)))
		}
	}
	w.note("wait %v", by)
	w.clock.Advance(by)
	before := w.look()
	if _, err := w.Tick(w.Context()); err != nil {
		w.fatal("tick: %v", err)
	}
	after := w.after(before, nil)
	for _, t := range after.tokens {
		if t.Due != 0 && t.Due <= after.now && !t.State.Ended() {
			w.fatal("%s (%s %s) was due %d ms ago and nothing happened", t.Label(), t.State, t.Why, after.now-t.Due)
		}
	}
}

// untilDue is how long until a token is due, or a millisecond less.
func (w *walk) untilDue(p *picture) time.Duration {
	next := int64(0)
	for _, t := range p.tokens {
		if t.Due > p.now && !t.State.Ended() && (next == 0 || t.Due < next) {
			next = t.Due
		}
	}
	if next == 0 {
		return time.Second
	}
	return time.Duration(next-p.now-int64(w.rng.IntN(2))) * time.Millisecond
}
