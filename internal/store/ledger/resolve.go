package ledger

import (
	"fmt"

	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// token works out one written record: its times, place and numbers.
func (w *work) token(tw *store.TokenWrite, before *store.Token) (TokenChange, error) {
	if tw.Archive {
		// The record stays as it is: only its version rises.
		after := *before
		after.Version++
		if !after.State.Ended() {
			return TokenChange{}, fmt.Errorf("ledger: token %s archived while %s", after.ID.Mask(), after.State)
		}
		return TokenChange{Before: before, After: after, Archived: true}, nil
	}
	t := tw.Token.Clone()
	t.Place = w.place(tw)
	t.ResolveTimes(w.now)
	m := &w.e.Meta
	switch {
	case before == nil:
		m.Arrival++
		t.Arrival, t.Seq = m.Arrival, m.Arrival
	case t.Arrival != before.Arrival:
		return TokenChange{}, fmt.Errorf("ledger: token %s changes its arrival number", t.ID.Mask())
	case t.Seq == 0:
		m.Arrival++
		t.Seq = m.Arrival
	case t.Seq > w.e.Meta.Arrival:
		return TokenChange{}, fmt.Errorf("ledger: token %s brings a seq that was never given", t.ID.Mask())
	}
	if t.CallNo == store.NextCall {
		m.CallNo++
		t.CallNo = m.CallNo
	}
	if tw.Series != nil {
		n, err := w.number(tw.Series)
		if err != nil {
			return TokenChange{}, err
		}
		t.Number = n
	}
	return TokenChange{Before: before, After: t}, nil
}

// place resolves where the token stands.
func (w *work) place(tw *store.TokenWrite) int64 {
	place := store.Resolve(tw.Token.Place, w.now)
	scaled := func(at int64) int64 {
		if tw.ScaleFrom == 0 {
			return at
		}
		return order.Scale(at, store.Resolve(tw.ScaleFrom, w.now), tw.Token.Factor)
	}
	if tw.PlaceFloor != 0 {
		place = max(place, scaled(store.Resolve(tw.PlaceFloor, w.now)))
	} else {
		place = scaled(place)
	}
	return max(place+tw.Penalty, 0)
}
