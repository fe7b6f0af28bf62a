package store_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

var update = flag.Bool("update", false, "write golden files anew")

// sometimes draws from g, or the zero value as often as not: most fields of
// most records are empty.
func sometimes[V any](t *rapid.T, g *rapid.Generator[V], label string) V {
	if rapid.Bool().Draw(t, label+"?") {
		return g.Draw(t, label)
	}
	var zero V
	return zero
}

var (
	moments = rapid.Custom(func(t *rapid.T) int64 {
		if rapid.Bool().Draw(t, "wild") {
			return rapid.Int64().Draw(t, "any")
		}
		return 1_790_000_000_000 + rapid.Int64Range(-100_000_000, 100_000_000).Draw(t, "near")
	})
	texts = rapid.OneOf(rapid.StringMatching(`[A-Za-z0-9_.-]{1,64}`), rapid.String())
	lanes = rapid.Custom(func(t *rapid.T) order.Lane {
		return order.Lane{
			Class: sometimes(t, texts, "class"), Group: sometimes(t, texts, "group"),
			K: rapid.IntRange(0, 400).Draw(t, "k"),
		}
	})
	blobs = rapid.Custom(func(t *rapid.T) []byte {
		b := rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "bytes")
		return b
	})
	stateNames = rapid.SampledFrom(dengxu.States())
)

func drawToken(t *rapid.T) *store.Token {
	at := func(label string) int64 { return sometimes(t, moments, label) }
	text := func(label string) string { return sometimes(t, texts, label) }
	num := func(label string) int { return sometimes(t, rapid.Int(), label) }
	yes := func(label string) bool { return rapid.Bool().Draw(t, label) }
	tok := &store.Token{
		ID: dengxu.TokenID(text("id")), Site: dengxu.SiteID(text("site")),
		Arrival: sometimes(t, rapid.Uint64(), "arrival"),
		Queue:   dengxu.QueueID(text("queue")), Gen: num("gen"), Class: text("class"), Group: text("group"),
		Prefix: text("prefix"), Number: int64(num("number")), Width: num("width"),
		State: stateNames.Draw(t, "state"), Version: sometimes(t, rapid.Uint64(), "version"),
		Since: at("since"), Lane: lanes.Draw(t, "lane"), Place: at("place"),
		Seq: sometimes(t, rapid.Uint64(), "seq"), Origin: at("origin"),
		Factor: sometimes(t, rapid.Int32(), "factor"), Clipped: yes("clipped"), HeadStart: at("head"),
		JoinedAt: at("joined"), Booked: at("booked"), Due: at("due"), Why: text("why"), FirstCalled: at("first"),
		CalledAt: at("called"), Deadline: at("deadline"), CallNo: sometimes(t, rapid.Uint64(), "call_no"),
		CallCount: num("call_count"), Confirmed: yes("confirmed"), Asked: yes("asked"),
		StartedAt: at("started"), EndedAt: at("ended"), Reason: text("reason"),
		Counter: dengxu.CounterID(text("counter")), Misses: num("misses"), Defers: num("defers"), Stars: num("stars"),
		Business: text("business"), Unique: yes("unique"), Channel: text("channel"), Party: num("party"),
		Name: text("name"), Phone: text("phone"), Note: text("note"),
		Attrs: sometimes(t, blobs, "attrs"), Payload: sometimes(t, blobs, "payload"), Passed: num("passed"),
	}
	if yes("class lane") {
		tok.Lane.Class = tok.Class
	}
	for range rapid.IntRange(0, 3).Draw(t, "compared") {
		tok.Compared = append(tok.Compared, order.Member{
			Lane: lanes.Draw(t, "lane"), Key: order.Key{Place: at("place"), Seq: rapid.Uint64().Draw(t, "seq")},
		})
	}
	for range rapid.IntRange(0, 3).Draw(t, "spans") {
		s := store.Span{
			State: stateNames.Draw(t, "state"), From: at("from"), To: at("to"), Queue: tok.Queue,
			Counter: dengxu.CounterID(text("counter")), Actor: text("actor"),
			Verb: dengxu.Verb(text("verb")), Implicit: yes("implicit"),
		}
		if yes("other queue") {
			s.Queue = dengxu.QueueID(text("queue"))
		}
		tok.Spans = append(tok.Spans, s)
	}
	tok.Rules = drawNames(t, "rules")
	if yes("judged") {
		tok.Judged = &store.Judged{
			Queue: dengxu.QueueID(text("queue")), Class: text("class"),
			Missed: at("missed"), Joined: at("joined"), Served: at("served"),
		}
	}
	if tok.Judged != nil && yes("asked how many") {
		tok.Judged.Waiting = new(rapid.IntRange(0, 1<<40).Draw(t, "waiting"))
	}
	if yes("undo") {
		tok.Undo = drawUndo(t)
	}
	return tok
}

