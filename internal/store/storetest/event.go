package storetest

import (
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// Events are numbered without gap, in commit order, and say what the record
// says.
var eventExamples = []example{
	{"completed from the record", eventRecord},
	{"of the picked come last", eventPicked},
	{"gapless over many commits", eventGapless},
	{"read in pages from a cursor", eventPages},
	{"an unknown cursor is reset", eventReset},
	{"a very old cursor is whole or reset", eventOld},
	{"watched", eventWatch},
	{"what was handed out and in is not shared", eventCopies},
}

func eventRecord(k *kit) {
	start := k.end()
	b := writing(fresh("t1", func(t *store.Token) { t.Number, t.Counter, t.Reason = 12, desk, "came" }))
	b.Events = []store.EventSpec{
		{Type: dengxu.EventJoined, Token: 1, Actor: "kiosk", Data: []byte(`{"a":1}`)},
		{Type: dengxu.EventTransferred, Token: 1, Queue: other, Counter: "desk-2", Reason: "asked"},
		{Type: dengxu.EventDoorChanged, Queue: queue, Actor: "anna", Reason: "noon"},
	}
	r := k.commit(b)
	t := r.Tokens[0]
	about := store.Event{
		At: k.clock.Now(), Site: site, Token: "t1", Ref: t.Ref(0), Label: "A012",
		State: dengxu.StateWaiting, Version: 1,
	}
	first, second := about, about
	first.Number, first.Type, first.Queue, first.Counter = start.Number+1, dengxu.EventJoined, queue, desk
	first.Actor, first.Reason, first.Data = "kiosk", "came", []byte(`{"a":1}`)
	second.Number, second.Type, second.Queue, second.Counter = start.Number+2, dengxu.EventTransferred, other, "desk-2"
	second.Reason = "asked"
	third := store.Event{
		Number: start.Number + 3, At: k.clock.Now(), Type: dengxu.EventDoorChanged, Site: site,
		Queue: queue, Actor: "anna", Reason: "noon",
	}
	same(k.t, "events", []store.Event{first, second, third}, k.events(start))
	if want := start.Number + 3; r.Last.Number != want || r.Last != k.end() {
		k.t.Errorf("the last event is %+v, want number %d", r.Last, want)
	}
}

func eventPicked(k *kit) {
	k.join("t1")
	k.join("t2")
	start := k.end()
	b := calling(2)
	b.Events = []store.EventSpec{{Type: dengxu.EventCounterState, Counter: desk}}
	k.commit(b)
	var types []dengxu.EventType
	var about []dengxu.TokenID
	for _, ev := range k.events(start) {
		types, about = append(types, ev.Type), append(about, ev.Token)
		if ev.Token != "" && (ev.Actor != "anna" || ev.State != dengxu.StateCalling || ev.Version != 2 || ev.Counter != desk) {
			k.t.Errorf("event of a call: %+v", ev)
		}
	}
	same(k.t, "types", []dengxu.EventType{dengxu.EventCounterState, dengxu.EventCalled, dengxu.EventCalled}, types)
	same(k.t, "tokens", []dengxu.TokenID{"", "t1", "t2"}, about)
}

func eventGapless(k *kit) {
	start := k.end()
	t := k.join("t1")
	for range 20 {
		b := writing(changed(t))
		b.Events = []store.EventSpec{{Type: dengxu.EventEdited, Token: 1}, {Type: dengxu.EventNear, Token: 1}}
		t = k.commit(b).Tokens[0]
		k.refused(b, store.TokenAt{ID: "t1", Version: t.Version - 1})
	}
	all := k.events(start)
	if len(all) != 41 {
		k.t.Fatalf("%d events, want 41", len(all))
	}
	for i, ev := range all {
		if ev.Number != start.Number+uint64(i)+1 {
			k.t.Fatalf("event %d stands at %d", ev.Number, i)
		}
	}
}

func eventPages(k *kit) {
	start := k.end()
	for _, id := range []dengxu.TokenID{"a", "b", "c"} {
		k.join(id)
	}
	p, err := k.s.Events(k.t.Context(), start, 2)
	if err != nil || len(p.Events) != 2 || p.Events[1].Token != "b" || p.End.Number != start.Number+2 {
		k.t.Fatalf("first page: %+v, %v", p, err)
	}
	p, err = k.s.Events(k.t.Context(), p.End, 2)
	if err != nil || len(p.Events) != 1 || p.Events[0].Token != "c" || p.End != k.end() {
		k.t.Fatalf("second page: %+v, %v", p, err)
	}
	p, err = k.s.Events(k.t.Context(), p.End, 2)
	if err != nil || len(p.Events) != 0 || p.Reset || p.End != k.end() {
		k.t.Fatalf("at the end: %+v, %v", p, err)
	}
}

func eventReset(k *kit) {
	k.join("a")
	end := k.end()
	for what, c := range map[string]store.Cursor{
		"no cursor":     {},
		"another epoch": {Epoch: end.Epoch + 1, Number: end.Number},
		"the future":    {Epoch: end.Epoch, Number: end.Number + 1},
	} {
		p, err := k.s.Events(k.t.Context(), c, 5)
		if err != nil || !p.Reset || len(p.Events) != 0 || p.End != end {
			k.t.Errorf("%s: %+v, %v; want a reset to %+v", what, p, err, end)
		}
	}
}

// eventOld writes more than any store must keep.
func eventOld(k *kit) {
	k.join("a")
	start := k.end()
	b := store.Batch{Events: make([]store.EventSpec, 1000)}
	for i := range b.Events {
		b.Events[i] = store.EventSpec{Type: dengxu.EventEdited, Queue: queue}
	}
	for range 101 {
		k.commit(b)
	}
	p, err := k.s.Events(k.t.Context(), start, 5)
	if err != nil || !p.Reset && (len(p.Events) != 5 || p.Events[0].Number != start.Number+1) {
		k.t.Errorf("after a very old cursor: %d events, reset %t, %v", len(p.Events), p.Reset, err)
	}
	if p.Reset && p.End != k.end() {
		k.t.Errorf("reset to %+v, want the log's end %+v", p.End, k.end())
	}
	recent := k.end()
	recent.Number -= 50_000
	if got := len(k.events(recent)); got != 50_000 {
		k.t.Errorf("of the last 50000 events, %d are left", got)
	}
}

// within is how long a test waits for a signal that must come.
const within = 10 * time.Second

func eventWatch(k *kit) {
	hint, stop := k.s.Watch(0)
	defer stop()
	second, stopSecond := k.s.Watch(0)
	k.join("a")
	k.join("b")
	for _, c := range []<-chan struct{}{hint, second} {
		select {
		case <-c:
		case <-time.After(within):
			k.t.Fatal("no hint came")
		}
	}
	stopSecond()
	stopSecond() // a second stop is harmless
	k.join("c")
	select {
	case <-hint:
	case <-time.After(within):
		k.t.Fatal("no hint came after another watcher stopped")
	}
}

func eventCopies(k *kit) {
	start := k.end()
	b := writing(fresh("a"))
	b.Events = []store.EventSpec{{Type: dengxu.EventJoined, Token: 1, Data: []byte(`{"a":1}`)}}
	k.commit(b)
	b.Events[0].Data[2] = 'x'
	k.events(start)[0].Data[2] = 'y'
	if got := string(k.events(start)[0].Data); got != `{"a":1}` {
		k.t.Errorf("the stored data became %s", got)
	}
}
