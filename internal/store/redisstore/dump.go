package redisstore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// A dump is a copy of the moment at which it began, though commits go on:
// while it is on its way, each group of commits first keeps the old values of
// what it changes (dump_keep.lua). Page by page the hashes are scanned, and with
// each page come the old values of all that was changed up to it. So what a page
// shows was not changed since the beginning, unless its old value is known.

// scanned are the hashes of a dump, each with what of it is wanted. Records
// that move between hashes go from the first to the last.
var scanned = []struct {
	key   int
	match string
}{
	{keyLive, "*"},
	{keyEnded, "*"},
	{keyArchive, "*"},
	{keyState, "n*"},
	{keyMarks, "*"},
	{keyOps, "*"},
	{keyOps + 1, "*"},
	{keyDocs, plainDocs},
	{keyDocs, "~*"},
}

// Dump yields every row of a partition as of its beginning.
func (s *Store) Dump(ctx context.Context, partition store.Partition, yield func(store.Row) error) (end store.Cursor, err error) {
	p, err := s.ready(ctx, partition)
	if err != nil {
		return end, err
	}
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	d := &dumping{p: p, id: string(id[:]), yield: yield, seen: make(map[string]struct{})}
	if err := d.begin(ctx); err != nil {
		return end, err
	}
	defer func() { // so that commits keep nothing any more, and another dump may begin
		_, e := d.ask(context.WithoutCancel(ctx), "end", 0, "0", "*")
		err = errors.Join(err, e)
	}()
	if err := yield(store.Row{Kind: store.RowNumbers, Numbers: d.numbers}); err != nil {
		return end, err
	}
	for _, h := range scanned {
		if err := d.scan(ctx, h.key, h.match); err != nil {
			return end, err
		}
	}
	return d.end, nil
}

// dumping is a dump on its way.
type dumping struct {
	p       *part
	id      string
	yield   func(store.Row) error
	now     int64
	numbers *store.Numbers
	end     store.Cursor
	taken   int64               // number of the last group whose old values are known
	seen    map[string]struct{} // cells that were yielded, or were not there at the beginning
}

// ask runs one step and reads its answer up to the epoch.
func (d *dumping) ask(ctx context.Context, what string, key int, cursor, match string) (*unpacker, error) {
	w := &packer{}
	w.fields(8)
	w.fieldText("id", d.id)
	w.fieldText("what", what)
	w.fieldInt("key", int64(key))
	w.fieldText("cursor", cursor)
	w.fieldText("match", match)
	w.fieldInt("count", pageOf(key, match))
	w.fieldInt("taken", d.taken)
	w.fieldInt("event", int64(d.end.Number))
	reply, err := d.p.read(ctx, d.p.s.scripts.dump, string(w.buf))
	if err != nil {
		return nil, fmt.Errorf("dump partition %d: %w", d.p.id, err)
	}
	u := &unpacker{buf: reply}
	u.array()
	switch word := u.text(); word {
	case "ok":
	case "busy":
		return nil, fmt.Errorf("dump partition %d: another copy is being made: %w", d.p.id, store.ErrUnavailable)
	case "lapsed":
		return nil, fmt.Errorf("dump partition %d: the copy was too slow for what changes meanwhile: %w", d.p.id, store.ErrUnavailable)
	case "behind":
		return nil, fmt.Errorf("dump partition %d: redis lost commits meanwhile: %w", d.p.id, store.ErrUnavailable)
	default:
		return nil, fmt.Errorf("dump script answers %q: %w", word, store.ErrDamaged)
	}
	epoch := uint64(u.int())
	if what == "begin" {
		d.end = store.Cursor{Partition: d.p.id, Epoch: epoch}
	} else if epoch != d.end.Epoch {
		return nil, fmt.Errorf("dump partition %d: redis lost commits meanwhile: %w", d.p.id, store.ErrUnavailable)
	}
	return u, u.err
}

func (d *dumping) begin(ctx context.Context) error {
	u, err := d.ask(ctx, "begin", 0, "0", "*")
	if err != nil {
		return err
	}
	u.array()
	n := &store.Numbers{Arrival: uint64(u.int()), Call: uint64(u.int()), Event: uint64(u.int()), Now: u.int()}
	if u.err != nil {
		return u.err
	}
	d.numbers, d.now, d.end.Number = n, n.Now, n.Event
	return nil
}

