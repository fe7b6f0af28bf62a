package redisstore

import (
	"cmp"
	"encoding/binary"
	"strconv"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// isTurn reports whether a batch is one that turn.lua judges: it ends the token
// that a counter has and calls the next one there, with nothing else than an
// event, and expects of the counter its settings, its state, and that it has
// nothing else.
func isTurn(b *store.Batch) bool {
	if len(b.Tokens) != 1 || len(b.Events) != 1 || len(b.Ranks)+len(b.Docs)+len(b.Marks)+len(b.Tallies) > 0 || b.Pick == nil {
		return false
	}
	w, p := &b.Tokens[0], b.Pick
	t := &w.Token
	if t.Version < 2 || !t.State.Ended() || w.Archive || w.Series != nil || w.ScaleFrom|w.PlaceFloor|w.Penalty != 0 {
		return false
	}
	if t.Arrival == 0 || t.Seq == 0 || t.CallNo == store.NextCall || t.Place < 0 || store.Symbolic(t.Place) || b.Events[0].Token != 1 {
		return false
	}
	if p.Max != 1 || len(p.Lines) != 1 || !p.State.AtCounter() || p.Counter != t.Counter || p.Exclude != t.ID && p.Exclude != "" {
		return false
	}
	own := [3]int{}
	for i := range b.Expect {
		if n := ownOf(b, i); n <= 0 {
			own[-n]++
		}
	}
	return own == [3]int{1, 1, 1}
}

// What a turn expects of its counter alone: a kind of turns has these numbers for
// it, and positive ones for what turns share.
const (
	ownRoom     = 0
	ownSettings = -1
	ownState    = -2
)

// ownOf is which of the own expectations one is, or 1.
func ownOf(b *store.Batch, i int) int64 {
	switch x := b.Expect[i].(type) {
	case store.RoomAt:
		if x.Counter == b.Pick.Counter && x.Freed == 1 && x.Max >= 1 {
			return ownRoom
		}
	case store.DocAt:
		switch {
		case x.Key.ID != string(b.Pick.Counter):
		case x.Key.Kind == store.DocCounter:
			return ownSettings
		case x.Key.Kind == store.DocCounterState:
			return ownState
		}
	}
	return 1
}

// turns are the columns of a group's turns, in their order; turn.lua says what
// each is.
type turns struct {
	kinds                        once
	n                            int
	cells, versions              packer
	ids, ops, memories, counters packer
	points, begins, rests        packer
	events, calls                packer
}

// add takes in a turn.
func (ts *turns) add(b *store.Batch) {
	t := &b.Tokens[0].Token
	ts.n++
	person, op, memory := whose(b)
	ts.cells.text(person)
	ts.cells.text(counterField(t.Counter))
	var own [2]store.DocAt // settings and state
	for i := range b.Expect {
		if n := ownOf(b, i); n < 0 {
			own[-n-1] = b.Expect[i].(store.DocAt)
		}
	}
	for _, x := range own {
		ts.cells.text(versionField(x.Key))
		ts.versions.text(writtenVersion(x.Version))
	}
	ts.ids.text(packID(t.ID))
	ts.ops.text(op)
	ts.memories.bytes(memory)
	ts.counters.text(string(t.Counter))
	ts.points.bytes(point(t))
	begin, rest := cutTail(t)
	ts.begins.bytes(begin)
	ts.rests.bytes(rest)
	ts.events.bytes(appendEvent(nil, b, &b.Events[0]))
	ts.calls.bytes(pickEvent(b))
}

// point is what a record has between its head's time and when it is due: where
// and when the token stands, and its numbers.
func point(t *store.Token) []byte {
	p := make([]byte, 0, 48)
	for _, x := range []struct {
		v uint64
		n int
	}{{uint64(t.Place), 6}, {t.Arrival, 5}, {t.Seq, 5}, {t.CallNo, 5}, {uint64(t.Number), 6}} {
		p = binary.BigEndian.AppendUint64(p, x.v<<(8*(8-x.n)))
		p = p[:len(p)-8+x.n]
	}
	return p
}

// cutTail parts what tail writes behind the counter.
func cutTail(t *store.Token) (begin, rest []byte) {
	all := tail(t)
	n := 5 + 4 + len(t.Site) + len(t.Queue) + len(packLane(t.Lane)) + len(t.Prefix) + 2 + len(t.Business) + 1 + len(t.Counter)
	return all[:n], all[n:]
}

// packTurn writes by position what turns of a kind have in common; turn_kind.lua
// names the positions.
func packTurn(p *packer, c cells, x *shared, b *store.Batch) {
	t, pick := &b.Tokens[0].Token, b.Pick
	ix, line := t.Indexes(), &pick.Lines[0]
	p.array(20)
	p.array(len(b.Expect))
	room := 0
	for i := range b.Expect {
		switch n := ownOf(b, i); n {
		case ownRoom:
			room = b.Expect[i].(store.RoomAt).Max
			p.int(n)
		case ownSettings, ownState:
			p.int(n)
		default:
			p.int(x.expect.index(func(p *packer) { packExpectation(p, c, b.Expect[i]) }))
		}
	}
	f := writtenFlags(t, &ix)
	p.bytes(stamp(t, f))
	p.int(f)
	p.int(stateCode(t.State))
	p.int(int64(t.Version) - 1)
	c.line(ix.Line)
	p.text(packLine(ix.Line))
	p.text(packLine(ix.Line) + packLane(t.Lane))
	p.int(packTime(t.Due))
	p.int(int64(t.Factor))
	if b.Op.Key == "" {
		p.int(0)
	} else {
		p.int(b.Op.Keep)
	}
	p.text(string(b.Site))
	p.text(modes[pick.Mode])
	p.int(stateCode(pick.State))
	p.int(packTime(cmp.Or(line.Deadline, pick.Deadline)))
	p.int(packTime(cmp.Or(line.Due, pick.Due)))
	p.text(string([]byte{byte(len(pick.Actor))}) + pick.Actor)
	p.int(x.lines.index(func(p *packer) { packPickLine(p, c, &x.rules, line) }))
	p.int(int64(room))
	p.bool(pick.Exclude != "")
	p.int(stateCode(dengxu.StateWaiting))
}

// some is how many fields packSome writes.
func (ts *turns) some() int { return min(ts.n, 1) }

// packSome writes the turns, if there are any.
func (ts *turns) packSome(p *packer) {
	if ts.n == 0 {
		return
	}
	columns := []struct {
		name string
		each int
		of   *packer
	}{
		{"cells", 4, &ts.cells},
		{"versions", 2, &ts.versions},
		{"ids", 1, &ts.ids},
		{"ops", 1, &ts.ops},
		{"memories", 1, &ts.memories},
		{"counters", 1, &ts.counters},
		{"points", 1, &ts.points},
		{"begins", 1, &ts.begins},
		{"rests", 1, &ts.rests},
		{"events", 1, &ts.events},
		{"calls", 1, &ts.calls},
	}
	p.text("turns")
	p.fields(1 + len(columns))
	ts.kinds.pack(p, "kinds")
	for _, c := range columns {
		p.text(c.name)
		p.array(c.each * ts.n)
		p.buf = append(p.buf, c.of.buf...)
	}
}

// turned reads what a turn did. Of the token that it ended the script fills in
// the times alone.
func (p *part) turned(u *unpacker, b *store.Batch, now int64) (store.Result, error) {
	last := u.int()
	p.marks.see(0, 0, last)
	res := store.Result{Now: now, Picked: 1, Last: store.Cursor{Partition: p.id, Epoch: p.epoch.Load(), Number: uint64(last)}}
	ended := b.Tokens[0].Token.Clone()
	ended.ResolveTimes(now)
	called, err := p.picked(u)
	if err != nil {
		return res, err
	}
	res.Tokens = []store.Token{ended, *called}
	return res, nil
}

// writtenVersion is how scripts write the version of a document; 0 = there is none.
func writtenVersion(v uint64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatUint(v, 10)
}
