package dengxutest

import (
	"context"
	"sync"
	"testing"
	"time"
)

// Clock is the clock of a test server's store. It stands still until it is
// moved. It is safe for concurrent use.
type Clock struct {
	t      testing.TB
	settle func(context.Context) (wait time.Duration, err error)

	mu   sync.Mutex // guards what follows
	wall time.Time
	mono time.Duration
}

// Now returns what the wall clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wall
}

func (c *Clock) elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mono
}

// manySteps is how many single steps Advance takes before it goes the rest of
// the way in one.
const manySteps = 10_000

// Advance lets time pass. Whatever becomes due on the way (call timeouts,
// defers, schedules, doors, day ends) is done at its own time and before
// Advance returns.
func (c *Clock) Advance(d time.Duration) {
	c.t.Helper()
	if d < 0 {
		c.t.Fatal("dengxutest: time does not pass backwards; SetWall sets a clock back")
	}
	for wait, n := c.run(), 0; d > 0; n++ {
		step := d
		if wait > 0 && wait < d && n < manySteps {
			step = wait
		}
		c.mu.Lock()
		c.wall, c.mono = c.wall.Add(step), c.mono+step
		c.mu.Unlock()
		d -= step
		wait = c.run()
	}
}

// AdvanceTo lets time pass until the wall clock shows t.
func (c *Clock) AdvanceTo(t time.Time) {
	c.t.Helper()
	c.Advance(t.Sub(c.Now()))
}

// SetWall makes the wall clock show t without letting time pass, as when
// somebody sets the machine's clock or a virtual machine resumes. The store
// does not believe it at once: its own time never runs backwards.
func (c *Clock) SetWall(t time.Time) {
	c.t.Helper()
	c.mu.Lock()
	c.wall = t
	c.mu.Unlock()
	c.run()
}

// run does what is due now and returns how long until the next thing is.
func (c *Clock) run() time.Duration {
	c.t.Helper()
	wait, err := c.settle(c.t.Context())
	if err != nil {
		c.t.Fatal("dengxutest:", err)
	}
	return wait
}