// scan goes through one hash.
func (d *dumping) scan(ctx context.Context, key int, match string) error {
	for cursor := "0"; ; {
		u, err := d.ask(ctx, "page", key, cursor, match)
		if err != nil {
			return err
		}
		next := u.text()
		page := make([]string, u.array())
		for i := range page {
			page[i] = u.text()
		}
		taken := u.int()
		groups := make([][]byte, u.array())
		for i := range groups {
			groups[i] = u.bytes()
		}
		whole := u.bool()
		if u.err != nil {
			return u.err
		}
		if err := d.before(groups); err != nil {
			return err
		}
		d.taken = taken
		for i := 0; i+1 < len(page); i += 2 {
			if err := d.cell(int64(key), page[i], page[i+1]); err != nil {
				return err
			}
		}
		if cursor = next; whole && cursor == "0" {
			return nil
		}
	}
}

// before takes in what groups changed, as it was before. Of a record that moved
// from one hash to another, the one that had it tells.
func (d *dumping) before(groups [][]byte) error {
	for _, packed := range groups {
		u := &unpacker{buf: packed}
		var came []string
		for range u.array() {
			u.array()
			key, field, old := u.int(), u.text(), u.bytes()
			if u.err != nil {
				return u.err
			}
			if old == nil {
				came = append(came, cellName(key, field))
				continue
			}
			if err := d.cell(key, field, string(old)); err != nil {
				return err
			}
		}
		for _, name := range came {
			d.seen[name] = struct{}{}
		}
	}
	return nil
}

// cellName names a cell; a token's is one, whatever hash it is in.
func cellName(key int64, field string) string {
	if key == keyEnded || key == keyArchive {
		key = keyLive
	}
	return string([]byte{byte(key)}) + field
}

// cell yields what a cell had at the beginning, once.
func (d *dumping) cell(key int64, field, value string) error {
	name := cellName(key, field)
	if _, done := d.seen[name]; done || field == "" { // "" keeps the key existing
		return nil
	}
	d.seen[name] = struct{}{}
	r, err := d.row(key, field, value)
	if err != nil || r.Kind == "" {
		return err
	}
	return d.yield(r)
}

// row reads a cell; the zero row is one that is over.
func (d *dumping) row(key int64, field, value string) (store.Row, error) {
	switch key {
	case keyLive, keyEnded, keyArchive:
		t, err := decodeRecord(field, []byte(value))
		if err != nil {
			return store.Row{}, err
		}
		kind := store.RowToken
		if key == keyArchive {
			kind = store.RowArchived
		}
		return store.Row{Kind: kind, Site: t.Site, Token: t}, nil
	case keyState:
		return countRow(field, value)
	case keyMarks:
		r := &reader{buf: []byte(value), ok: true}
		queue, name, _ := strings.Cut(field, "\x00")
		m := &store.Mark{MarkKey: store.MarkNamed(dengxu.QueueID(queue), name), At: r.time(), Until: r.time()}
		if !r.ok {
			return store.Row{}, damagedCell("mark")
		}
		if m.Until <= d.now {
			return store.Row{}, nil
		}
		return store.Row{Kind: store.RowMark, Mark: m}, nil
	case keyDocs:
		doc, err := decodeDoc(unpackKey(field), []byte(value))
		if err != nil {
			return store.Row{}, err
		}
		return store.Row{Kind: store.RowDoc, Site: doc.Site, Doc: doc}, nil
	default:
		return d.op(field, value)
	}
}

// countRow reads a tally or a series.
func countRow(field, value string) (store.Row, error) {
	r := &reader{buf: []byte(value), ok: true}
	c := &store.Count{Day: int(int32(r.number(4))), N: int64(r.number(6))}
	if !r.ok {
		return store.Row{}, damagedCell("count")
	}
	if name, ok := strings.CutPrefix(field, "nt"); ok {
		c.Name = name
		return store.Row{Kind: store.RowTally, Count: c}, nil
	}
	site, name, _ := strings.Cut(strings.TrimPrefix(field, "ns"), "\x00")
	c.Name = name
	return store.Row{Kind: store.RowSeries, Site: dengxu.SiteID(site), Count: c}, nil
}

func (d *dumping) op(field, value string) (store.Row, error) {
	r := &reader{buf: []byte(value), ok: true}
	op := &ledger.OpRecord{Expires: r.time()}
	copy(op.Hash[:], r.take(len(op.Hash)))
	op.Note, op.Picked = r.text(1), int(r.number(1))
	for ids := (&reader{buf: []byte(r.text(2)), ok: r.ok}); ids.ok && len(ids.buf) > 0; {
		op.Tokens = append(op.Tokens, unpackID(ids.text(1)))
		r.ok = ids.ok
	}
	if !r.ok {
		return store.Row{}, damagedCell("operation")
	}
	if op.Expires <= d.now {
		return store.Row{}, nil
	}
	return store.Row{Kind: store.RowOp, Op: ledger.MemoryOf(hex.EncodeToString([]byte(field)), op)}, nil
}

func damagedCell(what string) error { return fmt.Errorf("%s is cut off: %w", what, store.ErrDamaged) }
