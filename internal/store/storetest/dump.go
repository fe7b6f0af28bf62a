package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
)

// A dump is everything of a partition but its log, and another store that
// loads it goes on from there.
var dumpExamples = []example{
	{"everything goes into another store and out again", dumpEverything},
	{"the numbers come first, and what is over is left out", dumpOver},
	{"the other store goes on from there", dumpGoesOn},
	{"loading again changes nothing", dumpAgain},
	{"what differs is never overwritten", dumpDiffers},
	{"numbers are raised and never lowered", dumpNumbers},
	{"wrong rows are refused, all or none", dumpWrong},
	{"an error of the reader ends it", dumpReader},
	{"it is of one moment while others write", dumpConcurrent},
}

// rows dumps a partition, in an order that does not depend on the store.
func rowsOf(ctx context.Context, s store.Store, p store.Partition) ([]store.Row, store.Cursor, error) {
	var rows []store.Row
	end, err := s.Dump(ctx, p, func(r store.Row) error {
		if len(rows) == 0 != (r.Kind == store.RowNumbers) {
			return fmt.Errorf("row %d is of kind %s", len(rows), r.Kind)
		}
		rows = append(rows, r)
		return r.Check()
	})
	slices.SortFunc(rows, func(a, b store.Row) int {
		return cmp.Or(cmp.Compare(rank(a.Kind), rank(b.Kind)), cmp.Compare(a.Key(), b.Key()))
	})
	return rows, end, err
}

// rank puts the numbers first.
func rank(k store.RowKind) string {
	if k == store.RowNumbers {
		return ""
	}
	return string(k)
}

func (k *kit) dump(s store.Store) []store.Row {
	k.t.Helper()
	rows, end, err := rowsOf(k.t.Context(), s, 0)
	if err != nil {
		k.t.Fatalf("dump: %v", err)
	}
	if end.Number != rows[0].Numbers.Event {
		k.t.Errorf("the dump ends at event %d and tells %d", end.Number, rows[0].Numbers.Event)
	}
	return rows
}

// load puts rows in, as many at once as may be.
func (k *kit) load(s store.Store, rows []store.Row) {
	k.t.Helper()
	if err := loadAll(k.t.Context(), s, rows); err != nil {
		k.t.Fatalf("load: %v", err)
	}
}

func loadAll(ctx context.Context, s store.Store, rows []store.Row) error {
	for some := range slices.Chunk(rows, store.MaxRows) {
		if err := s.Load(ctx, 0, some); err != nil {
			return err
		}
	}
	return nil
}

// moved is what rows are in another store: the log stays.
func moved(rows []store.Row) []store.Row {
	rows = slices.Clone(rows)
	n := *rows[0].Numbers
	n.Event, n.Now = 0, 0
	rows[0].Numbers = &n
	return rows
}

func (k *kit) model() store.Store {
	return memstore.New(memstore.Options{Wall: k.clock.Wall, Mono: k.clock.Mono})
}

// full is a day with a row of every kind.
func (k *kit) full() {
	k.t.Helper()
	k.busyDay()
	b := withOp(writing(fresh("t5", func(t *store.Token) { t.Payload, t.Business = []byte(`[1,2]`), "eve" })), op("a"))
	b.Tokens[0].Series = &store.Series{Name: "A", Day: today, First: 1}
	b.Tallies = []store.TallyAdd{{Key: store.TallyKey{Name: store.JoinsTally(queue), Day: today}, N: 3}}
	b.Marks = []store.MarkWrite{{MarkKey: store.MarkKey{Queue: queue, Business: "ann"}, At: store.Now, Keep: 3_600_000}}
	k.commit(b)
	k.commit(withOp(calling(2), op("b")))
	gone := k.join("t6", func(t *store.Token) { t.State = dengxu.StateCompleted })
	k.archive(gone)
	k.join("t7", func(t *store.Token) {
		t.Undo = &store.Undo{Verb: dengxu.VerbCall, Until: store.Now + 9, Before: store.UndoState{Place: store.Now, Seq: 2}}
		t.Spans = []store.Span{{State: dengxu.StateWaiting, From: store.Now - 5, To: store.Now, Queue: queue}}
	})
}

