package redisstore

import (
	"iter"
	"slices"
	"strings"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// asking writes the parts of an Ask, each a kind and what is asked.
type asking struct {
	*packer
	need cells
}

func (p asking) part(kind string) {
	p.array(2)
	p.text(kind)
}

// packAsk writes an Ask; viewing reads the answers in the same order.
func packAsk(w *packer, c cells, a *store.Ask) {
	parts := len(a.Tokens) + len(a.Docs) + len(a.Holders) + len(a.Counters) + len(a.Persons) + len(a.Lines) +
		len(a.Ranks) + len(a.Afters) + len(a.Tallies) + len(a.Marks)
	if a.Op.Key != "" {
		parts++
	}
	p := asking{w, c}
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
	for i := range a.Ranks {
		p.part("rank")
		packRank(p.packer, &a.Ranks[i])
	}
	for i := range a.Afters {
		x := &a.Afters[i]
		p.part("after")
		p.array(4)
		p.text(packLine(x.Line))
		p.text(x.Member.Lane.Class)
		p.int(int64(glimpse(x)))
		p.text(packMember(x.Member))
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

func packRank(p *packer, r *store.RankAsk) {
	p.fields(9)
	p.fieldText("line", packLine(r.Line))
	packSight(p, r.Ordering, r.Classes, store.BoundClass(r.Member.Lane))
	p.fieldText("class", r.Member.Lane.Class)
	p.fieldInt("k", int64(r.Member.Lane.K))
	p.fieldInt("place", r.Member.Key.Place)
	p.fieldInt("seq", int64(min(r.Member.Key.Seq, 1<<48)))
	p.fieldText("key", sightKey(r.Classes, store.BoundClass(r.Member.Lane)))
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

func readView(u *unpacker, a *store.Ask, now int64) (store.View, error) {
	v := viewing{unpacker: u, view: store.View{Now: now}}
	v.records(a)
	v.lists(a)
	for range a.Lines {
		v.view.Lines = append(v.view.Lines, readLine(u))
	}
	for range a.Ranks {
		v.view.Ranks = append(v.view.Ranks, int(u.int()))
	}
	for i := range a.Afters {
		v.view.Afters = append(v.view.Afters, readAfter(u, &a.Afters[i], now))
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
	return v.view, v.bad
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

func readOp(u *unpacker) (*store.OpView, error) {
	u.array()
	v := &store.OpView{Reused: u.text() == "reused", Note: u.text(), Picked: int(u.int())}
	var err error
	v.Tokens, err = records(u)
	return v, err
}

const rankUnknown = -1

// glimpse is how many members of each lane are enough to find the n-th of all:
// n, the one behind, and one that may be left out.
func glimpse(a *store.AfterAsk) int { return max(a.N, 1) + 2 }

// readAfter finds the place behind the n-th from the beginnings of the lanes.
// Rank is rankUnknown when they do not tell it, or one less when a count of all
// would count the member itself.
func readAfter(u *unpacker, a *store.AfterAsk, now int64) order.Placed {
	ix := beginnings{}
	whole := true
	u.array()
	for range u.array() {
		u.array()
		lane := order.Lane{Class: u.text(), Group: u.text(), K: int(u.int())}
		keys := make([]order.Key, 0, glimpse(a))
		for range u.array() {
			b := u.bytes()
			if len(b) == 12 {
				keys = append(keys, order.Key{Place: int64(big(b[:6])), Seq: big(b[6:])})
			}
		}
		whole = whole && len(keys) < glimpse(a)
		ix[lane] = keys
	}
	stands := u.int() > 0
	placed := order.After(now, a.Member, a.N, order.Line{Rule: a.Ordering.Rule, Index: ix}, a.DayStart, a.Factor)
	if !whole {
		placed.Rank = rankUnknown
		if stands && a.Member.Key.Less(order.Key{Place: placed.Place + 1}) {
			placed.Rank-- // what is counted later counts the member itself
		}
	}
	return placed
}

// beginnings is an index of the first members of lanes.
type beginnings map[order.Lane][]order.Key

// Lanes yields the lanes that have a member.
func (b beginnings) Lanes() iter.Seq[order.Lane] {
	return func(yield func(order.Lane) bool) {
		for l := range b {
			if !yield(l) {
				return
			}
		}
	}
}

// Len is how many members of a lane are known.
func (b beginnings) Len(l order.Lane) int { return len(b[l]) }

// Below counts the known members below k.
func (b beginnings) Below(l order.Lane, k order.Key) int {
	n := 0
	for n < len(b[l]) && b[l][n].Less(k) {
		n++
	}
	return n
}

// At is the i-th member of a lane.
func (b beginnings) At(l order.Lane, i int) (order.Key, bool) {
	if i < 0 || i >= len(b[l]) {
		return order.Key{}, false
	}
	return b[l][i], true
}
