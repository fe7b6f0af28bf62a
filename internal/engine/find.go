package engine

import (
	"context"
	"errors"
	"sync"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// missing is the cause of a not_found: something that the world does not have.
// Where other processes write too, it may have been made a moment ago, and is
// looked for once before anybody is told that it does not exist.
type missing struct {
	key  store.DocKey
	text string
}

// Error is what people are told.
func (m missing) Error() string { return m.text }

func errMissing(kind store.DocKind, id, text string) error {
	return dengxu.Errorf(dengxu.NotFound, "%w", missing{store.DocKey{Kind: kind, ID: id}, text})
}

func errNoSite(id dengxu.SiteID) error {
	return errMissing(store.DocSite, string(id), "no site "+string(id))
}

func errNoQueue(id dengxu.QueueID) error {
	return errMissing(store.DocQueue, string(id), "no queue "+string(id))
}

func errNoCounter(id dengxu.CounterID) error {
	return errMissing(store.DocCounter, string(id), "no counter "+string(id))
}

func errNoKey(id dengxu.KeyID) error {
	return errMissing(store.DocAPIKey, string(id), "no key "+string(id))
}

// has reports whether the world has what a document of settings is about.
func (w *world) has(key store.DocKey) bool {
	switch key.Kind { //nolint:exhaustive // no other is looked for
	case store.DocSite:
		return w.sites[dengxu.SiteID(key.ID)] != nil
	case store.DocQueue:
		return w.queues[dengxu.QueueID(key.ID)] != nil
	case store.DocCounter:
		return w.counters[dengxu.CounterID(key.ID)] != nil
	case store.DocAPIKey:
		return w.keys[dengxu.KeyID(key.ID)] != nil
	default:
		return false
	}
}

// site, queue and counter find what the world has, or what the store has by
// now. Codes: not_found, unavailable.
func (e *Engine) site(ctx context.Context, id dengxu.SiteID) (*site, error) {
	return known(ctx, e, func(w *world) *site { return w.sites[id] }, errNoSite(id))
}

func (e *Engine) queue(ctx context.Context, id dengxu.QueueID) (*queue, error) {
	return known(ctx, e, func(w *world) *queue { return w.queues[id] }, errNoQueue(id))
}

func (e *Engine) counter(ctx context.Context, id dengxu.CounterID) (*counter, error) {
	return known(ctx, e, func(w *world) *counter { return w.counters[id] }, errNoCounter(id))
}

func known[T any](ctx context.Context, e *Engine, get func(*world) *T, lacking error) (*T, error) {
	if found := get(e.world.Load()); found != nil {
		return found, nil
	}
	if _, err := e.find(ctx, lacking); err != nil {
		return nil, err
	}
	if found := get(e.world.Load()); found != nil {
		return found, nil
	}
	return nil, lacking
}

// find looks in the store for what err says is missing, and reports whether the
// world has it now. It costs one point read, within a bound for the process,
// and where nobody else writes none.
func (e *Engine) find(ctx context.Context, err error) (bool, error) {
	m, ok := errors.AsType[missing](err)
	if !ok || !e.shared || !e.misses.take(e.now()) {
		return false, nil
	}
	p, exists, err := e.whereIs(ctx, m.key)
	if err != nil || !exists {
		return false, err
	}
	if err := e.refreshPart(ctx, p); err != nil {
		return false, err
	}
	return e.world.Load().has(m.key), nil
}

// whereIs finds the partition of a document of settings that the world does not
// have.
func (e *Engine) whereIs(ctx context.Context, key store.DocKey) (p store.Partition, exists bool, err error) {
	switch key.Kind { //nolint:exhaustive // keys belong to no site
	case store.DocSite:
		p = partitionOfSite(dengxu.SiteID(key.ID), e.parts)
	case store.DocQueue, store.DocCounter:
		if e.parts > 1 {
			had, err := e.readName(ctx, key)
			return partitionOfSite(had.site, e.parts), had.site != "", err
		}
	}
	v, err := e.view(ctx, store.Ask{Partition: p, Docs: []store.DocKey{key}})
	return p, err == nil && v.Docs[0] != nil, err
}

// Looking for what is unknown is paid for from a purse that fills with time, so
// that asking for nonsense cannot keep the store busy.
const (
	missPurse = 64
	missEvery = 25 // ms for one more
)

// misses is that purse.
type misses struct {
	mu    sync.Mutex // guards what follows
	spent int64      // looks that were not earned back yet
	at    int64      // when spent was true, by a store's clock
}

// take pays for one look, if it can.
func (m *misses) take(now int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if earned := (now - m.at) / missEvery; earned > 0 {
		m.spent, m.at = max(0, m.spent-earned), now
	}
	if m.spent >= missPurse {
		return false
	}
	m.spent++
	return true
}
