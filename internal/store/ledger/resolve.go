package ledger

import (
	"fmt"

	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// next adds a record to the effects and returns it, to be filled in.
func (w *work) next(before *store.Token) *store.Token {
	w.e.Changes = append(w.e.Changes, Change{Before: before})
	w.e.Tokens = append(w.e.Tokens, store.Token{})
	return &w.e.Tokens[len(w.e.Tokens)-1]
}

// token works out one written record: its times, place and numbers.
func (w *work) token(tw *store.TokenWrite, before *store.Token) error {
	t := w.next(before)
	if tw.Archive {
		// The record stays as it is: only its version rises.
		*t = *before
		t.Version++
		if !t.State.Ended() {
			return fmt.Errorf("ledger: token %s archived while %s", t.ID.Mask(), t.State)
		}
		w.e.Changes[len(w.e.Changes)-1].Archived = true
		return nil
	}
	*t = tw.Token
	t.Unshare()
	t.Place = w.place(tw)
	t.ResolveTimes(w.now)
	m := &w.e.Meta
	switch {
	case before == nil:
		m.Arrival++
		t.Arrival, t.Seq = m.Arrival, m.Arrival
	case t.Arrival != before.Arrival:
		return fmt.Errorf("ledger: token %s changes its arrival number", t.ID.Mask())
	case t.Seq == 0:
		m.Arrival++
		t.Seq = m.Arrival
	case t.Seq > w.e.Meta.Arrival:
		return fmt.Errorf("ledger: token %s brings a seq that was never given", t.ID.Mask())
	}
	if t.CallNo == store.NextCall {
		m.CallNo++
		t.CallNo = m.CallNo
	}
	if tw.Series != nil {
		n, err := w.number(tw.Series)
		if err != nil {
			return err
		}
		t.Number = n
	}
	return nil
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
