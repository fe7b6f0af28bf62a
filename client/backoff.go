package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/dengxu/dengxu"
)

// The pauses between attempts double from the first to the longest, each
// halved at random so that many clients do not come back together.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
)

// backoff is a growing pause.
type backoff struct{ next time.Duration }

// step returns the next pause, at least floor.
func (b *backoff) step(floor time.Duration) time.Duration {
	if b.next == 0 {
		b.next = firstPause
	}
	pause := b.next/2 + rand.N(b.next/2)
	b.next = min(b.next*2, longestPause)
	return max(pause, floor)
}

// budget is what one request may still spend on repeats.
type budget struct {
	attempts int // left after the one that failed
	span     time.Duration
	until    time.Time // zero until the first failure
	pause    backoff
}

func (c *Client) newBudget() *budget {
	return &budget{attempts: c.attempts - 1, span: c.budget}
}

// wait pauses before the next attempt, at least as long as the server asked
// for. It returns false at once when that attempt would be beyond the budget,
// and when ctx ends first.
func (b *budget) wait(ctx context.Context, floor time.Duration) bool {
	now := time.Now()
	if b.until.IsZero() {
		b.until = now.Add(b.span)
	}
	pause := b.pause.step(floor)
	if b.attempts <= 0 || now.Add(pause).After(b.until) {
		return false
	}
	b.attempts--
	return sleep(ctx, pause)
}

// sleep returns false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// retryAfterOf is what a refusal asked to wait.
func retryAfterOf(err error) time.Duration {
	if e, ok := errors.AsType[*dengxu.Error](err); ok {
		return e.RetryAfter
	}
	return 0
}
