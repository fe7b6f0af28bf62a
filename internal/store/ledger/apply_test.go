package ledger_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

const now = int64(1_772_442_000_000)

var clinic = store.LineKey{Queue: "clinic", Gen: 5}

// waits is a record of the clinic's line.
func waits(id dengxu.TokenID, arrival uint64) store.Token {
	return store.Token{
		ID: id, Site: "north", Queue: "clinic", Gen: 5, State: dengxu.StateWaiting, Version: 1, Arrival: arrival,
		Seq: arrival, Place: now - 60_000 + int64(arrival), JoinedAt: now - 60_000, Since: now - 60_000,
		Lane: order.Lane{K: order.Ordinary}, Factor: 1000, Prefix: "A", Width: 3, Number: int64(arrival),
	}
}

// joins is a token of a batch that does not exist yet.
func joins(id dengxu.TokenID) store.TokenWrite {
	t := waits(id, 0)
	t.Arrival, t.Seq, t.Place, t.JoinedAt, t.Since = 0, 0, store.Now, store.Now, store.Now
	return store.TokenWrite{Token: t}
}

func calls(n int) *store.Pick {
	return &store.Pick{
		Lines: []store.PickLine{{Line: clinic}}, Max: n, State: dengxu.StateCalling, Counter: "desk",
		Deadline: store.Now + 100, Event: dengxu.EventCalled, Actor: "anna",
	}
}

var meta = ledger.Meta{Epoch: 3, Arrival: 50, CallNo: 7, Event: 90}

func apply(t *testing.T, w *world, b store.Batch) *ledger.Effects {
	t.Helper()
	e, err := ledger.Apply(w, meta, 0, &b, now)
	if err != nil {
		t.Fatalf("apply: %v", err)
	}
	return e
}

