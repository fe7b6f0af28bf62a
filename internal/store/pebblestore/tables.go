package pebblestore

import (
	"fmt"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// tables shows the store to the ledger, for the committer, as it is at a time.
type tables struct {
	s   *Store
	now int64
}

func (t tables) Token(id dengxu.TokenID) (*store.Token, error) { return t.s.token(id) }

func (t tables) Doc(k store.DocKey) *store.Doc {
	if d := t.s.index.docs[k]; d != nil {
		return &d.Doc
	}
	return nil
}

func (t tables) Holder(k store.HolderKey) dengxu.TokenID { return idOf(t.s.index.holder(k)) }

func (t tables) Mark(k store.MarkKey) (int64, error) {
	m, err := t.s.mark(k)
	return m.on(t.now), err
}

func (t tables) Tally(name string) ledger.Daily { return dailyOf(t.s.index.tallies[name]) }

func (t tables) Series(site dengxu.SiteID, name string) ledger.Daily {
	return dailyOf(t.s.index.series[ledger.SeriesKey{Site: site, Name: name}])
}

func dailyOf(d *daily) ledger.Daily {
	if d == nil {
		return ledger.Daily{}
	}
	return d.Daily
}

func (t tables) Count(k store.LineKey, state dengxu.State) int {
	code, ok := stateCodes[state]
	if !ok {
		return 0
	}
	return t.s.index.line(k).counts[code]
}

func (t tables) Busy(c dengxu.CounterID) int { return t.s.index.desk(c).busy }

func (t tables) Index(k store.LineKey) order.Index { return t.s.index.line(k) }

func (t tables) TokenAt(k store.LineKey, m order.Member) dengxu.TokenID {
	return idOf(t.s.index.line(k).at(m))
}

func idOf(e *entry) dengxu.TokenID {
	if e == nil {
		return ""
	}
	return e.id
}

func (t tables) Op(scope, key string) (*ledger.OpRecord, error) { return t.s.op(scope, key) }

// op is a remembered operation, also an expired one, or nil. The caller holds
// mu in either way.
func (s *Store) op(scope, key string) (*ledger.OpRecord, error) {
	var buf [160]byte // longer than the keys mostly are
	op, err := s.opAt(opKey(buf[:0], scope, key))
	if op != nil || err != nil || s.filter.loaded == 0 {
		return op, err
	}
	return s.opAt(loadedKey(nil, store.OpName(scope, key)))
}

// opAt is the operation under a key.
func (s *Store) opAt(key []byte) (*ledger.OpRecord, error) {
	if !s.filter.has(key) {
		return nil, nil // nearly always, and without an allocation
	}
	k := slices.Clone(key)
	for _, g := range slices.Backward(s.pending) {
		if op := g.fresh.ops[string(k)]; op != nil {
			return op, nil
		}
	}
	var op *ledger.OpRecord
	err := readKey(s.db, k, func(value []byte) (err error) {
		op, err = decodeOp(value)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read operation: %w", err)
	}
	return op, nil
}

// mark is what is remembered of a business id in a queue, also when its time
// is over. The caller holds mu in either way.
func (s *Store) mark(name store.MarkKey) (mark, error) {
	k := markKey(nil, name)
	for _, g := range slices.Backward(s.pending) {
		if m, ok := g.fresh.marks[string(k)]; ok {
			return m, nil
		}
	}
	var m mark
	err := readKey(s.db, k, func(value []byte) (err error) {
		m, err = decodeMark(value)
		m.hash = hashOf(k, value)
		return err
	})
	if err != nil {
		return mark{}, fmt.Errorf("read mark: %w", err)
	}
	return m, nil
}
