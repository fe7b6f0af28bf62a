package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dengxu/dengxu/internal/store"
)

// twoClocks are a wall and a monotonic clock that a test moves.
type twoClocks struct {
	store.Clock
	wall time.Time
	mono time.Duration
}

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func startClock() *twoClocks {
	c := &twoClocks{wall: noon}
	c.tick()
	return c
}

func (c *twoClocks) tick() time.Time {
	now, _ := c.Tick(c.wall, c.mono)
	return time.UnixMilli(now).UTC()
}

// pass lets both clocks run, read once a second.
func (c *twoClocks) pass(d time.Duration) time.Time {
	for ; d > time.Second; d -= time.Second {
		c.wall, c.mono = c.wall.Add(time.Second), c.mono+time.Second
		c.tick()
	}
	c.wall, c.mono = c.wall.Add(d), c.mono+d
	return c.tick()
}

// jump moves the wall clock alone.
func (c *twoClocks) jump(d time.Duration) time.Time {
	c.wall = c.wall.Add(d)
	return c.tick()
}

func wantTime(t *testing.T, what string, got, want time.Time) {
	t.Helper()
	if !got.Equal(want) {
		t.Errorf("%s: now is %s, want %s", what, got.Format(time.TimeOnly+".000"), want.Format(time.TimeOnly+".000"))
	}
}

