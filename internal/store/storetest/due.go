package storetest

import (
	"strings"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// Tokens and documents are due at one time each, or never.
var dueExamples = []example{
	{"what is due comes oldest first, and when the next one is", dueOrder},
	{"a changed or archived record leaves no entry behind", dueChanges},
	{"a limit cuts the entries short", dueLimit},
	{"a token is due by any id", dueIDs},
}

func (k *kit) due(limit int) store.Due {
	k.t.Helper()
	d, err := k.s.Due(k.t.Context(), 0, limit)
	if err != nil {
		k.t.Fatalf("due: %v", err)
	}
	return d
}

func dueIn(ms int64) func(*store.Token) { return func(t *store.Token) { t.Due = store.Now + ms } }

func dueOrder(k *kit) {
	start := k.clock.Now()
	same(k.t, "nothing", store.Due{Now: start}, k.due(9))
	k.join("never")
	k.join("late", dueIn(3000))
	k.join("soon", dueIn(1000))
	b := docWrite(0, "{}")
	b.Docs[0].Doc.Due = store.Now + 2000
	k.commit(b)
	same(k.t, "before", store.Due{Now: start, Next: start + 1000}, k.due(9))
	k.pass(time.Second)
	soon := store.DueEntry{At: start + 1000, Token: "soon"}
	same(k.t, "at the first", store.Due{Now: start + 1000, Entries: []store.DueEntry{soon}, Next: start + 2000}, k.due(9))
	k.pass(time.Hour)
	want := store.Due{Now: k.clock.Now(), Entries: []store.DueEntry{
		soon, {At: start + 2000, Doc: clinicKey}, {At: start + 3000, Token: "late"},
	}}
	same(k.t, "after all", want, k.due(9))
}

func dueChanges(k *kit) {
	start := k.clock.Now()
	t1 := k.join("t1", dueIn(1000))
	t1 = k.change(t1, func(t *store.Token) { t.Due = start + 5000 })
	t2 := k.join("t2", dueIn(2000))
	k.change(t2, func(t *store.Token) { t.Due = 0 })
	t3 := k.join("t3", dueIn(500), func(t *store.Token) { t.State = dengxu.StateCompleted })
	k.archive(t3)
	b := docWrite(0, "{}")
	b.Docs[0].Doc.Due = store.Now + 700
	k.commit(b)
	b = docWrite(1, "{}")
	b.Docs[0].Delete = true
	k.commit(b)
	if d := k.due(9); d.Next != start+5000 {
		k.t.Errorf("the next is due in %d ms, want 5000", d.Next-start)
	}
	k.change(t1, func(t *store.Token) { t.Due = 0 })
	if d := k.due(9); d.Next != 0 {
		k.t.Errorf("the next is due in %d ms, want never", d.Next-start)
	}
}

func dueLimit(k *kit) {
	start := k.clock.Now()
	for _, id := range []dengxu.TokenID{"c", "a", "b"} {
		k.join(id, dueIn(0))
	}
	k.join("d", dueIn(10))
	d := k.due(2)
	want := []store.DueEntry{{At: start, Token: "a"}, {At: start, Token: "b"}}
	same(k.t, "two of three", store.Due{Now: start, Entries: want, Next: start}, d)
	if d := k.due(3); d.Next != start+10 {
		k.t.Errorf("after all three, the next is due in %d ms, want 10", d.Next-start)
	}
}

// dueIDs has the first and the last id of the engine's form.
func dueIDs(k *kit) {
	start := k.clock.Now()
	first, last := dengxu.TokenID(strings.Repeat("0", 27)), dengxu.TokenID(strings.Repeat("z", 27))
	k.join(first, dueIn(0))
	k.join(last, dueIn(0))
	want := []store.DueEntry{{At: start, Token: first}, {At: start, Token: last}}
	same(k.t, "both", store.Due{Now: start, Entries: want}, k.due(9))
}
