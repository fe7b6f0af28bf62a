package app

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"
)

// The pace of the timer loop.
const (
	// idleTick is how often a loop looks without being told to, where there are
	// not too many of them.
	idleTick = 15 * time.Second
	// retryTick is how soon it looks again after an error. The engine itself
	// asks for a second while something due cannot be done.
	retryTick = time.Second
	// settle is how long changes are gathered before they make the loop look:
	// under load every commit hints, and no setting is due sooner than this
	// matters for.
	settle = 50 * time.Millisecond
)

// timers runs what is due: it sleeps until the next thing is, by the store's
// clock, and looks again when the store changed. Should the process be put to
// sleep meanwhile, it is late and never early.
type timers struct {
	tick func(context.Context) (wait time.Duration, err error)
	hint <-chan struct{} // something may be due sooner; nil = never
	idle time.Duration   // how long it sleeps at most, less or more by a tenth
	log  *slog.Logger
}

// run loops until ctx ends.
func (t *timers) run(ctx context.Context) {
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	failing := false
	for {
		next, err := t.tick(ctx)
		if ctx.Err() != nil {
			return
		}
		if (err != nil) != failing { // once a change, not once a second
			failing = err != nil
			if failing {
				t.log.ErrorContext(ctx, "timers cannot run", "error", err)
			} else {
				t.log.WarnContext(ctx, "timers run again") // seen by whoever saw that they did not
			}
		}
		alarm.Reset(t.pause(next, err))
		if !t.wait(ctx, alarm) {
			return
		}
	}
}

// wait sleeps until the alarm, or until a hint has settled.
func (t *timers) wait(ctx context.Context, alarm *time.Timer) bool {
	settled := time.NewTimer(settle)
	defer settled.Stop()
	select { // not before settle is over: many hints, one look
	case <-ctx.Done():
		return false
	case <-alarm.C:
		return true
	case <-settled.C:
	}
	select {
	case <-ctx.Done():
		return false
	case <-alarm.C:
	case <-t.hint:
	}
	return true
}

// pause is how long to sleep when the next thing is due in wait (0 = nothing
// known).
func (t *timers) pause(wait time.Duration, err error) time.Duration {
	if err != nil {
		return retryTick
	}
	idle := jittered(t.idle)
	if wait <= 0 {
		return idle
	}
	return min(wait, idle)
}

// jittered is less or more by a tenth, so that many processes over one store
// spread out.
func jittered(d time.Duration) time.Duration { return d - d/10 + rand.N(d/5) }
