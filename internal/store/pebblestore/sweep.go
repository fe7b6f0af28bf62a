package pebblestore

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/dengxu/dengxu/internal/store"
)

// What is remembered for a while only is dropped by a goroutine beside the
// committer. What is written drives it: for each operation that comes it looks
// at one that is there, so that it keeps pace, and an idle store does nothing.

const (
	// sweepAfter is how many operations and events are written between two
	// rounds.
	sweepAfter = 1024
	// sweepKeys is how many operations and marks a round looks at: one for
	// each that came, since an operation comes with an event.
	sweepKeys = sweepAfter / 2
	// sweepBatch is how many keys one errand of the committer drops.
	sweepBatch = 256

	// keptEvents is how many events the log keeps at least, and keptMillis for
	// how long each.
	keptEvents = 100_000
	keptMillis = 48 * 3600 * 1000
	// trimEvents is how many events go at once, in one range.
	trimEvents = 10_000
)

// sweeper is what wakes the goroutine, and how far it got.
type sweeper struct {
	credit int // written since the last round; the committer's
	due    chan struct{}
	quit   chan struct{}
	ended  chan struct{}

	at     []byte // the next key to look at, nil = from the beginning
	events uint64 // how many to keep
	trimAt int64  // until then no events are old enough to go

	// Of what the last pass over all keys left nothing is over before soonest,
	// of what was written since it began nothing before written. passing is
	// soonest of the pass that is going on.
	soonest, passing int64
	written          int64 // guarded by the store's mu
}

// never is after everything.
const never = int64(math.MaxInt64)

func newSweeper() *sweeper {
	return &sweeper{
		due:  make(chan struct{}, 1), // one round stands for all that are owed
		quit: make(chan struct{}), ended: make(chan struct{}), events: keptEvents,
		written: never,
	}
}

// remember tells of an operation or mark that the committer writes.
func (w *sweeper) remember(until int64) { w.written = min(w.written, until) }

// begin begins a pass if one is worth the while, or goes on with one, and
// reports whether it does.
func (w *sweeper) begin(now int64) bool {
	if w.at != nil {
		return true
	}
	if now < min(w.soonest, w.written) {
		return false
	}
	w.passing = never
	if w.written > now {
		// It may not be in the database yet, so that the pass misses it.
		w.passing = w.written
	}
	w.written = never
	return true
}

// wrote counts what the committer writes.
func (w *sweeper) wrote(n int) {
	if w.credit += n; w.credit < sweepAfter {
		return
	}
	w.credit = 0
	select {
	case w.due <- struct{}{}:
	default:
	}
}

func (w *sweeper) stop() { close(w.quit) }

func (s *Store) sweepLoop() {
	w := s.sweep
	defer close(w.ended)
	for {
		select {
		case <-w.quit:
			return
		case <-s.failed:
			return
		case <-w.due:
		}
		// Close takes the lock only when no round is running.
		if s.enter(context.Background(), 0) != nil {
			return
		}
		err := s.sweepRound(w)
		s.life.RUnlock()
		if err != nil {
			s.opts.Logger.Error("could not drop what is over", "error", err)
		}
	}
}

// sweepRound looks at some keys and drops those whose time is over.
func (s *Store) sweepRound(w *sweeper) error {
	s.mu.Lock()
	now := s.tick()
	s.filter.forget(now)
	worth := w.begin(now)
	s.mu.Unlock()
	if !worth {
		return s.trim(w, now)
	}
	over, err := s.sweepScan(w, now)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(over, sweepBatch) {
		if err := s.errand(context.Background(), func(g *group) error { return s.forget(g, some, now) }); err != nil {
			return err
		}
	}
	return s.trim(w, now)
}

// sweepScan looks at the next marks and operations, and returns the keys of
// those that are over. At the end of a pass over all of them it knows when the
// next one is worth the while.
func (s *Store) sweepScan(w *sweeper, now int64) (over [][]byte, err error) {
	left := sweepKeys
	for _, prefix := range []byte{prefixMark, prefixOp} {
		if w.at != nil && w.at[0] > prefix {
			continue
		}
		if over, err = s.sweepSome(w, prefix, now, &left, over); err != nil || w.at != nil {
			return over, err
		}
	}
	w.soonest = w.passing
	return over, nil
}

// sweepSome looks at keys with a prefix, from where the last round ended,
// until none is left to look at, or left is 0.
func (s *Store) sweepSome(w *sweeper, prefix byte, now int64, left *int, over [][]byte) (_ [][]byte, err error) {
	lower, upper := bounds(prefix)
	if w.at != nil {
		lower, w.at = w.at, nil
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return over, damaged(err)
	}
	defer func() { err = errors.Join(err, damaged(it.Close())) }()
	for ok := it.First(); ok; ok = it.Next() {
		if *left == 0 {
			w.at = slices.Clone(it.Key())
			return over, nil
		}
		*left--
		value, err := it.ValueAndErr()
		if err != nil {
			return over, damaged(err)
		}
		until, err := expiry(it.Key(), value)
		switch {
		case err != nil:
			return over, err
		case until <= now:
			over = append(over, slices.Clone(it.Key()))
		default:
			w.passing = min(w.passing, until)
		}
	}
	return over, nil
}

// expiry is when an operation or a mark is over.
func expiry(key, value []byte) (int64, error) {
	if key[0] == prefixMark {
		m, err := decodeMark(value)
		return m.until, err
	}
	return decodeExpires(value)
}

// forget drops keys that are still over.
func (s *Store) forget(g *group, keys [][]byte, now int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &s.out
	for _, key := range keys {
		err := readKey(s.db, key, func(value []byte) error {
			until, err := expiry(key, value)
			if err != nil || until > now {
				return err
			}
			s.begin(g)
			if key[0] == prefixMark {
				g.sum -= hashOf(key, value)
				g.fresh.marks[string(key)] = mark{} // gone for the rest of the group
			}
			w.key = append(w.key[:0], key...)
			w.delete()
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// trim drops the oldest events, when enough of them may go.
func (s *Store) trim(w *sweeper, now int64) error {
	s.mu.RLock()
	first, last := s.meta.First, s.meta.Event
	s.mu.RUnlock()
	// Of the events from first to before end the log may drop those that are
	// old enough, which are the first ones: time does not run backwards.
	least := min(trimEvents, w.events)
	if last+1 < w.events+first+least || now < w.trimAt {
		return nil
	}
	// The last of the least that go together says when they may.
	at, err := s.eventAt(first + least - 1)
	if err != nil {
		return err
	}
	if at >= now-keptMillis {
		w.trimAt = at + keptMillis + 1
		return nil
	}
	cut, end := first+least, last-w.events+1
	for cut < end {
		mid := cut + (end-cut)/2
		at, err := s.eventAt(mid)
		if err != nil {
			return err
		}
		if at < now-keptMillis {
			cut = mid + 1
		} else {
			end = mid
		}
	}
	return s.errand(context.Background(), func(g *group) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.begin(g)
		s.meta.First = cut
		return g.batch.DeleteRange(eventKey(nil, first), eventKey(nil, cut), nil)
	})
}

func (s *Store) eventAt(n uint64) (int64, error) {
	var at int64
	err := readKey(s.db, eventKey(nil, n), func(value []byte) error {
		ev, err := store.DecodeEvent(n, value)
		at = ev.At
		return err
	})
	return at, err
}
