package storetest

import (
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// RunReopen checks that everything survives closing and opening again.
func RunReopen(t *testing.T, f Factory) {
	t.Helper()
	runExamples(t, f.Open, []example{
		{"all records, documents, due times and events", func(k *kit) { reopenWhole(k, f) }},
		{"all indexes", func(k *kit) { reopenIndexes(k, f) }},
		{"series, arrival, call and event numbers go on", func(k *kit) { reopenNumbers(k, f) }},
		{"operations, marks and tallies", func(k *kit) { reopenMemories(k, f) }},
		{"what groups owe", func(k *kit) { reopenDebts(k, f) }},
		{"archived records", func(k *kit) { reopenArchive(k, f) }},
		{"time does not run backwards", func(k *kit) { reopenClock(k, f) }},
		{"a cursor still fits", func(k *kit) { reopenCursor(k, f) }},
	})
	t.Run("random", func(t *testing.T) {
		t.Parallel()
		runRandom(t, f, 2, 400)
	})
}

// reopen closes the store and opens it again; meanwhile happens in between.
func (k *kit) reopen(f Factory, meanwhile func()) {
	k.t.Helper()
	k.close()
	meanwhile()
	k.s, k.closed = f.Reopen(k.t, k.s, k.clock), false
}

func nothing() {}

// busyDay fills a store with one of everything.
func (k *kit) busyDay() {
	k.t.Helper()
	k.join("t1", unique, dueIn(500))
	k.change(k.token("t1"), func(t *store.Token) { t.Name, t.Attrs = "Ann", []byte(`{"a":1}`) })
	k.join("t2", vip, func(t *store.Token) { t.Business = "bob" })
	k.join("t3", func(t *store.Token) { t.State, t.Due = dengxu.StateScheduled, store.Now+9000 })
	k.pass(time.Second)
	k.commit(calling(1))
	k.join("t4", inOther)
	b := docWrite(0, `{"name":"Clinic"}`)
	b.Docs[0].Doc.Due = store.Now + 700
	k.commit(b)
	gone := docWrite(1, "")
	gone.Docs[0].Doc.Key.ID, gone.Docs[0].Expect = "gone", 0
	k.commit(gone)
	gone.Docs[0].Expect, gone.Docs[0].Delete = 1, true
	k.commit(gone)
	k.commit(bulkyWrite(0, `{"waits":[1,2]}`))
}

func reopenWhole(k *kit, f Factory) {
	k.busyDay()
	before := k.whole()
	k.reopen(f, nothing)
	same(k.t, "the store opened again", before, k.whole())
	k.reopen(f, nothing)
	same(k.t, "the store opened a third time", before, k.whole())
}

func reopenIndexes(k *kit, f Factory) {
	k.busyDay()
	t2 := k.token("t2")
	ask := store.Ask{
		Holders: []store.HolderKey{holderOf(line)}, Counters: []dengxu.CounterID{desk},
		Persons: []store.Person{{Site: site, Business: "ann"}, {Site: site, Business: "bob"}},
		Lines:   []store.LineKey{line, {Queue: other, Gen: today}},
		Ranks:   []store.RankAsk{{Line: line, Member: t2.Member()}},
	}
	before := k.view(ask)
	if len(before.Counters[0]) != 1 || len(before.Persons[0]) != 1 || len(before.Lines[0].Lanes) == 0 {
		k.t.Fatalf("a busy day is empty: %+v", before)
	}
	k.reopen(f, nothing)
	same(k.t, "the indexes of the store opened again", before, k.view(ask))
	k.sound()
}

func reopenNumbers(k *kit, f Factory) {
	sr := store.Series{Name: "A", Day: today, First: 1}
	k.numbered(sr, 3)
	first := k.commit(calling(1)).Tokens[0]
	last := k.join("last").Arrival
	end := k.end()
	k.reopen(f, nothing)
	same(k.t, "number", []int64{4}, k.numbered(sr, 1))
	if t := k.join("next"); t.Arrival != last+2 {
		k.t.Errorf("arrival number %d after %d and one more", t.Arrival, last)
	}
	if t := k.commit(calling(1)).Tokens[0]; t.CallNo != first.CallNo+1 {
		k.t.Errorf("call number %d after %d", t.CallNo, first.CallNo)
	}
	if all := k.events(end); len(all) != 2 || all[0].Number != end.Number+1 {
		k.t.Errorf("events after the end: %+v", all)
	}
}

func reopenMemories(k *kit, f Factory) {
	b := withOp(writing(fresh("t1")), op("a"))
	first := k.commit(b)
	k.commit(markBatch(store.Now))
	at := k.clock.Now()
	k.add(today, 5)
	k.reopen(f, func() { k.pass(30 * time.Second) })
	again := k.commit(b)
	if !again.Replayed || again.Note != "joined" {
		k.t.Errorf("replayed %t with note %q", again.Replayed, again.Note)
	}
	same(k.t, "tokens of the replay", first.Tokens, again.Tokens)
	if got := k.mark(); got != at {
		k.t.Errorf("the mark is %d, want %d", got, at)
	}
	k.wantTallies(5, 0)
	k.reopen(f, func() { k.pass(30 * time.Second) })
	if k.commit(withOp(writing(fresh("t2")), op("a"))).Replayed {
		k.t.Error("an operation outlived its time by being opened again")
	}
}

func reopenArchive(k *kit, f Factory) {
	t1 := k.archive(k.join("t1", func(t *store.Token) { t.State = dengxu.StateCompleted }))
	k.reopen(f, nothing)
	same(k.t, "record", t1, k.token("t1"))
	if got := k.list(store.ListAsk{Limit: 9}); len(got) != 0 {
		k.t.Errorf("listed: %q", ids(got))
	}
}

func reopenClock(k *kit, f Factory) {
	k.pass(time.Minute)
	before := k.join("t1").JoinedAt
	k.reopen(f, func() { k.clock.JumpWall(-time.Hour) })
	if got := k.now(); got != before {
		k.t.Errorf("opened again with the wall clock an hour back, time went %+d ms", got-before)
	}
	k.pass(10 * time.Second)
	if got := k.now(); got != before+5000 {
		k.t.Errorf("ten seconds later it went %+d ms, want half of them", got-before)
	}
	start := k.end()
	k.reopen(f, func() { k.clock.Advance(48 * time.Hour) })
	if got := k.now(); got <= before+int64(24*time.Hour/time.Millisecond) {
		k.t.Errorf("after two days closed, time went %+d ms", got-before)
	}
	k.events(start)
}

func reopenCursor(k *kit, f Factory) {
	start := k.end()
	k.join("t1")
	middle := k.end()
	k.join("t2")
	before := k.events(start)
	k.reopen(f, nothing)
	k.join("t3")
	all := k.events(start)
	if len(all) != 3 {
		k.t.Fatalf("%d events, want 3", len(all))
	}
	same(k.t, "events before", before, all[:2])
	if after := k.events(middle); len(after) != 2 || after[1].Token != "t3" {
		k.t.Errorf("after the middle: %+v", after)
	}
}
