package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/store"
)

// perTick is how many partitions a loop may look at within an idleTick. Of more
// it looks at each more seldom, so that looking for nothing costs a store at
// most a call a second a loop.
const perTick = 16

// idle is how often a loop looks at one of several partitions unless it is told
// to.
func idle(partitions int) time.Duration {
	return max(idleTick, idleTick*time.Duration(partitions)/perTick)
}

// loops do what happens by itself: timers, what follows from events, and
// looking after settings that other processes change. Each partition has its
// own, so that one that is away holds up no other. They are woken by the feed,
// which is the one that listens to the store.
type loops struct {
	engine  *engine.Engine
	store   store.Store
	keeper  *keeper
	workers []*worker // by partition
	learner *learner
	log     *slog.Logger
}

// worker is the loops of one partition.
type worker struct {
	timers   timers
	follower *follower
	// wakes of both, of capacity one: one look is enough for all that moved.
	due, moved chan struct{}
}

func newLoops(e *engine.Engine, s store.Store, log *slog.Logger) *loops {
	about := s.About()
	l := &loops{engine: e, store: s, log: log}
	l.keeper = newKeeper(e, about, l.wake, log)
	l.learner = &learner{engine: e, partitions: about.Partitions, owns: l.keeper.owns, log: log}
	for i := range about.Partitions {
		p := store.Partition(i)
		w := &worker{due: make(chan struct{}, 1), moved: make(chan struct{}, 1)}
		owns := func() bool { return l.keeper.owns(p) }
		w.timers = timers{idle: idle(about.Partitions), hint: w.due, log: log, tick: func(ctx context.Context) (time.Duration, error) {
			if !owns() {
				return 0, nil
			}
			return e.TickPartition(ctx, p)
		}}
		w.follower = &follower{engine: e, store: s, partition: p, owns: owns, moved: w.moved, log: log}
		l.workers = append(l.workers, w)
	}
	return l
}

// wake makes the loops of a partition look. It never waits.
func (l *loops) wake(p store.Partition) {
	for _, c := range []chan struct{}{l.workers[p].due, l.workers[p].moved} {
		select {
		case c <- struct{}{}:
		default: // it is going to look already
		}
	}
}

// begin leases partitions and finds where the followers go on, before anything
// is served.
func (l *loops) begin(ctx context.Context) error {
	l.keeper.renew(ctx)
	for _, w := range l.workers {
		if err := w.follower.locate(ctx); err != nil {
			return fmt.Errorf("find where other tokens go on: %w", err)
		}
	}
	return nil
}

// run runs everything until ctx ends.
func (l *loops) run(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() { l.keeper.run(ctx) })
	all.Go(func() { l.learner.run(ctx) })
	if l.store.About().Shared {
		all.Go(func() { l.lookAfter(ctx) })
	}
	for _, w := range l.workers {
		all.Go(func() { w.timers.run(ctx) })
		all.Go(func() { w.follower.run(ctx) })
	}
	all.Wait()
}

// lookAfter loads the settings of one partition after the other, for what
// neither a hint nor an event has told, and once a second those that could not
// be read when they had changed.
func (l *loops) lookAfter(ctx context.Context) {
	every := idle(len(l.workers)) / time.Duration(len(l.workers))
	second, next := time.NewTicker(time.Second), time.NewTimer(jittered(every))
	defer second.Stop()
	defer next.Stop()
	for p := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-second.C:
			l.engine.CatchUp(ctx)
		case <-next.C:
			l.engine.RefreshPartition(ctx, store.Partition(p))
			p = (p + 1) % len(l.workers)
			next.Reset(jittered(every))
		}
	}
}

// settle does everything that is due now, and what follows from it.
func (l *loops) settle(ctx context.Context) (wait time.Duration, err error) {
	if _, err := l.engine.Tick(ctx); err != nil {
		return 0, err
	}
	for _, w := range l.workers {
		if err := w.follower.drain(ctx); err != nil {
			return 0, err
		}
	}
	return l.engine.Tick(ctx) // what the followers did may be due already
}

// end saves where the followers are and what was learned, and gives up the
// leases, after run.
func (l *loops) end(ctx context.Context) error {
	errs := []error{l.learner.keep(ctx)}
	for _, w := range l.workers {
		errs = append(errs, w.follower.save(ctx))
	}
	return errors.Join(append(errs, l.keeper.end(ctx))...)
}