func wantDiff(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestEffects holds one batch with everything to its effects in full.
func TestEffects(t *testing.T) {
	t.Parallel()
	first, second := waits("t1", 1), waits("t2", 2)
	w := &world{
		records: []store.Token{first, second},
		series:  map[ledger.SeriesKey]ledger.Daily{{Site: "north", Name: "A"}: {Day: 5, N: 12}},
		tallies: map[string]ledger.Daily{"joins": {Day: 4, N: 30}},
	}
	key := store.DocKey{Kind: store.DocQueueState, ID: "clinic"}
	join := joins("t3")
	join.Series = &store.Series{Name: "A", Day: 5, First: 1}
	b := store.Batch{
		Site: "north", Op: store.Op{Scope: "s", Key: "k", Hash: [16]byte{1}, Keep: 1000, Note: "n"},
		Docs:    []store.DocWrite{{Doc: store.Doc{Key: key, Site: "north", Due: store.Now + 9, Body: []byte("b")}}},
		Tokens:  []store.TokenWrite{join},
		Tallies: []store.TallyAdd{{Key: store.TallyKey{Name: "joins", Day: 5}, N: 2}},
		Marks:   []store.MarkWrite{{MarkKey: store.MarkKey{Queue: "clinic", Business: "ann"}, At: store.Now - 1, Keep: 10}},
		Pick:    calls(1),
		Events:  []store.EventSpec{{Type: dengxu.EventJoined, Token: 1, Actor: "kiosk"}},
		Ranks:   []store.RankOf{{Token: 1}},
	}
	e := apply(t, w, b)

	joined := join.Token
	joined.Arrival, joined.Seq, joined.Number = 51, 51, 13
	joined.Place, joined.JoinedAt, joined.Since = now, now, now
	called := first
	called.CloseSpan(now, dengxu.VerbCall, "anna")
	called.Version, called.State, called.Counter, called.CallNo, called.CallCount = 2, dengxu.StateCalling, "desk", 8, 1
	called.CalledAt, called.FirstCalled, called.Deadline = now, now, now+100
	called.Compared = []order.Member{first.Member()}
	wantDiff(t, "effects", &ledger.Effects{
		Meta:   ledger.Meta{Epoch: 3, Arrival: 51, CallNo: 8, Event: 92},
		Tokens: []store.Token{joined, called}, Changes: []ledger.Change{{}, {Before: &first}},
		Picked: 1, Ranks: []int{2},
		Docs:    []store.Doc{{Key: key, Site: "north", Version: 1, Due: now + 9, Body: []byte("b")}},
		Tallies: ledger.Counts[string]{{Key: "joins", Daily: ledger.Daily{Day: 5, N: 2}}},
		Series:  ledger.Counts[ledger.SeriesKey]{{Key: ledger.SeriesKey{Site: "north", Name: "A"}, Daily: ledger.Daily{Day: 5, N: 13}}},
		Marks:   []store.MarkWrite{{MarkKey: store.MarkKey{Queue: "clinic", Business: "ann"}, At: now - 1, Keep: 10}},
		OpKey:   b.Op,
		Op: &ledger.OpRecord{
			Hash: [16]byte{1}, Expires: now + 1000, Note: "n", Tokens: []dengxu.TokenID{"t3", "t1"}, Picked: 1,
		},
		Events: []store.Event{
			{
				Number: 91, At: now, Type: dengxu.EventJoined, Site: "north", Queue: "clinic", Token: "t3",
				Ref: joined.Ref(0), Label: "A013", State: dengxu.StateWaiting, Version: 1, Actor: "kiosk",
			},
			{
				Number: 92, At: now, Type: dengxu.EventCalled, Site: "north", Queue: "clinic", Counter: "desk", Token: "t1",
				Ref: first.Ref(0), Label: "A001", State: dengxu.StateCalling, Version: 2, Actor: "anna",
			},
		},
	}, e)
	wantDiff(t, "result", store.Result{
		Now: now, Tokens: []store.Token{joined, called}, Picked: 1, Docs: e.Docs, Ranks: []int{2},
		Last: store.Cursor{Epoch: 3, Number: 92},
	}, e.Result(0, now))
}

// TestApplyIsPure: the engine commits a batch again after a refusal, and a
// store judges it before it knows that it can write.
func TestApplyIsPure(t *testing.T) {
	t.Parallel()
	make1 := func() (*world, store.Batch) {
		held := waits("t1", 1)
		held.Spans = []store.Span{{To: 5}}
		w := &world{records: []store.Token{held, waits("t2", 2)}}
		b := store.Batch{
			Site: "north", Pick: calls(1), Tokens: []store.TokenWrite{{Token: held}, joins("t3")},
			Docs:   []store.DocWrite{{Doc: store.Doc{Key: store.DocKey{Kind: store.DocQueue, ID: "q"}, Due: store.Now}}},
			Marks:  []store.MarkWrite{{MarkKey: store.MarkKey{Queue: "q", Business: "b"}, At: store.Now, Keep: 1}},
			Events: []store.EventSpec{{Type: dengxu.EventEdited, Token: 1}},
		}
		edited := &b.Tokens[0].Token
		edited.Version, edited.State = 2, dengxu.StateMissed
		edited.CloseSpan(store.Now, dengxu.VerbMiss, "anna")
		edited.Undo = &store.Undo{Until: store.Now + 60_000}
		b.Pick.Exclude = "t1"
		b.Tokens[1].Series = &store.Series{Name: "A", Day: 5, First: 1}
		return w, b
	}
	w, b := make1()
	before, same := make1()
	one := apply(t, w, b)
	wantDiff(t, "the tables afterwards", before.records, w.records)
	wantDiff(t, "the batch afterwards", same, b)
	wantDiff(t, "judged again", one, apply(t, w, b))
}

func TestReplay(t *testing.T) {
	t.Parallel()
	rec := &ledger.OpRecord{Hash: [16]byte{1}, Expires: now + 1, Note: "n", Tokens: []dengxu.TokenID{"a", "b"}, Picked: 1}
	w := &world{ops: map[string]*ledger.OpRecord{"s/k": rec}}
	b := store.Batch{
		Site: "north", Op: store.Op{Scope: "s", Key: "k", Hash: [16]byte{1}, Keep: 1}, Tokens: []store.TokenWrite{joins("t1")},
		Expect: []store.Expectation{store.TokenAt{ID: "t9", Version: 9}},
	}
	e := apply(t, w, b)
	wantDiff(t, "effects", &ledger.Effects{Meta: meta, Replay: rec, Empty: true}, e)
	wantDiff(t, "result", store.Result{
		Now: now, Replayed: true, Note: "n", Picked: 1, Last: store.Cursor{Epoch: 3, Number: 90},
	}, e.Result(0, now))

	b.Op.Hash[0]++
	if _, err := ledger.Apply(w, meta, 0, &b, now); !refusedBy(err, store.OpReused{}) {
		t.Errorf("another hash: %v", err)
	}
	rec.Expires = now
	if _, err := ledger.Apply(w, meta, 0, &b, now); !refusedBy(err, b.Expect[0]) {
		t.Errorf("after its time: %v", err)
	}
}

func refusedBy(err error, by store.Expectation) bool {
	r, ok := errors.AsType[*store.Refused](err)
	return ok && cmp.Equal(r.By, by) && r.Now == now
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	op := store.Op{Key: "k", Keep: 1}
	for what, b := range map[string]store.Batch{
		"nothing":                 {Op: op},
		"a pick of an empty line": {Op: op, Pick: calls(1)},
		"expectations":            {Op: op, Expect: []store.Expectation{store.TokenAt{ID: "t1"}}},
	} {
		b.Site = "north"
		if e := apply(t, &world{}, b); !e.Empty || e.Op != nil || e.Meta != meta {
			t.Errorf("%s: %+v", what, e)
		}
	}
	b := store.Batch{Site: "north", Op: op, Pick: calls(1), Tokens: []store.TokenWrite{joins("t1")}}
	if e := apply(t, &world{}, b); e.Empty || e.Op != nil || len(e.Tokens) != 1 {
		t.Errorf("a write beside a pick of nobody: %+v", e)
	}
}

// TestTableErrors: what the tables fail with ends the batch and is passed on.
func TestTableErrors(t *testing.T) {
	t.Parallel()
	disk := errors.New("disk")
	w := &world{broken: disk, records: []store.Token{waits("t1", 1)}}
	for what, b := range map[string]store.Batch{
		"op":          {Op: store.Op{Key: "k", Keep: 1}},
		"token":       {Tokens: []store.TokenWrite{joins("t2")}},
		"expectation": {Expect: []store.Expectation{store.TokenAt{ID: "t1", Version: 1}}},
		"mark":        {Expect: []store.Expectation{store.MarkOlder{MarkKey: store.MarkKey{Queue: "q", Business: "b"}}}},
		"pick":        {Pick: calls(1)},
	} {
		b.Site = "north"
		if e, err := ledger.Apply(w, meta, 0, &b, now); !errors.Is(err, disk) || e != nil {
			t.Errorf("%s: %v, %v", what, e, err)
		}
	}
	exclude := store.Batch{Site: "north", Pick: calls(1)}
	exclude.Pick.Exclude = "t1"
	if _, err := ledger.Apply(w, meta, 0, &exclude, now); !errors.Is(err, disk) {
		t.Errorf("exclude: %v", err)
	}
}

// TestDamagedLane: a lane that names a token which does not wait is damage.
func TestDamagedLane(t *testing.T) {
	t.Parallel()
	w := &damaged{world{records: []store.Token{waits("t1", 1)}}}
	_, err := ledger.Apply(w, meta, 0, &store.Batch{Site: "north", Pick: calls(1)}, now)
	if !errors.Is(err, store.ErrDamaged) {
		t.Errorf("got %v", err)
	}
}

type damaged struct{ world }

func (*damaged) TokenAt(store.LineKey, order.Member) dengxu.TokenID { return "ghost" }

func TestDaily(t *testing.T) {
	t.Parallel()
	d := ledger.Daily{}.Add(5, 2).Add(5, 3)
	if d != (ledger.Daily{Day: 5, N: 5}) || d.On(5) != 5 || d.On(6) != 0 || d.On(4) != 0 {
		t.Errorf("%+v", d)
	}
	if e := d.Add(4, 9); e != d {
		t.Errorf("an earlier day was added: %+v", e)
	}
	if e := d.Add(6, 1); e != (ledger.Daily{Day: 6, N: 1}) {
		t.Errorf("a later day: %+v", e)
	}
}

// TestScaledPlace compares with the formula in exact arithmetic.
func TestScaledPlace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := joins("t1")
		w.Token.Place = rapid.Int64Range(now-1e10, now+1e9).Draw(t, "place")
		w.Token.Factor = rapid.Int32Range(1, 20_000).Draw(t, "factor")
		w.ScaleFrom = rapid.Int64Range(now-1e9, now+1e9).Draw(t, "from")
		e, err := ledger.Apply(&world{}, meta, 0, &store.Batch{Site: "north", Tokens: []store.TokenWrite{w}}, now)
		if err != nil {
			t.Fatal(err)
		}
		// place ≤ exact < place + 1, in thousandths.
		exact := (w.Token.Place - w.ScaleFrom) * int64(w.Token.Factor)
		got := e.Tokens[0].Place - w.ScaleFrom
		if e.Tokens[0].Place == 0 && exact/1000 < -w.ScaleFrom {
			return
		}
		if got*1000 > exact || exact >= (got+1)*1000 {
			t.Fatalf("scaled to %d, exact %d thousandths", got, exact)
		}
	})
}

