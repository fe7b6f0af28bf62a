package redisstore

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/redis/rueidis"

	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// Load puts rows into a partition. What is there already and equal is found
// here, the script only says that something is there.
func (s *Store) Load(ctx context.Context, partition store.Partition, rows []store.Row) error {
	p, err := s.ready(ctx, partition)
	if err != nil {
		return err
	}
	if err := ledger.CheckRows(rows); err != nil {
		return err
	}
	for range 4 {
		left, err := p.missing(ctx, rows)
		if err != nil || len(left) == 0 {
			return err
		}
		again, err := p.load(ctx, left)
		if !again {
			return err
		}
	}
	return fmt.Errorf("partition %d does not come to rest: %w", p.id, store.ErrUnavailable)
}

// missing leaves out the records and documents that are there and equal.
func (p *part) missing(ctx context.Context, rows []store.Row) ([]store.Row, error) {
	ask := store.Ask{Partition: p.id}
	for i := range rows {
		switch r := &rows[i]; r.Kind { //nolint:exhaustive // the others are judged by the script
		case store.RowToken, store.RowArchived:
			ask.Tokens = append(ask.Tokens, r.Token.ID)
		case store.RowDoc:
			ask.Docs = append(ask.Docs, r.Doc.Key)
		}
	}
	v, err := p.s.View(ctx, ask)
	if err != nil {
		return nil, err
	}
	var left []store.Row
	for i := range rows {
		r := &rows[i]
		switch r.Kind { //nolint:exhaustive // as above
		case store.RowToken, store.RowArchived:
			have := v.Tokens[0]
			v.Tokens = v.Tokens[1:]
			if have == nil {
				break
			}
			if !ledger.SameToken(have, r.Token) {
				return nil, fmt.Errorf("token %s: %w", r.Token.ID.Mask(), store.ErrExists)
			}
			continue
		case store.RowDoc:
			have := v.Docs[0]
			v.Docs = v.Docs[1:]
			if have == nil {
				break
			}
			if !ledger.SameDoc(have, r.Doc) {
				return nil, fmt.Errorf("document %s %s: %w", r.Doc.Key.Kind, r.Doc.Key.ID, store.ErrExists)
			}
			continue
		}
		left = append(left, *r)
	}
	return left, nil
}

// load runs the script; again = what is missing must be looked for anew.
func (p *part) load(ctx context.Context, rows []store.Row) (again bool, err error) {
	packed, err := p.packRows(rows)
	if err != nil {
		return false, err
	}
	reply, err := p.call(ctx, soon(), func(ctx context.Context, c rueidis.Client) ([]byte, error) {
		return p.s.scripts.load.run(ctx, c, p.keys, packed, p.try())
	})
	if err != nil {
		return false, err
	}
	u := &unpacker{buf: reply}
	u.array()
	switch word := u.text(); word {
	case "ok":
		p.readHead(u)
		p.marks.see(u.int(), u.int(), 0)
		return false, u.err
	case "epoch":
		return true, p.fence(ctx)
	case "exists":
		return true, nil
	case "after":
		return false, fmt.Errorf("arrival numbers went on: %w", store.ErrExists)
	case "holder":
		return false, fmt.Errorf("the business id of a token is in line: %w", store.ErrExists)
	case "conflict":
		return false, fmt.Errorf("an operation: %w", store.ErrExists)
	case "wrong":
		return false, fmt.Errorf("redisstore: %s", u.text())
	default:
		return false, fmt.Errorf("load script answers %q: %w", word, store.ErrDamaged)
	}
}

// packRows writes rows for load.lua.
func (p *part) packRows(rows []store.Row) (string, error) {
	l := loading{need: cells{}}
	l.need.add(keyState, "m")
	for i := range rows {
		if err := l.add(&rows[i]); err != nil {
			return "", err
		}
	}
	w := &packer{}
	w.fields(11)
	w.fieldInt("epoch", int64(p.epoch.Load()))
	w.text("fields")
	l.need.pack(w, nil)
	w.text("after")
	if l.numbers.After == nil {
		w.no()
	} else {
		w.int(int64(*l.numbers.After))
	}
	w.fieldInt("arrival", int64(l.numbers.Arrival))
	w.fieldInt("call", int64(l.numbers.Call))
	w.fieldInt("now", l.numbers.Now)
	for _, part := range []struct {
		name string
		list *rowList
	}{{"tokens", &l.tokens}, {"counts", &l.counts}, {"marks", &l.marks}, {"ops", &l.ops}, {"docs", &l.docs}} {
		w.text(part.name)
		w.array(part.list.n)
		w.buf = append(w.buf, part.list.buf...)
	}
	return string(w.buf), nil
}