func drawNames(t *rapid.T, label string) (names []string) {
	for range rapid.IntRange(0, 3).Draw(t, label) {
		names = append(names, texts.Draw(t, label))
	}
	return names
}

func drawUndo(t *rapid.T) *store.Undo {
	at := func(label string) int64 { return sometimes(t, moments, label) }
	text := func(label string) string { return sometimes(t, texts, label) }
	return &store.Undo{
		Verb: dengxu.Verb(text("verb")), Actor: text("actor"), Until: at("until"),
		Before: store.UndoState{
			State: stateNames.Draw(t, "state"), Queue: dengxu.QueueID(text("queue")), Gen: rapid.Int().Draw(t, "gen"),
			Class: text("class"), Group: text("group"), Lane: lanes.Draw(t, "lane"), Place: at("place"),
			Seq: rapid.Uint64().Draw(t, "seq"), Origin: at("origin"), Factor: rapid.Int32().Draw(t, "factor"),
			Due: at("due"), Why: text("why"), Deadline: at("deadline"), CallCount: rapid.Int().Draw(t, "calls"),
			Confirmed: rapid.Bool().Draw(t, "confirmed"), StartedAt: at("started"),
			Counter: dengxu.CounterID(text("counter")), Misses: rapid.Int().Draw(t, "misses"),
			Rules: drawNames(t, "before"),
		},
	}
}

func TestTokenRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := drawToken(t)
		b := store.AppendToken([]byte("before"), want)
		got, err := store.DecodeToken(want.ID, b[len("before"):])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestEventAndDocRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := func(label string) string { return sometimes(t, texts, label) }
		ev := &store.Event{
			Number: rapid.Uint64().Draw(t, "number"), At: sometimes(t, moments, "at"),
			Type: dengxu.EventType(text("type")), Site: dengxu.SiteID(text("site")),
			Queue: dengxu.QueueID(text("queue")), Counter: dengxu.CounterID(text("counter")),
			Token: dengxu.TokenID(text("token")), Ref: text("ref"), Label: text("label"),
			State: stateNames.Draw(t, "state"), Version: rapid.Uint64().Draw(t, "version"),
			Actor: text("actor"), Reason: text("reason"), Data: sometimes(t, blobs, "data"),
		}
		gotEvent, err := store.DecodeEvent(ev.Number, store.AppendEvent(nil, ev))
		if err != nil || !cmp.Equal(ev, gotEvent) {
			t.Fatal(err, cmp.Diff(ev, gotEvent))
		}
		doc := &store.Doc{
			Key:  store.DocKey{Kind: store.DocKind(text("kind")), ID: text("id")},
			Site: dengxu.SiteID(text("site")), Version: rapid.Uint64().Draw(t, "version"),
			Due: sometimes(t, moments, "due"), Body: sometimes(t, blobs, "body"),
		}
		gotDoc, err := store.DecodeDoc(doc.Key, store.AppendDoc(nil, doc))
		if err != nil || !cmp.Equal(doc, gotDoc) {
			t.Fatal(err, cmp.Diff(doc, gotDoc))
		}
	})
}

