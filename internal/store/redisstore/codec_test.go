package redisstore

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// packedRecord is a record as a script would write it at a time.
func packedRecord(t *store.Token, now int64) []byte {
	ix := t.Indexes()
	w := binary.BigEndian.AppendUint32(nil, uint32(t.Version))
	w = append(w, byte(flags(&ix, t.State)), byte(stateCode(t.State)))
	for _, n := range []struct {
		v     int64
		bytes int
	}{{now, 6}, {t.Place, 6}, {int64(t.Arrival), 5}, {int64(t.Seq), 5}, {int64(t.CallNo), 5}, {t.Number, 6}, {t.Due, 6}} {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], uint64(n.v))
		w = append(w, b[8-n.bytes:]...)
	}
	return append(w, tail(t)...)
}

func someToken() *store.Token {
	return &store.Token{
		ID: "one", Site: "north", Queue: "clinic", Gen: 20_514, Prefix: "A", Width: 3, Number: 12, State: dengxu.StateServing, Version: 7,
		Arrival: 5, Seq: 6, CallNo: 4, Since: 1_000, JoinedAt: 900, Place: 800, Due: 2_000, Lane: order.Lane{Class: "a", Group: "vip", K: 10},
		Factor: 500, Business: "ann", Unique: true, Counter: "desk", Attrs: []byte(`{"age":70}`),
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	want := someToken()
	got, err := decodeRecord(packID(want.ID), packedRecord(want, 1_000))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// shortRecord is a record as a script would write it of one who joins at a time
// and stands there.
func shortRecord(t *store.Token, now int64) []byte {
	w := append([]byte{}, short|asStamped|inLane, byte(stateCode(t.State)))
	for _, n := range []struct {
		v     int64
		bytes int
	}{{now, 6}, {int64(t.Arrival), 5}, {t.Number, 6}} {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], uint64(n.v))
		w = append(w, b[8-n.bytes:]...)
	}
	return append(w, tail(t)...)
}

// someJoin is a token as it joins, and as it stands then at a time.
func someJoin(now int64) (written, want store.Token) {
	written = *someToken()
	written.State, written.Version, written.CallNo, written.Seq, written.Counter, written.Due = dengxu.StateWaiting, 1, 0, 0, "", 0
	written.JoinedAt, written.Since = store.Now, store.Now
	want = written
	want.JoinedAt, want.Since, want.Place, want.Seq = now, now, now, want.Arrival
	return written, want
}

func TestShortRecord(t *testing.T) {
	t.Parallel()
	written, want := someJoin(1_000)
	rec := shortRecord(&written, 1_000)
	got, err := decodeRecord(packID(want.ID), rec)
	if diff := cmp.Diff(&want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for n := range rec[:24] {
		if got, err := decodeRecord(packID(want.ID), rec[:n]); err == nil {
			t.Errorf("%d bytes of it read as %+v", n, got)
		}
	}
}

// FuzzRecord: whatever stands in Redis is a record or an error.
func FuzzRecord(f *testing.F) {
	f.Add(packedRecord(someToken(), 1_000))
	joins, _ := someJoin(1_000)
	f.Add(shortRecord(&joins, 1_000))
	f.Add([]byte("short"))
	f.Fuzz(func(t *testing.T, rec []byte) {
		tok, err := decodeRecord(packID("one"), rec)
		if err == nil && (tok.ID != "one" || !tok.State.Valid()) {
			t.Errorf("%q reads as %+v", rec, tok)
		}
	})
}

// FuzzEntry: whatever stands in the log is events, numbered on, or an error.
func FuzzEntry(f *testing.F) {
	head := append(make([]byte, 11), 9)
	event := store.AppendEvent(nil, &store.Event{Type: dengxu.EventJoined, Token: "one", Label: "\x03A"})
	plain := binary.BigEndian.AppendUint32(append(head[:12:12], entryPlain), uint32(len(event)))
	f.Add(append(plain, event...))
	f.Add(append(head[:12:12], "\x03\x0260\x08returned"...))
	f.Add(append(append(head[:12:12], entryLost), make([]byte, 36)...))
	f.Fuzz(func(t *testing.T, entry []byte) {
		events, err := decodeEntry(0, entry)
		for i, ev := range events {
			if want := firstOf(entry) + uint64(i); err == nil && ev.Number != want {
				t.Errorf("%q: event %d has the number %d, want %d", entry, i, ev.Number, want)
			}
		}
	})
}

// FuzzAnswer: whatever a script answers to a view is read or an error.
func FuzzAnswer(f *testing.F) {
	place := "\xac\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00"
	f.Add([]byte("\xc2\x80\x92\x9a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80" +
		"\x92\x91\x95\xa0\xa1g\x00\x91" + place + "\x01\x92\x02" + place + "\x92\xa1g\x03"))
	f.Add([]byte("\xc2\x80\x92\x9a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80"))
	f.Add([]byte("\xc2\xdd\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, reply []byte) {
		ask := &store.Ask{Tokens: []dengxu.TokenID{"one"}, Counters: []dengxu.CounterID{"desk"}, Lines: []store.LineKey{{Queue: "clinic"}}}
		for _, d := range []order.Discipline{order.Ratio, order.Strict, order.Aging} {
			ask.Afters = append(ask.Afters, store.AfterAsk{Ordering: store.Ordering{Rule: order.Rule{Discipline: d}}, N: 2})
		}
		u := &unpacker{buf: reply}
		view, _, _ := readView(u, ask, 1, 1_000)
		if u.err == nil && len(view.Tokens) != 1 {
			t.Errorf("%q reads as %+v", reply, view)
		}
	})
}

// TestNumbers: what Go packs, it reads.
func TestNumbers(t *testing.T) {
	t.Parallel()
	all := []int64{0, 1, 127, 128, 1<<32 - 1, 1 << 32, 1<<50 + 1, -1, -200}
	w := &packer{}
	w.array(len(all))
	for _, n := range all {
		w.int(n)
	}
	u := &unpacker{buf: w.buf}
	var got []int64
	for range u.array() {
		got = append(got, u.int())
	}
	if diff := cmp.Diff(all, got); u.err != nil || u.at != len(u.buf) || diff != "" {
		t.Errorf("%v, %d bytes left (-packed +read):\n%s", u.err, len(u.buf)-u.at, diff)
	}
}
