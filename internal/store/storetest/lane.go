package storetest

import (
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// A line counts its tokens by state, and its lanes hold those that wait.
var laneExamples = []example{
	{"counts by state", laneCounts},
	{"only those who wait are in a lane, in order", laneMembers},
	{"lines of other queues and days are apart", laneLines},
	{"a token may move within and between lanes", laneMoves},
}

func laneCounts(k *kit) {
	want := map[dengxu.State]int{}
	for i, state := range dengxu.States() {
		for range i + 1 {
			k.join(dengxu.TokenID(string(state)+string(rune('a'+want[state]))), func(t *store.Token) { t.State = state })
			want[state]++
		}
	}
	same(k.t, "counts", want, k.lineView(line).Counts)
	same(k.t, "counts of nobody", store.LineView{}, k.lineView(store.LineKey{Queue: "none"}))
	k.commit(calling(1))
	want[dengxu.StateWaiting]--
	want[dengxu.StateCalling]++
	same(k.t, "counts after a call", want, k.lineView(line).Counts)
}

func keyOf(t store.Token) order.Key { return t.Member().Key }

func laneMembers(k *kit) {
	t1 := k.join("t1")
	k.pass(time.Second)
	k.join("t2")
	k.join("t3", vip)
	k.join("t4", func(t *store.Token) { t.State = dengxu.StateScheduled })
	want := []store.LaneView{
		{Lane: order.Lane{K: 10}, Len: 1, Head: keyOf(k.token("t3"))},
		{Lane: ordinary, Len: 2, Head: keyOf(t1)},
	}
	same(k.t, "lanes", want, k.lineView(line).Lanes)
	k.change(t1, func(t *store.Token) { t.State = dengxu.StateHeld })
	want[1] = store.LaneView{Lane: ordinary, Len: 1, Head: keyOf(k.token("t2"))}
	same(k.t, "lanes after one left", want, k.lineView(line).Lanes)
}

func laneLines(k *kit) {
	k.join("t1")
	k.join("t2", inOther)
	k.join("t3", func(t *store.Token) { t.Gen++ })
	for _, key := range []store.LineKey{line, {Queue: other, Gen: today}, {Queue: queue, Gen: today + 1}} {
		v := k.lineView(key)
		if v.Counts[dengxu.StateWaiting] != 1 || len(v.Lanes) != 1 || v.Lanes[0].Len != 1 {
			k.t.Errorf("%v: %+v, want one token", key, v)
		}
	}
	t1 := k.token("t1")
	k.change(t1, inOther, vip)
	same(k.t, "the line that was left", store.LineView{}, k.lineView(line))
	if v := k.lineView(store.LineKey{Queue: other, Gen: today}); len(v.Lanes) != 2 {
		k.t.Errorf("the line that was entered: %+v", v)
	}
}

func laneMoves(k *kit) {
	for _, id := range []dengxu.TokenID{"a", "b", "c", "d", "e"} {
		k.join(id)
		k.pass(time.Second)
	}
	// Behind c, before a, into the middle at the same place, to a lane and back.
	k.change(k.token("b"), func(t *store.Token) { t.Place = k.token("c").Place; t.Seq = 0 })
	k.change(k.token("e"), func(t *store.Token) { t.Place = 1 })
	k.change(k.change(k.token("d"), vip), func(t *store.Token) { t.Lane = ordinary; t.Place = 1 })
	if r := k.commit(calling(9)); ids(r.Tokens) != "d e a c b" {
		k.t.Errorf("called %q, want d e a c b", ids(r.Tokens))
	}
}
