package pebblestore

import (
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// writer puts keys into the batch of a group; its buffers are used again for
// each key. Its first error stays: the indexes have moved on, so that the
// store cannot go on after it.
type writer struct {
	batch      *pebble.Batch
	key, value []byte
	err        error
}

func (w *writer) set() {
	if err := w.batch.Set(w.key, w.value, nil); w.err == nil {
		w.err = err
	}
}

func (w *writer) delete() {
	if err := w.batch.Delete(w.key, nil); w.err == nil {
		w.err = err
	}
}

// begin makes g the group that a reader has to wait for.
func (s *Store) begin(g *group) {
	if g.batch == nil {
		g.batch, g.fresh = s.db.NewBatch(), s.newFresh()
		s.out.batch = g.batch
		s.last, s.pending = g, append(s.pending, g)
	}
}

func (s *Store) newFresh() *fresh {
	if n := len(s.spare); n > 0 {
		f := s.spare[n-1]
		s.spare = s.spare[:n-1]
		return f
	}
	return &fresh{ops: make(map[string]*ledger.OpRecord), marks: make(map[string]mark)}
}

// carryOut writes the effects of one batch to the indexes and the group.
// before are the marks as they were.
func (s *Store) carryOut(g *group, e *ledger.Effects, before []mark) {
	s.begin(g)
	s.meta.Meta = e.Meta
	for i := range e.Tokens {
		s.putToken(g, &e.Tokens[i], &e.Changes[i])
	}
	for i := range e.Docs {
		s.putDoc(g, e.Docs[i])
	}
	for _, c := range e.Tallies {
		putDaily(s.index.tallies, &g.tallies, c.Key, c.Daily)
	}
	for _, c := range e.Series {
		putDaily(s.index.series, &g.series, c.Key, c.Daily)
	}
	for i, m := range e.Marks {
		s.putMark(g, m, before[i])
	}
	if e.Op != nil {
		s.putOp(g, e)
	}
	s.putEvents(g, e.Events)
}

// putToken gives a record to the indexes, the cache and the group. From here
// on it is never changed: all three, and the caller, read the same one.
func (s *Store) putToken(g *group, after *store.Token, c *ledger.Change) {
	en := s.index.tokens[after.ID]
	switch {
	case c.Archived:
		s.index.change(en, c.Before, nil)
		delete(s.index.tokens, after.ID)
	case c.Before == nil:
		en = &entry{id: after.ID}
		s.index.add(en, after)
	default:
		s.index.change(en, c.Before, after)
	}
	s.cache.put(after.ID, cached{after, c.Archived})
	g.fresh.tokens = append(g.fresh.tokens, freshToken{after: after, entry: en, archived: c.Archived})
	g.bytes += tokenBytes + len(after.Attrs) + len(after.Payload) + len(after.Note)
}

// tokenBytes is what a record takes in a batch, about, with its events and
// without what a caller can make long.
const tokenBytes = 600

func (s *Store) putDoc(g *group, d store.Doc) {
	w := &s.out
	if before := s.index.docs[d.Key]; before != nil {
		g.sum -= before.hash
	}
	w.key = docKey(w.key, d.Key)
	if d.Version == 0 {
		w.delete()
		s.index.putDoc(d, 0)
		return
	}
	d.Body = slices.Clone(d.Body)
	w.value = store.AppendDoc(w.value[:0], &d)
	w.set()
	hash := hashOf(w.key, w.value)
	g.sum += hash
	g.bytes += len(w.value)
	s.index.putDoc(d, hash)
}

// putDaily remembers a changed count until finish writes it.
func putDaily[K comparable](counts map[K]*daily, changed *map[K]*daily, key K, v ledger.Daily) {
	d := counts[key]
	if d == nil {
		d = new(daily)
		counts[key] = d
	}
	d.Daily = v
	if *changed == nil {
		*changed = make(map[K]*daily)
	}
	(*changed)[key] = d
}

// marksBefore reads the marks that a batch replaces.
func (s *Store) marksBefore(writes []store.MarkWrite) ([]mark, error) {
	var before []mark
	for i, m := range writes {
		old, err := s.mark(m.MarkKey)
		if err != nil {
			return nil, err
		}
		// Of two writes of one mark the first is what the second replaces.
		for j := range i {
			if writes[j].MarkKey == m.MarkKey {
				old = markOf(writes[j])
			}
		}
		before = append(before, old)
	}
	return before, nil
}

func markOf(m store.MarkWrite) mark {
	after := mark{at: m.At, until: m.At + m.Keep}
	after.hash = hashOf(markKey(nil, m.MarkKey), appendMark(nil, after))
	return after
}

func (s *Store) putMark(g *group, m store.MarkWrite, before mark) {
	w := &s.out
	after := markOf(m)
	w.key, w.value = markKey(w.key, m.MarkKey), appendMark(w.value[:0], after)
	w.set()
	g.sum += after.hash - before.hash
	g.fresh.marks[string(w.key)] = after
	s.sweep.remember(after.until)
}

func (s *Store) putOp(g *group, e *ledger.Effects) {
	w := &s.out
	w.key = opKey(w.key, e.OpKey.Scope, e.OpKey.Key)
	key := string(w.key)
	g.fresh.ops[key] = e.Op
	g.fresh.opKeys = append(g.fresh.opKeys, key)
	s.filter.add(w.key, e.Op.Expires)
	s.sweep.remember(e.Op.Expires)
	s.sweep.wrote(1)
}

func (s *Store) putEvents(g *group, events []store.Event) {
	g.fresh.events = append(g.fresh.events, events...)
	for i := range events {
		g.bytes += len(events[i].Data)
	}
	g.events = g.events || len(events) > 0
	s.sweep.wrote(len(events))
}

// logSteps logs the steps of the wall clock that were noticed since the last
// commit.
func (s *Store) logSteps(g *group, now int64) {
	s.clockMu.Lock()
	steps := s.clock.Steps()
	s.clockMu.Unlock()
	for _, step := range steps {
		s.begin(g)
		s.meta.Event++
		s.putEvents(g, []store.Event{step.Event(s.meta.Event, now)})
	}
}

// finish writes the changed counts and notes the partition's numbers, once a
// group.
func (s *Store) finish(g *group) error {
	w := &s.out
	for name, d := range g.tallies {
		w.key = tallyKey(w.key, name)
		s.writeDaily(g, d)
	}
	for key, d := range g.series {
		w.key = seriesKey(w.key, key)
		s.writeDaily(g, d)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clockMu.Lock()
	s.meta.Clock = s.clock.State()
	s.clockMu.Unlock()
	s.meta.Group = g.number
	s.meta.Live, s.meta.Persons = uint64(len(s.index.tokens)), uint64(len(s.index.persons))
	g.meta = s.meta
	s.cache.rotate(g.number, s.written)
	return w.err
}

func (s *Store) writeDaily(g *group, d *daily) {
	w := &s.out
	w.value = appendDaily(w.value[:0], d.Daily)
	w.set()
	hash := hashOf(w.key, w.value)
	g.sum += hash - d.hash
	d.hash = hash
}
