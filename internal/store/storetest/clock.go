package storetest

import (
	"sync"
	"time"
)

// Clock is a wall clock and a monotonic clock that a test moves. It is safe
// for concurrent use.
type Clock struct {
	mu   sync.Mutex
	wall time.Time
	mono time.Duration
}

// NewClock returns a clock at nine in the morning of 2 March 2026, UTC.
func NewClock() *Clock {
	return &Clock{wall: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
}

// Wall reads the wall clock.
func (c *Clock) Wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wall
}

// Mono reads the monotonic clock.
func (c *Clock) Mono() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mono
}

// Now is the wall clock in ms since the epoch.
func (c *Clock) Now() int64 { return c.Wall().UnixMilli() }

// Advance lets time pass for both clocks.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall, c.mono = c.wall.Add(d), c.mono+d
}

// JumpWall moves the wall clock alone, in either direction.
func (c *Clock) JumpWall(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall = c.wall.Add(d)
}
