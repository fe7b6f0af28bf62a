package memstore

import (
	"context"
	"math"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// Dump yields every row of a partition, as of when it began.
func (s *Store) Dump(ctx context.Context, p store.Partition, yield func(store.Row) error) (store.Cursor, error) {
	in, err := s.part(p)
	if err != nil {
		return store.Cursor{}, err
	}
	rows, end, err := in.rows(ctx)
	if err != nil {
		return store.Cursor{}, err
	}
	for _, r := range rows {
		if err := yield(r); err != nil {
			return store.Cursor{}, err
		}
	}
	return end, ctx.Err()
}

// Load puts rows into a partition.
func (s *Store) Load(ctx context.Context, p store.Partition, rows []store.Row) error {
	in, err := s.part(p)
	if err != nil {
		return err
	}
	return in.load(ctx, rows)
}

// rows are all rows and the log's end.
func (s *part) rows(ctx context.Context) ([]store.Row, store.Cursor, error) {
	s.mu.Lock() // what is over is forgotten
	defer s.mu.Unlock()
	if err := s.ready(ctx); err != nil {
		return nil, store.Cursor{}, err
	}
	now := s.tick()
	s.marks.forget(now)
	s.ops.forget(now)
	end := store.Cursor{Partition: s.id, Epoch: s.meta.Epoch, Number: s.meta.Event}
	rows := []store.Row{{Kind: store.RowNumbers, Numbers: &store.Numbers{
		Now: now, Arrival: s.meta.Arrival, Call: s.meta.CallNo, Event: s.meta.Event,
	}}}
	for _, t := range s.tokens {
		rows = append(rows, store.Row{Kind: store.RowToken, Site: t.Site, Token: new(t.Clone())})
	}
	for _, t := range s.archive {
		rows = append(rows, store.Row{Kind: store.RowArchived, Site: t.Site, Token: new(t.Clone())})
	}
	for name, d := range s.tallies {
		rows = append(rows, store.Row{Kind: store.RowTally, Count: &store.Count{Name: name, Day: d.Day, N: d.N}})
	}
	for k, d := range s.series {
		rows = append(rows, store.Row{Kind: store.RowSeries, Site: k.Site, Count: &store.Count{Name: k.Name, Day: d.Day, N: d.N}})
	}
	for k, m := range s.marks.values {
		rows = append(rows, store.Row{Kind: store.RowMark, Mark: &store.Mark{MarkKey: k, At: m.value, Until: m.end}})
	}
	for name, op := range s.ops.values {
		rows = append(rows, store.Row{Kind: store.RowOp, Op: ledger.MemoryOf(name, op.value)})
	}
	for k, d := range s.docs {
		rows = append(rows, store.Row{Kind: store.RowDoc, Site: d.Site, Doc: s.viewDoc(k)})
	}
	return rows, end, nil
}

// load puts rows in, all or none.
func (s *part) load(ctx context.Context, rows []store.Row) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(ctx); err != nil {
		return err
	}
	meta, write, err := ledger.Load(tables{s}, s.meta, rows, s.tick())
	if err != nil {
		return err
	}
	s.meta = meta
	for i := range write {
		s.put(&write[i])
	}
	return nil
}

func (s *part) put(r *store.Row) {
	switch r.Kind {
	case store.RowNumbers:
		s.clockMu.Lock()
		s.clock.Raise(r.Numbers.Now)
		s.clockMu.Unlock()
	case store.RowToken:
		t := new(r.Token.Clone())
		s.tokens[t.ID] = t
		s.index.add(t)
	case store.RowArchived:
		s.archive[r.Token.ID] = new(r.Token.Clone())
	case store.RowTally:
		s.tallies[r.Count.Name] = ledger.Daily{Day: r.Count.Day, N: r.Count.N}
	case store.RowSeries:
		s.series[ledger.SeriesKey{Site: r.Site, Name: r.Count.Name}] = ledger.Daily{Day: r.Count.Day, N: r.Count.N}
	case store.RowMark:
		s.marks.put(r.Mark.MarkKey, r.Mark.At, r.Mark.Until)
	case store.RowOp:
		s.ops.put(r.Op.Name, ledger.OpOf(r.Op), r.Op.Expires)
	case store.RowDoc:
		s.putDoc(*r.Doc)
	}
}

// Archived is a record that left the live set.
func (t tables) Archived(id dengxu.TokenID) (*store.Token, error) { return t.s.archive[id], nil }

// OpNamed is an operation by its name.
func (t tables) OpNamed(name string) (*ledger.OpRecord, error) {
	return t.s.ops.get(name, math.MinInt64), nil
}

// MarkUntil is a mark as a row has it.
func (t tables) MarkUntil(k store.MarkKey) (*store.Mark, error) {
	m, ok := t.s.marks.values[k]
	if !ok {
		return nil, nil
	}
	return &store.Mark{MarkKey: k, At: m.value, Until: m.end}, nil
}
