package engine

import (
	"context"
	"sync"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// calls remembers the last call of each queue, from the log.
type calls struct {
	mu   sync.RWMutex // guards last
	last map[dengxu.QueueID]dengxu.Called
}

// Observe tells the engine of committed events of a partition, by whomever, in
// the order of the log. It renews settings that another process changed, keeps
// the last calls, and learns how long people wait. Replaying the log's end at a
// start is how they come back.
func (e *Engine) Observe(ctx context.Context, p store.Partition, events []store.Event) {
	for i := range events {
		ev := &events[i]
		e.follow(ctx, *ev)
		switch ev.Type { //nolint:exhaustive // the others change nothing that is kept
		case dengxu.EventCalled, dengxu.EventRecalled:
			e.keepCall(ev)
		}
		if ev.Counter != "" {
			e.stir(ev.Site)
		}
	}
	if !e.silent {
		e.observeWaits(ctx, p, events)
	}
}

func (e *Engine) keepCall(ev *store.Event) {
	e.calls.mu.Lock()
	defer e.calls.mu.Unlock()
	if e.calls.last == nil {
		e.calls.last = make(map[dengxu.QueueID]dengxu.Called)
	}
	e.calls.last[ev.Queue] = dengxu.Called{Number: ev.Label, CounterID: ev.Counter, At: at(ev.At)}
}

// lastCalled is the last call of a queue, nil when there was none.
func (e *Engine) lastCalled(id dengxu.QueueID) *dengxu.Called {
	e.calls.mu.RLock()
	called, ok := e.calls.last[id]
	e.calls.mu.RUnlock()
	if !ok {
		return nil
	}
	called.CounterName = e.counterName(called.CounterID)
	return &called
}

// Event is the staff's form of a log entry. Its ID is the feed's to fill in.
func (e *Engine) Event(_ store.Cursor, ev store.Event) dengxu.Event {
	return dengxu.Event{
		Type: ev.Type, At: at(ev.At), Site: ev.Site, QueueID: ev.Queue,
		CounterID: ev.Counter, Ref: ev.Ref, TokenID: ev.Token, Number: ev.Label,
		State: ev.State, Version: ev.Version, Actor: ev.Actor, Reason: ev.Reason, Data: ev.Data,
	}
}

// Audit compares the store's indexes with its records.
func (e *Engine) Audit(ctx context.Context) ([]store.Finding, error) {
	found, err := e.store.Audit(ctx)
	return found, storeError("audit", err)
}
