package redisstore

import (
	"encoding/binary"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// isNewcomer reports whether a batch is one that newcomer.lua judges: it brings
// one new token that waits, with nothing else than an event, counts and a rank.
func isNewcomer(b *store.Batch) bool {
	if len(b.Tokens) != 1 || len(b.Events) != 1 || len(b.Ranks) > 1 || len(b.Docs)+len(b.Marks) > 0 || b.Pick != nil {
		return false
	}
	w := &b.Tokens[0]
	t := &w.Token
	return t.Version == 1 && t.State == dengxu.StateWaiting && b.Events[0].Token == 1 && !hasMore(w)
}

// whose is the cell of the person whom the token of a batch belongs to, and the
// batch's operation with what is remembered of it; "" and nil where there is none.
func whose(b *store.Batch) (person, op string, memory []byte) {
	if business := b.Tokens[0].Token.Business; business != "" {
		person = personField(business)
	}
	if b.Op.Key != "" {
		op, memory = opField(b.Op), opMemory(b.Op)
	}
	return person, op, memory
}

// columns are what newcomers of a group have of their own, in their order.
// newcomer.lua says what each column is.
type columns struct {
	people, ids, ops        []string
	memories, rests, events packer
}

// add takes in a newcomer.
func (cs *columns) add(b *store.Batch) {
	t := &b.Tokens[0].Token
	person, op, memory := whose(b)
	cs.people, cs.ids, cs.ops = append(cs.people, person), append(cs.ids, packID(t.ID)), append(cs.ops, op)
	cs.memories.bytes(memory)
	cs.rests.bytes(tail(t))
	cs.events.bytes(appendEvent(nil, b, &b.Events[0]))
}

// some is how many fields packSome writes.
func (cs *columns) some() int {
	if len(cs.ids) == 0 {
		return 0
	}
	return 4 // the kinds are one
}

// packSome writes the columns that are no cells, if there are newcomers.
func (cs *columns) packSome(p *packer) {
	if len(cs.ids) == 0 {
		return
	}
	for _, c := range []struct {
		name string
		of   *packer
	}{{"memories", &cs.memories}, {"rests", &cs.rests}, {"events", &cs.events}} {
		p.text(c.name)
		p.array(len(cs.ids))
		p.buf = append(p.buf, c.of.buf...)
	}
}

// cells are the columns that the script reads as cells.
func (cs *columns) cells() map[int64][]string {
	if len(cs.ids) == 0 {
		return nil
	}
	return map[int64][]string{keyState: cs.people, keyLive: cs.ids, keyOps: cs.ops}
}

// opMemory is the hash and the note of an operation, as they are kept.
func opMemory(op store.Op) []byte {
	m := make([]byte, 0, len(op.Hash)+1+len(op.Note))
	return append(append(append(m, op.Hash[:]...), byte(len(op.Note))), op.Note...)
}

// packKind writes by position what newcomers of a kind have in common; kind.lua
// names the positions.
func packKind(p *packer, c cells, x *shared, b *store.Batch) {
	w := &b.Tokens[0]
	t := &w.Token
	ix := t.Indexes()
	line := packLine(ix.Line)
	c.line(ix.Line)
	p.array(14)
	list(p, b.Expect, func(e *store.Expectation) {
		if *e == store.Expectation(store.HolderFree{Holder: store.HolderKey{Line: ix.Line, Business: t.Business}}) {
			p.int(0)
			return
		}
		p.int(x.expect.index(func(p *packer) { packExpectation(p, c, *e) }))
	})
	f := writtenFlags(t, &ix)
	p.bytes(stamp(t, f))
	p.int(f)
	p.int(stateCode(t.State))
	p.int(packTime(t.Place))
	p.text(line)
	p.text(line + packLane(t.Lane))
	p.int(packTime(t.Due))
	packSeries(p, c, t.Site, w.Series)
	list(p, b.Tallies, func(t *store.TallyAdd) { packTally(p, c, t) })
	if len(b.Ranks) == 0 {
		p.int(0)
	} else {
		p.int(x.asks.index(func(p *packer) { packRankOf(p, &x.rules, b, &b.Ranks[0]) }))
	}
	if b.Op.Key == "" {
		p.int(0)
	} else {
		p.int(b.Op.Keep)
	}
	if ix.Person == "" {
		p.no()
	} else {
		p.bytes(beginPerson(&ix, len(packID(t.ID)), len(line)))
	}
	p.bool(ix.Holder.Business != "")
}

// stamp is the version, the flags and the state of a record, packed.
func stamp(t *store.Token, flags int64) []byte {
	s := binary.BigEndian.AppendUint32(make([]byte, 0, 6), uint32(t.Version))
	return append(s, byte(flags), byte(stateCode(t.State)))
}
