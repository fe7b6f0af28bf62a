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
	settle func(context.Context) error

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

// Advance lets time pass. Whatever is due by then (call timeouts, defers,
// schedules, doors, day ends) is done before it returns, in the order in which
// it became due.
func (c *Clock) Advance(d time.Duration) {
	c.t.Helper()
	if d < 0 {
		c.t.Fatal("dengxutest: time does not pass backwards; SetWall sets a clock back")
	}
	c.mu.Lock()
	c.wall, c.mono = c.wall.Add(d), c.mono+d
	c.mu.Unlock()
	c.run()
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

func (c *Clock) run() {
	c.t.Helper()
	if err := c.settle(c.t.Context()); err != nil {
		c.t.Fatal("dengxutest:", err)
	}
}
