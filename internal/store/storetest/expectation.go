package storetest

import (
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// Expectations hold or refuse; those with nouns of their own are tested there.
var expectationExamples = []example{
	{"the first that does not hold refuses", expectFirst},
	{"a token's version", expectToken},
	{"a count below", expectCount},
	{"room at a counter", expectRoom},
	{"a lane that is open or may be", expectLane},
	{"not before and before", expectTime},
}

func (k *kit) expects(x store.Expectation) {
	k.t.Helper()
	k.commit(store.Batch{Expect: []store.Expectation{x}})
}

func (k *kit) expectsNot(x store.Expectation) *store.Refused {
	k.t.Helper()
	return k.refused(store.Batch{Expect: []store.Expectation{x}}, x)
}

func expectFirst(k *kit) {
	bad := []store.Expectation{
		store.TokenAt{ID: "t1", Version: 3},
		store.CountBelow{Line: line, States: []dengxu.State{dengxu.StateWaiting}},
	}
	good := store.TokenAt{ID: "t1"}
	b := writing(fresh("t1", func(t *store.Token) { t.Version, t.Arrival, t.Seq = 9, 4, 4 }))
	b.Expect = []store.Expectation{good, bad[0], bad[1]}
	k.refused(b, bad[0])
	b.Expect = []store.Expectation{good, bad[1], bad[0]}
	k.refused(b, bad[1])
	b.Expect = []store.Expectation{good}
	b.Docs = []store.DocWrite{{Doc: store.Doc{Key: store.DocKey{Kind: store.DocQueue, ID: "q"}}, Expect: 2}}
	k.refused(b, store.DocAt{Key: b.Docs[0].Doc.Key, Version: 2})
	b.Docs = nil
	k.refused(b, store.TokenAt{ID: "t1", Version: 8})
}

func expectToken(k *kit) {
	t1 := k.join("t1")
	k.change(t1)
	k.expects(store.TokenAt{ID: "t1", Version: 2})
	k.expects(store.TokenAt{ID: "nobody"})
	if r := k.expectsNot(store.TokenAt{ID: "t1", Version: 1}); r.Have != 2 {
		k.t.Errorf("have %d, want 2", r.Have)
	}
	if r := k.expectsNot(store.TokenAt{ID: "nobody", Version: 1}); r.Have != 0 {
		k.t.Errorf("have %d, want 0", r.Have)
	}
}

func expectCount(k *kit) {
	k.join("t1")
	k.join("t2", func(t *store.Token) { t.State = dengxu.StateScheduled })
	k.join("t3", func(t *store.Token) { t.State = dengxu.StateCancelled })
	k.join("t4", func(t *store.Token) { t.Gen++ })
	k.join("t5", inOther)
	states := []dengxu.State{dengxu.StateWaiting, dengxu.StateScheduled}
	k.expects(store.CountBelow{Line: line, States: states, Max: 3})
	k.expectsNot(store.CountBelow{Line: line, States: states, Max: 2})
	k.expects(store.CountBelow{Line: line, States: states[:1], Max: 2})
	k.expectsNot(store.CountBelow{Line: line, States: []dengxu.State{dengxu.StateCancelled}, Max: 1})
	k.expects(store.CountBelow{Line: store.LineKey{Queue: "none"}, States: states, Max: 1})
}

func expectRoom(k *kit) {
	at := func(s dengxu.State) func(*store.Token) {
		return func(t *store.Token) { t.State, t.Counter = s, desk }
	}
	k.expects(store.RoomAt{Counter: desk, Max: 1})
	k.join("t1", at(dengxu.StateCalling))
	k.join("t2", at(dengxu.StateServing))
	k.join("t3", at(dengxu.StateHeld))
	k.join("t4", at(dengxu.StateCompleted))
	k.expects(store.RoomAt{Counter: desk, Max: 3})
	k.expectsNot(store.RoomAt{Counter: desk, Max: 2})
	k.expects(store.RoomAt{Counter: desk, Max: 2, Freed: 1})
	k.expectsNot(store.RoomAt{Counter: desk, Max: 1, Freed: 1})
	k.expects(store.RoomAt{Counter: "desk-2", Max: 1})
}

func expectLane(k *kit) {
	k.join("t1")
	k.join("t2", vip)
	quick := fresh("", vip).Lane
	slow := ordinary
	slow.K = 40
	k.expects(store.LaneOpen{Line: line, Lane: quick, Max: 1})
	k.expects(store.LaneOpen{Line: line, Lane: slow, Max: 3})
	k.expectsNot(store.LaneOpen{Line: line, Lane: slow, Max: 2})
	k.commit(calling(2))
	k.expects(store.LaneOpen{Line: line, Lane: slow, Max: 1})
}

func expectTime(k *kit) {
	now := k.clock.Now()
	k.expects(store.NotBefore{At: now})
	k.expectsNot(store.NotBefore{At: now + 1})
	k.expects(store.Before{At: now + 1})
	k.expectsNot(store.Before{At: now})
	k.pass(time.Millisecond)
	k.expects(store.NotBefore{At: now + 1})
	k.expectsNot(store.Before{At: now + 1})
}
