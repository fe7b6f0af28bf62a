package redisstore

import (
	"crypto/sha256"
	"fmt"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// maxKeep is how long an operation can be remembered, in ms: as long as the
// scripts' two hashes of operations take turns.
const maxKeep = 24 * 3600 * 1000

// opField names an operation in 16 bytes, whatever its scope and key are.
func opField(op store.Op) string {
	h := sha256.New()
	h.Write([]byte(op.Scope))
	h.Write([]byte{0})
	h.Write([]byte(op.Key))
	return string(h.Sum(nil)[:16])
}

// packBatch writes b for judge.lua, an array of its parts, and names the cells
// that it needs.
func packBatch(p *packer, c cells, x *shared, b *store.Batch) {
	if isNewcomer(b) {
		p.int(x.kinds.index(func(p *packer) { packKind(p, c, x, b) }))
		x.columns.add(b)
		return
	}
	if isTurn(b) {
		p.int(-x.turns.kinds.index(func(p *packer) { packTurn(p, c, x, b) }))
		x.turns.add(b)
		return
	}
	p.array(10)
	p.text(string(b.Site))
	packOp(p, c, b.Op)
	list(p, b.Expect, func(e *store.Expectation) {
		p.int(x.expect.index(func(p *packer) { packExpectation(p, c, *e) }))
	})
	list(p, b.Docs, func(d *store.DocWrite) { packDoc(p, c, d) })
	list(p, b.Tokens, func(w *store.TokenWrite) { packToken(p, c, w) })
	list(p, b.Tallies, func(t *store.TallyAdd) { packTally(p, c, t) })
	list(p, b.Marks, func(m *store.MarkWrite) {
		p.fields(3)
		p.fieldText("field", packMark(m.MarkKey))
		p.fieldInt("at", packTime(m.At))
		p.fieldInt("keep", m.Keep)
	})
	list(p, b.Events, func(e *store.EventSpec) { packEvent(p, b, e) })
	list(p, b.Ranks, func(r *store.RankOf) {
		p.int(x.asks.index(func(p *packer) { packRankOf(p, &x.rules, b, r) }))
	})
	if b.Pick == nil {
		p.no()
	} else {
		packPick(p, c, x, b)
	}
}

func packTally(p *packer, c cells, t *store.TallyAdd) {
	field := tallyField(t.Key.Name)
	c.add(keyState, field)
	p.array(3)
	p.text(field)
	p.int(int64(t.Key.Day))
	p.int(t.N)
}

func packOp(p *packer, c cells, op store.Op) {
	if op.Key == "" {
		p.no()
		return
	}
	field := opField(op)
	c.op(field)
	p.array(4)
	p.text(field)
	p.bytes(op.Hash[:])
	p.int(op.Keep)
	p.text(string([]byte{byte(len(op.Note))}) + op.Note)
}

// shared is what the batches of a group have in common, each thing once: most
// batches of a queue expect the same, and look at the same lines.
type shared struct {
	expect, lines, asks, rules, kinds once
	columns                           columns
	turns                             turns
}

// once packs things that may come again.
type once struct {
	packed packer
	n      int64
	known  map[string]int64
}

// index is the number of what pack writes, from 1.
func (o *once) index(pack func(*packer)) int64 {
	from := len(o.packed.buf)
	pack(&o.packed)
	written := o.packed.buf[from:]
	if n, ok := o.known[string(written)]; ok {
		o.packed.buf = o.packed.buf[:from]
		return n
	}
	if o.known == nil {
		o.known = make(map[string]int64)
	}
	o.n++
	o.known[string(written)] = o.n
	return o.n
}

func (o *once) pack(p *packer, name string) {
	p.text(name)
	p.array(int(o.n))
	p.buf = append(p.buf, o.packed.buf...)
}

// some is 1 where there is anything, else 0: how many fields packSome writes.
func (o *once) some() int { return int(min(o.n, 1)) }

func (o *once) packSome(p *packer, name string) {
	if o.n > 0 {
		o.pack(p, name)
	}
}

// list writes an array.
func list[T any](p *packer, all []T, write func(*T)) {
	p.array(len(all))
	for i := range all {
		write(&all[i])
	}
}

// packExpectation is one case a kind; expect.lua has the same.
func packExpectation(p *packer, c cells, x store.Expectation) {
	kind := func(name string, parts int) {
		p.array(1 + parts)
		p.text(name)
	}
	switch x := x.(type) {
	case store.DocAt:
		c.doc(x.Key)
		kind("doc", 2)
		p.text(versionField(x.Key))
		p.int(int64(x.Version))
	case store.TokenAt:
		c.token(x.ID)
		kind("token", 2)
		p.text(packID(x.ID))
		p.int(int64(x.Version))
	case store.HolderFree:
		c.business(x.Holder.Business)
		kind("holder", 3)
		p.text(x.Holder.Business)
		p.text(packLine(x.Holder.Line))
		p.text(packID(x.Not))
	case store.MarkOlder:
		c.add(keyMarks, packMark(x.MarkKey))
		kind("mark", 2)
		p.text(packMark(x.MarkKey))
		p.int(packTime(x.At))
	case store.MarkAt:
		c.add(keyMarks, packMark(x.MarkKey))
		kind("mark_at", 2)
		p.text(packMark(x.MarkKey))
		p.int(x.At)
	case store.CountBelow:
		c.line(x.Line)
		kind("count", 3)
		p.text(packLine(x.Line))
		p.array(len(x.States))
		for _, s := range x.States {
			p.int(stateCode(s))
		}
		p.int(int64(x.Max))
	case store.TallyBelow:
		c.add(keyState, tallyField(x.Key.Name))
		kind("tally", 3)
		p.text(tallyField(x.Key.Name))
		p.int(int64(x.Key.Day))
		p.int(x.Max)
	case store.RoomAt:
		c.counter(x.Counter)
		kind("room", 3)
		p.text(string(x.Counter))
		p.int(int64(x.Max))
		p.int(int64(x.Freed))
	case store.LaneOpen:
		kind("lane", 3)
		p.text(packLine(x.Line))
		p.text(packLane(x.Lane))
		p.int(int64(x.Max))
	case store.NotBefore:
		kind("after", 1)
		p.int(packTime(x.At))
	case store.Before:
		kind("before", 1)
		p.int(packTime(x.At))
	}
}

func packDoc(p *packer, c cells, d *store.DocWrite) {
	c.doc(d.Doc.Key)
	p.fields(4)
	p.fieldText("field", packKey(d.Doc.Key))
	p.fieldInt("expect", int64(d.Expect))
	if d.Delete {
		p.text("delete")
		p.yes()
		p.fieldInt("due", 0)
		return
	}
	p.fieldInt("due", packTime(d.Doc.Due))
	p.text("body")
	p.bytes(store.AppendDoc(nil, &store.Doc{Site: d.Doc.Site, Body: d.Doc.Body}))
}

// packToken writes a written token by position; judge.lua names the positions.
func packToken(p *packer, c cells, w *store.TokenWrite) {
	t := &w.Token
	ix := t.Indexes()
	id, line := packID(t.ID), packLine(ix.Line)
	c.token(t.ID)
	c.add(keyState, "c"+line)
	if t.Business != "" {
		c.business(t.Business)
	}
	if t.Counter != "" {
		c.counter(t.Counter)
	}
	p.array(15)
	p.text(id)
	f := writtenFlags(t, &ix)
	p.bytes(stamp(t, f))
	p.int(f)
	p.int(stateCode(t.State))
	p.int(packTime(t.Place))
	p.text(line)
	p.text(line + packLane(t.Lane))
	p.text(string(t.Counter))
	p.text(t.Business)
	p.int(packTime(t.Due))
	packSeries(p, c, t.Site, w.Series)
	p.bytes(tail(t))
	if ix.Person == "" {
		p.no()
	} else {
		p.text(personEntry(&ix, id, line))
	}
	p.int(int64(t.Version) - 1)
	packMore(p, w)
}

// hasMore reports whether a write says what most new tokens do not have.
func hasMore(w *store.TokenWrite) bool {
	t := &w.Token
	return t.Arrival|t.Seq|t.CallNo != 0 || t.Number|w.ScaleFrom|w.PlaceFloor|w.Penalty != 0 || w.Archive
}

// packMore writes what most new tokens do not have, or no.
func packMore(p *packer, w *store.TokenWrite) {
	t := &w.Token
	call := int64(t.CallNo)
	if t.CallNo == store.NextCall {
		call = -1
	}
	if !hasMore(w) {
		p.no()
		return
	}
	p.array(9)
	p.int(int64(t.Arrival))
	p.int(int64(t.Seq))
	p.int(call)
	p.int(t.Number)
	p.int(int64(t.Factor))
	p.int(packTime(w.ScaleFrom))
	p.int(packTime(w.PlaceFloor))
	p.int(w.Penalty)
	p.bool(w.Archive)
}

// personEntry is the token in the list of its business id: its length, whether
// it holds the mark, the id with its length, and the line.
func personEntry(ix *store.Indexes, id, line string) string {
	return string(append(append(beginPerson(ix, len(id), len(line)), id...), line...))
}

// beginPerson is such an entry up to the id.
func beginPerson(ix *store.Indexes, id, line int) []byte {
	b := append(make([]byte, 0, 3+id+line), byte(2+id+line), 0, byte(id))
	if ix.Holder.Business != "" {
		b[1] = 1
	}
	return b
}

func packSeries(p *packer, c cells, site dengxu.SiteID, s *store.Series) {
	if s == nil {
		p.no()
		return
	}
	field := seriesField(site, s.Name)
	c.add(keyState, field)
	p.array(5)
	p.text(field)
	p.int(int64(s.Day))
	p.int(s.First)
	p.int(s.Last)
	p.text(s.At)
}

func packRankOf(p *packer, rules *once, b *store.Batch, r *store.RankOf) {
	t, o := &b.Tokens[r.Token-1].Token, &r.Ordering
	p.fields(4 + sightFields(o) + memberFields(o))
	p.fieldInt("token", int64(r.Token))
	p.fieldText("key", sightKey(r.Classes, store.BoundClass(t.Lane)))
	packSight(p, rules, t.Queue, o, r.Classes, store.BoundClass(t.Lane))
	packMemberGroup(p, o, t.Lane.Group)
	p.fieldText("class", t.Lane.Class)
	p.fieldInt("k", int64(t.Lane.K))
}

// packPick writes a pick by position; call.lua names the positions.
func packPick(p *packer, c cells, x *shared, b *store.Batch) {
	pick := b.Pick
	c.counter(pick.Counter)
	p.array(10)
	p.text(modes[pick.Mode])
	p.int(int64(pick.Max))
	p.int(stateCode(pick.State))
	p.text(string(pick.Counter))
	p.int(packTime(pick.Deadline))
	p.int(packTime(pick.Due))
	p.text(string([]byte{byte(len(pick.Actor))}) + pick.Actor)
	if pick.Exclude == "" {
		p.no()
	} else {
		c.token(pick.Exclude)
		p.text(packID(pick.Exclude))
	}
	p.bytes(pickEvent(b))
	list(p, pick.Lines, func(l *store.PickLine) {
		p.int(x.lines.index(func(p *packer) { packPickLine(p, c, &x.rules, l) }))
	})
}

// pickEvent is the event of a pick, without what only the store knows.
func pickEvent(b *store.Batch) []byte {
	return store.AppendEvent(nil, &store.Event{
		Type: b.Pick.Event, Site: b.Site, Actor: b.Pick.Actor, Counter: b.Pick.Counter, State: b.Pick.State,
	})
}

// packPickLine writes a line as any counter sees it; which lanes are bound to
// the counter follows from the pick.
func packPickLine(p *packer, c cells, rules *once, l *store.PickLine) {
	c.line(l.Line)
	n := 2 + sightFields(&l.Ordering)
	if l.Deadline != 0 {
		n++
	}
	if l.Due != 0 {
		n++
	}
	p.fields(n)
	p.fieldText("line", packLine(l.Line))
	p.fieldText("key", sightKey(l.Classes, ""))
	packSight(p, rules, l.Line.Queue, &l.Ordering, l.Classes, "")
	if l.Deadline != 0 {
		p.fieldInt("deadline", packTime(l.Deadline))
	}
	if l.Due != 0 {
		p.fieldInt("due", packTime(l.Due))
	}
}

// checkOp refuses what the scripts cannot remember long enough.
func checkOp(op store.Op) error {
	if op.Key != "" && op.Keep > maxKeep {
		return fmt.Errorf("redisstore: operation %q is kept for %d ms, more than %d", op.Key, op.Keep, maxKeep)
	}
	return nil
}
