package storetest

import (
	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// A business id holds at most one active token in a line.
var holderExamples = []example{
	{"the mark is taken while the token is active", holderLife},
	{"it may be expected free but for one token", holderExpected},
	{"two tokens never get one mark, even if not expected", holderTwice},
	{"two tokens of one batch never get one mark", holderOneBatch},
	{"a batch may hand the mark over", holderHandOver},
	{"it moves with the token to another line", holderMoves},
}

func unique(t *store.Token) { t.Business, t.Unique = "ann", true }

func holderOf(l store.LineKey) store.HolderKey { return store.HolderKey{Line: l, Business: "ann"} }

func (k *kit) holder(h store.HolderKey) dengxu.TokenID {
	k.t.Helper()
	return k.view(store.Ask{Holders: []store.HolderKey{h}}).Holders[0]
}

func holderLife(k *kit) {
	k.join("plain", func(t *store.Token) { t.Business = "ann" })
	if got := k.holder(holderOf(line)); got != "" {
		k.t.Errorf("%s took the mark without being unique", got)
	}
	t := k.join("t1", unique)
	for _, state := range dengxu.States() {
		t = k.change(t, func(t *store.Token) { t.State, t.Counter = state, desk })
		want := dengxu.TokenID("t1")
		if state.Ended() {
			want = ""
		}
		if got := k.holder(holderOf(line)); got != want {
			k.t.Errorf("while %s the mark is with %q, want %q", state, got, want)
		}
	}
}

func holderExpected(k *kit) {
	free := store.HolderFree{Holder: holderOf(line)}
	k.expects(free)
	k.join("t1", unique)
	if r := k.expectsNot(free); r.Token != "t1" {
		k.t.Errorf("refused because of %q, want t1", r.Token)
	}
	k.expects(store.HolderFree{Holder: holderOf(line), Not: "t1"})
	k.expectsNot(store.HolderFree{Holder: holderOf(line), Not: "t2"})
	k.expects(store.HolderFree{Holder: holderOf(store.LineKey{Queue: other, Gen: today})})
	k.expects(store.HolderFree{Holder: holderOf(store.LineKey{Queue: queue, Gen: today + 1})})
}

func holderTwice(k *kit) {
	k.join("t1", unique)
	r := k.refused(writing(fresh("t2", unique)), store.HolderFree{Holder: holderOf(line), Not: "t2"})
	if r.Token != "t1" {
		k.t.Errorf("refused because of %q, want t1", r.Token)
	}
	ended := k.join("t3", unique, func(t *store.Token) { t.State = dengxu.StateCompleted })
	k.refused(writing(changed(ended, func(t *store.Token) { t.State = dengxu.StateServing })),
		store.HolderFree{Holder: holderOf(line), Not: "t3"})
}

func holderOneBatch(k *kit) {
	r := k.refused(writing(fresh("t1", unique), fresh("t2", unique)),
		store.HolderFree{Holder: holderOf(line), Not: "t2"})
	if r.Token != "t1" {
		k.t.Errorf("refused because of %q, want t1", r.Token)
	}
}

func holderHandOver(k *kit) {
	t1 := k.join("t1", unique)
	ended := changed(t1, func(t *store.Token) { t.State = dengxu.StateCancelled })
	k.commit(writing(fresh("t2", unique), ended))
	if got := k.holder(holderOf(line)); got != "t2" {
		k.t.Errorf("the mark is with %q, want t2", got)
	}
}

func holderMoves(k *kit) {
	t1 := k.join("t1", unique)
	k.change(t1, inOther)
	if got := k.holder(holderOf(line)); got != "" {
		k.t.Errorf("the mark stayed with %q", got)
	}
	if got := k.holder(holderOf(store.LineKey{Queue: other, Gen: today})); got != "t1" {
		k.t.Errorf("the mark of the new line is with %q", got)
	}
}
