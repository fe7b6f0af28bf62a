package ledger

import (
	"fmt"

	"github.com/dengxu/dengxu/internal/store"
)

// expectations checks them in order; the first that does not hold refuses.
func (w *work) expectations() error {
	for _, x := range w.b.Expect {
		if err := w.expect(x); err != nil {
			return err
		}
	}
	return nil
}

// expect is one case a kind of expectation.
func (w *work) expect(x store.Expectation) error {
	r := store.Refused{By: x, Now: w.now} // on the stack: nearly all hold
	holds := false
	switch x := x.(type) {
	case store.DocAt:
		r.Have = w.docVersion(x.Key)
		holds = r.Have == x.Version
	case store.TokenAt:
		_, err := w.tokenAt(x.ID, x.Version)
		return err
	case store.HolderFree:
		r.Token = w.t.Holder(x.Holder)
		holds = r.Token == "" || r.Token == x.Not
	case store.MarkOlder:
		at, err := w.t.Mark(x.MarkKey)
		if err != nil {
			return err
		}
		r.At = at
		holds = at == 0 || at <= store.Resolve(x.At, w.now)
	case store.MarkAt:
		at, err := w.t.Mark(x.MarkKey)
		if err != nil {
			return err
		}
		r.At = at
		holds = at == x.At
	case store.CountBelow:
		n := 0
		for _, s := range x.States {
			n += w.t.Count(x.Line, s)
		}
		holds = n < x.Max
	case store.TallyBelow:
		holds = w.t.Tally(x.Key.Name).On(x.Key.Day) < x.Max
	case store.RoomAt:
		holds = w.t.Busy(x.Counter)-x.Freed < x.Max
	case store.LaneOpen:
		holds = w.laneOpen(x)
	case store.NotBefore:
		holds = w.now >= store.Resolve(x.At, w.now)
	case store.Before:
		holds = w.now < store.Resolve(x.At, w.now)
	default:
		return fmt.Errorf("ledger: expectation %T is not known", x)
	}
	if !holds {
		refused := r
		return &refused
	}
	return nil
}

func (w *work) laneOpen(x store.LaneOpen) bool {
	ix := w.t.Index(x.Line)
	if ix.Len(x.Lane) > 0 {
		return true
	}
	lanes := 0
	for range ix.Lanes() {
		lanes++
	}
	return lanes < x.Max
}
