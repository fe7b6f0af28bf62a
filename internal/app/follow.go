package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/store"
)

// otherTokens is the name under which the follower keeps its position.
const otherTokens = "other_tokens"

// The pace of a follower.
const (
	followBatch = 128
	// saveEvery bounds how much is done again after a crash; doing it again
	// changes nothing, so that saving often would only cost commits.
	saveEvery = 5 * time.Second
)

// follower hands every event of one partition to the engine's other_tokens, in
// order and at least once, also over restarts and from one process to the next.
type follower struct {
	engine    *engine.Engine
	store     store.Store
	partition store.Partition
	owns      func() bool     // it is this process's to follow; nil = always
	moved     <-chan struct{} // there may be something new, or something to own
	log       *slog.Logger

	mu    sync.Mutex // guards what follows; held by whoever drains
	at    store.Cursor
	found bool // at is known
	saved store.Cursor
}

// run drains whenever it is told that something moved. Nothing else needs
// looking for: the feed, which tells, looks by itself.
func (f *follower) run(ctx context.Context) {
	again := time.NewTimer(0)
	defer again.Stop()
	var lastSave time.Time
	failing := false
	for {
		err := f.drain(ctx)
		save := f.unsaved()
		if err == nil && save && time.Since(lastSave) >= saveEvery {
			err = f.save(ctx)
			lastSave, save = time.Now(), false
		}
		if ctx.Err() != nil {
			return
		}
		if (err != nil) != failing {
			failing = err != nil
			if failing {
				f.log.ErrorContext(ctx, "other tokens of called holders cannot be moved", "error", err)
			}
		}
		again.Stop()
		switch {
		case err != nil:
			again.Reset(retryTick)
		case save:
			again.Reset(saveEvery - time.Since(lastSave))
		}
		select {
		case <-ctx.Done():
			return
		case <-f.moved:
		case <-again.C:
		}
	}
}

// locate finds where the follower goes on. It runs before anything is served:
// one that never was here begins at the log's end, and what is committed from
// then on must not be missed.
func (f *follower) locate(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.find(ctx)
}

// find is locate for whoever holds mu.
func (f *follower) find(ctx context.Context) error {
	if f.found {
		return nil
	}
	at, known, err := f.engine.Consumed(ctx, otherTokens, f.partition)
	if err != nil {
		return err
	}
	at.Partition = f.partition
	f.saved = at
	if !known {
		// An unknown epoch is answered with a reset to the log's end.
		page, err := f.store.Events(ctx, at, 1)
		if err != nil {
			return err
		}
		f.saved, at = store.Cursor{}, page.End
		at.Partition = f.partition
	}
	f.at, f.found = at, true
	if !known {
		// Whoever goes on from here, after a crash too, must miss nothing.
		return f.keep(ctx)
	}
	return nil
}

// drain handles everything up to the log's end, if that is this process's to
// do. If it is no more, it keeps how far it came and forgets it: whoever owns
// the partition goes on from there.
func (f *follower) drain(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.owns != nil && !f.owns() {
		err := f.keep(ctx)
		f.found = false
		return err
	}
	if err := f.find(ctx); err != nil {
		return err
	}
	for {
		page, err := f.store.Events(ctx, f.at, followBatch)
		if err != nil {
			return err
		}
		page.End.Partition = f.partition
		if page.Reset {
			f.at = page.End
			continue
		}
		if len(page.Events) == 0 {
			return nil
		}
		for _, ev := range page.Events {
			if err := f.engine.OtherTokens(ctx, ev); err != nil {
				return err
			}
			f.at = store.Cursor{Partition: f.partition, Epoch: page.End.Epoch, Number: ev.Number}
		}
		f.at = page.End
	}
}

// unsaved reports whether there is a position to save.
func (f *follower) unsaved() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.found && f.at != f.saved
}

// save remembers the position if it moved.
func (f *follower) save(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.keep(ctx)
}

// keep is save for whoever holds mu.
func (f *follower) keep(ctx context.Context) error {
	if !f.found || f.at == f.saved {
		return nil
	}
	if err := f.engine.SaveConsumed(ctx, otherTokens, f.at); err != nil {
		return err
	}
	f.saved = f.at
	return nil
}
