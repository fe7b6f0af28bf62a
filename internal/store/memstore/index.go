package memstore

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// index is everything that is derived from live records and documents, and
// could be built anew from them.
type index struct {
	arrivals sorted[arrival]
	lines    map[store.LineKey]*line
	holders  map[store.HolderKey]dengxu.TokenID
	counters map[dengxu.CounterID][]listed
	persons  map[store.Person][]listed
	due      sorted[store.DueEntry]
}

// listed is a token in a short list without order. Nearly all are of one token,
// and each change of a record rewrites them: a map would cost more than it finds.
type listed struct {
	id    dengxu.TokenID
	fills bool // a place at a counter
}

type arrival struct {
	number uint64
	id     dengxu.TokenID
}

func newIndex() *index {
	return &index{
		arrivals: sorted[arrival]{compare: func(a, b arrival) int { return cmp.Compare(a.number, b.number) }},
		lines:    make(map[store.LineKey]*line),
		holders:  make(map[store.HolderKey]dengxu.TokenID),
		counters: make(map[dengxu.CounterID][]listed),
		persons:  make(map[store.Person][]listed),
		due:      sorted[store.DueEntry]{compare: store.DueEntry.Compare},
	}
}

// add enters a live record everywhere it belongs.
func (x *index) add(t *store.Token) {
	ix := t.Indexes()
	x.arrivals.insert(arrival{t.Arrival, t.ID})
	l := x.lines[ix.Line]
	if l == nil {
		l = newLine()
		x.lines[ix.Line] = l
	}
	l.counts[t.State]++
	if ix.InLane {
		l.enter(t.Lane, member{t.Member().Key, t.ID})
	}
	if ix.Holder.Business != "" {
		x.holders[ix.Holder] = t.ID
	}
	if ix.Counter != "" {
		enlist(x.counters, ix.Counter, listed{t.ID, ix.Busy})
	}
	if ix.Person != "" {
		enlist(x.persons, store.Person{Site: t.Site, Business: ix.Person}, listed{id: t.ID})
	}
	if ix.Due != 0 {
		x.due.insert(store.DueEntry{At: ix.Due, Token: t.ID})
	}
}

// drop takes a record, as it was added, out of everything but the list by
// arrival, in which a changed record keeps its place. All records of a batch
// are dropped before the first is added, for they may hand a mark over.
func (x *index) drop(t *store.Token) {
	ix := t.Indexes()
	if l := x.lines[ix.Line]; l != nil {
		if ix.InLane {
			l.leave(t.Lane, member{t.Member().Key, t.ID})
		}
		if l.counts[t.State]--; l.counts[t.State] == 0 {
			delete(l.counts, t.State)
		}
		if len(l.counts) == 0 {
			delete(x.lines, ix.Line)
		}
	}
	if ix.Holder.Business != "" {
		delete(x.holders, ix.Holder)
	}
	if ix.Counter != "" {
		delist(x.counters, ix.Counter, t.ID)
	}
	if ix.Person != "" {
		delist(x.persons, store.Person{Site: t.Site, Business: ix.Person}, t.ID)
	}
	if ix.Due != 0 {
		x.due.remove(store.DueEntry{At: ix.Due, Token: t.ID})
	}
}

// unlist takes a dropped record out of the list by arrival too.
func (x *index) unlist(t *store.Token) { x.arrivals.remove(arrival{t.Arrival, t.ID}) }

// addDoc and dropDoc do the same for a document.
func (x *index) addDoc(d *store.Doc) {
	if d.Due != 0 {
		x.due.insert(store.DueEntry{At: d.Due, Doc: d.Key})
	}
}

func (x *index) dropDoc(d *store.Doc) {
	if d.Due != 0 {
		x.due.remove(store.DueEntry{At: d.Due, Doc: d.Key})
	}
}

func enlist[K comparable](lists map[K][]listed, k K, l listed) { lists[k] = append(lists[k], l) }

func delist[K comparable](lists map[K][]listed, k K, id dengxu.TokenID) {
	left := slices.DeleteFunc(lists[k], func(l listed) bool { return l.id == id })
	if len(left) == 0 {
		delete(lists, k)
		return
	}
	lists[k] = left
}

// line is the line of a key, also when nobody is in it.
func (x *index) line(k store.LineKey) *line {
	if l := x.lines[k]; l != nil {
		return l
	}
	return nobody
}

// busy is how many places are filled at a counter.
func (x *index) busy(c dengxu.CounterID) int {
	n := 0
	for _, l := range x.counters[c] {
		if l.fills {
			n++
		}
	}
	return n
}

// entries are all entries in words, by the index they belong to.
func (x *index) entries() map[string][]string {
	all := make(map[string][]string)
	put := func(kind, format string, args ...any) {
		all[kind] = append(all[kind], fmt.Sprintf(format, args...))
	}
	for _, a := range x.arrivals.items {
		put("arrivals", "%d %s", a.number, a.id.Mask())
	}
	for k, l := range x.lines {
		for state, n := range l.counts {
			put("counts", "%v: %d %s", k, n, state)
		}
		for at, in := range l.lanes {
			for i, m := range in.items {
				put("lanes", "%v %v: %d. %v %s", k, at, i, m.key, m.id.Mask())
			}
		}
	}
	for k, id := range x.holders {
		put("holders", "%v: %s", k, id.Mask())
	}
	for k, list := range x.counters {
		for _, l := range list {
			put("counters", "%s: %s busy %t", k, l.id.Mask(), l.fills)
		}
	}
	for k, list := range x.persons {
		for _, l := range list {
			put("persons", "%v: %s", k, l.id.Mask())
		}
	}
	for i, d := range x.due.items {
		put("due", "%d. %d %s %v", i, d.At, d.Token.Mask(), d.Doc)
	}
	return all
}