// TestWordsKeepTheirNumbers: a word that moved would turn old records into
// others.
func TestWordsKeepTheirNumbers(t *testing.T) {
	t.Parallel()
	var all []string
	for _, s := range dengxu.States() {
		all = append(all, string(s))
	}
	for _, w := range append(all, "join", "release", "token.joined", "partition.clock_stepped", "kiosk", "ordinary", "key") {
		e := store.NewEncoder(nil)
		e.Word(1, w)
		if len(e.Buf()) != 3 {
			t.Errorf("%q takes %d bytes, so it is not a known word", w, len(e.Buf()))
		}
	}
	for word, want := range map[string]byte{"scheduled": 1, "failed": 10, "join": 11, "release": 35, "token.joined": 36, "partition.clock_stepped": 67} {
		e := store.NewEncoder(nil)
		e.Word(1, word)
		if got := e.Buf()[2]; got != want {
			t.Errorf("%q has number %d, was %d", word, got, want)
		}
	}
}

// samples are the records of the golden file: one as it stands after a join,
// one with every field set, an event and a document.
func samples() (joined, full *store.Token, ev *store.Event, doc *store.Doc) {
	const t0 = 1_790_000_000_000
	joined = &store.Token{
		ID: "01jv3k5t9q0m4x7z2b8n6c1d5f", Site: "main", Arrival: 4711, Queue: "clinic", Gen: 20_700,
		Class: "language", Group: "ordinary", Prefix: "A", Number: 12, Width: 3,
		State: dengxu.StateWaiting, Version: 1, Since: t0, Lane: order.Lane{Class: "language", K: 20},
		Place: t0, Seq: 4711, Factor: 1000, JoinedAt: t0, Due: t0 + 7_200_000, Business: "customer-0001234",
		Unique: true, Channel: "kiosk", Party: 2, Name: "欧阳修", Phone: "+8613800138000",
		Attrs: []byte(`{"age":71,"vip_level":0}`),
	}
	copied := *joined
	full = &copied
	full.State, full.Version, full.Since, full.Seq = dengxu.StateHeld, 9, t0+600_000, 4800
	full.Lane, full.Place, full.Origin = order.Lane{Class: "@window1", Group: "VIP", K: 10}, t0-1000, t0-2000
	full.Clipped, full.HeadStart, full.Why, full.Asked, full.Confirmed = true, -1000, "deferred", true, true
	full.FirstCalled, full.CalledAt, full.Deadline, full.CallNo, full.CallCount = t0+1, t0+500_000, t0+800_000, 77, 2
	full.StartedAt, full.EndedAt, full.Reason, full.Counter = t0+550_000, t0+600_000, "papers missing", "window1"
	full.Misses, full.Defers, full.Stars, full.Note, full.Payload, full.Passed = 1, 2, 5, "wheelchair", []byte(`[1]`), 3
	full.Compared = []order.Member{{Lane: full.Lane, Key: order.Key{Place: t0 - 1000, Seq: 4800}}, {Lane: joined.Lane, Key: order.Key{Place: t0, Seq: 1}}}
	full.Spans = []store.Span{
		{State: dengxu.StateWaiting, From: t0, To: t0 + 500_000, Queue: "clinic", Actor: "counter:window1", Verb: dengxu.VerbCall},
		{State: dengxu.StateServing, From: t0 + 550_000, To: t0 + 600_000, Queue: "xray", Counter: "window1", Actor: "operator", Verb: dengxu.VerbHold, Implicit: true},
	}
	full.Undo = &store.Undo{Verb: dengxu.VerbTransfer, Actor: "counter:window1", Until: t0 + 660_000, Before: store.UndoState{
		State: dengxu.StateServing, Queue: "xray", Gen: 20_700, Class: "language", Group: "ordinary",
		Lane: order.Lane{Class: "language", K: 20}, Place: t0, Seq: 4711, Origin: t0 - 5, Factor: 1000, Due: t0 + 9,
		Why: "missed", Deadline: t0 + 10, CallCount: 1, Confirmed: true, StartedAt: t0 + 11, Counter: "window1", Misses: 1,
	}}
	ev = &store.Event{
		Number: 99, At: t0, Type: dengxu.EventJoined, Site: "main", Queue: "clinic", Counter: "window1",
		Token: joined.ID, Ref: joined.Ref(0), Label: joined.Label(), State: dengxu.StateWaiting, Version: 1,
		Actor: "kiosk", Reason: "walk in", Data: json.RawMessage(`{"rank":3}`),
	}
	doc = &store.Doc{Key: store.DocKey{Kind: store.DocQueue, ID: "clinic"}, Site: "main", Version: 3, Due: t0, Body: []byte(`{"name":"Clinic"}`)}
	return joined, full, ev, doc
}

