package storetest

import (
	"time"

	"github.com/dengxu/dengxu/internal/store"
)

// Marks remember when a business id's last token ended.
var markExamples = []example{
	{"written, read and written over", markLife},
	{"expected older", markOlder},
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
