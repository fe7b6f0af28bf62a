package app

import (
	"context"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// How long a store may take to answer whether it does: the first partition, and
// where that is silent all others.
const (
	readyFirst = 700 * time.Millisecond
	readyRest  = 1300 * time.Millisecond
)

// ready returns nil when any partition can be read: while some cannot, whoever
// asks for others is still served. It is Unavailable otherwise, with the cause
// in the log, since anyone may ask.
func (a *App) ready(ctx context.Context) error {
	err := a.readAny(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if away := err != nil; a.away.Swap(away) != away { // once a change
		if away {
			a.log.ErrorContext(ctx, "the store does not answer", "error", err)
		} else {
			a.log.WarnContext(ctx, "the store answers again") // seen by whoever saw that it did not
		}
	}
	if err != nil {
		return dengxu.Errorf(dengxu.Unavailable, "the store does not answer: %w", err).Because("store")
	}
	return nil
}

func (a *App) readAny(ctx context.Context) error {
	err := a.readNothing(ctx, 0, readyFirst)
	parts := a.store.About().Partitions
	if err == nil || parts == 1 {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // who is asked still when one has answered
	answers := make(chan error, parts)
	for p := 1; p < parts; p++ {
		go func() { answers <- a.readNothing(ctx, store.Partition(p), readyRest) }()
	}
	for p := 1; p < parts; p++ {
		if <-answers == nil {
			return nil
		}
	}
	return err
}

// readNothing asks a partition for nothing, which costs it next to nothing.
func (a *App) readNothing(ctx context.Context, p store.Partition, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	_, err := a.store.View(ctx, store.Ask{Partition: p})
	return err
}
