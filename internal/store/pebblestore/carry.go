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
//
// Events and operations are kept apart until the group is whole: pebble is
// quicker with keys that follow each other, which events do, and records
// nearly.
type writer struct {
	batch, events, ops *pebble.Batch
	key, value         []byte
	err                error
}

func (w *writer) to() *pebble.Batch {
	switch w.key[0] {
	case prefixEvent:
		return w.events
	case prefixOp:
		return w.ops
	}
	return w.batch
}

func (w *writer) set() {
	if err := w.to().Set(w.key, w.value, nil); w.err == nil {
		w.err = err
	}
}

func (w *writer) delete() {
	if err := w.to().Delete(w.key, nil); w.err == nil {
		w.err = err
	}
}

func (w *writer) len() int { return w.batch.Len() + w.events.Len() + w.ops.Len() }

// join makes one batch of all.
func (w *writer) join() {
	for _, part := range []*pebble.Batch{w.events, w.ops} {
		if !part.Empty() {
			if err := w.batch.Apply(part, nil); w.err == nil {
				w.err = err
			}
		}
		part.Reset()
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
		if before := e.Tokens[i].Before; before != nil {
			s.index.drop(s.index.tokens[before.ID], before)
		}
	}
	for i := range e.Tokens {
		s.putToken(&e.Tokens[i])
	}
	for i := range e.Docs {
		s.putDoc(e.Docs[i])
	}
	for name, v := range e.Tallies {
		putDaily(s.index.tallies, &g.tallies, name, v)
	}
	for key, v := range e.Series {
		putDaily(s.index.series, &g.series, key, v)
	}
	for i, m := range e.Marks {
		s.putMark(g, m, before[i])
	}
	if e.Op != nil {
		s.putOp(g, e)
	}
	s.putEvents(g, e.Events)
}

func (s *Store) putToken(c *ledger.TokenChange) {
	id, w := c.After.ID, &s.out
	// The effects stay with the cache, without the record before and with
	// nothing that the caller has.
	after := &c.After
	*after, c.Before = after.Clone(), nil
	s.cache.put(id, cached{after, c.Archived})
	w.value = store.AppendToken(w.value[:0], after)
	en := s.index.tokens[id]
	if c.Archived {
		w.key = tokenKey(w.key, id)
		w.delete()
		w.key = archiveKey(w.key, id)
		w.set()
		s.meta.Sum -= en.hash
		delete(s.index.tokens, id)
		return
	}
	if en == nil {
		en = &entry{id: id}
	}
	w.key = tokenKey(w.key, id)
	w.set()
	hash := hashOf(w.key, w.value)
	s.meta.Sum += hash - en.hash
	en.hash = hash
	en.keep(after, w.value)
	s.index.add(en, after)
}

func (s *Store) putDoc(d store.Doc) {
	w := &s.out
	if before := s.index.docs[d.Key]; before != nil {
		s.meta.Sum -= before.hash
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
	s.meta.Sum += hash
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
		old, err := s.mark(m.Queue, m.Business)
		if err != nil {
			return nil, err
		}
		// Of two writes of one mark the first is what the second replaces.
		for j := range i {
			if writes[j].Queue == m.Queue && writes[j].Business == m.Business {
				old = markOf(writes[j])
			}
		}
		before = append(before, old)
	}
	return before, nil
}

func markOf(m store.MarkWrite) mark {
	after := mark{at: m.At, until: m.At + m.Keep}
	after.hash = hashOf(markKey(nil, m.Queue, m.Business), appendMark(nil, after))
	return after
}

func (s *Store) putMark(g *group, m store.MarkWrite, before mark) {
	w := &s.out
	after := markOf(m)
	w.key, w.value = markKey(w.key, m.Queue, m.Business), appendMark(w.value[:0], after)
	w.set()
	s.meta.Sum += after.hash - before.hash
	g.fresh.marks[string(w.key)] = after
	s.sweep.remember(after.until)
}

func (s *Store) putOp(g *group, e *ledger.Effects) {
	w := &s.out
	w.key, w.value = opKey(w.key, e.OpKey.Scope, e.OpKey.Key), appendOp(w.value[:0], e.Op)
	w.set()
	g.fresh.ops[string(w.key)] = e.Op
	s.filter.add(w.key, e.Op.Expires)
	s.sweep.remember(e.Op.Expires)
	s.sweep.wrote(1)
}

func (s *Store) putEvents(g *group, events []store.Event) {
	w := &s.out
	for i := range events {
		w.key = eventKey(w.key, events[i].Number)
		w.value = store.AppendEvent(w.value[:0], &events[i])
		w.set()
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

// finish writes the changed counts and the partition's numbers, once a group.
func (s *Store) finish(g *group) error {
	w := &s.out
	for name, d := range g.tallies {
		w.key = tallyKey(w.key, name)
		s.writeDaily(d)
	}
	for key, d := range g.series {
		w.key = seriesKey(w.key, key)
		s.writeDaily(d)
	}
	s.clockMu.Lock()
	s.meta.Clock = s.clock.State()
	s.clockMu.Unlock()
	s.meta.Group = g.number
	s.meta.Live, s.meta.Persons = uint64(len(s.index.tokens)), uint64(len(s.index.persons))
	w.key, w.value = append(w.key[:0], metaKey...), appendMeta(w.value[:0], &s.meta)
	w.set()
	w.join()
	s.mu.Lock()
	s.cache.rotate(g.number, s.written)
	s.mu.Unlock()
	return w.err
}

func (s *Store) writeDaily(d *daily) {
	w := &s.out
	w.value = appendDaily(w.value[:0], d.Daily)
	w.set()
	hash := hashOf(w.key, w.value)
	s.meta.Sum += hash - d.hash
	d.hash = hash
}