func dumpEverything(k *kit) {
	k.full()
	rows := k.dump(k.s)
	kinds := make(map[store.RowKind]int)
	for _, r := range rows {
		kinds[r.Kind]++
	}
	same(k.t, "kinds", map[store.RowKind]int{
		store.RowNumbers: 1, store.RowToken: 6, store.RowArchived: 1, store.RowTally: 1,
		store.RowSeries: 1, store.RowMark: 1, store.RowOp: 2, store.RowDoc: 2,
	}, kinds)
	m := k.model()
	k.load(m, rows)
	same(k.t, "dumped by memstore", moved(rows), moved(k.dump(m)))
}

func dumpOver(k *kit) {
	k.full()
	k.pass(2 * time.Hour)
	for _, r := range k.dump(k.s) {
		if r.Kind == store.RowMark || r.Kind == store.RowOp {
			k.t.Errorf("a row of kind %s is over", r.Kind)
		}
	}
}

// filled is a fresh store of the suite with the rows of a full day.
func (k *kit) filled() []store.Row {
	k.t.Helper()
	m := &kit{t: k.t, s: k.model(), clock: k.clock}
	m.full()
	rows := k.dump(m.s)
	k.load(k.s, rows)
	return rows
}

func dumpGoesOn(k *kit) {
	rows := k.filled()
	same(k.t, "what was loaded", moved(rows), moved(k.dump(k.s)))
	k.sound()
	again := k.commit(withOp(writing(fresh("t5")), op("a")))
	if !again.Replayed || again.Note != "joined" || len(again.Tokens) != 1 || again.Tokens[0].ID != "t5" {
		k.t.Errorf("a repeat of before: %+v", again)
	}
	reused := op("a")
	reused.Hash[0]++
	k.refused(withOp(writing(fresh("t8")), reused), store.OpReused{})
	b := writing(fresh("t9"))
	b.Tokens[0].Series = &store.Series{Name: "A", Day: today, First: 1}
	t9 := k.commit(b).Tokens[0]
	if t9.Number != 2 || t9.Arrival != rows[0].Numbers.Arrival+1 {
		k.t.Errorf("the next has number %d and arrival %d after %+v", t9.Number, t9.Arrival, rows[0].Numbers)
	}
	if r := k.commit(calling(1)); r.Picked != 1 || r.Tokens[0].CallNo != rows[0].Numbers.Call+1 {
		k.t.Errorf("the next call: %+v after %+v", r.Tokens, rows[0].Numbers)
	}
	v := k.view(store.Ask{
		Counters: []dengxu.CounterID{desk}, Persons: []store.Person{{Site: site, Business: "bob"}},
		Marks: []store.MarkKey{{Queue: queue, Business: "ann"}}, Docs: []store.DocKey{clinicKey},
		Tallies: []store.TallyKey{{Name: store.JoinsTally(queue), Day: today}},
	})
	if len(v.Counters[0]) != 4 || len(v.Persons[0]) != 1 || v.Marks[0] == 0 || v.Docs[0] == nil || v.Tallies[0] != 3 {
		k.t.Errorf("seen: %+v", v)
	}
	k.commit(docWrite(1, `{"name":"Clinic","open":true}`))
	k.sound()
}

func dumpAgain(k *kit) {
	rows := k.filled()
	before := k.dump(k.s)
	k.load(k.s, rows)
	same(k.t, "loaded twice", before, k.dump(k.s))
}

