package storetest

import (
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// A pick calls whoever is first at the commit's time.
var callExamples = []example{
	{"the record of a called token", callRecord},
	{"the first call is kept and undo is not", callAgain},
	{"the faster lane overtakes in time", callOrder},
	{"only the classes of the counter are called", callClasses},
	{"tokens bound to the counter are called by it alone", callBound},
	{"the oldest of several queues, or the first that has anyone", callLines},
	{"deadline and due of the line go before those of the pick", callDeadline},
	{"the excluded token is passed over", callExclude},
	{"the line is judged before the batch's own writes", callBeforeWrites},
	{"call numbers rise", callNumbers},
	{"a task is serving at once", callTask},
}

func callRecord(k *kit) {
	t1 := k.join("t1", func(t *store.Token) { t.Reason, t.Why = "came", "delay" })
	k.pass(time.Minute)
	k.join("t2")
	now := k.clock.Now()
	r := k.commit(calling(1))
	want := t1
	want.Version, want.State, want.Counter = 2, dengxu.StateCalling, desk
	want.CalledAt, want.FirstCalled, want.Since = now, now, now
	want.Deadline, want.Due = now+300_000, now+300_000
	want.CallNo, want.CallCount = r.Tokens[0].CallNo, 1
	want.Reason, want.Why = "", ""
	want.Compared = []order.Member{t1.Member()}
	want.Spans = []store.Span{{
		State: dengxu.StateWaiting, From: t1.Since, To: now, Queue: queue, Actor: "anna", Verb: dengxu.VerbCall,
	}}
	same(k.t, "picked", []store.Token{want}, r.Tokens)
	same(k.t, "stored", want, k.token("t1"))
	if r.Picked != 1 || want.CallNo == 0 {
		k.t.Errorf("picked %d with call number %d", r.Picked, want.CallNo)
	}
}

func callAgain(k *kit) {
	k.join("t1")
	t1 := k.commit(calling(1)).Tokens[0]
	first := t1.FirstCalled
	k.pass(time.Minute)
	k.change(t1, func(t *store.Token) {
		t.State, t.Since, t.Counter, t.Confirmed, t.Asked, t.CallCount = dengxu.StateWaiting, store.Now, "", true, true, 3
		t.Due, t.Deadline = 0, 0
		t.Undo = &store.Undo{Verb: dengxu.VerbMiss, Until: store.Now + 60_000}
	})
	k.pass(time.Minute)
	again := k.commit(calling(1)).Tokens[0]
	if again.FirstCalled != first || again.CalledAt != first+120_000 {
		k.t.Errorf("first called at %d, then %d; want %d and two minutes later", again.FirstCalled, again.CalledAt, first)
	}
	if again.Undo != nil || again.Confirmed || again.Asked || again.CallCount != 1 {
		k.t.Errorf("undo %v, confirmed %t, asked %t, call count %d after a call",
			again.Undo, again.Confirmed, again.Asked, again.CallCount)
	}
}

func vip(t *store.Token) { t.Lane, t.Factor = order.Lane{K: 10}, 500 }

func callOrder(k *kit) {
	k.join("old")
	k.pass(time.Minute)
	k.join("vip", vip)
	k.join("young")
	k.pass(30 * time.Second)
	// 90 s against 30 s counted twice.
	if r := k.commit(calling(1)); ids(r.Tokens) != "old" {
		k.t.Fatalf("called %q first", ids(r.Tokens))
	}
	r := k.commit(calling(2))
	if ids(r.Tokens) != "vip young" {
		k.t.Fatalf("called %q, want the one who ages faster first", ids(r.Tokens))
	}
	if len(r.Tokens[0].Compared) != 2 || r.Tokens[0].Compared[0].Lane.K != 10 {
		k.t.Errorf("compared %v, want both heads, its own first", r.Tokens[0].Compared)
	}
}

func callClasses(k *kit) {
	k.join("cash", func(t *store.Token) { t.Class, t.Lane.Class = "cash", "cash" })
	k.pass(time.Second)
	k.join("loan", func(t *store.Token) { t.Class, t.Lane.Class = "loan", "loan" })
	b := calling(2)
	b.Pick.Lines[0].Classes = []string{"loan", "gold"}
	if r := k.commit(b); ids(r.Tokens) != "loan" {
		k.t.Errorf("called %q, want loan alone", ids(r.Tokens))
	}
	if r := k.commit(calling(2)); ids(r.Tokens) != "cash" {
		k.t.Errorf("called %q, want cash", ids(r.Tokens))
	}
}

func callBound(k *kit) {
	k.join("mine", func(t *store.Token) { t.Lane.Class = store.BoundTo(desk) })
	k.join("theirs", func(t *store.Token) { t.Lane.Class = "@desk-2" })
	if r := k.commit(calling(3)); ids(r.Tokens) != "mine" {
		k.t.Errorf("called %q, want mine alone", ids(r.Tokens))
	}
}

func inOther(t *store.Token) { t.Queue = other }

func callLines(k *kit) {
	k.join("lab-1", inOther)
	k.pass(time.Second)
	k.join("clinic-1")
	k.pass(time.Second)
	k.join("lab-2", inOther)
	b := calling(1)
	b.Pick.Lines = []store.PickLine{{Line: line}, {Line: store.LineKey{Queue: other, Gen: today}}}
	if r := k.commit(b); ids(r.Tokens) != "lab-1" {
		k.t.Errorf("oldest: called %q", ids(r.Tokens))
	}
	b.Pick.Mode, b.Pick.Max = order.Listed, 2
	if r := k.commit(b); ids(r.Tokens) != "clinic-1 lab-2" {
		k.t.Errorf("listed: called %q", ids(r.Tokens))
	}
}

func callDeadline(k *kit) {
	k.join("lab-1", inOther)
	k.join("clinic-1")
	b := calling(2)
	b.Pick.Lines = []store.PickLine{
		{Line: line}, {Line: store.LineKey{Queue: other, Gen: today}, Deadline: store.Now + 5, Due: store.Now + 7},
	}
	r := k.commit(b)
	now := k.clock.Now()
	if t := r.Tokens[0]; t.Deadline != now+5 || t.Due != now+7 {
		k.t.Errorf("%s: deadline %d, due %d; want the line's", t.ID, t.Deadline-now, t.Due-now)
	}
	if t := r.Tokens[1]; t.Deadline != now+300_000 || t.Due != now+300_000 {
		k.t.Errorf("%s: deadline %d, due %d; want the pick's", t.ID, t.Deadline-now, t.Due-now)
	}
}

func callExclude(k *kit) {
	k.join("t1")
	k.join("t2")
	b := calling(2)
	b.Pick.Exclude = "t1"
	if r := k.commit(b); ids(r.Tokens) != "t2" {
		k.t.Errorf("called %q, want t2 alone", ids(r.Tokens))
	}
	b.Pick.Exclude = "unknown"
	if r := k.commit(b); ids(r.Tokens) != "t1" {
		k.t.Errorf("called %q, want t1", ids(r.Tokens))
	}
}

func callBeforeWrites(k *kit) {
	k.join("t1")
	held := k.commit(calling(1)).Tokens[0]
	b := calling(2)
	b.Tokens = writing(
		fresh("new", func(t *store.Token) { t.Place = 1 }),
		changed(held, func(t *store.Token) { t.State, t.Place = dengxu.StateWaiting, 0 }),
	).Tokens
	if r := k.commit(b); r.Picked != 0 || ids(r.Tokens) != "new t1" {
		k.t.Errorf("picked %d of %q, want nobody", r.Picked, ids(r.Tokens))
	}
	if r := k.commit(calling(2)); ids(r.Tokens) != "t1 new" {
		k.t.Errorf("then called %q", ids(r.Tokens))
	}
}

func callNumbers(k *kit) {
	k.join("t1")
	k.join("t2")
	r := k.commit(calling(2))
	third := k.change(r.Tokens[1], func(t *store.Token) { t.CallNo = store.NextCall })
	a, b, c := r.Tokens[0].CallNo, r.Tokens[1].CallNo, third.CallNo
	if a == 0 || b != a+1 || c != b+1 {
		k.t.Errorf("call numbers %d, %d, %d", a, b, c)
	}
}

func callTask(k *kit) {
	k.join("task")
	b := calling(1)
	b.Pick.State = dengxu.StateServing
	if t := k.commit(b).Tokens[0]; t.State != dengxu.StateServing || t.StartedAt != k.clock.Now() {
		k.t.Errorf("a task is %s since %d", t.State, t.StartedAt)
	}
}
