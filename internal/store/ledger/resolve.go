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
	w.times(&t, tw)
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

// times resolves every time field of a record, its place first.
func (w *work) times(t *store.Token, tw *store.TokenWrite) {
	t.Place = w.place(tw)
	for _, at := range []*int64{
		&t.Since, &t.Origin, &t.JoinedAt, &t.Due, &t.FirstCalled, &t.CalledAt,
		&t.Deadline, &t.StartedAt, &t.EndedAt,
	} {
		*at = store.Resolve(*at, w.now)
	}
	for i := range t.Spans {
		t.Spans[i].From = store.Resolve(t.Spans[i].From, w.now)
		t.Spans[i].To = store.Resolve(t.Spans[i].To, w.now)
	}
	if u := t.Undo; u != nil {
		for _, at := range []*int64{
			&u.Until, &u.Before.Place, &u.Before.Origin, &u.Before.Due,
			&u.Before.Deadline, &u.Before.StartedAt,
		} {
			*at = store.Resolve(*at, w.now)
		}
	}
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
