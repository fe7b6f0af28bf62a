package pebblestore

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/dengxu/dengxu/internal/store"
)

// Events returns the events after a cursor.
func (s *Store) Events(ctx context.Context, after store.Cursor, limit int) (store.EventPage, error) {
	if err := s.enter(ctx, after.Partition); err != nil {
		return store.EventPage{}, err
	}
	defer s.life.RUnlock()
	l := s.look()
	first, end := s.meta.First, store.Cursor{Epoch: s.meta.Epoch, Number: s.meta.Event}
	l.leave()
	if err := l.settle(ctx); err != nil {
		return store.EventPage{}, err
	}
	if after.Epoch != end.Epoch || after.Number > end.Number || after.Number+1 < first {
		return store.EventPage{Reset: true, End: end}, nil
	}
	page := store.EventPage{End: after}
	if limit = min(max(limit, 0), int(end.Number-after.Number)); limit == 0 {
		return page, nil
	}
	var err error
	if page.Events, err = s.readEvents(after.Number+1, limit); err != nil {
		return store.EventPage{}, err
	}
	if page.Events == nil {
		return store.EventPage{Reset: true, End: end}, nil
	}
	page.End.Number += uint64(limit)
	return page, nil
}

// readEvents reads n events that are on disk; nil when they were dropped
// meanwhile.
func (s *Store) readEvents(first uint64, n int) (events []store.Event, err error) {
	it, err := s.db.NewIter(&pebble.IterOptions{
		LowerBound: eventKey(nil, first), UpperBound: eventKey(nil, first+uint64(n)),
	})
	if err != nil {
		return nil, damaged(err)
	}
	defer func() { err = errors.Join(err, damaged(it.Close())) }()
	events = make([]store.Event, 0, n)
	for ok := it.First(); ok; ok = it.Next() {
		number, err := eventNumber(it.Key())
		if err != nil {
			return nil, err
		}
		if number != first+uint64(len(events)) {
			break
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return nil, damaged(err)
		}
		ev, err := store.DecodeEvent(number, value)
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", number, err)
		}
		events = append(events, *ev)
	}
	if len(events) == n || it.Error() != nil {
		return events, damaged(it.Error())
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.meta.First > first {
		return nil, nil
	}
	return nil, fmt.Errorf("event %d is missing: %w", first+uint64(len(events)), store.ErrDamaged)
}

// watchers are the channels of Watch.
type watchers struct {
	mu    sync.Mutex // guards hints
	hints map[chan struct{}]bool
}

// Watch returns a channel that gets a value after events of p.
func (s *Store) Watch(store.Partition) (<-chan struct{}, func()) {
	w := &s.watch
	hint := make(chan struct{}, 1) // one hint stands for all that are not taken yet
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hints == nil {
		w.hints = make(map[chan struct{}]bool)
	}
	w.hints[hint] = true
	return hint, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.hints, hint)
	}
}

func (w *watchers) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for hint := range w.hints {
		select {
		case hint <- struct{}{}:
		default: // one is waiting to be taken already
		}
	}
}
