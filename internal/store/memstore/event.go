package memstore

import (
	"context"
	"slices"

	"github.com/dengxu/dengxu/internal/store"
)

// log appends events and wakes whoever watches.
func (s *part) log(events []store.Event) {
	if len(events) == 0 {
		return
	}
	for _, ev := range events {
		ev.Data = slices.Clone(ev.Data)
		s.events = append(s.events, ev)
	}
	if over := len(s.events) - keptEvents; over > 0 {
		clear(s.events[:over])
		s.events = s.events[over:]
	}
	for hint := range s.watchers {
		select {
		case hint <- struct{}{}:
		default: // one is waiting to be taken already
		}
	}
}

// logSteps logs the steps of the wall clock that were noticed since the last
// commit.
func (s *part) logSteps(now int64) {
	s.clockMu.Lock()
	steps := s.clock.Steps()
	s.clockMu.Unlock()
	for _, step := range steps {
		s.meta.Event++
		s.log([]store.Event{step.Event(s.meta.Event, now)})
	}
}

// Events returns the events after a cursor.
func (s *part) Events(ctx context.Context, after store.Cursor, limit int) (store.EventPage, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(ctx); err != nil {
		return store.EventPage{}, err
	}
	oldest := s.meta.Event - uint64(len(s.events)) // number before the first kept
	if after.Epoch != s.meta.Epoch || after.Number > s.meta.Event || after.Number < oldest {
		return store.EventPage{Reset: true, End: store.Cursor{Partition: s.id, Epoch: s.meta.Epoch, Number: s.meta.Event}}, nil
	}
	found := s.events[after.Number-oldest:]
	page := store.EventPage{End: after}
	for _, ev := range found[:min(len(found), max(limit, 0))] {
		ev.Data = slices.Clone(ev.Data)
		page.Events = append(page.Events, ev)
		page.End.Number = ev.Number
	}
	return page, nil
}

// Watch returns a channel that gets a value after events of p.
func (s *part) Watch() (<-chan struct{}, func()) {
	hint := make(chan struct{}, 1) // one hint stands for all that are not taken yet
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers[hint] = true
	return hint, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, hint)
	}
}
