package torture

import (
	"slices"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// dayNumber is the number of a business day, days since 1970-01-01.
func dayNumber(day string) (int, error) {
	at, err := time.Parse(time.DateOnly, day)
	return int(at.Unix() / 86_400), err
}

// verbsOfEvents say which verbs an event tells of.
var verbsOfEvents = map[dengxu.EventType][]dengxu.Verb{
	dengxu.EventJoined: {dengxu.VerbJoin}, dengxu.EventDue: {dengxu.VerbDue}, dengxu.EventCheckedIn: {dengxu.VerbCheckIn},
	dengxu.EventCalled: {dengxu.VerbCall}, dengxu.EventRecalled: {dengxu.VerbRecall}, dengxu.EventConfirmed: {dengxu.VerbConfirm},
	dengxu.EventStarted: {dengxu.VerbStart}, dengxu.EventCompleted: {dengxu.VerbComplete}, dengxu.EventMissed: {dengxu.VerbMiss},
	dengxu.EventReinstated: {dengxu.VerbReinstate}, dengxu.EventDeferred: {dengxu.VerbDefer}, dengxu.EventHeld: {dengxu.VerbHold},
	dengxu.EventResumed: {dengxu.VerbResume}, dengxu.EventRequeued: {dengxu.VerbRequeue}, dengxu.EventTransferred: {dengxu.VerbTransfer},
	dengxu.EventMoved: {dengxu.VerbMove}, dengxu.EventEdited: {dengxu.VerbEdit}, dengxu.EventCancelled: {dengxu.VerbCancel},
	dengxu.EventAbandoned: {dengxu.VerbAbandon, dengxu.VerbExpire}, dengxu.EventUndone: {dengxu.VerbUndo}, dengxu.EventRated: {dengxu.VerbRate},
	dengxu.EventAsked: {dengxu.VerbAsk},
}

// changes holds the step from one picture to the next against the log: each
// change is a row of the table, raises the version by one and is logged once;
// timers are never early, and time never goes back.
func (w *walk) changes(p, after *picture, events []store.Event) {
	w.Helper()
	if after.now < p.now || after.day < p.day {
		w.fatal("time went back: from %d (day %d) to %d (day %d)", p.now, p.day, after.now, after.day)
	}
	type at struct {
		state   dengxu.State
		version uint64
		due     int64
		asked   bool
	}
	now := make(map[dengxu.TokenID]at)
	for id, t := range p.tokens {
		now[id] = at{t.State, t.Version, t.Due, t.Asked}
	}
	for _, e := range events {
		if e.Token == "" {
			continue
		}
		if e.Actor == "timer" {
			w.done["timer "+string(e.Type)]++
		}
		from, verbs := now[e.Token], verbsOfEvents[e.Type]
		row := slices.ContainsFunc(verbs, func(v dengxu.Verb) bool {
			return v == dengxu.VerbJoin && from.version == 0 || dengxu.Leads(dengxu.KindPeople, from.state, v, e.State)
		})
		switch {
		case !row:
			w.fatal("%s took %s from %s to %s, which is no row of the table", e.Type, e.Label, from.state, e.State)
		case e.Version != from.version+1:
			w.fatal("%s of %s has version %d after %d", e.Type, e.Label, e.Version, from.version)
		case e.Actor == "timer" && e.Reason != "day_end" && from.due > e.At:
			w.fatal("the timer's %s of %s came at %d, and was due at %d", e.Type, e.Label, e.At, from.due)
		case e.Actor == "timer" && e.Reason != "day_end" && from.state == dengxu.StateWaiting && e.State == dengxu.StateAbandoned && !from.asked:
			w.fatal("the timer took %s out of the line without having asked", e.Label)
		}
		now[e.Token] = at{e.State, e.Version, 0, e.Type == dengxu.EventAsked} // a second change has a due time that nobody saw
	}
	for id, t := range after.tokens {
		last := now[id]
		archived := t.State.Ended() && t.Version == last.version+1 && last.due != 0 && last.due <= after.now
		w.closed[id] = w.closed[id] || archived
		if t.State != last.state || t.Version != last.version && !archived {
			w.fatal("%s is %s v%d, and the log knows %s v%d", t.Label(), t.State, t.Version, last.state, last.version)
		}
		if before := p.tokens[id]; t.State.Ended() && t.State != dengxu.StateCancelled && t.Business != "" && (before == nil || !before.State.Ended()) {
			w.marks[store.MarkKey{Queue: t.Queue, Business: t.Business}] = t.EndedAt
		}
	}
	w.standing(after)
}

// standing holds one picture against what is always true.
func (w *walk) standing(p *picture) {
	w.Helper()
	holders, calls := make(map[store.HolderKey]string), make(map[uint64]string)
	for _, t := range p.tokens {
		if t.CallNo != 0 {
			if other, twice := calls[t.CallNo]; twice {
				w.fatal("call %d was of %s and of %s", t.CallNo, other, t.Label())
			}
			calls[t.CallNo] = t.Label()
		}
		if t.Business != "" && !t.State.Ended() {
			key := store.HolderKey{Line: t.Line(), Business: t.Business}
			if other, twice := holders[key]; twice {
				w.fatal("%s is in line %v as %s and as %s", t.Business, key.Line, other, t.Label())
			}
			holders[key] = t.Label()
		}
		if t.State == dengxu.StateWaiting && p.over(t) {
			w.fatal("%s waits in a line that is over", t.Label())
		}
	}
	for id, d := range walkDesks {
		if n := len(p.at(id)); n > d.room {
			w.fatal("counter %s has %d tokens and room for %d", id, n, d.room)
		}
	}
	if t := w.someone(p); t != nil && t.State == dengxu.StateWaiting {
		got, err := w.Position(w.Context(), t.ID)
		if err != nil || got.Rank == nil || *got.Rank != p.rank(t) {
			w.fatal("position of %s: %v %v, %d are ahead", t.Label(), got.Rank, err, p.rank(t))
		}
	}
}

// invariants holds the end of a walk against everything.
func (w *walk) invariants() {
	w.Helper()
	p := w.look()
	sound(w.T, w.seed, w.store)
	w.numbers()
	lines := make(map[store.LineKey]map[dengxu.State]int)
	for _, t := range p.tokens {
		if t.State.Ended() {
			continue // those are counted as long as they are retained
		}
		if lines[t.Line()] == nil {
			lines[t.Line()] = make(map[dengxu.State]int)
		}
		lines[t.Line()][t.State]++
	}
	for key, counts := range lines {
		v, err := w.store.View(w.Context(), store.Ask{Lines: []store.LineKey{key}})
		if err != nil {
			w.fatal("view: %v", err)
		}
		for _, s := range dengxu.States() {
			if !s.Ended() && v.Lines[0].Counts[s] != counts[s] {
				w.fatal("line %v counts %d %s, and there are %d", key, v.Lines[0].Counts[s], s, counts[s])
			}
		}
		n := 0
		for _, lane := range v.Lines[0].Lanes {
			n += lane.Len
		}
		if n != counts[dengxu.StateWaiting] {
			w.fatal("the lanes of %v have %d members, and %d wait", key, n, counts[dengxu.StateWaiting])
		}
	}
	for _, t := range p.sorted() {
		if t.State != dengxu.StateWaiting {
			continue
		}
		if got, err := w.Position(w.Context(), t.ID); err != nil || *got.Rank != p.rank(t) {
			w.fatal("position of %s: %v %v, %d are ahead", t.Label(), got.Rank, err, p.rank(t))
		}
	}
	if !p.progressed(20) || w.done["call_next  "] == 0 {
		w.fatal("the walk went nowhere: %v", w.done)
	}
}

// progressed reports whether people came through at all.
func (p *picture) progressed(least int) bool {
	ended := 0
	for _, t := range p.tokens {
		if t.State == dengxu.StateCompleted {
			ended++
		}
	}
	return len(p.tokens) >= least && ended > 0
}

// numbers: in each series the joins of a day, in the order of the log, have the
// numbers 1, 2, 3 … without a gap.
func (w *walk) numbers() {
	w.Helper()
	next := make(map[byte]int)
	for _, e := range w.log {
		switch e.Type { //nolint:exhaustive // the others give no numbers
		case dengxu.EventDayStarted:
			clear(next)
		case dengxu.EventJoined:
			series := e.Label[0]
			next[series]++
			if numberOf(e.Label) != next[series] {
				w.fatal("%s was given, and %d was next", e.Label, next[series])
			}
		}
	}
	for i, e := range w.log {
		if i > 0 && e.Number != w.log[i-1].Number+1 {
			w.fatal("event %d follows %d", e.Number, w.log[i-1].Number)
		}
	}
}
