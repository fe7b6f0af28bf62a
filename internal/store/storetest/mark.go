package storetest

import (
	"time"

	"github.com/dengxu/dengxu/internal/store"
)

// Marks remember when something last happened to a business id in a queue.
var markExamples = []example{
	{"written, read and written over", markLife},
	{"expected older", markOlder},
	{"each kind has its own", markKinds},
	{"expected as it was read", markAt},
	{"kinds go into another store", markDump},
}

func markBatch(at int64) store.Batch {
	return store.Batch{Marks: []store.MarkWrite{{MarkKey: store.MarkKey{Queue: queue, Business: "ann"}, At: at, Keep: 3_600_000}}}
}

func (k *kit) mark() int64 {
	k.t.Helper()
	return k.view(store.Ask{Marks: []store.MarkKey{{Queue: queue, Business: "ann"}}}).Marks[0]
}

func markLife(k *kit) {
	if at := k.mark(); at != 0 {
		k.t.Errorf("an absent mark reads as %d", at)
	}
	k.commit(markBatch(store.Now - 5))
	if at := k.mark(); at != k.clock.Now()-5 {
		k.t.Errorf("the mark is now %+d, want -5", at-k.clock.Now())
	}
	k.pass(time.Minute)
	k.commit(markBatch(store.Now))
	if at := k.mark(); at != k.clock.Now() {
		k.t.Errorf("the mark is now %+d, want 0", at-k.clock.Now())
	}
	v := k.view(store.Ask{Marks: []store.MarkKey{{Queue: other, Business: "ann"}, {Queue: queue, Business: "bob"}}})
	same(k.t, "other marks", []int64{0, 0}, v.Marks)
}

func markOlder(k *kit) {
	older := store.MarkOlder{MarkKey: store.MarkKey{Queue: queue, Business: "ann"}, At: store.Now - 60_000}
	k.expects(older)
	k.commit(markBatch(store.Now))
	at := k.clock.Now()
	if r := k.expectsNot(older); r.At != at {
		k.t.Errorf("the mark is said to be %d, want %d", r.At, at)
	}
	k.pass(time.Minute - time.Millisecond)
	k.expectsNot(older)
	k.pass(time.Millisecond)
	k.expects(older)
}

var allMarks = []store.MarkKind{store.MarkEnded, store.MarkJoined, store.MarkMissed, store.MarkServed}

// marksOf reads the marks of all kinds of a business id.
func (k *kit) marksOf(business string) []int64 {
	k.t.Helper()
	var a store.Ask
	for _, kind := range allMarks {
		a.Marks = append(a.Marks, store.MarkKey{Queue: queue, Business: business, Kind: kind})
	}
	return k.view(a).Marks
}

func markOfKind(kind store.MarkKind, at, keep int64) store.Batch {
	key := store.MarkKey{Queue: queue, Business: "ann", Kind: kind}
	return store.Batch{Marks: []store.MarkWrite{{MarkKey: key, At: at, Keep: keep}}}
}

func markKinds(k *kit) {
	want := make([]int64, len(allMarks))
	for i, kind := range allMarks {
		k.commit(markOfKind(kind, store.Now, 3_600_000))
		want[i] = k.clock.Now()
		same(k.t, "marks", want, k.marksOf("ann"))
		k.pass(time.Second)
	}
	same(k.t, "marks of another", make([]int64, len(allMarks)), k.marksOf("bob"))
	// All in one batch, one of them twice.
	b := store.Batch{}
	for i, kind := range allMarks {
		want[i] = k.clock.Now() - int64(i)
		b.Marks = append(b.Marks, markOfKind(kind, store.Now-int64(i), 1000*int64(i+1)).Marks...)
	}
	b.Marks = append(b.Marks, markOfKind(store.MarkServed, store.Now-7, 4000).Marks...)
	want[3] = k.clock.Now() - 7
	k.commit(b)
	same(k.t, "marks of one batch", want, k.marksOf("ann"))
	// Each is forgotten at its own time.
	for i := range allMarks {
		k.pass(time.Second)
		want[i] = 0
		same(k.t, "marks that are left", want, k.marksOf("ann"))
	}
}

func markAt(k *kit) {
	at := func(kind store.MarkKind, at int64) store.MarkAt {
		return store.MarkAt{MarkKey: store.MarkKey{Queue: queue, Business: "ann", Kind: kind}, At: at}
	}
	k.expects(at(store.MarkMissed, 0))
	k.expectsNot(at(store.MarkMissed, k.clock.Now()))
	k.commit(markOfKind(store.MarkMissed, store.Now, 60_000))
	missed := k.clock.Now()
	k.expects(at(store.MarkMissed, missed))
	for kind, wrong := range map[store.MarkKind]int64{store.MarkMissed: 0, store.MarkServed: missed, store.MarkEnded: missed} {
		r := k.expectsNot(at(kind, wrong))
		if want := missed - wrong; r.At != want { // of the others there is none
			k.t.Errorf("the mark %q is said to be %d, want %d", kind, r.At, want)
		}
	}
	for _, wrong := range []int64{missed - 1, missed + 1} {
		if r := k.expectsNot(at(store.MarkMissed, wrong)); r.At != missed {
			k.t.Errorf("the mark is said to be %d, want %d", r.At, missed)
		}
	}
	// The mark changes together with what was decided by it, once.
	k.pass(time.Second)
	b := markOfKind(store.MarkMissed, store.Now, 60_000)
	b.Expect = []store.Expectation{at(store.MarkMissed, missed)}
	k.commit(b)
	if r := k.refused(b, b.Expect[0]); r.At != missed+1000 {
		k.t.Errorf("the changed mark is said to be %d, want %d", r.At, missed+1000)
	}
	k.pass(time.Minute)
	k.expects(at(store.MarkMissed, 0)) // it is over
	if r := k.expectsNot(at(store.MarkMissed, missed+1000)); r.At != 0 {
		k.t.Errorf("a mark that is over is said to be %d", r.At)
	}
}

func markDump(k *kit) {
	m := &kit{t: k.t, s: k.model(), clock: k.clock}
	for i, kind := range allMarks {
		m.commit(markOfKind(kind, store.Now-int64(i), 3_600_000))
	}
	rows := m.dump(m.s)
	k.load(k.s, rows)
	same(k.t, "what was loaded", moved(rows), moved(k.dump(k.s)))
	same(k.t, "marks", m.marksOf("ann"), k.marksOf("ann"))
	// A later mark of one kind is kept, the others are not touched.
	k.commit(markOfKind(store.MarkServed, store.Now+5, 3_600_000))
	k.load(k.s, rows)
	want := m.marksOf("ann")
	want[3] = k.clock.Now() + 5
	same(k.t, "marks after the same rows", want, k.marksOf("ann"))
}
