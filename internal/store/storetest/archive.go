package storetest

import (
	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// An archived record leaves every index and stays readable by id.
var archiveExamples = []example{
	{"it is read by id and not listed", archiveLeaves},
	{"nothing changes it any more", archiveFinal},
	{"a replay still answers it", archiveReplay},
}

func (k *kit) archive(t store.Token) store.Token {
	k.t.Helper()
	return k.commit(store.Batch{Tokens: []store.TokenWrite{{Token: changed(t), Archive: true}}}).Tokens[0]
}

func archiveLeaves(k *kit) {
	k.join("t1", func(t *store.Token) { t.Business = "ann"; t.State = dengxu.StateCompleted; t.Due = store.Now + 5 })
	t2 := k.join("t2")
	edited := k.token("t1")
	edited.Name = "ignored"
	got := k.archive(edited)
	want := k.token("t1")
	same(k.t, "result and record", want, got)
	if want.Version != 2 || want.Name != "" || want.State != dengxu.StateCompleted {
		k.t.Errorf("archived as version %d, name %q, %s", want.Version, want.Name, want.State)
	}
	if got := ids(k.list(store.ListAsk{Limit: 9})); got != "t2" {
		k.t.Errorf("listed: %q, want t2", got)
	}
	same(k.t, "counts", map[dengxu.State]int{dengxu.StateWaiting: 1}, k.lineView(line).Counts)
	if d := k.due(9); d.Next != 0 {
		k.t.Errorf("something is due at %d", d.Next)
	}
	same(k.t, "another token", t2, k.token("t2"))
}

func archiveFinal(k *kit) {
	t1 := k.archive(k.join("t1", func(t *store.Token) { t.State = dengxu.StateCompleted }))
	r := k.refused(writing(changed(t1)), store.TokenAt{ID: "t1", Version: 2})
	if r.Have != 0 {
		k.t.Errorf("have %d, want it unknown to a batch", r.Have)
	}
	k.refused(store.Batch{Tokens: []store.TokenWrite{{Token: changed(t1), Archive: true}}}, store.TokenAt{ID: "t1", Version: 2})
	same(k.t, "record", t1, k.token("t1"))
}

func archiveReplay(k *kit) {
	b := withOp(writing(fresh("t1", func(t *store.Token) { t.State = dengxu.StateCancelled })), op("a"))
	t1 := k.archive(k.commit(b).Tokens[0])
	same(k.t, "replay", []store.Token{t1}, k.commit(b).Tokens)
}