// TestGolden reads records as an earlier build wrote them. A change that
// breaks it breaks the folders of users.
func TestGolden(t *testing.T) {
	t.Parallel()
	joined, full, ev, doc := samples()
	file := filepath.Join("testdata", "codec_v1.golden")
	if *update {
		lines := []string{
			hex.EncodeToString(store.AppendToken(nil, joined)), hex.EncodeToString(store.AppendToken(nil, full)),
			hex.EncodeToString(store.AppendEvent(nil, ev)), hex.EncodeToString(store.AppendDoc(nil, doc)),
		}
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var golden [][]byte
	for line := range strings.Lines(string(raw)) {
		b, err := hex.DecodeString(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		golden = append(golden, b)
	}
	gotJoined, err1 := store.DecodeToken(joined.ID, golden[0])
	gotFull, err2 := store.DecodeToken(full.ID, golden[1])
	gotEvent, err3 := store.DecodeEvent(ev.Number, golden[2])
	gotDoc, err4 := store.DecodeDoc(doc.Key, golden[3])
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	want := []any{joined, full, ev, doc}
	if diff := cmp.Diff(want, []any{gotJoined, gotFull, gotEvent, gotDoc}); diff != "" {
		t.Error(diff)
	}
	if n := len(golden[0]); n > 200 {
		t.Errorf("a waiting token takes %d bytes, more than 200", n)
	}
}

func FuzzDecode(f *testing.F) {
	joined, full, ev, doc := samples()
	f.Add(store.AppendToken(nil, joined))
	f.Add(store.AppendToken(nil, full))
	f.Add(store.AppendEvent(nil, ev))
	f.Add(store.AppendDoc(nil, doc))
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, b []byte) {
		tok, err := store.DecodeToken("x", b)
		checkDecoded(t, err, func() []byte { return store.AppendToken(nil, tok) }, func(b []byte) (any, any, error) {
			again, err := store.DecodeToken("x", b)
			return tok, again, err
		})
		ev, err := store.DecodeEvent(7, b)
		checkDecoded(t, err, func() []byte { return store.AppendEvent(nil, ev) }, func(b []byte) (any, any, error) {
			again, err := store.DecodeEvent(7, b)
			return ev, again, err
		})
		doc, err := store.DecodeDoc(store.DocKey{}, b)
		checkDecoded(t, err, func() []byte { return store.AppendDoc(nil, doc) }, func(b []byte) (any, any, error) {
			again, err := store.DecodeDoc(store.DocKey{}, b)
			return doc, again, err
		})
	})
}

// checkDecoded holds garbage to ErrDamaged, and what decodes to meaning the
// same after being written again.
func checkDecoded(t *testing.T, err error, encode func() []byte, decode func([]byte) (any, any, error)) {
	t.Helper()
	if err != nil {
		if !errors.Is(err, store.ErrDamaged) {
			t.Fatalf("error %v is not ErrDamaged", err)
		}
		return
	}
	b := encode()
	was, is, err := decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(was, is, cmp.Comparer(bytes.Equal)); diff != "" {
		t.Fatal(diff)
	}
}
