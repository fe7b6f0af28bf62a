package pebblestore

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// index is everything kept in memory: what is derived from live records, and
// documents and counts themselves. Records stay on disk. Every token costs
// memory here, so entry is small, and what its record says is read there.
type index struct {
	tokens   map[dengxu.TokenID]*entry
	lines    map[store.LineKey]*line
	persons  map[string]*entry // by business id: a ring, see join
	counters map[dengxu.CounterID]*desk
	due      counted[dueKey, struct{}]
	docDue   counted[docDueKey, struct{}]
	docs     map[store.DocKey]*docEntry
	tallies  map[string]*daily
	series   map[ledger.SeriesKey]*daily
	sites    map[dengxu.SiteID]*dengxu.SiteID // one string for all tokens of a site
}

// entry is one live token in memory: 104 bytes, and its record while it waits.
type entry struct {
	id         dengxu.TokenID
	record     []byte // as it is stored, see keptRecord; nil = only on disk
	hash       uint64 // of its record, as part of the state sum
	line       *line
	site       *dengxu.SiteID
	arrival    arrival
	next, prev *entry // the ring of its business id, nil when in none
	state      uint8  // index in dengxu.States
	unique     bool   // holds the mark of its business id in its line
}

// keptBytes is the longest record that is kept in memory.
const keptBytes = 320

// keptRecord is the record as it is stored while the token waits and the
// record is short: that is what calls and positions read, and they come to it
// long after it has left every cache. nil = it is not kept.
func keptRecord(t *store.Token, record []byte) []byte {
	if t.State == dengxu.StateWaiting && len(record) <= keptBytes {
		return bytes.Clone(record)
	}
	return nil
}

// token decodes the record that is kept, or returns nil.
func (e *entry) token() *store.Token {
	if e == nil || e.record == nil {
		return nil
	}
	t, err := store.DecodeToken(e.id, e.record)
	if err != nil {
		return nil // the one on disk tells what is wrong
	}
	return t
}

// desk is the tokens at one counter, in the order of their calls. It stays when
// it is empty, since the next call comes soon, until the counter is removed.
type desk struct {
	tokens counted[callKey, *entry]
	busy   int
}

// callKey orders tokens at a counter by call, then by arrival.
type callKey struct {
	call    uint64
	arrival arrival
}

// Less orders calls.
func (k callKey) Less(than callKey) bool {
	return k.call < than.call || k.call == than.call && k.arrival < than.arrival
}

// dueKey orders tokens as store.DueEntry.Compare does.
type dueKey struct {
	at    int64
	token *entry
}

// Less orders by time, then by id.
func (k dueKey) Less(than dueKey) bool {
	return k.at < than.at || k.at == than.at && k.token.id < than.token.id
}

// docDueKey orders documents as store.DueEntry.Compare does.
type docDueKey struct {
	at  int64
	key store.DocKey
}

// Less orders by time, then by kind and id.
func (k docDueKey) Less(than docDueKey) bool {
	return k.entry().Compare(than.entry()) < 0
}

func (k docDueKey) entry() store.DueEntry { return store.DueEntry{At: k.at, Doc: k.key} }

// docEntry is a document and the hash of its record.
type docEntry struct {
	store.Doc
	hash uint64
}

// daily is a daily count and the hash of the record that was written last.
type daily struct {
	ledger.Daily
	hash uint64
}

func newIndex() *index {
	return &index{
		tokens:   make(map[dengxu.TokenID]*entry),
		lines:    make(map[store.LineKey]*line),
		persons:  make(map[string]*entry),
		counters: make(map[dengxu.CounterID]*desk),
		docs:     make(map[store.DocKey]*docEntry),
		tallies:  make(map[string]*daily),
		series:   make(map[ledger.SeriesKey]*daily),
		sites:    make(map[dengxu.SiteID]*dengxu.SiteID),
	}
}

var (
	stateNames = dengxu.States()
	stateCodes = codesOf(stateNames)
)

func codesOf(names []dengxu.State) map[dengxu.State]uint8 {
	codes := make(map[dengxu.State]uint8, len(names))
	for i, s := range names {
		codes[s] = uint8(i)
	}
	return codes
}

// add enters a live record everywhere it belongs. e is its new entry.
func (x *index) add(e *entry, t *store.Token) {
	x.change(e, nil, t)
	x.tokens[e.id] = e
}

// change takes a record out of where it was entered and enters what it is now;
// nil is no record. What did not change stays untouched: most of it, mostly.
func (x *index) change(e *entry, before, after *store.Token) {
	var was, is store.Indexes
	if before != nil {
		was = before.Indexes()
	}
	if after != nil {
		is = after.Indexes()
		if e.site == nil || *e.site != after.Site {
			e.site = x.site(after.Site)
		}
		e.arrival = arrival(after.Arrival)
	}
	x.changeLine(e, before, after, &was, &is)
	x.changePerson(e, &was, &is)
	x.changeDesk(e, before, after, &was, &is)
	if was.Due != is.Due {
		if was.Due != 0 {
			x.due.Delete(dueKey{was.Due, e})
		}
		if is.Due != 0 {
			x.due.Insert(dueKey{is.Due, e}, struct{}{})
		}
	}
}

