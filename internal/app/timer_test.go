package app

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// looks runs the loop for a span of time and returns when it looked.
func looks(t *testing.T, span time.Duration, hint <-chan struct{}, next func(n int) (time.Duration, error)) []time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), span)
	defer cancel()
	began := time.Now()
	var at []time.Duration
	loop := timers{hint: hint, idle: idleTick, log: slog.New(slog.DiscardHandler), tick: func(context.Context) (time.Duration, error) {
		at = append(at, time.Since(began))
		return next(len(at))
	}}
	loop.run(ctx)
	return at
}

func TestTimersSleepUntilTheNextThing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := looks(t, 10*time.Second, nil, func(n int) (time.Duration, error) {
			if n == 1 {
				return 4 * time.Second, nil
			}
			return 0, nil
		})
		if len(at) != 2 || at[1] != 4*time.Second {
			t.Errorf("looked at %v, want 0 and 4 s", at)
		}
	})
}

func TestTimersLookWithoutBeingTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := looks(t, time.Minute, nil, func(int) (time.Duration, error) { return time.Hour, nil })
		if len(at) < 4 || len(at) > 5 {
			t.Errorf("looked %d times in a minute, want about every 15 s", len(at))
		}
	})
}

func TestTimersLookAgainSoonAfterAnError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := looks(t, 9500*time.Millisecond, nil, func(int) (time.Duration, error) { return time.Hour, errors.New("store away") })
		if len(at) != 10 {
			t.Errorf("looked %d times in 9.5 s, want every second", len(at))
		}
	})
}

func TestHintsAreGathered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hint := make(chan struct{}, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var changes sync.WaitGroup
		changes.Go(func() { // one every millisecond
			for ctx.Err() == nil {
				select {
				case hint <- struct{}{}:
				default:
				}
				time.Sleep(time.Millisecond)
			}
		})
		at := looks(t, time.Second, hint, func(int) (time.Duration, error) { return 0, nil })
		changes.Wait()
		if len(at) < 15 || len(at) > 21 {
			t.Errorf("looked %d times in a second of constant change, want about one in %v", len(at), settle)
		}
	})
}

func TestAHintDoesNotDelayTheNextThing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hint := make(chan struct{}, 1)
		hint <- struct{}{}
		at := looks(t, 30*time.Millisecond, hint, func(int) (time.Duration, error) { return 20 * time.Millisecond, nil })
		if len(at) != 2 || at[1] != 20*time.Millisecond {
			t.Errorf("looked at %v, want 0 and 20 ms", at)
		}
	})
}

// TestTimersSayWhenTheyRunAgain: whoever saw at the level of serve that they do
// not run sees there that they do.
func TestTimersSayWhenTheyRunAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 9500*time.Millisecond)
		defer cancel()
		var told bytes.Buffer
		n := 0
		loop := timers{idle: idleTick, log: slog.New(slog.NewTextHandler(&told, &slog.HandlerOptions{Level: slog.LevelWarn})), tick: func(context.Context) (time.Duration, error) {
			if n++; n < 4 {
				return 0, errors.New("store away")
			}
			return time.Second, nil
		}}
		loop.run(ctx)
		for _, line := range []string{"timers cannot run", "timers run again"} {
			if got := strings.Count(told.String(), line); got != 1 {
				t.Errorf("%q is told %d times:\n%s", line, got, told.String())
			}
		}
	})
}
