package redisstore

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// The flags of a record, as record.lua has them: what store.Indexes derives.
const (
	inLane = 1 << iota
	hasPerson
	isHolder
	atCounter
	isBusy
	hasEnded
	asStamped // joined, and in this state since, when the record was written
	short     // record.lua says what it is, and what the head does not have
)

// stamped reports whether a record's times say nothing that its head does not.
func stamped(t *store.Token) bool { return t.JoinedAt == store.Now && t.Since == store.Now }

func flags(ix *store.Indexes, s dengxu.State) int64 {
	var f int64
	if ix.InLane {
		f |= inLane
	}
	if ix.Person != "" {
		f |= hasPerson
	}
	if ix.Holder.Business != "" {
		f |= isHolder
	}
	if ix.Counter != "" {
		f |= atCounter
	}
	if ix.Busy {
		f |= isBusy
	}
	if s.Ended() {
		f |= hasEnded
	}
	return f
}

// writtenFlags are those of a record that is about to be written.
func writtenFlags(t *store.Token, ix *store.Indexes) int64 {
	f := flags(ix, t.State)
	if stamped(t) {
		f |= asStamped
	}
	return f
}

var states = dengxu.States()

// stateCode is how scripts name a state, from 1.
func stateCode(s dengxu.State) int64 { return int64(slices.Index(states, s)) + 1 }

// tail is the record behind what a script fills in: what scripts read of it,
// no patch, and the rest as the codec writes it. Times may be symbolic.
func tail(t *store.Token) []byte {
	rest := *t
	rest.ID, rest.Site, rest.Version, rest.State, rest.Place, rest.Arrival, rest.Seq = "", "", 0, "", 0, 0, 0
	rest.CallNo, rest.Number, rest.Due, rest.Gen, rest.Width = 0, 0, 0, 0, 0
	if stamped(t) {
		rest.JoinedAt, rest.Since = 0, 0
	}
	lane := packLane(t.Lane)
	rest.Queue, rest.Lane, rest.Counter, rest.Prefix, rest.Business = "", order.Lane{}, "", "", ""
	b := make([]byte, 0, 160+len(t.Attrs)+len(t.Payload))
	b = binary.BigEndian.AppendUint32(b, uint32(t.Gen))
	b = append(b, byte(t.Width))
	for _, s := range []string{string(t.Site), string(t.Queue), lane, t.Prefix} {
		b = append(append(b, byte(len(s))), s...)
	}
	b = append(binary.BigEndian.AppendUint16(b, uint16(len(t.Business))), t.Business...)
	b = append(append(b, byte(len(t.Counter))), t.Counter...)
	b = append(b, 0, 0) // no patch
	return store.AppendToken(b, &rest)
}

// reader reads a record byte by byte; ok turns false at the first lack.
type reader struct {
	buf []byte
	ok  bool
}

func (r *reader) take(n int) []byte {
	if n > len(r.buf) {
		r.ok = false
		return make([]byte, n)
	}
	b := r.buf[:n]
	r.buf = r.buf[n:]
	return b
}

func (r *reader) number(n int) uint64 { return big(r.take(n)) }

func (r *reader) time() int64 { return int64(r.number(6)) }

// text reads a string whose length stands before it in n bytes.
func (r *reader) text(n int) string {
	length := int(r.number(n))
	if length > len(r.buf) {
		r.ok = false
		return ""
	}
	return string(r.take(length))
}

// head is how a record begins: what scripts read of it, and fill in.
type head struct {
	version            uint64
	flags              int64 // others follow from the rest
	state              int
	now, place         int64
	arrival, seq, call uint64
	number, due        int64
}

// head reads a head, short or not.
func (r *reader) head() head {
	if r.ok && len(r.buf) > 0 && r.buf[0]&short != 0 {
		h := head{version: 1, flags: int64(r.number(1)) &^ short, state: int(r.number(1)), now: r.time(), arrival: r.number(5)}
		h.place, h.seq, h.number = h.now, h.arrival, r.time()
		return h
	}
	return head{
		version: r.number(4), flags: int64(r.number(1)), state: int(r.number(1)), now: r.time(), place: r.time(),
		arrival: r.number(5), seq: r.number(5), call: r.number(5), number: r.time(), due: r.time(),
	}
}

// decodeRecord reads a record as scripts keep it.
func decodeRecord(id string, rec []byte) (*store.Token, error) {
	r := &reader{buf: rec, ok: true}
	h := r.head()
	gen, width := r.number(4), r.number(1)
	site, queue, lane, prefix, business, counter := r.text(1), r.text(1), r.text(1), r.text(1), r.text(2), r.text(1)
	patch := &reader{buf: []byte(r.text(2)), ok: true}
	if !r.ok || h.state < 1 || h.state > len(states) {
		return nil, fmt.Errorf("record of %s is cut off: %w", unpackID(id).Mask(), store.ErrDamaged)
	}
	t, err := store.DecodeToken(unpackID(id), r.buf)
	if err != nil {
		return nil, err
	}
	t.State, t.Place, t.Arrival, t.Seq, t.CallNo = states[h.state-1], h.place, h.arrival, h.seq, h.call
	t.Number, t.Due, t.Gen, t.Width = h.number, h.due, int(int32(gen)), int(width)
	t.Site, t.Queue, t.Counter, t.Prefix, t.Business = dengxu.SiteID(site), dengxu.QueueID(queue), dengxu.CounterID(counter), prefix, business
	t.Lane, _, _ = unpackLane(lane)
	if h.flags&asStamped != 0 {
		t.JoinedAt, t.Since = h.now, h.now
	}
	t.ResolveTimes(h.now)
	if len(patch.buf) > 0 {
		*t = patched(t, patch)
		if !patch.ok {
			return nil, fmt.Errorf("record of %s has a bad call: %w", unpackID(id).Mask(), store.ErrDamaged)
		}
	}
	t.Version = h.version
	return t, nil
}

// patched is a record that was picked after it was written: t has the state
// and counter of the call in its head, the patch those before it.
func patched(t *store.Token, r *reader) store.Token {
	c := store.Call{
		Now: r.time(), Number: t.CallNo, State: t.State, Counter: t.Counter, Due: t.Due,
		Deadline: r.time(), Passed: int(r.number(4)),
	}
	if state := int(r.number(1)); state >= 1 && state <= len(states) {
		t.State = states[state-1]
	}
	c.Actor = r.text(1)
	t.Counter = dengxu.CounterID(r.text(1))
	for r.ok && len(r.buf) > 0 {
		m, ok := unpackMember(r.text(1))
		r.ok = r.ok && ok
		c.Compared = append(c.Compared, m)
	}
	called := *t
	called.Call(c)
	return called
}