func dumpDiffers(k *kit) {
	rows := k.filled()
	before := k.dump(k.s)
	for i, r := range rows {
		switch r.Kind { //nolint:exhaustive // the others do not matter here
		case store.RowToken, store.RowArchived:
			t := *r.Token
			t.Name += "?"
			rows[i].Token = &t
		case store.RowDoc:
			d := *r.Doc
			d.Body = []byte(`{"name":"?"}`)
			rows[i].Doc = &d
		case store.RowOp:
			m := *r.Op
			m.Hash = "00000000000000000000000000000000"
			rows[i].Op = &m
		default:
			continue
		}
		fresh := store.Row{Kind: store.RowDoc, Site: site, Doc: &store.Doc{
			Key: store.DocKey{Kind: store.DocQueue, ID: "new"}, Site: site, Version: 1, Body: []byte(`{}`),
		}}
		if err := k.s.Load(k.t.Context(), 0, []store.Row{fresh, rows[i]}); !errors.Is(err, store.ErrExists) {
			k.t.Errorf("another row of kind %s: %v, want %v", r.Kind, err, store.ErrExists)
		}
	}
	holds := fresh("t9", unique)
	t1 := k.token("t1")
	holds.Arrival, holds.Seq, holds.Since, holds.JoinedAt, holds.Place = 1, 1, 1, 1, 1
	holds.Business, holds.Unique = t1.Business, true
	if err := k.s.Load(k.t.Context(), 0, []store.Row{{Kind: store.RowToken, Site: site, Token: &holds}}); !errors.Is(err, store.ErrExists) {
		k.t.Errorf("a second holder: %v, want %v", err, store.ErrExists)
	}
	same(k.t, "after what was refused", before, k.dump(k.s))
}

func dumpNumbers(k *kit) {
	raise := func(n store.Numbers) error {
		return k.s.Load(k.t.Context(), 0, []store.Row{{Kind: store.RowNumbers, Numbers: &n}})
	}
	later := k.now() + 5000
	if err := raise(store.Numbers{Arrival: 100, Call: 7, Now: later}); err != nil {
		k.t.Fatal(err)
	}
	if now := k.now(); now != later {
		k.t.Errorf("the time is %d, want %d", now, later)
	}
	if err := raise(store.Numbers{Arrival: 50, Call: 3, Now: 1}); err != nil {
		k.t.Fatal(err)
	}
	if n := k.dump(k.s)[0].Numbers; n.Arrival != 100 || n.Call != 7 || n.Now < later {
		k.t.Errorf("numbers %+v", n)
	}
	if err := raise(store.Numbers{Arrival: 300, After: new(uint64(99))}); !errors.Is(err, store.ErrExists) {
		k.t.Errorf("reserved after another number: %v", err)
	}
	if err := raise(store.Numbers{Arrival: 200, After: new(uint64(100))}); err != nil {
		k.t.Errorf("reserved: %v", err)
	}
	if t := k.join("t1"); t.Arrival != 201 {
		k.t.Errorf("the next arrival is %d", t.Arrival)
	}
}

func dumpWrong(k *kit) {
	ok := store.Row{Kind: store.RowDoc, Site: site, Doc: &store.Doc{Key: clinicKey, Site: site, Version: 1, Body: []byte(`{}`)}}
	never := fresh("t1")
	never.Arrival, never.Seq, never.Since, never.JoinedAt, never.Place = 5, 5, 1, 1, 1
	for what, r := range map[string]store.Row{
		"no kind":           {},
		"a kind to come":    {Kind: "ticket"},
		"no token":          {Kind: store.RowToken},
		"no mark":           {Kind: store.RowMark},
		"twice the same":    ok,
		"a number too high": {Kind: store.RowToken, Site: site, Token: &never},
	} {
		if err := k.s.Load(k.t.Context(), 0, []store.Row{ok, r}); err == nil || errors.Is(err, store.ErrExists) {
			k.t.Errorf("%s: %v, want a plain error", what, err)
		}
	}
	if d := k.doc(clinicKey); d != nil {
		k.t.Error("half of a refused load is there")
	}
	if err := k.s.Load(k.t.Context(), 0, make([]store.Row, store.MaxRows+1)); err == nil {
		k.t.Error("more than MaxRows rows were loaded")
	}
}

