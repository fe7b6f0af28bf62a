package storetest

import (
	"slices"
	"testing"

	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
)

// dumpStep compares everything that two stores keep.
func dumpStep() step {
	return step{what: "dump", ask: func(t *testing.T, s *side) answer {
		t.Helper()
		rows, _, err := rowsOf(t.Context(), s.s, 0)
		if err != nil {
			t.Errorf("dump: %v", err)
		}
		return answered(rows, err)
	}}
}

// reload loads what a side has into a fresh store of the other kind: both
// answer what that one dumps.
func (d *duel) reload(t *testing.T, s *side) answer {
	t.Helper()
	rows, _, err := rowsOf(t.Context(), s.s, 0)
	if err != nil {
		return answered(nil, err)
	}
	var other store.Store = memstore.New(memstore.Options{Wall: d.clock.Wall, Mono: d.clock.Mono})
	if s == d.model {
		other = d.f.Open(t, d.clock)
	}
	defer func() {
		if err := other.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	if err := loadAll(t.Context(), other, rows); err != nil {
		t.Errorf("load: %v", err)
		return answered(nil, err)
	}
	got, _, err := rowsOf(t.Context(), other, 0)
	if err != nil {
		return answered(nil, err)
	}
	if found, err := other.Audit(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("audit after a load: %v, %v", found, err)
	}
	// A fresh store believes the wall clock at once, so its time may be ahead.
	now := max(rows[0].Numbers.Now, got[0].Numbers.Now)
	if diff := difference(unexpired(moved(rows), now), unexpired(moved(got), now)); diff != "" {
		t.Errorf("another store dumps (-loaded +dumped):\n%s", diff)
	}
	return answered(unexpired(moved(got), now), nil)
}

// unexpired leaves out what is over at a time.
func unexpired(rows []store.Row, now int64) []store.Row {
	return slices.DeleteFunc(rows, func(r store.Row) bool {
		return r.Mark != nil && r.Mark.Until <= now || r.Op != nil && r.Op.Expires <= now
	})
}