// rowList is packed rows of one kind.
type rowList struct {
	packer
	n int
}

// loading is rows being packed.
type loading struct {
	need                             cells
	numbers                          store.Numbers
	tokens, counts, marks, ops, docs rowList
}

func (l *loading) add(r *store.Row) error {
	switch r.Kind {
	case store.RowNumbers:
		l.numbers = *r.Numbers
	case store.RowToken, store.RowArchived:
		l.token(r)
	case store.RowTally:
		l.count(tallyField(r.Count.Name), r.Count)
	case store.RowSeries:
		l.count(seriesField(r.Site, r.Count.Name), r.Count)
	case store.RowMark:
		field := packMark(r.Mark.MarkKey)
		l.need.add(keyMarks, field)
		l.marks.n++
		l.marks.array(3)
		l.marks.text(field)
		l.marks.int(r.Mark.At)
		l.marks.int(r.Mark.Until)
	case store.RowOp:
		return l.op(r.Op)
	case store.RowDoc:
		l.need.doc(r.Doc.Key)
		l.docs.n++
		l.docs.array(4)
		l.docs.text(packKey(r.Doc.Key))
		l.docs.int(int64(r.Doc.Version))
		l.docs.int(r.Doc.Due)
		l.docs.bytes(store.AppendDoc(nil, &store.Doc{Site: r.Doc.Site, Body: r.Doc.Body}))
	}
	return nil
}

func (l *loading) token(r *store.Row) {
	t, w := r.Token, &l.tokens.packer
	id := packID(t.ID)
	l.need.token(t.ID)
	l.need.add(keyArchive, id)
	if r.Kind == store.RowToken {
		l.need.line(t.Line())
		if t.Business != "" {
			l.need.business(t.Business)
		}
	}
	l.tokens.n++
	w.fields(18)
	w.fieldText("id", id)
	w.fieldInt("version", int64(t.Version))
	ix := t.Indexes()
	w.fieldInt("flags", flags(&ix, t.State))
	w.fieldInt("state", stateCode(t.State))
	w.fieldInt("place", t.Place)
	w.fieldInt("arrival", int64(t.Arrival))
	w.fieldInt("seq", int64(t.Seq))
	w.fieldInt("call", int64(t.CallNo))
	w.fieldInt("number", t.Number)
	w.fieldInt("due", t.Due)
	w.fieldText("line", packLine(t.Line()))
	w.fieldText("lane", packLine(t.Line())+packLane(t.Lane))
	w.fieldText("counter", string(t.Counter))
	w.fieldText("business", t.Business)
	w.fieldText("prefix", t.Prefix)
	w.fieldInt("width", int64(t.Width))
	w.text("archived")
	if r.Kind == store.RowArchived {
		w.yes()
	} else {
		w.no()
	}
	w.text("rest")
	w.bytes(tail(t))
}

func (l *loading) count(field string, c *store.Count) {
	l.need.add(keyState, field)
	l.counts.n++
	l.counts.array(3)
	l.counts.text(field)
	l.counts.int(int64(c.Day))
	l.counts.int(c.N)
}

func (l *loading) op(m *store.Memory) error {
	op := ledger.OpOf(m)
	name, _ := hex.DecodeString(m.Name) // it was checked
	field := string(name)
	l.need.op(field)
	var ids []byte
	for _, id := range op.Tokens {
		packed := packID(id)
		ids = append(append(ids, byte(len(packed))), packed...)
	}
	if len(op.Note) > 255 || len(ids) > 1<<16-1 || op.Picked > 255 {
		return fmt.Errorf("redisstore: operation %s is too large", m.Name)
	}
	var expires [8]byte
	binary.BigEndian.PutUint64(expires[:], uint64(op.Expires))
	value := append(expires[2:8:8], op.Hash[:]...)
	value = append(append(value, byte(len(op.Note))), op.Note...)
	value = binary.BigEndian.AppendUint16(append(value, byte(op.Picked)), uint16(len(ids)))
	value = append(value, ids...)
	l.ops.n++
	l.ops.array(3)
	l.ops.text(field)
	l.ops.int(op.Expires)
	l.ops.bytes(value)
	return nil
}