func dumpReader(k *kit) {
	k.full()
	enough := errors.New("enough")
	n := 0
	_, err := k.s.Dump(k.t.Context(), 0, func(store.Row) error {
		if n++; n == 3 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || n != 3 {
		k.t.Errorf("after %d rows: %v", n, err)
	}
	k.dump(k.s) // and another one can begin
}

// dumpConcurrent holds dumps that are taken while others write against what
// each commit changes together.
func dumpConcurrent(k *kit) {
	const before = 40
	for n := range before { // so that a dump takes some steps
		k.join(name(99, n))
	}
	done := make(chan struct{})
	dumped := make(chan []store.Row, 64) // more are dropped
	go func() {
		defer close(dumped)
		for ended := false; !ended; {
			select {
			case <-done:
				ended = true
			default:
			}
			rows, _, err := rowsOf(context.WithoutCancel(k.t.Context()), k.s, 0)
			if err != nil {
				k.t.Errorf("dump: %v", err)
				return
			}
			select {
			case dumped <- rows:
			default:
			}
		}
	}()
	race(func(w int) {
		for n := range rounds() {
			k.passThrough(name(w, n), n)
		}
	})
	close(done)
	seen := 0
	for rows := range dumped {
		seen++
		checkMoment(k.t, rows, before)
	}
	if seen < 2 {
		k.t.Errorf("only %d dumps", seen)
	}
}

// passThrough joins with one of everything, and moves some tokens on through
// the hashes of a store that has several for them.
func (k *kit) passThrough(id dengxu.TokenID, n int) {
	b := withOp(writing(fresh(id)), op(string(id)))
	b.Tokens[0].Series = &store.Series{Name: "A", Day: today, First: 1}
	b.Tallies = []store.TallyAdd{{Key: store.TallyKey{Name: store.JoinsTally(queue), Day: today}, N: 1}}
	b.Marks = []store.MarkWrite{{MarkKey: store.MarkKey{Queue: queue, Business: string(id)}, At: store.Now, Keep: 3_600_000}}
	b.Events = []store.EventSpec{{Type: dengxu.EventJoined, Token: 1}}
	b.Docs = []store.DocWrite{{Doc: store.Doc{Key: store.DocKey{Kind: store.DocQueue, ID: string(id)}, Site: site, Body: []byte(`{}`)}}}
	r, ok := k.try(b)
	if !ok || n%3 > 0 {
		return
	}
	r, ok = k.try(writing(changed(r.Tokens[0], func(t *store.Token) { t.State = dengxu.StateCompleted })))
	if ok && n%2 == 0 {
		a := writing(changed(r.Tokens[0]))
		a.Tokens[0].Archive = true
		k.try(a)
	}
}

// checkMoment holds a dump against itself.
func checkMoment(t *testing.T, rows []store.Row, base uint64) {
	t.Helper()
	count := make(map[store.RowKind]uint64)
	var tally, series int64
	for i := range rows {
		r := &rows[i]
		count[r.Kind]++
		switch r.Kind { //nolint:exhaustive // the others do not matter here
		case store.RowTally:
			tally = r.Count.N
		case store.RowSeries:
			series = r.Count.N
		}
	}
	n := rows[0].Numbers
	joins := count[store.RowToken] + count[store.RowArchived] - base
	for what, got := range map[string]uint64{
		"arrivals": n.Arrival - base, "events": n.Event - base, "tally": uint64(tally), "series": uint64(series),
		"operations": count[store.RowOp], "marks": count[store.RowMark], "documents": count[store.RowDoc],
	} {
		if got != joins {
			t.Errorf("%d joins and %d %s are of one moment", joins, got, what)
		}
	}
	versions := make(map[int64]bool)
	for i := range rows {
		if tok := rows[i].Token; tok != nil && tok.Number > 0 {
			if versions[tok.Number] {
				t.Errorf("number %d twice", tok.Number)
			}
			versions[tok.Number] = true
		}
	}
	for i := int64(1); i <= series; i++ {
		if !versions[i] {
			t.Errorf("number %d is missing, the last is %d", i, series)
		}
	}
}
