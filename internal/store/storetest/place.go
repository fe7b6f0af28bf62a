package storetest

import (
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// Symbolic times stand for the commit's time, in every time field.
var placeExamples = []example{
	{"every time field resolves", placeSymbols},
	{"a place may be scaled", placeScaled},
	{"a place has a floor and a penalty", placeFloor},
	{"the floor is scaled and the place is not", placeFloorScaled},
	{"no place lies before 1970", placeNegative},
}

func placeSymbols(k *kit) {
	t1 := k.join("t1")
	k.pass(time.Minute)
	now := k.clock.Now()
	n := int64(0)
	next := func() int64 { n++; return store.Now + n*1000 }
	got := k.change(t1, func(t *store.Token) {
		t.State = dengxu.StateMissed
		t.Since, t.Place, t.Origin, t.JoinedAt, t.Due = next(), next(), next(), next(), next()
		t.FirstCalled, t.CalledAt, t.Deadline, t.StartedAt, t.EndedAt = next(), next(), next(), next(), next()
		t.Spans = []store.Span{{From: 5, To: next()}, {From: next(), To: next()}}
		t.Undo = &store.Undo{Until: next(), Before: store.UndoState{
			Place: next(), Origin: next(), Due: next(), Deadline: next(), StartedAt: next(),
		}}
	})
	n = 0
	want := func(what string, at int64) {
		if n++; at != now+n*1000 {
			k.t.Errorf("%s is now %+d ms, want %+d", what, at-now, n*1000)
		}
	}
	want("since", got.Since)
	want("place", got.Place)
	want("origin", got.Origin)
	want("joined", got.JoinedAt)
	want("due", got.Due)
	want("first called", got.FirstCalled)
	want("called", got.CalledAt)
	want("deadline", got.Deadline)
	want("started", got.StartedAt)
	want("ended", got.EndedAt)
	want("first span's to", got.Spans[0].To)
	want("second span's from", got.Spans[1].From)
	want("second span's to", got.Spans[1].To)
	want("undo until", got.Undo.Until)
	want("undo place", got.Undo.Before.Place)
	want("undo origin", got.Undo.Before.Origin)
	want("undo due", got.Undo.Before.Due)
	want("undo deadline", got.Undo.Before.Deadline)
	want("undo started", got.Undo.Before.StartedAt)
	if got.Spans[0].From != 5 {
		k.t.Errorf("a plain time became %d", got.Spans[0].From)
	}
	same(k.t, "record", got, k.token("t1"))
}

// placed commits a fresh token by w and returns its place.
func (k *kit) placed(id dengxu.TokenID, w store.TokenWrite) int64 {
	k.t.Helper()
	w.Token.ID = id
	return k.commit(store.Batch{Tokens: []store.TokenWrite{w}}).Tokens[0].Place
}

func placeScaled(k *kit) {
	now := k.clock.Now()
	t := fresh("")
	t.Factor = 350
	if got, want := k.placed("t1", store.TokenWrite{Token: t, ScaleFrom: now - 1001}), now-1001+350; got != want {
		k.t.Errorf("a second of factor 0.35 counts %d ms too much", got-want)
	}
	t.Place = store.Now - 2001
	if got, want := k.placed("t2", store.TokenWrite{Token: t, ScaleFrom: now}), now-701; got != want {
		k.t.Errorf("before the day it counts %d ms too much", got-want)
	}
}

func placeFloor(k *kit) {
	now := k.clock.Now()
	t := fresh("")
	t.Place = now - 5000
	if got := k.placed("t1", store.TokenWrite{Token: t, PlaceFloor: store.Now, Penalty: 300}); got != now+300 {
		k.t.Errorf("an old place became now %+d, want +300", got-now)
	}
	t.Place = now + 5000
	if got := k.placed("t2", store.TokenWrite{Token: t, PlaceFloor: store.Now, Penalty: 300}); got != now+5300 {
		k.t.Errorf("a later place became now %+d, want +5300", got-now)
	}
	t.Place = now - 5000
	if got := k.placed("t3", store.TokenWrite{Token: t, Penalty: 300}); got != now-4700 {
		k.t.Errorf("without a floor it became now %+d, want -4700", got-now)
	}
}

func placeFloorScaled(k *kit) {
	now := k.clock.Now()
	t := fresh("")
	t.Factor, t.Place = 500, now-9000
	w := store.TokenWrite{Token: t, ScaleFrom: now - 10_000, PlaceFloor: store.Now, Penalty: 300}
	if got := k.placed("t1", w); got != now-4700 {
		k.t.Errorf("it became now %+d, want -4700", got-now)
	}
	w.Token.Place = now - 2000
	if got := k.placed("t2", w); got != now-1700 {
		k.t.Errorf("a place behind the floor became now %+d, want -1700", got-now)
	}
}

func placeNegative(k *kit) {
	t := fresh("")
	t.Place = -5
	if got := k.placed("t1", store.TokenWrite{Token: t}); got != 0 {
		k.t.Errorf("place %d", got)
	}
}
