package dengxu

import "slices"

// State is where a token stands in its life.
type State string

// The states of a token. The last four are ends: nothing but an undo leaves
// them.
const (
	StateScheduled State = "scheduled" // not callable yet: delayed, deferred, not checked in, backing off
	StateWaiting   State = "waiting"   // callable, in a lane
	StateCalling   State = "calling"   // called, not yet served
	StateServing   State = "serving"   // at its counter, or leased to a worker
	StateHeld      State = "held"      // parked by the operator; never comes back by itself
	StateMissed    State = "missed"    // did not come; kept until reinstated or expired

	StateCompleted State = "completed" // served
	StateCancelled State = "cancelled" // given up by the holder or the operator
	StateAbandoned State = "abandoned" // never came
	StateFailed    State = "failed"    // dead letter (tasks)
)

// States lists every state in the order of a token's life.
func States() []State {
	return []State{
		StateScheduled, StateWaiting, StateCalling, StateServing, StateHeld, StateMissed,
		StateCompleted, StateCancelled, StateAbandoned, StateFailed,
	}
}

// Ended reports whether s is an end: the token has left the line.
func (s State) Ended() bool {
	switch s {
	case StateCompleted, StateCancelled, StateAbandoned, StateFailed:
		return true
	case StateScheduled, StateWaiting, StateCalling, StateServing, StateHeld, StateMissed:
		return false
	}
	return false
}

// AtCounter reports whether a token in s occupies a place at its counter.
func (s State) AtCounter() bool { return s == StateCalling || s == StateServing }

// Valid reports whether s is one of the states.
func (s State) Valid() bool { return slices.Contains(States(), s) }

// Door is whether a queue lets people in and out.
type Door string

// The doors of a queue.
const (
	DoorOpen    Door = "open"    // join and call
	DoorPaused  Door = "paused"  // neither
	DoorClosing Door = "closing" // no join, call goes on; becomes closed when empty
	DoorClosed  Door = "closed"  // neither
)

// CounterState is whether a counter calls.
type CounterState string

// The states of a counter.
const (
	CounterOpen   CounterState = "open"
	CounterPaused CounterState = "paused" // refuses to call, with a reason
	CounterClosed CounterState = "closed" // the first call opens it
)
