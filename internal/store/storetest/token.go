package storetest

import (
	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// Records come back as they were written.
var tokenExamples = []example{
	{"every field is kept", tokenFields},
	{"an unknown token is nil", tokenUnknown},
	{"a stale version is refused", tokenStale},
	{"arrival numbers rise and stay", tokenArrival},
	{"what was handed in and what was read is not shared", tokenCopies},
	{"those of a holder in a site", tokenPersons},
}

// full is a token with something in every field, fit for its version.
func full(version uint64) store.Token {
	return store.Token{
		ID: "t1", Site: site, Arrival: 1, Queue: queue, Gen: today, Class: "loan", Group: "VIP",
		Prefix: "L", Number: 12, Width: 4, State: dengxu.StateServing, Version: version, Since: 1_000_001,
		Lane: order.Lane{Class: "loan", Group: "VIP", K: 10}, Place: 1_000_002, Seq: 1, Origin: 1_000_003,
		Factor: 500, Clipped: true, HeadStart: -60_000, JoinedAt: 1_000_004, Booked: 1_000_019, Due: 1_000_005, Why: "deferred",
		FirstCalled: 1_000_006, CalledAt: 1_000_007, Deadline: 1_000_008, CallNo: 9, CallCount: 2, Confirmed: true,
		Asked: true, StartedAt: 1_000_009, EndedAt: 1_000_010, Reason: "late", Counter: desk, Misses: 1, Defers: 2,
		Stars: 5, Business: "ann", Unique: true, Channel: "kiosk", Party: 3, Name: "Ann 安", Phone: "+1", Note: "window",
		Attrs: []byte(`{"age":70}`), Payload: []byte(`[1]`), Passed: 4,
		Rules:    []string{"elderly", "vip"},
		Judged:   &store.Judged{Queue: queue, Class: "cash", Waiting: new(7), Missed: 999_999, Joined: 999_998, Served: 999_997},
		Compared: []order.Member{{Lane: order.Lane{Class: "x", K: 20}, Key: order.Key{Place: 5, Seq: 6}}},
		Spans: []store.Span{{
			State: dengxu.StateWaiting, From: 1_000_011, To: 1_000_012, Queue: other, Counter: "desk-9",
			Actor: "bob", Verb: dengxu.VerbTransfer, Implicit: true,
		}},
		Undo: &store.Undo{Verb: dengxu.VerbMiss, Actor: "bob", Until: 1_000_013, Before: store.UndoState{
			State: dengxu.StateCalling, Queue: other, Gen: 7, Class: "cash", Group: "ordinary",
			Lane: order.Lane{Class: "cash", Group: "ordinary", K: 20}, Place: 1_000_014, Seq: 1, Origin: 1_000_015,
			Factor: 1000, Due: 1_000_016, Why: "missed", Deadline: 1_000_017, CallCount: 1, Confirmed: true,
			StartedAt: 1_000_018, Counter: "desk-8", Misses: 2, Rules: []string{"vip"},
		}},
	}
}

func tokenFields(k *kit) {
	k.join("t1")
	want := full(2)
	same(k.t, "result", []store.Token{want}, k.commit(writing(want)).Tokens)
	same(k.t, "record", want, k.token("t1"))
	want.Version = 3
	want.Undo, want.Spans, want.Compared, want.Attrs, want.Payload = nil, nil, nil, nil, nil
	k.commit(writing(want))
	same(k.t, "emptied record", want, k.token("t1"))
}

func tokenUnknown(k *kit) {
	k.join("t1")
	v := k.view(store.Ask{Tokens: []dengxu.TokenID{"t0", "t1", "t2"}})
	if len(v.Tokens) != 3 || v.Tokens[0] != nil || v.Tokens[1] == nil || v.Tokens[2] != nil {
		k.t.Errorf("got %v", v.Tokens)
	}
}

func tokenStale(k *kit) {
	t1 := k.join("t1")
	k.change(t1)
	if r := k.refused(writing(changed(t1)), store.TokenAt{ID: "t1", Version: 1}); r.Have != 2 {
		k.t.Errorf("have %d, want 2", r.Have)
	}
	if r := k.refused(writing(fresh("t1")), store.TokenAt{ID: "t1"}); r.Have != 2 {
		k.t.Errorf("have %d, want 2", r.Have)
	}
	unknown := changed(t1)
	unknown.ID = "t2"
	k.refused(writing(unknown), store.TokenAt{ID: "t2", Version: 1})
}

func tokenArrival(k *kit) {
	r := k.commit(writing(fresh("t1"), fresh("t2")))
	a, b := r.Tokens[0], r.Tokens[1]
	if a.Arrival == 0 || b.Arrival != a.Arrival+1 || a.Seq != a.Arrival || b.Seq != b.Arrival {
		k.t.Errorf("arrival and seq %d %d, then %d %d", a.Arrival, a.Seq, b.Arrival, b.Seq)
	}
	a = k.change(a, func(t *store.Token) { t.Seq = 0 })
	if a.Arrival != r.Tokens[0].Arrival || a.Seq != b.Arrival+1 {
		k.t.Errorf("a new seq gave arrival %d, seq %d", a.Arrival, a.Seq)
	}
	a = k.change(a, func(t *store.Token) { t.Seq = t.Arrival })
	if a.Seq != a.Arrival {
		k.t.Errorf("the old seq became %d", a.Seq)
	}
	if c := k.join("t3"); c.Arrival <= b.Arrival+1 {
		k.t.Errorf("the next arrival is %d, which was given as a seq", c.Arrival)
	}
}

func tokenCopies(k *kit) {
	k.join("t1")
	in := full(2)
	k.commit(writing(in)) // its records are the store's own, see store.Result
	for _, t := range []store.Token{in, k.token("t1"), k.list(store.ListAsk{Limit: 9})[0]} {
		t.Attrs[0], t.Payload[0] = '?', '?'
		t.Spans[0].Actor, t.Compared[0].Key.Seq, t.Undo.Actor = "mallory", 99, "mallory"
	}
	same(k.t, "record", full(2), k.token("t1"))
}

func tokenPersons(k *kit) {
	ann := func(t *store.Token) { t.Business = "ann" }
	k.join("t1", ann)
	t2 := k.join("t2", ann, inOther)
	k.join("t3", func(t *store.Token) { t.Business = "bob" })
	south := fresh("t4", ann)
	south.Site = "south"
	b := writing(south)
	b.Site = "south"
	k.commit(b)
	ask := store.Ask{Persons: []store.Person{{Site: site, Business: "ann"}, {Site: site, Business: "eve"}, {Site: "south", Business: "ann"}}}
	v := k.view(ask)
	if got := ids(v.Persons[0]); got != "t1 t2" {
		k.t.Errorf("ann has %q, want t1 t2 by arrival", got)
	}
	if len(v.Persons[1]) != 0 || ids(v.Persons[2]) != "t4" {
		k.t.Errorf("eve has %q, ann in the south %q", ids(v.Persons[1]), ids(v.Persons[2]))
	}
	k.change(t2, func(t *store.Token) { t.State = dengxu.StateCancelled })
	if got := ids(k.view(ask).Persons[0]); got != "t1" {
		k.t.Errorf("ann has %q after an end, want t1", got)
	}
}