// TestSeries compares with counting one by one.
func TestSeries(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &world{series: map[ledger.SeriesKey]ledger.Daily{}}
		var day int
		var last int64
		for i := range rapid.IntRange(1, 60).Draw(t, "joins") {
			s := store.Series{
				Name: "A", Day: 5 + rapid.IntRange(0, 2).Draw(t, "day"), First: 3, Last: 9,
				At: rapid.SampledFrom([]string{"widen", "wrap", "refuse"}).Draw(t, "at"),
			}
			tw := joins(dengxu.TokenID(fmt.Sprint(i)))
			tw.Series = &s
			e, err := ledger.Apply(w, meta, 0, &store.Batch{Site: "north", Tokens: []store.TokenWrite{tw}}, now)
			want := last + 1
			if s.Day > day {
				day, want = s.Day, s.First
			}
			if want > s.Last && s.At == "refuse" {
				if !refusedBy(err, store.SeriesBelow{Name: "A"}) {
					t.Fatalf("at %d: %v", want, err)
				}
				continue
			}
			if want > s.Last && s.At == "wrap" {
				want = s.First
			}
			if err != nil || e.Tokens[0].Number != want {
				t.Fatalf("got %+v, %v; want number %d", e, err, want)
			}
			last = want
			for _, c := range e.Series {
				w.series[c.Key] = c.Daily
			}
		}
	})
}
