package redisstore

import (
	"crypto/sha256"
	"fmt"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
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

// packBatch writes b for judge.lua and names the cells that it needs.
func packBatch(p *packer, c cells, b *store.Batch) {
	n := 8
	if b.Op.Key != "" {
		n++
	}
	if b.Pick != nil {
		n++
	}
	p.fields(n)
	p.fieldText("site", string(b.Site))
	if b.Op.Key != "" {
		c.op(b.Op)
		p.text("op")
		p.array(4)
		p.text(opField(b.Op))
		p.bytes(b.Op.Hash[:])
		p.int(b.Op.Keep)
		p.text(b.Op.Note)
	}
	list(p, "expect", b.Expect, func(x *store.Expectation) { packExpectation(p, c, *x) })
	list(p, "docs", b.Docs, func(d *store.DocWrite) { packDoc(p, c, d) })
	list(p, "tokens", b.Tokens, func(w *store.TokenWrite) { packToken(p, c, b.Site, w) })
	list(p, "tallies", b.Tallies, func(t *store.TallyAdd) {
		c.add(keyState, tallyField(t.Key.Name))
		p.array(3)
		p.text(tallyField(t.Key.Name))
		p.int(int64(t.Key.Day))
		p.int(t.N)
	})
	list(p, "marks", b.Marks, func(m *store.MarkWrite) {
		p.fields(3)
		p.fieldText("field", packMark(m.Queue, m.Business))
		p.fieldInt("at", packTime(m.At))
		p.fieldInt("keep", m.Keep)
	})
	list(p, "events", b.Events, func(e *store.EventSpec) { packEvent(p, b, e) })
	list(p, "ranks", b.Ranks, func(r *store.RankOf) { packRankOf(p, b, r) })
	if b.Pick != nil {
		packPick(p, c, b)
	}
}

// list writes a named array.
func list[T any](p *packer, name string, all []T, write func(*T)) {
	p.text(name)
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
		p.text("v" + packKey(x.Key))
		p.int(int64(x.Version)) //nolint:gosec // versions are small
	case store.TokenAt:
		c.token(x.ID)
		kind("token", 2)
		p.text(packID(x.ID))
		p.int(int64(x.Version)) //nolint:gosec // as above
	case store.HolderFree:
		c.business(x.Holder.Business)
		kind("holder", 3)
		p.text(x.Holder.Business)
		p.text(packLine(x.Holder.Line))
		p.text(packID(x.Not))
	case store.MarkOlder:
		c.add(keyMarks, packMark(x.Queue, x.Business))
		kind("mark", 2)
		p.text(packMark(x.Queue, x.Business))
		p.int(packTime(x.At))
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
	p.fieldInt("expect", int64(d.Expect)) //nolint:gosec // versions are small
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

// packToken writes the parts that are not as usual by name.
func packToken(p *packer, c cells, site dengxu.SiteID, w *store.TokenWrite) {
	t := &w.Token
	c.token(t.ID)
	c.line(t.Line())
	ix := t.Indexes()
	if ix.Person != "" {
		c.business(ix.Person)
	}
	if t.Counter != "" {
		c.counter(t.Counter)
	}
	var more packer
	n := 0
	optional := func(name string, v int64) {
		if v != 0 {
			more.fieldInt(name, v)
			n++
		}
	}
	optional("arrival", int64(t.Arrival)) //nolint:gosec // 40 bits
	optional("seq", int64(t.Seq))         //nolint:gosec // 40 bits
	if t.CallNo == store.NextCall {
		optional("call", -1)
	} else {
		optional("call", int64(t.CallNo)) //nolint:gosec // 40 bits
	}
	optional("number", t.Number)
	optional("due", packTime(t.Due))
	optional("scale", packTime(w.ScaleFrom))
	optional("floor", packTime(w.PlaceFloor))
	optional("penalty", w.Penalty)
	if w.Archive {
		more.text("archive")
		more.yes()
		n++
	}
	if s := w.Series; s != nil {
		c.add(keyState, seriesField(site, s.Name))
		more.text("series")
		more.array(5)
		more.text(seriesField(site, s.Name))
		more.int(int64(s.Day))
		more.int(s.First)
		more.int(s.Last)
		more.text(s.At)
		n++
	}
	p.fields(13 + n)
	p.fieldText("id", packID(t.ID))
	p.fieldInt("version", int64(t.Version)) //nolint:gosec // versions are small
	p.fieldInt("flags", flags(t))
	p.fieldInt("state", stateCode(t.State))
	p.fieldInt("place", packTime(t.Place))
	p.fieldInt("factor", int64(t.Factor))
	p.fieldText("line", packLine(t.Line()))
	p.fieldText("lane", packLane(t.Lane))
	p.fieldText("counter", string(t.Counter))
	p.fieldText("business", t.Business)
	p.fieldText("prefix", t.Prefix)
	p.fieldInt("width", int64(t.Width))
	p.text("rest")
	p.bytes(tail(t))
	p.buf = append(p.buf, more.buf...)
}

func packRankOf(p *packer, b *store.Batch, r *store.RankOf) {
	lane := b.Tokens[r.Token-1].Token.Lane
	p.fields(6)
	p.fieldInt("token", int64(r.Token))
	packSight(p, r.Discipline, r.Classes, store.BoundClass(lane))
	p.fieldText("class", lane.Class)
	p.fieldInt("k", int64(lane.K))
}

// packSight writes which lanes of a line are seen, and how it is ordered:
// three fields.
func packSight(p *packer, d order.Discipline, classes []string, bound string) {
	p.fieldText("discipline", disciplines[d])
	p.text("classes")
	if classes == nil {
		p.no()
	} else {
		p.array(len(classes))
		for _, class := range classes {
			p.text(class)
		}
	}
	p.fieldText("bound", bound)
}

// What order_pick.lua calls the disciplines and the modes of a counter.
var (
	disciplines = map[order.Discipline]string{order.Aging: "aging", order.Epoch: "epoch"}
	modes       = map[order.Mode]string{order.Oldest: "oldest", order.Listed: "listed"}
)

func packPick(p *packer, c cells, b *store.Batch) {
	pick := b.Pick
	c.counter(pick.Counter)
	p.text("pick")
	n := 9
	if pick.Exclude != "" {
		n++
	}
	p.fields(n)
	p.fieldText("mode", modes[pick.Mode])
	p.fieldInt("max", int64(pick.Max))
	p.fieldInt("state", stateCode(pick.State))
	p.fieldText("counter", string(pick.Counter))
	p.fieldInt("deadline", packTime(pick.Deadline))
	p.fieldInt("due", packTime(pick.Due))
	p.fieldText("actor", pick.Actor)
	if pick.Exclude != "" {
		c.token(pick.Exclude)
		p.fieldText("exclude", packID(pick.Exclude))
	}
	p.text("event")
	p.bytes(store.AppendEvent(nil, &store.Event{
		Type: pick.Event, Site: b.Site, Actor: pick.Actor, Counter: pick.Counter, State: pick.State,
	}))
	list(p, "lines", pick.Lines, func(l *store.PickLine) {
		c.line(l.Line)
		n := 4
		if l.Deadline != 0 {
			n++
		}
		if l.Due != 0 {
			n++
		}
		p.fields(n)
		p.fieldText("line", packLine(l.Line))
		packSight(p, l.Discipline, l.Classes, store.BoundTo(pick.Counter))
		if l.Deadline != 0 {
			p.fieldInt("deadline", packTime(l.Deadline))
		}
		if l.Due != 0 {
			p.fieldInt("due", packTime(l.Due))
		}
	})
}

// checkOp refuses what the scripts cannot remember long enough.
func checkOp(op store.Op) error {
	if op.Key != "" && op.Keep > maxKeep {
		return fmt.Errorf("redisstore: operation %q is kept for %d ms, more than %d", op.Key, op.Keep, maxKeep)
	}
	return nil
}
