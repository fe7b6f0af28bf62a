package app

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/store"
)

// The pace of keeping and learning.
const (
	// keepEvery is how often what estimates have learned is written down: what a
	// crash takes is what was resolved since.
	keepEvery = 30 * time.Second
	// restAfter is how many times as long as a training took there is none: a
	// process spends at most a fiftieth of one processor on it.
	restAfter = 50
)

// learner writes down what the estimates of all partitions have learned, and
// trains them.
type learner struct {
	engine     *engine.Engine
	partitions int
	owns       func(store.Partition) bool // whose training is this process's
	log        *slog.Logger
	rested     time.Time // before that, nothing is trained
}

// run keeps and learns until ctx ends.
func (l *learner) run(ctx context.Context) {
	failing := false
	for {
		pause := time.NewTimer(jittered(keepEvery))
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-pause.C:
		}
		err := l.keep(ctx)
		if err == nil {
			err = l.learn(ctx)
		}
		if ctx.Err() != nil {
			return
		}
		if (err != nil) != failing {
			failing = err != nil
			if failing {
				l.log.ErrorContext(ctx, "what estimates have learned cannot be kept", "error", err)
			}
		}
	}
}

// keep writes everything down.
func (l *learner) keep(ctx context.Context) error {
	var errs []error // one partition that is away holds up no other
	for p := range l.partitions {
		errs = append(errs, l.engine.KeepEstimates(ctx, store.Partition(p)))
	}
	return errors.Join(errs...)
}

// learn trains at most one queue.
func (l *learner) learn(ctx context.Context) error {
	began := time.Now()
	if began.Before(l.rested) {
		return nil
	}
	for p := range l.partitions {
		if !l.owns(store.Partition(p)) {
			continue
		}
		learned, err := l.engine.LearnNext(ctx, store.Partition(p))
		if learned || err != nil {
			l.rested = time.Now().Add(restAfter * time.Since(began))
			return err
		}
	}
	return nil
}
