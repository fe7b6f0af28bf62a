package dengxu

import (
	"encoding/json"
	"time"
)

// EventType names a committed change. The list is closed.
type EventType string

// The events. A token's event closes a span when it changes the state or the
// queue.
const (
	EventJoined      EventType = "token.joined"
	EventDue         EventType = "token.due"
	EventCheckedIn   EventType = "token.checked_in"
	EventNear        EventType = "token.near"
	EventAsked       EventType = "token.asked"
	EventCalled      EventType = "token.called"
	EventRecalled    EventType = "token.recalled"
	EventConfirmed   EventType = "token.confirmed"
	EventStarted     EventType = "token.started"
	EventCompleted   EventType = "token.completed"
	EventMissed      EventType = "token.missed"
	EventReinstated  EventType = "token.reinstated"
	EventDeferred    EventType = "token.deferred"
	EventHeld        EventType = "token.held"
	EventResumed     EventType = "token.resumed"
	EventRequeued    EventType = "token.requeued"
	EventTransferred EventType = "token.transferred"
	EventMoved       EventType = "token.moved"
	EventEdited      EventType = "token.edited"
	EventCancelled   EventType = "token.cancelled"
	EventAbandoned   EventType = "token.abandoned"
	EventFailed      EventType = "token.failed"
	EventReleased    EventType = "token.released"
	EventUndone      EventType = "token.undone"
	EventRated       EventType = "token.rated"

	EventSiteChanged    EventType = "site.changed"
	EventDayStarted     EventType = "site.day_started"
	EventQueueChanged   EventType = "queue.changed"
	EventDoorChanged    EventType = "queue.door_changed"
	EventCounterChanged EventType = "counter.changed"
	EventCounterState   EventType = "counter.state_changed"
	EventKeyChanged     EventType = "key.changed"
	EventClockStepped   EventType = "partition.clock_stepped"
	// EventWritesLost says that the database lost changes that had been
	// acknowledged. Its data counts them: events (at least), joins,
	// numbers_burned (nobody has them), numbers_repeated and calls_repeated
	// (given or made twice), and names the new epoch. Cursors begin anew.
	EventWritesLost EventType = "partition.writes_lost"
)

// Event is one committed change. Its ID is an opaque cursor: reading after it
// continues with the next change, without gap or repeat.
type Event struct {
	ID        string          `json:"id" doc:"opaque cursor of this event"`
	Type      EventType       `json:"type"`
	At        time.Time       `json:"at" doc:"when it was committed, by the store's clock"`
	Site      SiteID          `json:"site,omitempty"`
	QueueID   QueueID         `json:"queue_id,omitempty"`
	CounterID CounterID       `json:"counter_id,omitempty"`
	Ref       string          `json:"ref,omitempty" doc:"stable name of the token; no credential"`
	TokenID   TokenID         `json:"token_id,omitempty" doc:"staff only"`
	Number    string          `json:"number,omitempty" doc:"printed label"`
	State     State           `json:"state,omitempty" doc:"state after the change"`
	Version   uint64          `json:"version,omitempty" doc:"version after the change"`
	Actor     string          `json:"actor,omitempty" doc:"who did it"`
	Reason    string          `json:"reason,omitempty"`
	Data      json.RawMessage `json:"data,omitempty" doc:"details of this type of event"`
}

// Span is one interval of a token in one state, closed by an event.
type Span struct {
	State     State     `json:"state"`
	From      time.Time `json:"from"`
	To        time.Time `json:"to,omitzero" doc:"absent while it lasts"`
	QueueID   QueueID   `json:"queue_id,omitempty"`
	CounterID CounterID `json:"counter_id,omitempty"`
	Actor     string    `json:"actor,omitempty" doc:"who ended it"`
	Verb      Verb      `json:"verb,omitempty" doc:"what ended it"`
	Reason    string    `json:"reason,omitempty" doc:"given with the verb"`
	Implicit  bool      `json:"implicit,omitempty" doc:"service that was never started by hand; left out of averages"`
}
