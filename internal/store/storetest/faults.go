package storetest

import (
	"context"
	"sync"

	"github.com/dengxu/dengxu/internal/store"
)

// Faulty is a store that fails when it is told to. It is safe for concurrent
// use.
type Faulty struct {
	store.Store

	mu      sync.Mutex
	commits int
	reads   int
	fail    map[int]bool // commits that do nothing
	lose    map[int]bool // commits whose answer is lost
	blind   map[int]bool // reads that fail
}

// NewFaulty returns s, as yet without faults.
func NewFaulty(s store.Store) *Faulty {
	return &Faulty{Store: s, fail: make(map[int]bool), lose: make(map[int]bool), blind: make(map[int]bool)}
}

// FailCommit makes the n-th commit from now (1 = the next) do nothing and
// answer store.ErrUnavailable.
func (f *Faulty) FailCommit(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail[f.commits+n] = true
}

// LoseCommit makes the n-th commit from now (1 = the next) answer
// store.ErrUnknown, after it was carried out or refused.
func (f *Faulty) LoseCommit(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lose[f.commits+n] = true
}

// FailRead makes the n-th read from now (1 = the next) answer
// store.ErrUnavailable. View, List, Docs, Due and Events are reads.
func (f *Faulty) FailRead(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.blind[f.reads+n] = true
}

// Commits is how many commits there were, failed ones included.
func (f *Faulty) Commits() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.commits
}

// Commit is the store's, unless it is this one's turn to fail.
func (f *Faulty) Commit(ctx context.Context, b store.Batch) (store.Result, error) {
	f.mu.Lock()
	f.commits++
	fail, lose := f.fail[f.commits], f.lose[f.commits]
	f.mu.Unlock()
	if fail {
		return store.Result{}, store.ErrUnavailable
	}
	r, err := f.Store.Commit(ctx, b)
	if lose {
		return store.Result{}, store.ErrUnknown
	}
	return r, err
}

// read counts a read and says whether it fails.
func (f *Faulty) read() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	if f.blind[f.reads] {
		return store.ErrUnavailable
	}
	return nil
}

// View is the store's, unless it is this read's turn to fail.
func (f *Faulty) View(ctx context.Context, a store.Ask) (store.View, error) {
	if err := f.read(); err != nil {
		return store.View{}, err
	}
	return f.Store.View(ctx, a)
}

// List is the store's, unless it is this read's turn to fail.
func (f *Faulty) List(ctx context.Context, a store.ListAsk) (store.Page, error) {
	if err := f.read(); err != nil {
		return store.Page{}, err
	}
	return f.Store.List(ctx, a)
}

// Docs is the store's, unless it is this read's turn to fail.
func (f *Faulty) Docs(ctx context.Context, p store.Partition) ([]store.Doc, error) {
	if err := f.read(); err != nil {
		return nil, err
	}
	return f.Store.Docs(ctx, p)
}

// Due is the store's, unless it is this read's turn to fail.
func (f *Faulty) Due(ctx context.Context, p store.Partition, limit int) (store.Due, error) {
	if err := f.read(); err != nil {
		return store.Due{}, err
	}
	return f.Store.Due(ctx, p, limit)
}

// Events is the store's, unless it is this read's turn to fail.
func (f *Faulty) Events(ctx context.Context, after store.Cursor, limit int) (store.EventPage, error) {
	if err := f.read(); err != nil {
		return store.EventPage{}, err
	}
	return f.Store.Events(ctx, after, limit)
}
