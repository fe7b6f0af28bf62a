package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// closingRecheck is how often a closing door is looked at by the timer, in ms.
// Usually the end of the last token closes it; this is for what a crash lost.
const closingRecheck = 30_000

// inside are the states that keep a closing queue from being closed.
var inside = []dengxu.State{
	dengxu.StateScheduled, dengxu.StateWaiting, dengxu.StateCalling, dengxu.StateServing, dengxu.StateHeld,
}

// shut says why the queue takes no joins now: paused, closing, closed,
// before_opening or last_ticket; "" when it takes them.
func (q *queue) shut() (reason string) {
	st := &q.state
	switch st.Door {
	case dengxu.DoorOpen:
		return ""
	case dengxu.DoorPaused, dengxu.DoorClosing, dengxu.DoorClosed:
	}
	byHours := st.Hours == hoursBefore || st.Hours == hoursLast
	if byHours && !st.Manual && st.Door != dengxu.DoorPaused {
		return st.Hours
	}
	return string(st.Door)
}

// newDoor is the state of a new queue's door: open, or by the opening hours.
func (s *site) newDoor(now int64) queueState {
	st := s.turnDoor(queueState{Door: dengxu.DoorOpen}, now)
	if st.Door == dengxu.DoorClosing {
		st.Door = dengxu.DoorClosed // nobody is inside
	}
	return st
}

// turnDoor is a door's state after the opening hours spoke at now. A change by
// hand holds until the hours change between open, last ticket and closed; that
// the next opening comes nearer is no such change.
func (s *site) turnDoor(st queueState, now int64) queueState {
	if s.hours == nil {
		st.Hours, st.Edge = "", 0
		return st
	}
	was := st.Hours
	st.Hours, st.Edge = s.hours.at(now)
	if was == st.Hours || was != "" && shutHours(was) && shutHours(st.Hours) {
		return st
	}
	st.Reason, st.Manual = "", false
	switch {
	case st.Hours == hoursOpen:
		st.Door = dengxu.DoorOpen
	case st.Door != dengxu.DoorClosed:
		// Those inside are still served; the door closes when none is left.
		st.Door = dengxu.DoorClosing
	}
	return st
}

func shutHours(status string) bool { return status == hoursBefore || status == hoursClosed }

// writeState writes the queue's running state over the one that is known.
func (q *queue) writeState(next queueState, now int64) (store.DocWrite, error) {
	due := next.Edge
	if next.Door == dengxu.DoorClosing && (due == 0 || due > now+closingRecheck) {
		due = now + closingRecheck
	}
	return docWrite(store.DocQueueState, string(q.id), q.site.id, next, due, q.stateV)
}

// doorMove is a change of a door.
type doorMove struct {
	next  queueState
	now   int64 // of what was read
	actor string
	empty bool // it closes because nothing is inside, which must still hold
}

// emptied closes a closing door when nothing is inside.
func (m doorMove) emptied(line store.LineView) doorMove {
	if m.next.Door != dengxu.DoorClosing {
		return m
	}
	for _, state := range inside {
		if line.Counts[state] > 0 {
			return m
		}
	}
	m.next.Door, m.empty = dengxu.DoorClosed, true
	return m
}

// doorBatch writes a door's new state and tells of it when it moved.
func (q *queue) doorBatch(m doorMove) (store.Batch, error) {
	b := store.Batch{
		Partition: q.site.partition, Site: q.site.id,
		Expect: []store.Expectation{store.Before{At: q.site.state.DayEnds}},
	}
	write, err := q.writeState(m.next, m.now)
	if err != nil {
		return b, err
	}
	b.Docs = append(b.Docs, write)
	if m.empty {
		b.Expect = append(b.Expect, store.CountBelow{Line: q.line(), States: inside, Max: 1})
	}
	if m.next.Door == q.state.Door && m.next.Reason == q.state.Reason {
		return b, nil
	}
	event, err := q.doorEvent(m.next, m.actor)
	b.Events = append(b.Events, event)
	return b, err
}

func (q *queue) doorEvent(next queueState, actor string) (store.EventSpec, error) {
	data, err := json.Marshal(struct {
		Door    dengxu.Door `json:"door"`
		Reason  string      `json:"reason"`
		Version uint64      `json:"version"`
	}{next.Door, next.Reason, q.stateV + 1})
	if err != nil {
		return store.EventSpec{}, fmt.Errorf("door event: %w", err)
	}
	return store.EventSpec{
		Type: dengxu.EventDoorChanged, Queue: q.id, Actor: actor, Reason: next.Reason, Data: data,
	}, nil
}

// readLine reads the present line of a queue and the time.
func (e *Engine) readLine(ctx context.Context, q *queue) (store.LineView, int64, error) {
	v, err := e.view(ctx, store.Ask{Partition: q.site.partition, Lines: []store.LineKey{q.line()}})
	if err != nil {
		return store.LineView{}, 0, err
	}
	return v.Lines[0], v.Now, nil
}

