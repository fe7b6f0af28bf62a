package pebblestore

import (
	"context"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// Load puts rows into the store, all in one group.
func (s *Store) Load(ctx context.Context, p store.Partition, rows []store.Row) error {
	if err := s.enter(ctx, p); err != nil {
		return err
	}
	defer s.life.RUnlock()
	return s.errand(ctx, func(g *group) error { return s.loadRows(g, rows) })
}

func (s *Store) loadRows(g *group, rows []store.Row) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.tick()
	t := tables{s, now}
	m, write, err := ledger.Load(t, s.meta.Meta, rows, now)
	if err != nil || len(write) == 0 {
		return err
	}
	before := make([]mark, len(write))
	for i := range write {
		if r := &write[i]; r.Kind == store.RowMark {
			if before[i], err = s.mark(r.Mark.MarkKey); err != nil {
				return err
			}
		}
	}
	s.logSteps(g, now)
	s.begin(g)
	s.meta.Arrival, s.meta.CallNo = m.Arrival, m.CallNo
	for i := range write {
		s.putRow(g, &write[i], before[i])
	}
	return nil
}

// putRow writes a row to the indexes and the group.
func (s *Store) putRow(g *group, r *store.Row, before mark) {
	switch r.Kind {
	case store.RowNumbers:
		s.clockMu.Lock()
		s.clock.Raise(r.Numbers.Now)
		s.clockMu.Unlock()
	case store.RowToken:
		s.putToken(g, new(r.Token.Clone()), &ledger.Change{})
	case store.RowArchived:
		w := &s.out
		w.key, w.value = archiveKey(w.key, r.Token.ID), store.AppendToken(w.value[:0], r.Token)
		w.set()
		g.bytes += len(w.value)
	case store.RowTally:
		putDaily(s.index.tallies, &g.tallies, r.Count.Name, ledger.Daily{Day: r.Count.Day, N: r.Count.N})
	case store.RowSeries:
		key := ledger.SeriesKey{Site: r.Site, Name: r.Count.Name}
		putDaily(s.index.series, &g.series, key, ledger.Daily{Day: r.Count.Day, N: r.Count.N})
	case store.RowMark:
		m := r.Mark
		s.putMark(g, store.MarkWrite{MarkKey: m.MarkKey, At: m.At, Keep: m.Until - m.At}, before)
	case store.RowOp:
		s.putLoadedOp(g, r.Op)
	case store.RowDoc:
		s.putDoc(g, *r.Doc)
	}
}

func (s *Store) putLoadedOp(g *group, m *store.Memory) {
	w := &s.out
	w.key = loadedKey(w.key, m.Name)
	key := string(w.key)
	g.fresh.ops[key] = ledger.OpOf(m)
	g.fresh.opKeys = append(g.fresh.opKeys, key)
	s.filter.add(w.key, m.Expires)
	s.sweep.remember(m.Expires)
	s.sweep.wrote(1)
}

// Archived is a record that left the live set.
func (t tables) Archived(id dengxu.TokenID) (*store.Token, error) {
	if c, ok := t.s.cache.get(id); ok && !c.archived {
		return nil, nil
	}
	return t.s.archived(id)
}

// OpNamed is an operation that was loaded. One that a caller gave is known by
// its scope and key only; a store whose sites are new has none of those.
func (t tables) OpNamed(name string) (*ledger.OpRecord, error) {
	return t.s.opAt(loadedKey(nil, name))
}

// MarkUntil is a mark as a row has it.
func (t tables) MarkUntil(k store.MarkKey) (*store.Mark, error) {
	m, err := t.s.mark(k)
	if err != nil || m.until == 0 {
		return nil, err
	}
	return &store.Mark{MarkKey: k, At: m.at, Until: m.until}, nil
}
