package sim

import (
	"cmp"
	"slices"

	"github.com/dengxu/dengxu/internal/store"
)

// kind is what happens. At one moment, what has the smaller kind is first: a
// service that ends frees its counter, a join is before a call slot, and who
// gives up is not called any more.
type kind uint8

const (
	ends   kind = iota // the service at a desk
	gives              // the operator gives up on the one who was called
	closes             // a desk
	opens              // a desk
	joins              // a person
	leaves             // a person who has no patience left
	slots              // a call slot
)

// moment is when something is done.
type moment struct {
	at   int64
	kind kind
}

// task is one thing to be done: with a desk, a person or a slot.
type task struct {
	moment
	n   int32
	seq uint32 // order among equals
}

func (t task) before(o task) bool {
	return cmp.Or(cmp.Compare(t.at, o.at), cmp.Compare(t.kind, o.kind), cmp.Compare(t.seq, o.seq)) < 0
}

// earlier is the one of the two that is done first, o when they are equals.
func (t task) earlier(o task) task {
	if t.before(o) {
		return t
	}
	return o
}

// agenda is what is to be done. The zero agenda is empty.
type agenda struct {
	tasks heap[task]
	seq   uint32
}

// plan puts in what is known before anybody comes: hours and call slots.
func (a *agenda) plan(r *run) {
	for i := range r.slots {
		a.add(task{moment: moment{r.slots[i].at, slots}, n: int32(i)})
	}
	if r.recorded != nil {
		return
	}
	days := r.days + 1 // a night after the last day
	if r.days == 0 && len(r.people) > 0 {
		days = int(r.people[len(r.people)-1].at/86_400_000) + 3
	}
	for i := range r.desks {
		if len(r.desks[i].hours) == 0 {
			a.add(task{moment: moment{0, opens}, n: int32(i)})
			continue
		}
		for day := range days {
			for _, span := range r.desks[i].hours {
				from, to := r.span(span, day)
				a.add(task{moment: moment{from, opens}, n: int32(i)})
				a.add(task{moment: moment{to, closes}, n: int32(i)})
			}
		}
	}
}

func (a *agenda) add(t task) {
	a.seq++
	t.seq = a.seq
	a.tasks.push(t)
}

// first is the first task; one at forever when there is none.
func (a *agenda) first() task {
	if len(a.tasks) == 0 {
		return task{moment: moment{forever, slots}}
	}
	return a.tasks[0]
}

func (a *agenda) pop() { a.tasks.pop() }

// dues are when the engine's timers have something to do that matters here: for
// tokens that have not ended, and for documents. The store has the same list, but
// asking it before every event costs more than the event.
type dues struct {
	tokens heap[due] // what has changed since is dropped when it comes to the top
	docs   map[store.DocKey]int64
}

type due struct {
	at      int64
	who     int32
	version uint64
}

func (d due) before(o due) bool { return d.at < o.at }

func (d *dues) doc(k store.DocKey, at int64) {
	if d.docs == nil {
		d.docs = make(map[store.DocKey]int64)
	}
	if at == forever {
		delete(d.docs, k)
		return
	}
	d.docs[k] = at
}

func (d *dues) token(t due) { d.tokens.push(t) }

// first is when something is due, or forever.
func (d *dues) first(r *run) int64 {
	at := int64(forever)
	for _, due := range d.docs {
		at = min(at, due)
	}
	for len(d.tokens) > 0 {
		t := d.tokens[0]
		if s := &r.stays[t.who]; s.version == t.version && !s.state.Ended() {
			return min(at, t.at)
		}
		d.tokens.pop()
	}
	return at
}

// overdue lists what is due, oldest first.
func (r *run) overdue(now int64) []store.DueEntry {
	var all []store.DueEntry
	for key, at := range r.due.docs {
		if at <= now {
			all = append(all, store.DueEntry{At: r.base + at, Doc: key})
		}
	}
	for _, t := range r.due.tokens {
		if s := &r.stays[t.who]; t.at <= now && s.version == t.version && !s.state.Ended() {
			all = append(all, store.DueEntry{At: r.base + t.at, Token: s.id})
		}
	}
	slices.SortFunc(all, store.DueEntry.Compare)
	return all
}
