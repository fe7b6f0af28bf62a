package storetest

import (
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// An operation has one effect, and its repeats answer the same tokens.
var opExamples = []example{
	{"a repeat has no effect and answers the token as it is now", opReplay},
	{"another body under the key is refused", opReused},
	{"it is checked before the expectations", opFirst},
	{"a repeat of a pick answers what was picked", opPick},
	{"a pick that takes nobody is not remembered", opPickNobody},
	{"a batch that writes nothing is not remembered", opNothing},
	{"a refused batch is not remembered", opRefused},
	{"it is forgotten after its time", opExpires},
	{"it is read by View", opView},
}

func op(key string) store.Op {
	return store.Op{Scope: "key-1", Key: key, Hash: [16]byte{1}, Keep: 60_000, Note: "joined"}
}

func withOp(b store.Batch, o store.Op) store.Batch {
	b.Op = o
	return b
}

func opReplay(k *kit) {
	b := withOp(writing(fresh("t1"), fresh("t2")), op("a"))
	b.Events = []store.EventSpec{{Type: dengxu.EventJoined, Token: 1}}
	first := k.commit(b)
	if first.Replayed {
		k.t.Fatal("the first commit says that it is a replay")
	}
	now := k.change(first.Tokens[0], func(t *store.Token) { t.Name = "Ann" })
	before := k.end()
	again := k.commit(b)
	if !again.Replayed || again.Note != "joined" {
		k.t.Errorf("replayed %t with note %q", again.Replayed, again.Note)
	}
	same(k.t, "tokens of the replay", []store.Token{now, first.Tokens[1]}, again.Tokens)
	if k.end() != before {
		k.t.Error("a replay wrote events")
	}
	if n := k.lineView(line).Counts[dengxu.StateWaiting]; n != 2 {
		k.t.Errorf("%d wait, want 2", n)
	}
}

func opReused(k *kit) {
	k.commit(withOp(writing(fresh("t1")), op("a")))
	reused := op("a")
	reused.Hash[3] = 9
	k.refused(withOp(writing(fresh("t2")), reused), store.OpReused{})
	elsewhere := reused
	elsewhere.Scope = "key-2"
	if k.commit(withOp(writing(fresh("t3")), elsewhere)).Replayed {
		k.t.Error("a key of another scope was taken for this one")
	}
}

func opFirst(k *kit) {
	b := withOp(writing(fresh("t1")), op("a"))
	b.Expect = []store.Expectation{store.CountBelow{Line: line, States: []dengxu.State{dengxu.StateWaiting}, Max: 1}}
	k.commit(b)
	if !k.commit(b).Replayed {
		k.t.Error("the repeat was not recognised")
	}
}

func opPick(k *kit) {
	k.join("t1")
	k.join("t2")
	serving := k.commit(calling(1)).Tokens[0]
	b := withOp(calling(1), op("call"))
	b.Tokens = writing(changed(serving, func(t *store.Token) { t.State = dengxu.StateCompleted })).Tokens
	first := k.commit(b)
	again := k.commit(b)
	if ids(first.Tokens) != "t1 t2" || first.Picked != 1 || again.Picked != 1 {
		k.t.Errorf("got %q, picked %d, then %d", ids(first.Tokens), first.Picked, again.Picked)
	}
	same(k.t, "tokens of the replay", first.Tokens, again.Tokens)
}

func opPickNobody(k *kit) {
	k.join("t1")
	serving := k.commit(calling(1)).Tokens[0]
	b := withOp(calling(1), op("call"))
	b.Tokens = writing(changed(serving, func(t *store.Token) { t.State = dengxu.StateCompleted })).Tokens
	if r := k.commit(b); r.Picked != 0 || ids(r.Tokens) != "t1" {
		k.t.Fatalf("picked %d of %q", r.Picked, ids(r.Tokens))
	}
	k.join("t2")
	if r := k.commit(withOp(calling(1), op("call"))); r.Replayed || r.Picked != 1 {
		k.t.Errorf("replayed %t, picked %d; want a call of its own", r.Replayed, r.Picked)
	}
}

func opNothing(k *kit) {
	for range 2 {
		if k.commit(store.Batch{Op: op("a")}).Replayed {
			k.t.Error("a batch without writes was remembered")
		}
	}
	if k.commit(withOp(writing(fresh("t1")), op("a"))).Replayed {
		k.t.Error("a batch with writes was taken for one without")
	}
}

func opRefused(k *kit) {
	b := withOp(writing(fresh("t1")), op("a"))
	b.Expect = []store.Expectation{store.Before{At: k.clock.Now()}}
	k.refused(b, b.Expect[0])
	b.Expect = nil
	if k.commit(b).Replayed {
		k.t.Error("a refused batch was remembered")
	}
}

func opExpires(k *kit) {
	b := withOp(writing(fresh("t1")), op("a"))
	k.commit(b)
	k.pass(time.Minute - time.Millisecond)
	if !k.commit(b).Replayed {
		k.t.Error("forgotten too early")
	}
	k.pass(time.Millisecond)
	if v := k.view(store.Ask{Op: op("a")}); v.Op != nil {
		k.t.Error("still seen by View after its time")
	}
	if k.commit(withOp(writing(fresh("t2")), op("a"))).Replayed {
		k.t.Error("still remembered after its time")
	}
}

func opView(k *kit) {
	k.join("t1")
	picked := k.commit(withOp(calling(1), op("a")))
	reused := op("a")
	reused.Hash[0]++
	v := k.view(store.Ask{Op: op("a")})
	same(k.t, "the operation", &store.OpView{Note: "joined", Tokens: picked.Tokens, Picked: 1}, v.Op)
	same(k.t, "another hash", &store.OpView{Reused: true}, k.view(store.Ask{Op: reused}).Op)
	if v := k.view(store.Ask{Op: op("b")}); v.Op != nil {
		k.t.Errorf("an unknown key answers %+v", v.Op)
	}
	if v := k.view(store.Ask{}); v.Op != nil {
		k.t.Errorf("no key answers %+v", v.Op)
	}
}
