package storetest

import (
	"fmt"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// batch makes a batch around one thing that engines do.
func (g *generator) batch() store.Batch {
	b := store.Batch{Site: site}
	if g.calm && g.chance(90) {
		if g.chance(45) {
			return g.plainJoin()
		}
		return g.plainCall()
	}
	switch n := g.rnd.IntN(100); {
	case n < 20:
		return g.plainJoin()
	case n < 35:
		for range 1 + g.rnd.IntN(3) {
			b.Tokens = append(b.Tokens, g.join())
		}
	case n < 65:
		g.change(&b)
	case n < 77:
		g.call(&b)
	case n < 85:
		return g.plainCall()
	case n < 89:
		g.archive(&b)
	case n < 93:
		b.Docs = append(b.Docs, g.doc())
	case len(g.ops) > 0:
		b = one(g, g.ops[max(0, len(g.ops)-8):])
		if g.chance(20) {
			b.Op.Hash[5]++
		}
		return b
	}
	g.decorate(&b)
	return b
}

// decorate adds what any batch may carry.
func (g *generator) decorate(b *store.Batch) {
	for range g.rnd.IntN(3) {
		if g.chance(40) {
			b.Expect = append(b.Expect, g.expectation())
		}
	}
	for i := range b.Tokens {
		if g.chance(90) {
			b.Events = append(b.Events, store.EventSpec{
				Type: dengxu.EventEdited, Token: i + 1, Actor: "anna", Reason: one(g, someReasons), Data: []byte(`{"n":1}`),
			})
		}
		if g.chance(30) {
			b.Ranks = append(b.Ranks, store.RankOf{Token: i + 1, Ordering: g.ordering(b.Tokens[i].Token.Queue), Classes: g.competing()})
		}
	}
	if g.chance(15) {
		b.Events = append(b.Events, store.EventSpec{Type: dengxu.EventDoorChanged, Queue: one(g, someQueues), Counter: one(g, someCounters)})
	}
	if g.chance(20) {
		b.Tallies = append(b.Tallies, store.TallyAdd{Key: g.tally(), N: 1})
	}
	if g.chance(15) {
		b.Marks = append(b.Marks, store.MarkWrite{
			MarkKey: g.markKey(), At: store.Now - g.ms(), Keep: 1 << 45,
		})
	}
	if g.chance(25) {
		g.made++
		b.Op = store.Op{
			Scope: "key-1", Key: fmt.Sprint("op-", g.made), Hash: [16]byte{byte(g.made)}, Keep: 1 + 30*g.ms(), Note: one(g, someReasons),
		}
		g.ops = append(g.ops, *b)
	}
}

// day is mostly today, which is not far from the clock's.
func (g *generator) day() int {
	if g.chance(10) {
		return today + g.rnd.IntN(3)
	}
	return today
}

func (g *generator) tally() store.TallyKey {
	return store.TallyKey{Name: "joins/" + string(one(g, someQueues)), Day: g.day()}
}

// join makes a token that does not exist.
func (g *generator) join() store.TokenWrite {
	g.made++
	t := fresh(dengxu.TokenID(fmt.Sprint("t", g.made)))
	t.Queue, t.Class = one(g, someQueues), one(g, g.classes)
	t.Lane = g.lane(t.Queue, t.Class)
	t.Group, t.Factor = t.Lane.Group, int32(t.Lane.K)*50
	if g.chance(60) {
		t.Business, t.Unique = one(g, someHolders), g.chance(40)
	}
	t.Place, t.Name, t.Attrs = store.Now-g.ms(), one(g, someReasons), []byte(`{"age":70}`)
	if g.chance(20) {
		t.State, t.Why, t.Due = dengxu.StateScheduled, "delay", store.Now+g.ms()
	}
	w := store.TokenWrite{Token: t}
	if g.chance(70) {
		w.Series = &store.Series{
			Name: string(t.Queue), Day: g.day(), First: 1, Last: 30, At: one(g, []string{"widen", "refuse", "wrap"}),
		}
	}
	if discipline(t.Queue) == order.Epoch {
		w.ScaleFrom, w.Token.Factor = g.now-3_600_000, 700
	}
	return w
}

// change rewrites some live tokens.
func (g *generator) change(b *store.Batch) {
	if len(g.ids) == 0 {
		return
	}
	for range 1 + g.rnd.IntN(2) {
		id := one(g, g.ids)
		if slices.ContainsFunc(b.Tokens, func(w store.TokenWrite) bool { return w.Token.ID == id }) {
			continue // no engine writes a token twice
		}
		t := changed(g.live[id])
		if g.chance(5) {
			t.Version++
		}
		b.Tokens = append(b.Tokens, g.rewrite(t))
	}
}

func (g *generator) rewrite(t store.Token) store.TokenWrite {
	state := one(g, dengxu.States())
	if state != t.State {
		t.CloseSpan(store.Now, dengxu.VerbMove, "bob")
		t.State = state
	}
	t.Counter, t.Due, t.Reason = "", 0, one(g, someReasons)
	if t.State.AtCounter() || t.State == dengxu.StateHeld {
		t.Counter, t.CallNo, t.CalledAt = one(g, someCounters), store.NextCall, store.Now
	}
	if g.chance(40) {
		t.Due = store.Now + g.ms()
	}
	if g.chance(20) {
		t.Queue = one(g, someQueues)
		t.Lane = g.lane(t.Queue, t.Class)
		t.Group = t.Lane.Group
	}
	if g.chance(10) {
		t.Gen++
	}
	if g.chance(20) {
		t.Seq = 0
	}
	if g.chance(20) {
		t.Undo = &store.Undo{Verb: dengxu.VerbMiss, Actor: "bob", Until: store.Now + 60_000, Before: store.UndoState{State: state, Place: t.Place, Seq: t.Seq}}
	}
	w := store.TokenWrite{Token: t}
	switch g.rnd.IntN(5) {
	case 0:
		w.Token.Place = store.Now - g.ms()
	case 1:
		w.PlaceFloor, w.Penalty = store.Now, g.ms()
	case 2:
		w.Token.Place = g.now + g.ms()
	}
	return w
}

// call picks, and half of the time ends what a counter had.
func (g *generator) call(b *store.Batch) {
	p := &store.Pick{
		Mode: order.Mode(g.rnd.IntN(2)), Max: 1 + g.rnd.IntN(3), State: dengxu.StateCalling, Counter: one(g, someCounters),
		Deadline: store.Now + g.ms(), Due: store.Now + g.ms(), Actor: "anna", Event: dengxu.EventCalled,
	}
	for _, i := range g.rnd.Perm(len(someQueues))[:1+g.rnd.IntN(2)] {
		l := store.PickLine{Line: store.LineKey{Queue: someQueues[i], Gen: today}, Ordering: g.ordering(someQueues[i])}
		if g.chance(20) {
			l.Classes = []string{"cash"}
		}
		if g.chance(20) {
			l.Deadline = store.Now + g.ms()
		}
		p.Lines = append(p.Lines, l)
	}
	if len(g.ids) > 0 && g.chance(30) {
		p.Exclude = one(g, g.ids)
	}
	b.Pick = p
	for _, id := range g.ids {
		if t := g.live[id]; t.Counter == p.Counter && t.State.AtCounter() && g.chance(50) {
			t = changed(t)
			t.CloseSpan(store.Now, dengxu.VerbComplete, "anna")
			t.State, t.EndedAt, t.Due = dengxu.StateCompleted, store.Now, 0
			b.Tokens = append(b.Tokens, store.TokenWrite{Token: t})
			return
		}
	}
}

func (g *generator) archive(b *store.Batch) {
	for _, id := range g.ids {
		if t := g.live[id]; t.State.Ended() {
			b.Tokens = append(b.Tokens, store.TokenWrite{Token: changed(t), Archive: true})
			g.forget(id)
			return
		}
	}
}

func (g *generator) docKey() store.DocKey {
	if g.chance(20) {
		return store.DocKey{Kind: one(g, []store.DocKind{store.DocCounter, store.DocCounterState}), ID: string(one(g, someCounters))}
	}
	return store.DocKey{Kind: one(g, []store.DocKind{store.DocQueue, store.DocCounterState, store.DocLesson}), ID: fmt.Sprint(g.rnd.IntN(4))}
}

func (g *generator) doc() store.DocWrite {
	key := g.docKey()
	w := store.DocWrite{Doc: store.Doc{Key: key, Site: site, Body: []byte(one(g, someReasons))}, Expect: g.docs[key]}
	if g.chance(10) {
		w.Expect++
	}
	if g.chance(50) {
		w.Doc.Due = store.Now + g.ms()
	}
	w.Delete = w.Expect > 0 && g.chance(20)
	return w
}

// most is how many there may be of something, and in a calm world many.
func (g *generator) most(n int) int {
	if g.calm {
		return 100 * n
	}
	return n
}

// plainJoin makes a join as nearly all are: of one token that waits, with what
// all joins of its queue expect. Some are of somebody who is in line, of an id
// that exists, or a repeat.
func (g *generator) plainJoin() store.Batch {
	if len(g.ops) > 0 && g.chance(15) {
		return one(g, g.ops[max(0, len(g.ops)-4):])
	}
	g.made++
	id := dengxu.TokenID(fmt.Sprint("t", g.made))
	if len(g.ids) > 0 && g.chance(5) {
		id = one(g, g.ids[max(0, len(g.ids)-6):])
	}
	t := fresh(id)
	t.Queue, t.Class = one(g, someQueues), ""
	t.Lane = g.lane(t.Queue, t.Class)
	if g.calm {
		t.Queue, t.Lane = "clinic", order.Lane{K: order.Ordinary}
	}
	t.Group, t.Factor, t.Due = t.Lane.Group, int32(t.Lane.K)*50, store.Now+60_000
	line, joins := t.Line(), store.TallyKey{Name: store.JoinsTally(t.Queue), Day: today}
	b := store.Batch{Site: site}
	b.Expect = append(b.Expect, store.Before{At: (g.now/3_600_000 + 2) * 3_600_000})
	if g.chance(70) {
		t.Business, t.Unique = one(g, someHolders), g.chance(80)
		mark := store.MarkKey{Queue: t.Queue, Business: t.Business}
		b.Expect = append(b.Expect,
			store.HolderFree{Holder: store.HolderKey{Line: line, Business: t.Business}}, store.MarkOlder{MarkKey: mark, At: store.Now - 1_000},
		)
	}
	key := store.DocKey{Kind: store.DocQueue, ID: fmt.Sprint(g.rnd.IntN(2))}
	version := g.docs[key]
	if version > 0 && g.chance(20) {
		version-- // the settings have changed since they were read
	}
	b.Expect = append(b.Expect,
		store.DocAt{Key: key, Version: version},
		store.CountBelow{Line: line, States: []dengxu.State{dengxu.StateWaiting, dengxu.StateScheduled}, Max: g.most(30)},
		store.TallyBelow{Key: joins, Max: int64(g.most(60))},
		store.LaneOpen{Line: line, Lane: t.Lane, Max: 3},
	)
	b.Tokens = []store.TokenWrite{{Token: t, Series: &store.Series{Name: "plain", Day: today, First: 1, Last: int64(g.most(300)), At: "refuse"}}}
	b.Tallies = []store.TallyAdd{{Key: joins, N: 1}}
	b.Events = []store.EventSpec{{Type: dengxu.EventJoined, Token: 1}}
	if g.chance(80) {
		b.Ranks = []store.RankOf{{Token: 1, Ordering: g.ordering(t.Queue), Classes: g.competing()}}
	}
	if g.chance(40) {
		b.Op = store.Op{Scope: "key-1", Key: fmt.Sprint("op-", g.made), Hash: [16]byte{byte(g.made)}, Keep: 60_000, Note: "join"}
		g.ops = append(g.ops, b)
	}
	return b
}

// plainCall makes a call as nearly all are: it ends what its counter has and calls
// the next of one line there, with what all calls expect. Some are of a counter that
// has others too, of a token that has changed since, or a repeat.
func (g *generator) plainCall() store.Batch {
	if len(g.ops) > 0 && g.chance(10) {
		return one(g, g.ops[max(0, len(g.ops)-4):])
	}
	q := one(g, someQueues)
	if g.calm {
		q = "clinic"
	}
	p := &store.Pick{
		Mode: order.Oldest, Max: 1, State: dengxu.StateCalling, Counter: one(g, someCounters), Actor: "anna", Event: dengxu.EventCalled,
	}
	var busy []dengxu.TokenID
	for _, id := range g.ids {
		if t := g.live[id]; t.State.AtCounter() && t.Counter == p.Counter {
			busy = append(busy, id)
		}
	}
	b := store.Batch{Site: site, Pick: p}
	room := store.RoomAt{Max: 1 + g.rnd.IntN(8)/7}
	if len(busy) > 0 && g.chance(95) {
		t := changed(g.live[one(g, busy)])
		q, p.Exclude, room.Freed = t.Queue, t.ID, 1
		t.CloseSpan(store.Now, dengxu.VerbComplete, "anna")
		t.State, t.EndedAt, t.Since, t.Due = dengxu.StateCompleted, store.Now, store.Now, store.Now+172_800_000
		if g.chance(10) {
			t.State, t.Due = dengxu.StateMissed, 0
		}
		if g.chance(5) {
			t.Version += uint64(g.rnd.IntN(2)) * 2
			t.Version--
		}
		b.Tokens = []store.TokenWrite{{Token: t}}
		b.Events = []store.EventSpec{{Type: dengxu.EventCompleted, Token: 1, Actor: "anna"}}
	}
	p.Lines = []store.PickLine{{Line: store.LineKey{Queue: q, Gen: today}, Ordering: g.ordering(q), Deadline: store.Now + 60_000}}
	if g.chance(70) {
		p.Lines[0].Due = store.Now + 60_000
	}
	room.Counter = p.Counter
	b.Expect = []store.Expectation{
		store.DocAt{Key: store.DocKey{Kind: store.DocCounter, ID: string(p.Counter)}},
		store.DocAt{Key: store.DocKey{Kind: store.DocCounterState, ID: string(p.Counter)}},
		store.Before{At: (g.now/3_600_000 + 2) * 3_600_000},
		room,
		store.DocAt{Key: store.DocKey{Kind: store.DocQueue, ID: fmt.Sprint(g.rnd.IntN(2))}},
	}
	for i, x := range b.Expect {
		if x, ok := x.(store.DocAt); ok {
			x.Version = g.docs[x.Key]
			if g.chance(3) { // the settings have changed since they were read
				x.Version++
			}
			b.Expect[i] = x
		}
	}
	if g.chance(60) {
		g.made++
		b.Op = store.Op{Scope: "key-1", Key: fmt.Sprint("op-", g.made), Hash: [16]byte{byte(g.made)}, Keep: 60_000, Note: "call"}
		g.ops = append(g.ops, b)
	}
	return b
}
