package redisstore

import (
	"iter"
	"strings"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// packAsk writes the parts of an Ask, each a kind and what is asked.
func packAsk(p *packer, c cells, a *store.Ask) {
	parts := len(a.Tokens) + len(a.Docs) + len(a.Holders) + len(a.Counters) + len(a.Persons) + len(a.Lines) +
		len(a.Ranks) + len(a.Afters) + len(a.Tallies) + len(a.Marks)
	if a.Op.Key != "" {
		parts++
	}
	p.array(parts)
	part := func(kind string) {
		p.array(2)
		p.text(kind)
	}
	for _, id := range a.Tokens {
		c.token(id)
		part("token")
		p.text(packID(id))
	}
	for _, k := range a.Docs {
		c.add(keyDocs, packKey(k))
		part("doc")
		p.text(packKey(k))
	}
	for _, h := range a.Holders {
		c.business(h.Business)
		part("holder")
		p.array(2)
		p.text(h.Business)
		p.text(packLine(h.Line))
	}
	for _, id := range a.Counters {
		c.counter(id)
		part("counter")
		p.text(string(id))
	}
	for _, x := range a.Persons {
		c.business(x.Business)
		part("person")
		p.text(x.Business)
	}
	for _, k := range a.Lines {
		c.line(k)
		part("line")
		p.text(packLine(k))
	}
	for i := range a.Ranks {
		part("rank")
		packRank(p, &a.Ranks[i])
	}
	for i := range a.Afters {
		part("after")
		x := &a.Afters[i]
		p.array(4)
		p.text(packLine(x.Line))
		p.text(x.Member.Lane.Class)
		p.int(int64(glimpse(x)))
		p.text(packMember(x.Member))
	}
	for _, k := range a.Tallies {
		c.add(keyState, tallyField(k.Name))
		part("tally")
		p.array(2)
		p.text(tallyField(k.Name))
		p.int(int64(k.Day))
	}
	for _, k := range a.Marks {
		c.add(keyMarks, packMark(k.Queue, k.Business))
		part("mark")
		p.text(packMark(k.Queue, k.Business))
	}
	if a.Op.Key != "" {
		field := opField(a.Op)
		c.op(field)
		part("op")
		p.array(2)
		p.text(field)
		p.bytes(a.Op.Hash[:])
	}
}

func packRank(p *packer, r *store.RankAsk) {
	p.fields(9)
	p.fieldText("line", packLine(r.Line))
	packSight(p, r.Discipline, r.Classes, store.BoundClass(r.Member.Lane))
	p.fieldText("class", r.Member.Lane.Class)
	p.fieldInt("k", int64(r.Member.Lane.K))
	p.fieldInt("place", r.Member.Key.Place)
	p.fieldInt("seq", int64(min(r.Member.Key.Seq, 1<<48))) //nolint:gosec // capped
	p.fieldText("key", sightKey(r.Classes, store.BoundClass(r.Member.Lane)))
}

// sightKey tells apart what ranks of one script call see.
func sightKey(classes []string, bound string) string {
	if classes == nil {
		return "*" + bound
	}
	return strings.Join(classes, "\x00") + "\x00" + bound
}

// readView reads the answers to one Ask, part by part.
func readView(u *unpacker, a *store.Ask, now int64) (store.View, error) {
	v := store.View{Now: now}
	var first error
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	for _, id := range a.Tokens {
		var t *store.Token
		if rec := u.bytes(); rec != nil {
			var err error
			t, err = decodeRecord(packID(id), rec)
			keep(err)
		}
		v.Tokens = append(v.Tokens, t)
	}
	for _, k := range a.Docs {
		var d *store.Doc
		if raw := u.bytes(); raw != nil {
			var err error
			d, err = decodeDoc(k, raw)
			keep(err)
		}
		v.Docs = append(v.Docs, d)
	}
	for range a.Holders {
		id := u.text()
		if id != "" {
			v.Holders = append(v.Holders, unpackID(id))
		} else {
			v.Holders = append(v.Holders, "")
		}
	}
	for range a.Counters {
		found, err := records(u)
		keep(err)
		v.Counters = append(v.Counters, inOrder(found, func(t *store.Token) uint64 { return t.CallNo }))
	}
	for _, x := range a.Persons {
		found, err := records(u)
		keep(err)
		var here []store.Token
		for i := range found {
			if found[i].Site == x.Site {
				here = append(here, found[i])
			}
		}
		v.Persons = append(v.Persons, inOrder(here, func(t *store.Token) uint64 { return t.Arrival }))
	}
	for range a.Lines {
		v.Lines = append(v.Lines, readLine(u))
	}
	for range a.Ranks {
		v.Ranks = append(v.Ranks, int(u.int()))
	}
	for i := range a.Afters {
		v.Afters = append(v.Afters, readAfter(u, &a.Afters[i], now))
	}
	for range a.Tallies {
		v.Tallies = append(v.Tallies, u.int())
	}
	for range a.Marks {
		v.Marks = append(v.Marks, u.int())
	}
	if a.Op.Key != "" && !u.no() {
		var err error
		v.Op, err = readOp(u)
		keep(err)
	}
	return v, first
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
			Head: order.Key{Place: u.int(), Seq: uint64(u.int())}, //nolint:gosec // 48 bits
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
				keys = append(keys, order.Key{Place: int64(big(b[:6])), Seq: big(b[6:])}) //nolint:gosec // 48 bits
			}
		}
		whole = whole && len(keys) < glimpse(a)
		ix[lane] = keys
	}
	stands := u.int() > 0
	placed := ledger.After(now, ix, a)
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
