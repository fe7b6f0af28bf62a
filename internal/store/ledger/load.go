package ledger

import (
	"encoding/hex"
	"fmt"
	"reflect"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// LoadTables is the state that rows are loaded into.
type LoadTables interface {
	Tables
	// Archived returns a record that left the live set, nil = unknown.
	Archived(dengxu.TokenID) (*store.Token, error)
	// OpNamed returns an operation by its name, also an expired one, nil =
	// unknown.
	OpNamed(name string) (*OpRecord, error)
	// MarkUntil returns a mark as a row, nil = none.
	MarkUntil(store.MarkKey) (*store.Mark, error)
}

// Load judges rows against the tables of a partition, whose numbers are m, at
// time now. It returns the numbers afterwards and the rows that the store must
// write: all but those that are there already. Errors wrap store.ErrExists
// where the state refuses, and are plain for rows that are wrong in themselves.
func Load(t LoadTables, m Meta, rows []store.Row, now int64) (Meta, []store.Row, error) {
	if err := CheckRows(rows); err != nil {
		return m, nil, err
	}
	l := loading{t: t, m: m, now: now, holders: make(map[store.HolderKey]dengxu.TokenID)}
	var write []store.Row
	for i := range rows {
		news, err := l.row(&rows[i])
		if err != nil {
			return m, nil, err
		}
		if news {
			write = append(write, rows[i])
		}
	}
	return l.m, write, nil
}

// CheckRows refuses rows that no state could take together.
func CheckRows(rows []store.Row) error {
	if len(rows) > store.MaxRows {
		return fmt.Errorf("ledger: %d rows at once, more than %d", len(rows), store.MaxRows)
	}
	seen := make(map[string]bool, len(rows))
	for i := range rows {
		if err := rows[i].Check(); err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
		key := rows[i].Key()
		if seen[key] {
			return fmt.Errorf("ledger: two rows of kind %s about the same", rows[i].Kind)
		}
		seen[key] = true
	}
	return nil
}

// loading is rows on their way into tables.
type loading struct {
	t       LoadTables
	m       Meta
	now     int64
	holders map[store.HolderKey]dengxu.TokenID // that the rows before take
}

// row reports whether a row is to be written.
func (l *loading) row(r *store.Row) (bool, error) {
	switch r.Kind {
	case store.RowNumbers:
		return true, l.numbers(r.Numbers)
	case store.RowToken, store.RowArchived:
		return l.token(r)
	case store.RowTally:
		return above(l.t.Tally(r.Count.Name), r.Count), nil
	case store.RowSeries:
		return above(l.t.Series(r.Site, r.Count.Name), r.Count), nil
	case store.RowMark:
		have, err := l.t.MarkUntil(r.Mark.MarkKey)
		return r.Mark.Until > l.now && (have == nil || have.At < r.Mark.At), err
	case store.RowOp:
		return l.op(r.Op)
	case store.RowDoc:
		have := l.t.Doc(r.Doc.Key)
		if have != nil && !SameDoc(have, r.Doc) {
			return false, fmt.Errorf("document %s %s: %w", r.Doc.Key.Kind, r.Doc.Key.ID, store.ErrExists)
		}
		return have == nil, nil
	}
	return false, fmt.Errorf("ledger: row of the unknown kind %q", r.Kind)
}

func (l *loading) numbers(n *store.Numbers) error {
	if n.After != nil && *n.After != l.m.Arrival {
		return fmt.Errorf("arrival number %d: %w", l.m.Arrival, store.ErrExists)
	}
	l.m.Arrival, l.m.CallNo = max(l.m.Arrival, n.Arrival), max(l.m.CallNo, n.Call)
	return nil
}

func (l *loading) token(r *store.Row) (bool, error) {
	t := r.Token
	if high := max(t.Arrival, t.Seq); high > l.m.Arrival || t.CallNo > l.m.CallNo {
		return false, fmt.Errorf("ledger: token %s has numbers that were never given", t.ID.Mask())
	}
	live, err := l.t.Token(t.ID)
	if err != nil {
		return false, err
	}
	archived, err := l.t.Archived(t.ID)
	if err != nil {
		return false, err
	}
	have, other := live, archived
	if r.Kind == store.RowArchived {
		have, other = archived, live
	}
	if other != nil || have != nil && !SameToken(have, t) {
		return false, fmt.Errorf("token %s: %w", t.ID.Mask(), store.ErrExists)
	}
	if have != nil {
		return false, nil
	}
	if key := t.Indexes().Holder; key.Business != "" {
		by := l.t.Holder(key)
		if by != "" || l.holders[key] != "" {
			return false, fmt.Errorf("the business id of token %s is in line: %w", t.ID.Mask(), store.ErrExists)
		}
		l.holders[key] = t.ID
	}
	return true, nil
}

// above reports whether a count is to replace the one that stands.
func above(have Daily, c *store.Count) bool {
	return c.Day > have.Day || c.Day == have.Day && c.N > have.N
}

func (l *loading) op(op *store.Memory) (bool, error) {
	have, err := l.t.OpNamed(op.Name)
	if err != nil || have == nil || have.Expires <= l.now {
		return op.Expires > l.now, err
	}
	if hex.EncodeToString(have.Hash[:]) != op.Hash {
		return false, fmt.Errorf("operation %s: %w", op.Name, store.ErrExists)
	}
	return false, nil
}

// SameToken reports whether two records say the same.
func SameToken(a, b *store.Token) bool {
	return reflect.DeepEqual(plain(a), plain(b))
}

// plain is a record in which nothing is told by nil or empty.
func plain(t *store.Token) store.Token {
	c := t.Clone()
	if len(c.Attrs) == 0 {
		c.Attrs = nil
	}
	if len(c.Payload) == 0 {
		c.Payload = nil
	}
	if len(c.Compared) == 0 {
		c.Compared = nil
	}
	if len(c.Spans) == 0 {
		c.Spans = nil
	}
	return c
}

// SameDoc reports whether two documents say the same.
func SameDoc(a, b *store.Doc) bool {
	return a.Key == b.Key && a.Site == b.Site && a.Version == b.Version && a.Due == b.Due && string(a.Body) == string(b.Body)
}

// MemoryOf is a remembered operation as a row of a dump has it.
func MemoryOf(name string, op *OpRecord) *store.Memory {
	return &store.Memory{
		Name: name, Hash: hex.EncodeToString(op.Hash[:]), Expires: op.Expires, Note: op.Note,
		Tokens: op.Tokens, Picked: op.Picked,
	}
}

// OpOf is the operation of a row that was checked.
func OpOf(m *store.Memory) *OpRecord {
	op := &OpRecord{Expires: m.Expires, Note: m.Note, Tokens: m.Tokens, Picked: m.Picked}
	_, _ = hex.Decode(op.Hash[:], []byte(m.Hash)) // it was checked
	return op
}
