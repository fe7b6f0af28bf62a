package storetest

import (
	"errors"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// The partition's time never runs backwards; store.Clock is tested on its own,
// here only that the store uses it.
var clockExamples = []example{
	{"it follows the wall clock", clockFollows},
	{"it stands when the wall clock steps back", clockBack},
	{"so it does for a short step that only a reader has seen", clockBackShort},
	{"a jump ahead is doubted", clockAhead},
	{"a refused batch logs the step too", clockRefused},
}

func clockFollows(k *kit) {
	k.pass(time.Hour)
	if got := k.now(); got != k.clock.Now() {
		k.t.Errorf("now is %d, want %d", got, k.clock.Now())
	}
	if got := k.commit(store.Batch{}).Now; got != k.clock.Now() {
		k.t.Errorf("a commit says %d, want %d", got, k.clock.Now())
	}
}

func clockBack(k *kit) {
	k.join("a", dueIn(0))
	before, start := k.now(), k.end()
	k.clock.JumpWall(-time.Hour)
	if got := k.now(); got != before {
		k.t.Errorf("a view says %+d ms", got-before)
	}
	k.pass(10 * time.Second)
	if got := k.join("b").JoinedAt; got != before+5000 {
		k.t.Errorf("a join happens %+d ms later, want half of ten seconds", got-before)
	}
	if d := k.due(9); d.Now != before+5000 || len(d.Entries) != 1 {
		k.t.Errorf("due at %+d ms: %+v", d.Now-before, d.Entries)
	}
	if p, err := k.s.List(k.t.Context(), store.ListAsk{Limit: 1}); err != nil || p.Now != before+5000 {
		k.t.Errorf("a list says %+d ms, %v", p.Now-before, err)
	}
	k.wantStep(start, store.Step{By: -3_600_000, Did: store.StepHeld}, dengxu.EventJoined)
}

func clockBackShort(k *kit) {
	before := k.now()
	k.clock.JumpWall(-24 * time.Second)
	if got := k.now(); got != before {
		k.t.Errorf("a view says %+d ms", got-before)
	}
	k.pass(10 * time.Second)
	if got := k.join("a").JoinedAt; got != before+5000 {
		k.t.Errorf("a join happens %+d ms later, want half of ten seconds", got-before)
	}
}

// wantStep expects the log after start to be one step and then one event.
func (k *kit) wantStep(start store.Cursor, step store.Step, then dengxu.EventType) {
	k.t.Helper()
	all := k.events(start)
	if len(all) != 2 || all[1].Type != then {
		k.t.Fatalf("events %+v, want the step and %s", all, then)
	}
	same(k.t, "the step", step.Event(start.Number+1, all[0].At), all[0])
}

func clockAhead(k *kit) {
	before, start := k.now(), k.end()
	k.clock.JumpWall(24 * time.Hour)
	if got := k.join("a").JoinedAt; got != before {
		k.t.Errorf("a join happens %+d ms later, want at once", got-before)
	}
	k.wantStep(start, store.Step{By: 86_400_000, Did: store.StepDoubted}, dengxu.EventJoined)
	k.pass(2 * time.Minute)
	if got := k.now(); got != k.clock.Now() {
		k.t.Errorf("after two minutes now is %+d ms from the wall clock", got-k.clock.Now())
	}
}

func clockRefused(k *kit) {
	k.now()
	start := k.end()
	k.clock.JumpWall(-time.Hour)
	_, err := k.s.Commit(k.t.Context(), writing(fresh("a", func(t *store.Token) { t.Version, t.Arrival, t.Seq = 4, 4, 4 })))
	if _, refused := errors.AsType[*store.Refused](err); !refused {
		k.t.Fatalf("a stale write: %v", err)
	}
	k.join("b")
	k.wantStep(start, store.Step{By: -3_600_000, Did: store.StepHeld}, dengxu.EventJoined)
}
