package engine

import (
	"cmp"
	"context"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// refresh loads all documents and replaces the world. The lock is held while
// reading, so that what commits absorb meanwhile comes after, never before.
func (e *Engine) refresh(ctx context.Context) error {
	e.reload.Lock()
	defer e.reload.Unlock()
	docs, err := e.store.Docs(ctx)
	if err != nil {
		return storeError("read settings", err)
	}
	w, bad := (&world{}).with(docs, e.parts)
	for _, err := range bad {
		e.log.ErrorContext(ctx, "a stored document was left out", "err", err)
	}
	e.world.Store(w)
	return nil
}

// absorb brings the documents of a commit into the world. An older version
// never replaces a newer one; version 0 is a deletion.
func (e *Engine) absorb(docs []store.Doc) {
	if len(docs) == 0 {
		return
	}
	e.reload.Lock()
	defer e.reload.Unlock()
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
		case store.DocConsumer: // read where it is used
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
	case store.DocAPIKey, store.DocConsumer: // belong to no site
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
	case store.DocAPIKey, store.DocConsumer:
	}
	return ""
}

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