// moveDoor lets the opening hours move a queue's door when their edge has
// passed, closes a closing one that is empty, and sets when to look again.
func (e *Engine) moveDoor(ctx context.Context, id dengxu.QueueID) error {
	return e.commitDoor(ctx, func(w *world) (store.Batch, error) {
		q := w.queues[id]
		if q == nil {
			return store.Batch{}, errUnchanged
		}
		line, now, err := e.readLine(ctx, q)
		if err != nil {
			return store.Batch{}, err
		}
		m := doorMove{next: q.state, now: now, actor: timerName}
		if q.state.Edge != 0 && now >= q.state.Edge {
			m.next = q.site.turnDoor(q.state, now)
		}
		return q.doorBatch(m.emptied(line))
	})
}

// closeIfEmpty closes a closing queue in which nothing is scheduled, waiting,
// calling, serving or held any more.
func (e *Engine) closeIfEmpty(ctx context.Context, id dengxu.QueueID) error {
	return e.commitDoor(ctx, func(w *world) (store.Batch, error) {
		q := w.queues[id]
		if q == nil || q.state.Door != dengxu.DoorClosing {
			return store.Batch{}, errUnchanged
		}
		line, now, err := e.readLine(ctx, q)
		if err != nil {
			return store.Batch{}, err
		}
		m := doorMove{next: q.state, now: now, actor: timerName}.emptied(line)
		if !m.empty {
			return store.Batch{}, errUnchanged
		}
		return q.doorBatch(m)
	})
}

// commitDoor commits a door's change, deciding anew when somebody came back in
// between reading an empty queue and closing it.
func (e *Engine) commitDoor(ctx context.Context, decide func(*world) (store.Batch, error)) error {
	for range maxTries {
		_, err := e.commit(ctx, decide)
		if errors.Is(err, errUnchanged) {
			return nil
		}
		if _, counted := refusedBy[store.CountBelow](err); !counted {
			return storeError("move a door", err)
		}
	}
	return errContention("move a door")
}

// SetDoor moves a queue's door by hand: action is open, pause or close. A close
// is gentle (closing, and closed when nothing is inside) unless req.Now. The
// change holds until the next edge of the opening hours. It returns NotFound
// for an unknown queue and Invalid for an unknown action or a field that means
// nothing to it.
func (e *Engine) SetDoor(ctx context.Context, by By, id dengxu.QueueID, action string, req dengxu.DoorRequest) (Done[dengxu.QueueView], error) {
	var done Done[dengxu.QueueView]
	if err := checkDoorRequest(action, &req); err != nil {
		return done, err
	}
	site, err := e.QueueSite(ctx, id)
	if err != nil {
		return done, err
	}
	done.Replayed, err = e.change(ctx, amendment{by: by, site: site, decide: func(w *world) (store.Batch, error) {
		q := w.queues[id]
		if q == nil {
			return store.Batch{}, errNoQueue(id)
		}
		line, now, err := e.readLine(ctx, q)
		if err != nil {
			return store.Batch{}, err
		}
		m := q.doorByHand(action, req, line, now)
		m.actor = by.Name
		if m.next == q.state {
			return store.Batch{}, errUnchanged
		}
		b, err := q.doorBatch(m)
		b.Op = by.op("door")
		return b, err
	}})
	if err != nil {
		return done, err
	}
	done.Value, err = e.Queue(ctx, id)
	return done, err
}

func checkDoorRequest(action string, req *dengxu.DoorRequest) error {
	switch action {
	case "open", "pause", "close":
	default:
		return dengxu.Fieldf(dengxu.Invalid, "action", "a door opens, pauses or closes; not %q", action)
	}
	if req.Now && action != "close" {
		return dengxu.Fieldf(dengxu.Invalid, "now", "now means nothing to %s", action)
	}
	if req.Current != "" {
		return dengxu.Fieldf(dengxu.Invalid, "current", "current means nothing to a queue")
	}
	return cleanText("reason", &req.Reason, maxReason)
}

// doorByHand is what an operator makes of the door. The opening hours are
// looked up too, so that the change ends at the edge that comes next now.
func (q *queue) doorByHand(action string, req dengxu.DoorRequest, line store.LineView, now int64) doorMove {
	next := q.site.turnDoor(q.state, now)
	next.Reason, next.Manual = req.Reason, true
	m := doorMove{next: next, now: now}
	switch action {
	case "open":
		m.next.Door = dengxu.DoorOpen
	case "pause":
		m.next.Door = dengxu.DoorPaused
	case "close":
		// A closed door stays closed; whoever is inside was left there on
		// purpose.
		if req.Now || q.state.Door == dengxu.DoorClosed {
			m.next.Door = dengxu.DoorClosed
			return m
		}
		m.next.Door = dengxu.DoorClosing
	}
	return m.emptied(line)
}
