package engine

import (
	"cmp"
	"context"
	"hash/fnv"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// refresh loads the documents of every partition.
func (e *Engine) refresh(ctx context.Context) error {
	for p := range e.parts {
		if err := e.refreshPart(ctx, store.Partition(p)); err != nil {
			return err
		}
	}
	return nil
}

// loading is what guards and orders the loads of one partition's documents.
type loading struct {
	mu    sync.Mutex    // held while they are read, and by whoever brings in newer ones
	begun atomic.Uint64 // loads, counted when they begin
	done  uint64        // the last that succeeded; guarded by mu
}

// refreshPart loads the documents of one partition and replaces what the world
// has of it, unless somebody else began to after this call: a crowd that learns
// of a change at once loads it once. The partition's lock is held while
// reading, so that what commits absorb meanwhile comes after, never before.
func (e *Engine) refreshPart(ctx context.Context, p store.Partition) error {
	l := &e.loads[p]
	before := l.begun.Load()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done > before {
		return nil
	}
	load := l.begun.Add(1)
	docs, err := e.store.Docs(ctx, p)
	if err != nil {
		return storeError("read settings", err)
	}
	if err := e.imported.set(p, docs); err != nil {
		e.log.ErrorContext(ctx, "the record of an import was left out", "partition", p, "err", err)
	}
	e.swap.Lock()
	defer e.swap.Unlock()
	w, bad := e.world.Load().without(p).with(docs, e.parts)
	for _, err := range bad {
		e.log.ErrorContext(ctx, "a stored document was left out", "err", err)
	}
	e.world.Store(w)
	l.done = load
	return nil
}

// without is the world without anything of a partition.
func (w *world) without(p store.Partition) *world {
	next := &world{
		sites: make(map[dengxu.SiteID]*site), queues: make(map[dengxu.QueueID]*queue),
		counters: make(map[dengxu.CounterID]*counter), keys: w.keys, hashes: w.hashes,
	}
	if p == 0 {
		next.keys, next.hashes = nil, nil
	}
	for id, s := range w.sites {
		if s.partition == p {
			continue
		}
		next.sites[id] = s
		for _, q := range s.queues {
			next.queues[q.id] = q
		}
		for _, c := range s.counters {
			next.counters[c.id] = c
		}
	}
	return next
}

// absorb brings the documents of a commit in partition p into the world. An
// older version never replaces a newer one; version 0 is a deletion.
func (e *Engine) absorb(p store.Partition, docs []store.Doc) {
	if len(docs) == 0 {
		return
	}
	e.loads[p].mu.Lock()
	defer e.loads[p].mu.Unlock()
	e.swap.Lock()
	defer e.swap.Unlock()
	w, bad := e.world.Load().with(docs, e.parts)
	for _, err := range bad {
		e.log.Error("a committed document was left out", "err", err)
	}
	e.world.Store(w)
}

// siteDocs is what changes in one site, in the order of reading: what others
// hang on comes first.
type siteDocs struct{ sites, states, queues, queueStates, counters, counterStates []store.Doc }

// with returns a world that has the documents too. Only the sites that they
// belong to are built anew; all others are shared with w. Documents that
// cannot be read are left out and reported.
func (w *world) with(docs []store.Doc, parts int) (*world, []error) {
	next := &world{
		sites: cloneOrNew(w.sites), queues: cloneOrNew(w.queues), counters: cloneOrNew(w.counters),
		keys: w.keys, hashes: w.hashes,
	}
	var bad []error
	var keys []store.Doc
	changed := make(map[dengxu.SiteID]*siteDocs)
	for _, d := range docs {
		switch d.Key.Kind { //nolint:exhaustive // the others belong to sites
		case store.DocAPIKey:
			keys = append(keys, d)
			continue
		case store.DocConsumer, store.DocName, store.DocLease, store.DocImport,
			store.DocOutlook, store.DocModel, store.DocLesson, store.DocPromise: // read where they are used
			continue
		}
		id := cmp.Or(d.Site, w.siteOf(d.Key))
		if changed[id] == nil {
			changed[id] = new(siteDocs)
		}
		changed[id].add(d)
	}
	if len(keys) > 0 || next.keys == nil {
		bad = append(bad, next.setKeys(keys)...)
	}
	for _, id := range slices.Sorted(maps.Keys(changed)) {
		bad = append(bad, next.rebuild(id, changed[id], parts)...)
	}
	return next, bad
}

func (s *siteDocs) add(d store.Doc) {
	switch d.Key.Kind {
	case store.DocSite:
		s.sites = append(s.sites, d)
	case store.DocSiteState:
		s.states = append(s.states, d)
	case store.DocQueue:
		s.queues = append(s.queues, d)
	case store.DocQueueState:
		s.queueStates = append(s.queueStates, d)
	case store.DocCounter:
		s.counters = append(s.counters, d)
	case store.DocCounterState:
		s.counterStates = append(s.counterStates, d)
	case store.DocAPIKey, store.DocConsumer, store.DocName, store.DocLease, store.DocImport: // belong to no site
	case store.DocOutlook, store.DocModel, store.DocLesson, store.DocPromise: // bulky, and no settings
	}
}

// statesOnly reports whether no settings are among the documents.
func (s *siteDocs) statesOnly() bool { return len(s.sites)+len(s.queues)+len(s.counters) == 0 }

// siteOf finds the site of a document that does not say it.
func (w *world) siteOf(key store.DocKey) dengxu.SiteID {
	switch key.Kind {
	case store.DocSite, store.DocSiteState:
		return dengxu.SiteID(key.ID)
	case store.DocQueue, store.DocQueueState:
		if q := w.queues[dengxu.QueueID(key.ID)]; q != nil {
			return q.site.id
		}
	case store.DocCounter, store.DocCounterState:
		if c := w.counters[dengxu.CounterID(key.ID)]; c != nil {
			return c.site.id
		}
	case store.DocAPIKey, store.DocConsumer, store.DocName, store.DocLease, store.DocImport,
		store.DocOutlook, store.DocModel, store.DocLesson, store.DocPromise:
	}
	return ""
}

// PartitionOf says in which partition a site is, or would be.
func (e *Engine) PartitionOf(id dengxu.SiteID) store.Partition { return partitionOfSite(id, e.parts) }

// partitionOfSite spreads sites over the partitions of a store. What belongs to
// no site ("") is in the first.
func partitionOfSite(id dengxu.SiteID, parts int) store.Partition {
	if id == "" {
		return 0
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // never fails
	return store.Partition(h.Sum32() % uint32(max(1, parts)))
}
