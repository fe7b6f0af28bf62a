package ledger

import (
	"slices"

	"github.com/dengxu/dengxu/internal/store"
)

// events completes the events of the batch from the records they are about;
// those of the picked tokens come last.
func (w *work) events() error {
	if n := len(w.b.Events) + w.e.Picked; n > 0 {
		w.e.Events = make([]store.Event, 0, n)
	}
	for i := range w.b.Events {
		spec := &w.b.Events[i]
		var t *store.Token
		if spec.Token > 0 {
			t = &w.e.Tokens[spec.Token-1]
		}
		w.event(spec, t)
	}
	for i := range w.e.Picked {
		t := &w.e.Tokens[len(w.b.Tokens)+i]
		w.event(&store.EventSpec{Type: w.b.Pick.Event, Actor: w.b.Pick.Actor}, t)
	}
	return nil
}

func (w *work) event(spec *store.EventSpec, t *store.Token) {
	w.e.Meta.Event++
	ev := store.Event{
		Number: w.e.Meta.Event, At: w.now, Type: spec.Type, Site: w.b.Site,
		Queue: spec.Queue, Counter: spec.Counter, Actor: spec.Actor, Reason: spec.Reason, Data: slices.Clone(spec.Data),
	}
	if t != nil {
		ev.Token, ev.Ref, ev.Label = t.ID, t.Ref(w.p), t.Label()
		ev.State, ev.Version = t.State, t.Version
		if ev.Queue == "" {
			ev.Queue = t.Queue
		}
		if ev.Counter == "" {
			ev.Counter = t.Counter
		}
		if ev.Reason == "" {
			ev.Reason = t.Reason
		}
	}
	w.e.Events = append(w.e.Events, ev)
}