// changeLine moves a token between lines, lanes and states.
func (x *index) changeLine(e *entry, before, after *store.Token, was, is *store.Indexes) {
	stays := before != nil && after != nil && was.Line == is.Line
	if before != nil {
		l := e.line
		if was.InLane && !(stays && is.InLane && before.Member() == after.Member()) {
			l.leave(before.Member())
		}
		l.counts[e.state]--
		if !stays {
			if l.arrivals.Delete(e.arrival); l.arrivals.Len() == 0 {
				delete(x.lines, l.key)
			}
		}
	}
	if after == nil {
		return
	}
	if !stays {
		if e.line = x.lines[is.Line]; e.line == nil {
			e.line = newLine(is.Line)
			x.lines[e.line.key] = e.line
		}
		e.line.arrivals.Insert(e.arrival, e)
	}
	e.state = stateCodes[after.State]
	e.line.counts[e.state]++
	if is.InLane && !(stays && was.InLane && before.Member() == after.Member()) {
		e.line.enter(after.Member(), e)
	}
}

// changePerson moves a token between the rings of business ids.
func (x *index) changePerson(e *entry, was, is *store.Indexes) {
	unique := is.Holder.Business != ""
	if was.Person == is.Person && e.unique == unique {
		return
	}
	if was.Person != "" {
		x.part(was.Person, e)
	}
	e.unique = unique
	if is.Person != "" {
		x.join(strings.Clone(is.Person), e)
	}
}

// changeDesk moves a token between counters, and in the order of calls.
func (x *index) changeDesk(e *entry, before, after *store.Token, was, is *store.Indexes) {
	if was.Counter == is.Counter && was.Busy == is.Busy && before != nil && after != nil && before.CallNo == after.CallNo {
		return
	}
	if was.Counter != "" {
		d := x.counters[was.Counter]
		if d.tokens.Delete(callKey{before.CallNo, e.arrival}) && was.Busy {
			d.busy--
		}
	}
	if is.Counter != "" {
		d := x.counters[is.Counter]
		if d == nil {
			d = new(desk)
			x.counters[dengxu.CounterID(strings.Clone(string(is.Counter)))] = d
		}
		if d.tokens.Insert(callKey{after.CallNo, e.arrival}, e) && is.Busy {
			d.busy++
		}
	}
}

// site is the one string that stands for a site in all entries.
func (x *index) site(s dengxu.SiteID) *dengxu.SiteID {
	p := x.sites[s]
	if p == nil {
		p = new(dengxu.SiteID(strings.Clone(string(s))))
		x.sites[*p] = p
	}
	return p
}

// join enters e in the ring of a business id: those that hold a mark first, so
// that looking for one ends at the first that holds none.
func (x *index) join(business string, e *entry) {
	head := x.persons[business]
	if head == nil {
		e.next, e.prev = e, e
		x.persons[business] = e
		return
	}
	e.next, e.prev = head, head.prev
	head.prev.next, head.prev = e, e
	if e.unique {
		x.persons[business] = e
	}
}

// part takes e out of the ring.
func (x *index) part(business string, e *entry) {
	switch {
	case e.next == nil:
		return
	case e.next == e:
		delete(x.persons, business)
	default:
		e.prev.next, e.next.prev = e.next, e.prev
		if x.persons[business] == e {
			x.persons[strings.Clone(business)] = e.next
		}
	}
	e.next, e.prev = nil, nil
}

// holder is the token that holds a mark, or nil.
func (x *index) holder(k store.HolderKey) *entry {
	head := x.persons[k.Business]
	for e := head; e != nil && e.unique; {
		if e.line.key == k.Line {
			return e
		}
		if e = e.next; e == head {
			break
		}
	}
	return nil
}

// person yields the active tokens of a business id in a site.
func (x *index) person(p store.Person) []*entry {
	var found []*entry
	head := x.persons[p.Business]
	for e := head; e != nil; {
		if *e.site == p.Site {
			found = append(found, e)
		}
		if e = e.next; e == head {
			break
		}
	}
	return found
}

// desk is what stands at a counter: a list to be read only.
func (x *index) desk(c dengxu.CounterID) *desk {
	if d := x.counters[c]; d != nil {
		return d
	}
	return noDesk
}

var noDesk = new(desk)

// line is the line of a key, also when nobody is in it.
func (x *index) line(k store.LineKey) *line {
	if l := x.lines[k]; l != nil {
		return l
	}
	return nobody
}

// putDoc enters a document; Version 0 takes it out.
func (x *index) putDoc(d store.Doc, hash uint64) {
	if before := x.docs[d.Key]; before != nil && before.Due != 0 {
		x.docDue.Delete(docDueKey{before.Due, d.Key})
	}
	if d.Version == 0 {
		delete(x.docs, d.Key)
		if c := dengxu.CounterID(d.Key.ID); d.Key.Kind == store.DocCounter && x.desk(c).tokens.Len() == 0 {
			delete(x.counters, c)
		}
		return
	}
	x.docs[d.Key] = &docEntry{d, hash}
	if d.Due != 0 {
		x.docDue.Insert(docDueKey{d.Due, d.Key}, struct{}{})
	}
}

// firstDue is before every token's key.
var firstDue = dueKey{math.MinInt64, new(entry)}

// dueBy answers at most limit entries that are due, and when the next one is.
func (x *index) dueBy(now int64, limit int) (due []store.DueEntry, next int64) {
	// One more than asked for of each kind is enough to know the next one.
	for k := range x.docDue.From(docDueKey{at: math.MinInt64}) {
		due = append(due, k.entry())
		if k.at > now || len(due) > limit {
			break
		}
	}
	docs := len(due)
	for k := range x.due.From(firstDue) {
		due = append(due, store.DueEntry{At: k.at, Token: k.token.id})
		if k.at > now || len(due)-docs > limit {
			break
		}
	}
	slices.SortFunc(due, store.DueEntry.Compare)
	for i, entry := range due {
		if entry.At > now || i == limit {
			return due[:i:i], entry.At
		}
	}
	return due, 0
}
