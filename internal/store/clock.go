package store

import (
	"encoding/json"
	"time"

	"github.com/dengxu/dengxu"
)

// Bounds of what a clock takes for a step and what it believes, in ns.
const (
	// slew is what the wall and the monotonic clock may differ by between two
	// readings without a step: time services correct that much smoothly.
	slew = int64(time.Second)
	// doubtAbove is how far the wall clock may run ahead of the monotonic one
	// between two readings before the jump is doubted.
	doubtAbove = int64(time.Minute)
	// believeAfter is how long a doubted jump must stay before it counts.
	believeAfter = int64(2 * time.Minute)
	// reportAbove is the least step that is reported.
	reportAbove = int64(time.Minute)
)

// Clock is a partition's time, made from a wall clock that may be wrong:
// now = wall + offset. When the wall clock steps back, the offset grows so
// that now stands, and is then paid off by half of the time that passes. When
// the wall clock runs more than a minute ahead of the monotonic clock, the
// offset cancels the jump until it has stayed for two minutes. Now never runs
// backwards, and with what State returns not over a restart either. The zero
// Clock is new.
//
// A store reads it once in every Commit and in every read that answers a time.
// Steps wait in the clock: the first Commit after one was noticed logs it,
// before the events of its own batch and even if it refuses that batch.
//
// It reads no clock itself and is not safe for concurrent use.
type Clock struct {
	state ClockState
	steps []Step

	// What was read last. A monotonic clock means nothing in another process,
	// so this is not part of the state.
	read bool
	wall int64
	mono time.Duration
}

// ClockState is what of a Clock must be kept with the partition, in
// nanoseconds. The offset is Behind + Doubt.
type ClockState struct {
	Now     int64 // last answered, since the epoch
	Behind  int64 // at least 0: how far the wall clock is behind now
	Doubt   int64 // at most 0: how far a doubted jump of the wall clock is ahead
	Doubted int64 // for how long it has been doubted
}

// Step is a step of the wall clock over a minute, and what became of it.
type Step struct {
	By  int64   // ms, below 0 = back
	Did StepDid // what the partition's clock made of it
}

// StepDid says what the partition's clock made of a step of the wall clock.
type StepDid string

// What a clock makes of a step.
const (
	StepHeld     StepDid = "held"     // back: now stood, and runs at half speed until it is caught up
	StepDoubted  StepDid = "doubted"  // ahead: now goes on as before, for two minutes
	StepAccepted StepDid = "accepted" // a doubted step stayed: now has made it
	StepReturned StepDid = "returned" // an earlier step was taken back
)

// ClockFrom continues from a kept state.
func ClockFrom(s ClockState) Clock { return Clock{state: s} }

// State returns what must be kept to continue.
func (c *Clock) State() ClockState { return c.state }

// Raise makes later times be no less than now, in ms since the epoch.
func (c *Clock) Raise(now int64) {
	c.state.Now = max(c.state.Now, now*int64(time.Millisecond))
}

// Tick reads the clock: wall is the wall clock, mono the time that has passed
// by the process's monotonic clock since any fixed moment. It returns the
// partition's time in ms since the epoch, and whether Steps has something.
func (c *Clock) Tick(wall time.Time, mono time.Duration) (now int64, stepped bool) {
	w, s := wall.UnixNano(), &c.state
	if c.read {
		c.elapse(w-c.wall, max(int64(mono-c.mono), 0))
	} else {
		c.resume(w)
	}
	if back := s.Now - (w + s.Behind + s.Doubt); back > 0 {
		gone := min(back, -s.Doubt)
		s.Doubt += gone
		s.Behind += back - gone
		if !c.read {
			c.report(-back, StepHeld)
		}
	}
	if s.Doubt == 0 {
		s.Doubted = 0
	}
	c.read, c.wall, c.mono = true, w, mono
	s.Now = w + s.Behind + s.Doubt
	return time.Unix(0, s.Now).UnixMilli(), len(c.steps) > 0
}

// resume takes in, at the first reading after a restart, that the wall clock may
// have been put right meanwhile: of the offset only so much stays as keeps now
// from running backwards. Otherwise a machine that once started in 1970 would
// go on decades ahead of its clock.
func (c *Clock) resume(wall int64) {
	s := &c.state
	need := max(s.Now-(wall+s.Doubt), 0)
	if paid := s.Behind - need; paid > 0 {
		s.Behind = need
		c.report(paid, StepReturned)
	}
}

// elapse takes in what both clocks say has passed since the last reading.
func (c *Clock) elapse(wall, mono int64) {
	s, drift := &c.state, wall-mono
	s.Behind -= min(s.Behind, mono/2)
	if drift < -slew {
		gone := min(-drift, -s.Doubt)
		s.Doubt += gone
		did := StepHeld
		if gone > 0 {
			did = StepReturned
		}
		c.report(drift, did)
		return
	}
	if s.Doubt < 0 {
		s.Doubted += mono
		if s.Doubted >= believeAfter {
			c.report(-s.Doubt, StepAccepted)
			s.Doubt, s.Doubted = 0, 0
		}
	}
	if drift <= slew {
		return
	}
	// A step ahead first takes back an earlier one back.
	paid := min(drift, s.Behind)
	s.Behind -= paid
	if drift-paid <= doubtAbove {
		c.report(drift, StepReturned)
		return
	}
	s.Doubt -= drift - paid
	s.Doubted = 0
	c.report(drift, StepDoubted)
}

func (c *Clock) report(by int64, did StepDid) {
	if by > reportAbove || by < -reportAbove {
		c.steps = append(c.steps, Step{By: by / int64(time.Millisecond), Did: did})
	}
}

// Steps returns the steps noticed since it was last asked, for the log.
func (c *Clock) Steps() []Step {
	steps := c.steps
	c.steps = nil
	return steps
}

// Event is the entry of the log for the step.
func (s Step) Event(number uint64, now int64) Event {
	data, err := json.Marshal(struct {
		By  float64 `json:"by_seconds"`
		Did StepDid `json:"did"`
	}{float64(s.By) / 1000, s.Did})
	if err != nil {
		panic(err) // a number and a string
	}
	return Event{Number: number, At: now, Type: dengxu.EventClockStepped, Data: data}
}
