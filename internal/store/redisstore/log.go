package redisstore

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// The kinds of entries in the log, as log.lua writes them.
const (
	entryPlain = iota // an event that is about no token
	entryToken        // an event about a token that the batch wrote
	entryCall         // a picked token
	entryStep         // a step of the clock
	entryLost         // the server lost commits
)

// packEvent writes an event without what only the store knows: its number and
// time, and the arrival and number of its token. The label waits as width and
// prefix, ids of tokens are packed.
func packEvent(p *packer, b *store.Batch, spec *store.EventSpec) {
	p.array(2)
	p.int(int64(spec.Token))
	p.bytes(appendEvent(nil, b, spec))
}

func appendEvent(dst []byte, b *store.Batch, spec *store.EventSpec) []byte {
	ev := store.Event{
		Type: spec.Type, Site: b.Site, Queue: spec.Queue, Counter: spec.Counter,
		Actor: spec.Actor, Reason: spec.Reason, Data: spec.Data,
	}
	if spec.Token > 0 {
		t := &b.Tokens[spec.Token-1].Token
		ev.Token = dengxu.TokenID(packID(t.ID))
		ev.Label = string([]byte{byte(t.Width)}) + t.Prefix
		ev.State, ev.Version = t.State, t.Version
		if ev.Queue == "" {
			ev.Queue = t.Queue
		}
		if ev.Counter == "" {
			ev.Counter = t.Counter
		}
		if ev.Reason == "" {
			ev.Reason = t.Reason
		}
	}
	return store.AppendEvent(dst, &ev)
}

// decodeEntry reads one entry of the log of partition part: the events of one
// group of batches.
func decodeEntry(part store.Partition, entry []byte) ([]store.Event, error) {
	r := &reader{buf: entry, ok: true}
	now, first := r.time(), r.number(6)
	var events []store.Event
	for r.ok && len(r.buf) > 0 {
		ev, err := decodeEvent(part, r, first+uint64(len(events)), now)
		if err != nil {
			return nil, err
		}
		events = append(events, *ev)
	}
	if !r.ok {
		return nil, fmt.Errorf("entry of the log is cut off: %w", store.ErrDamaged)
	}
	return events, nil
}

func decodeEvent(part store.Partition, r *reader, number uint64, now int64) (*store.Event, error) {
	kind := r.number(1)
	var t store.Token // as far as the log tells about it
	switch kind {
	case entryPlain:
	case entryToken, entryCall:
		t.Arrival, t.Number = r.number(5), int64(r.number(6))
	case entryStep:
		return decodeStep(r, number, now)
	case entryLost:
		return decodeLost(r, number, now), nil
	default:
		return nil, fmt.Errorf("log has an entry of kind %d: %w", kind, store.ErrDamaged)
	}
	if kind == entryCall {
		t.Width, t.Version = int(r.number(1)), r.number(4)
		t.ID, t.Prefix, t.Queue = dengxu.TokenID(r.text(1)), r.text(1), dengxu.QueueID(r.text(1))
	}
	ev, err := store.DecodeEvent(number, []byte(r.text(4)))
	if err != nil || !r.ok {
		return ev, err
	}
	ev.At = now
	if kind == entryPlain {
		return ev, nil
	}
	if kind == entryCall {
		ev.Token, ev.Queue, ev.Version = t.ID, t.Queue, t.Version
	} else if ev.Label != "" {
		t.Width, t.Prefix = int(ev.Label[0]), ev.Label[1:]
	}
	ev.Token, ev.Label, ev.Ref = unpackID(string(ev.Token)), t.Label(), t.Ref(part)
	return ev, nil
}

func decodeStep(r *reader, number uint64, now int64) (*store.Event, error) {
	by, did := r.text(1), r.text(1)
	ms, err := strconv.ParseInt(by, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("log has a step of %q ms: %w", by, store.ErrDamaged)
	}
	return new(store.Step{By: ms, Did: store.StepDid(did)}.Event(number, now)), nil
}

func decodeLost(r *reader, number uint64, now int64) *store.Event {
	epoch, events, joins, burned, repeated, calls := r.number(6), r.number(6), r.number(6), r.number(6), r.number(6), r.number(6)
	data := fmt.Appendf(nil, `{"epoch":%d,"events":%d,"joins":%d,"numbers_burned":%d,"numbers_repeated":%d,"calls_repeated":%d}`,
		epoch, events, joins, burned, repeated, calls)
	return &store.Event{Number: number, At: now, Type: dengxu.EventWritesLost, Data: data}
}

// firstOf is the number of the first event of an entry.
func firstOf(entry []byte) uint64 {
	if len(entry) < 12 {
		return 0
	}
	var b [8]byte
	copy(b[2:], entry[6:12])
	return binary.BigEndian.Uint64(b[:])
}
