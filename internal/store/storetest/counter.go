package storetest

import (
	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// A counter lists what it calls, serves and holds.
var counterExamples = []example{
	{"tokens in call order", counterList},
	{"tokens leave it when they change counter or end", counterLeave},
}

func (k *kit) deskList(c dengxu.CounterID) string {
	k.t.Helper()
	return ids(k.view(store.Ask{Counters: []dengxu.CounterID{c}}).Counters[0])
}

func counterList(k *kit) {
	for _, id := range []dengxu.TokenID{"a", "b", "c"} {
		k.join(id)
	}
	called := k.commit(calling(3)).Tokens
	k.change(called[0], func(t *store.Token) { t.State = dengxu.StateServing })
	b := k.change(called[1], func(t *store.Token) { t.State = dengxu.StateHeld })
	if got := k.deskList(desk); got != "a b c" {
		k.t.Errorf("at the desk: %q, want a b c", got)
	}
	k.change(b, func(t *store.Token) { t.State, t.CallNo = dengxu.StateCalling, store.NextCall })
	if got := k.deskList(desk); got != "a c b" {
		k.t.Errorf("after b was called again: %q, want a c b", got)
	}
	if got := k.deskList("desk-2"); got != "" {
		k.t.Errorf("at an idle desk: %q", got)
	}
}

func counterLeave(k *kit) {
	for _, id := range []dengxu.TokenID{"a", "b", "c", "d"} {
		k.join(id)
	}
	called := k.commit(calling(4)).Tokens
	k.change(called[0], func(t *store.Token) { t.Counter = "desk-2" })
	k.change(called[1], func(t *store.Token) { t.State = dengxu.StateCompleted })
	k.change(called[2], func(t *store.Token) { t.State = dengxu.StateMissed })
	if a, b := k.deskList(desk), k.deskList("desk-2"); a != "d" || b != "a" {
		k.t.Errorf("at the desks: %q and %q, want d and a", a, b)
	}
	k.expects(store.RoomAt{Counter: desk, Max: 2})
	k.expectsNot(store.RoomAt{Counter: desk, Max: 1})
}
