package redisstore

import (
	"slices"
	"strings"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// asking writes the parts of an Ask, each a kind and what is asked.
type asking struct {
	*packer
	need  cells
	rules *once
	times int // how much longer than at first the beginnings of lanes are
}

func (p asking) part(kind string) {
	p.array(2)
	p.text(kind)
}

// packAsk writes an Ask; viewing reads the answers in the same order.
func packAsk(w *packer, c cells, rules *once, a *store.Ask, times int) {
	parts := len(a.Tokens) + len(a.Docs) + len(a.Holders) + len(a.Counters) + len(a.Persons) + len(a.Lines) + len(a.Fronts) +
		len(a.Ranks) + len(a.Afters) + len(a.Tallies) + len(a.Marks)
	if a.Op.Key != "" {
		parts++
	}
	p := asking{w, c, rules, times}
	p.array(parts)
	p.records(a)
	p.lists(a)
	p.lines(a)
	p.counts(a)
}

func (p asking) records(a *store.Ask) {
	for _, id := range a.Tokens {
		p.need.token(id)
		p.part("token")
		p.text(packID(id))
	}
	for _, k := range a.Docs {
		p.need.add(keyDocs, packKey(k))
		p.part("doc")
		p.text(packKey(k))
	}
}

func (p asking) lists(a *store.Ask) {
	for _, h := range a.Holders {
		p.need.business(h.Business)
		p.part("holder")
		p.array(2)
		p.text(h.Business)
		p.text(packLine(h.Line))
	}
	for _, id := range a.Counters {
		p.need.counter(id)
		p.part("counter")
		p.text(string(id))
	}
	for _, x := range a.Persons {
		p.need.business(x.Business)
		p.part("person")
		p.text(x.Business)
	}
}

func (p asking) lines(a *store.Ask) {
	for _, k := range a.Lines {
		p.need.line(k)
		p.part("line")
		p.text(packLine(k))
	}
	for _, f := range a.Fronts {
		p.part("front")
		p.array(2)
		p.text(packLine(f.Line))
		p.int(int64(min(max(f.Most, 0), store.MaxFront)))
	}
	for i := range a.Ranks {
		p.part("rank")
		packRank(p.packer, p.rules, &a.Ranks[i])
	}
	for i := range a.Afters {
		p.part("after")
		packAfter(p.packer, p.rules, &a.Afters[i], p.times)
	}
}

func (p asking) counts(a *store.Ask) {
	for _, k := range a.Tallies {
		p.need.add(keyState, tallyField(k.Name))
		p.part("tally")
		p.array(2)
		p.text(tallyField(k.Name))
		p.int(int64(k.Day))
	}
	for _, k := range a.Marks {
		p.need.add(keyMarks, packMark(k))
		p.part("mark")
		p.text(packMark(k))
	}
	if a.Op.Key != "" {
		field := opField(a.Op)
		p.need.op(field)
		p.part("op")
		p.array(2)
		p.text(field)
		p.bytes(a.Op.Hash[:])
	}
}

func packRank(p *packer, rules *once, r *store.RankAsk) {
	lane, o := r.Member.Lane, &r.Ordering
	p.fields(6 + sightFields(o) + memberFields(o))
	p.fieldText("line", packLine(r.Line))
	packSight(p, rules, r.Line.Queue, o, r.Classes, store.BoundClass(lane))
	packMemberGroup(p, o, lane.Group)
	p.fieldText("class", lane.Class)
	p.fieldInt("k", int64(lane.K))
	p.fieldInt("place", r.Member.Key.Place)
	p.fieldInt("seq", int64(min(r.Member.Key.Seq, 1<<48)))
	p.fieldText("key", sightKey(r.Classes, store.BoundClass(lane)))
}

// sightKey tells apart what ranks of one script call see.
func sightKey(classes []string, bound string) string {
	if classes == nil {
		return "*" + bound
	}
	return strings.Join(classes, "\x00") + "\x00" + bound
}

// viewing reads the answers to one Ask, in the order of packAsk.
type viewing struct {
	*unpacker
	view store.View
	bad  error // the first record that could not be read
}

// readView reads the answers; exact is false when the beginnings of lanes did not
// say where somebody belongs.
func readView(u *unpacker, a *store.Ask, times int, now int64) (view store.View, exact bool, err error) {
	exact = true
	v := viewing{unpacker: u, view: store.View{Now: now}}
	v.records(a)
	v.lists(a)
	for range a.Lines {
		v.view.Lines = append(v.view.Lines, readLine(u))
	}
	for range a.Fronts {
		v.view.Fronts = append(v.view.Fronts, readFront(u))
	}
	for range a.Ranks {
		v.view.Ranks = append(v.view.Ranks, int(u.int()))
	}
	for i := range a.Afters {
		placed, known := readAfter(u, &a.Afters[i], times, now)
		v.view.Afters, exact = append(v.view.Afters, placed), exact && known
	}
	for range a.Tallies {
		v.view.Tallies = append(v.view.Tallies, u.int())
	}
	for range a.Marks {
		v.view.Marks = append(v.view.Marks, u.int())
	}
	if a.Op.Key != "" && !u.no() {
		var err error
		v.view.Op, err = readOp(u)
		v.keep(err)
	}
	return v.view, exact, v.bad
}

func (v *viewing) keep(err error) {
	if v.bad == nil {
		v.bad = err
	}
}

func (v *viewing) records(a *store.Ask) {
	for _, id := range a.Tokens {
		var t *store.Token
		if rec := v.bytes(); rec != nil {
			var err error
			t, err = decodeRecord(packID(id), rec)
			v.keep(err)
		}
		v.view.Tokens = append(v.view.Tokens, t)
	}
	for _, k := range a.Docs {
		var d *store.Doc
		if raw := v.bytes(); raw != nil {
			var err error
			d, err = decodeDoc(k, raw)
			v.keep(err)
		}
		v.view.Docs = append(v.view.Docs, d)
	}
}

func (v *viewing) lists(a *store.Ask) {
	for range a.Holders {
		var id dengxu.TokenID
		if packed := v.text(); packed != "" {
			id = unpackID(packed)
		}
		v.view.Holders = append(v.view.Holders, id)
	}
	for range a.Counters {
		found, err := records(v.unpacker)
		v.keep(err)
		v.view.Counters = append(v.view.Counters, inOrder(found, func(t *store.Token) uint64 { return t.CallNo }))
	}
	for _, x := range a.Persons {
		found, err := records(v.unpacker)
		v.keep(err)
		// A list is of all sites.
		here := slices.DeleteFunc(found, func(t store.Token) bool { return t.Site != x.Site })
		v.view.Persons = append(v.view.Persons, inOrder(here, func(t *store.Token) uint64 { return t.Arrival }))
	}
}

func readLine(u *unpacker) store.LineView {
	v := store.LineView{Counts: make(map[dengxu.State]int)}
	u.array()
	u.array()
	for _, s := range states {
		if n := u.int(); n > 0 {
			v.Counts[s] = int(n)
		}
	}
	for range u.array() {
		u.array()
		v.Lanes = append(v.Lanes, store.LaneView{
			Lane: order.Lane{Class: u.text(), Group: u.text(), K: int(u.int())},
			Len:  int(u.int()),
			Head: order.Key{Place: u.int(), Seq: uint64(u.int())},
		})
	}
	return v
}

// readFront reads how the lanes of a line begin; beginning.lua names the positions.
func readFront(u *unpacker) (v store.FrontView) {
	for range u.array() {
		u.array()
		lane := store.FrontLane{Lane: order.Lane{Class: u.text(), Group: u.text(), K: int(u.int())}, Len: int(u.int())}
		keys := u.bytes()
		if len(keys)%keySize != 0 {
			u.fail("a point that is cut off")
			break
		}
		if len(keys) > 0 {
			lane.Keys = make([]order.Key, 0, len(keys)/keySize)
		}
		for ; len(keys) > 0; keys = keys[keySize:] {
			lane.Keys = append(lane.Keys, unpackPoint(keys))
		}
		v.Lanes = append(v.Lanes, lane)
	}
	return v
}

func readOp(u *unpacker) (*store.OpView, error) {
	u.array()
	v := &store.OpView{Reused: u.text() == "reused", Note: u.text(), Picked: int(u.int())}
	var err error
	v.Tokens, err = records(u)
	return v, err
}
