package pebblestore

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// Dump yields every row from a snapshot of the database. Commits go on.
func (s *Store) Dump(ctx context.Context, p store.Partition, yield func(store.Row) error) (end store.Cursor, err error) {
	if err := s.enter(ctx, p); err != nil {
		return end, err
	}
	defer s.life.RUnlock()
	d := dumping{ctx: ctx, yield: yield}
	var at meta
	var snap *pebble.Snapshot
	// The committer does it, so that all commits before are in the database,
	// and it is answered after they are on disk. Without ctx: an errand that
	// was left would leave its snapshot behind.
	err = s.errand(context.WithoutCancel(ctx), func(*group) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		at, d.now, snap = s.meta, s.tick(), s.db.NewSnapshot()
		return nil
	})
	if err != nil {
		return end, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	if err := d.all(snap, &at); err != nil {
		return end, err
	}
	return store.Cursor{Partition: p, Epoch: at.Epoch, Number: at.Event}, nil
}

// dumping is a dump on its way through a snapshot.
type dumping struct {
	ctx   context.Context
	now   int64
	yield func(store.Row) error
}

func (d *dumping) all(snap *pebble.Snapshot, at *meta) error {
	err := d.yield(store.Row{Kind: store.RowNumbers, Numbers: &store.Numbers{
		Now: d.now, Arrival: at.Arrival, Call: at.CallNo, Event: at.Event,
	}})
	steps := []struct {
		prefix byte
		each   func(key, value []byte) error
	}{
		{prefixToken, d.record(store.RowToken)},
		{prefixArchive, d.record(store.RowArchived)},
		{prefixTally, d.tally},
		{prefixSeries, d.series},
		{prefixMark, d.mark},
		{prefixOp, d.op},
		{prefixDoc, d.doc},
	}
	for _, step := range steps {
		if err != nil {
			return err
		}
		err = scan(snap, step.prefix, func(key, value []byte) error {
			if err := d.ctx.Err(); err != nil {
				return err
			}
			return step.each(key, value)
		})
	}
	return err
}

func (d *dumping) record(kind store.RowKind) func(key, value []byte) error {
	return func(key, value []byte) error {
		t, err := store.DecodeToken(dengxu.TokenID(key[1:]), value)
		if err != nil {
			return err
		}
		return d.yield(store.Row{Kind: kind, Site: t.Site, Token: t})
	}
}

func (d *dumping) tally(key, value []byte) error {
	v, err := decodeDaily(value)
	if err != nil {
		return err
	}
	return d.yield(store.Row{Kind: store.RowTally, Count: &store.Count{Name: string(key[1:]), Day: v.Day, N: v.N}})
}

func (d *dumping) series(key, value []byte) error {
	site, name, err := splitPair(key)
	if err != nil {
		return err
	}
	v, err := decodeDaily(value)
	if err != nil {
		return err
	}
	return d.yield(store.Row{Kind: store.RowSeries, Site: dengxu.SiteID(site), Count: &store.Count{Name: name, Day: v.Day, N: v.N}})
}

func (d *dumping) mark(key, value []byte) error {
	queue, name, err := splitPair(key)
	if err != nil {
		return err
	}
	m, err := decodeMark(value)
	if err != nil || m.until <= d.now {
		return err
	}
	return d.yield(store.Row{Kind: store.RowMark, Mark: &store.Mark{
		MarkKey: store.MarkNamed(dengxu.QueueID(queue), name), At: m.at, Until: m.until,
	}})
}

func (d *dumping) op(key, value []byte) error {
	scope, name, err := splitPair(key)
	if err != nil {
		return err
	}
	op, err := decodeOp(value)
	if err != nil || op.Expires <= d.now {
		return err
	}
	if scope == loadedScope {
		name = hex.EncodeToString([]byte(name))
	} else {
		name = store.OpName(scope, name)
	}
	return d.yield(store.Row{Kind: store.RowOp, Op: ledger.MemoryOf(name, op)})
}

func (d *dumping) doc(key, value []byte) error {
	kind, id, err := splitPair(key)
	if err != nil {
		return err
	}
	doc, err := store.DecodeDoc(store.DocKey{Kind: store.DocKind(kind), ID: id}, value)
	if err != nil {
		return err
	}
	return d.yield(store.Row{Kind: store.RowDoc, Site: doc.Site, Doc: doc})
}

// loadedScope is the scope in the keys of operations that were loaded: of them
// only the name is known, which stands for the key. No other scope is like it.
const loadedScope = "\x00loaded"

var loadedPrefix = opKey(nil, loadedScope, "")

func loadedKey(dst []byte, name string) []byte {
	raw, _ := hex.DecodeString(name) // it was checked
	return opKey(dst, loadedScope, string(raw))
}