func wantSteps(t *testing.T, c *twoClocks, want ...store.Step) {
	t.Helper()
	if diff := cmp.Diff(want, c.Steps()); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

func TestClockFollowsTheWall(t *testing.T) {
	t.Parallel()
	c := startClock()
	wantTime(t, "after an hour", c.pass(time.Hour), noon.Add(time.Hour))
	wantTime(t, "after half a minute's step", c.jump(30*time.Second), noon.Add(time.Hour+30*time.Second))
	wantSteps(t, c)
}

func TestClockStandsWhenTheWallStepsBack(t *testing.T) {
	t.Parallel()
	c := startClock()
	wantTime(t, "at the step", c.jump(-10*time.Minute), noon)
	wantTime(t, "a minute later, at half speed", c.pass(time.Minute), noon.Add(30*time.Second))
	wantTime(t, "caught up", c.pass(19*time.Minute), noon.Add(10*time.Minute))
	wantTime(t, "at full speed again", c.pass(time.Minute), noon.Add(11*time.Minute))
	wantTime(t, "on the wall", c.tick(), c.wall)
	wantSteps(t, c, store.Step{By: -600_000, Did: store.StepHeld})
}

func TestClockStepBackThatReturns(t *testing.T) {
	t.Parallel()
	c := startClock()
	c.jump(-time.Hour)
	wantTime(t, "meanwhile", c.pass(20*time.Second), noon.Add(10*time.Second))
	wantTime(t, "back on the wall at once", c.jump(time.Hour), noon.Add(20*time.Second))
	wantTime(t, "and later", c.pass(time.Hour), noon.Add(time.Hour+20*time.Second))
	wantSteps(t, c, store.Step{By: -3_600_000, Did: store.StepHeld}, store.Step{By: 3_600_000, Did: store.StepReturned})
}

func TestClockDoubtsAJumpAhead(t *testing.T) {
	t.Parallel()
	c := startClock()
	wantTime(t, "at the jump", c.jump(time.Hour), noon)
	wantTime(t, "just before two minutes", c.pass(119*time.Second), noon.Add(119*time.Second))
	wantSteps(t, c, store.Step{By: 3_600_000, Did: store.StepDoubted})
	wantTime(t, "after two minutes", c.pass(time.Second), noon.Add(time.Hour+2*time.Minute))
	wantSteps(t, c, store.Step{By: 3_600_000, Did: store.StepAccepted})
}

func TestClockForgetsADoubtedJumpThatReturns(t *testing.T) {
	t.Parallel()
	c := startClock()
	c.jump(24 * time.Hour)
	c.pass(time.Minute)
	wantTime(t, "at the return", c.jump(-24*time.Hour), noon.Add(time.Minute))
	wantTime(t, "later", c.pass(time.Hour), noon.Add(time.Hour+time.Minute))
	wantSteps(t, c, store.Step{By: 86_400_000, Did: store.StepDoubted}, store.Step{By: -86_400_000, Did: store.StepReturned})
}

func TestClockOverARestart(t *testing.T) {
	t.Parallel()
	c := startClock()
	c.pass(time.Minute)
	last := c.jump(-time.Hour)

	c.Clock, c.mono = store.ClockFrom(c.State()), 0
	wantTime(t, "restarted with the wall back", c.tick(), last)
	c.wall = c.wall.Add(-time.Hour)
	c.Clock, c.mono = store.ClockFrom(c.State()), 5
	wantTime(t, "restarted after another step back", c.tick(), last)
	wantSteps(t, c, store.Step{By: -3_600_000, Did: store.StepHeld})
	c.wall = c.wall.Add(5 * time.Hour)
	c.Clock = store.ClockFrom(store.ClockState{Now: last.UnixNano()})
	wantTime(t, "restarted long after", c.tick(), c.wall)
}

// TestClockPutRightOverARestart: a machine that starts in 1970 and is put right
// before the next start has not lived through the years between twice.
func TestClockPutRightOverARestart(t *testing.T) {
	t.Parallel()
	c := startClock()
	years := c.wall.Sub(time.UnixMilli(0))
	last := c.jump(-years)
	c.wall, c.mono = c.wall.Add(years+time.Hour), 0
	c.Clock = store.ClockFrom(c.State())
	wantTime(t, "restarted an hour later with the wall put right", c.tick(), last.Add(time.Hour))
	if s := c.State(); s.Behind != 0 {
		t.Errorf("left over: %+v", s)
	}
	wantSteps(t, c, store.Step{By: years.Milliseconds(), Did: store.StepReturned})

	last = c.jump(-time.Hour)
	c.wall, c.mono = c.wall.Add(20*time.Minute), 0
	c.Clock = store.ClockFrom(c.State())
	wantTime(t, "restarted with the wall put right in part", c.tick(), last)
	wantTime(t, "and later, at half speed", c.pass(time.Minute), last.Add(30*time.Second))
}

func TestClockDoubtThatIsGoneAtARestart(t *testing.T) {
	t.Parallel()
	c := startClock()
	c.jump(time.Hour)
	c.pass(time.Minute)
	c.Clock, c.mono = store.ClockFrom(c.State()), 0
	c.wall = c.wall.Add(-time.Hour)
	wantTime(t, "restarted with the wall as before the jump", c.tick(), noon.Add(time.Minute))
	wantTime(t, "at full speed", c.pass(time.Minute), noon.Add(2*time.Minute))
	if s := c.State(); s.Behind != 0 || s.Doubt != 0 || s.Doubted != 0 {
		t.Errorf("left over: %+v", s)
	}
}

// TestClockProperties: whatever the clocks do, now never runs backwards, runs
// at most a minute ahead of real time unless a jump has stayed for two, and
// comes back to the wall clock when that behaves.
func TestClockProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := startClock()
		last, quiet := c.tick(), time.Duration(0) // quiet: how long no jump ahead was seen, at most two minutes
		for range rapid.IntRange(1, 60).Draw(t, "readings") {
			passed := time.Duration(rapid.Int64Range(0, int64(3*time.Minute)).Draw(t, "passed"))
			jump := time.Duration(rapid.OneOf(rapid.Just(int64(0)),
				rapid.Int64Range(-int64(2*time.Hour), int64(2*time.Hour))).Draw(t, "jump"))
			c.mono += passed
			c.wall = c.wall.Add(passed + jump)
			restarted := rapid.IntRange(0, 19).Draw(t, "restart") == 0
			if restarted {
				c.Clock = store.ClockFrom(c.State())
				quiet = 2 * time.Minute // it cannot know how long it was away, so it believes the wall
			}
			now := c.tick()
			if now.Before(last) {
				t.Fatalf("now ran back from %s to %s", last, now)
			}
			if restarted && now.After(last) && now.After(c.wall) {
				t.Fatalf("a restart took now from %s to %s with the wall at %s", last, now, c.wall)
			}
			quiet += passed
			if ran := now.Sub(last); quiet < 2*time.Minute && ran > passed+time.Minute+2*time.Millisecond {
				t.Fatalf("now ran %s in %s", ran, passed)
			}
			if jump > time.Minute {
				quiet = 0
			} else if quiet >= 2*time.Minute {
				quiet = 2 * time.Minute
			}
			last = now
		}
		behind := c.State().Behind
		if now := c.pass(time.Duration(2*behind) + 3*time.Minute); now.UnixMilli() != c.wall.UnixMilli() {
			t.Fatalf("now is %s on a good wall clock at %s", now, c.wall)
		}
	})
}
