package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

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

// draft is a site being built: copies that may still be changed.
type draft struct {
	site     *site
	queues   map[dengxu.QueueID]*queue
	counters map[dengxu.CounterID]*counter
}

// rebuild replaces one site and all that is in it. The copies share what was
// compiled from unchanged settings, so a state that moves costs a copy of the
// structs and nothing else.
func (w *world) rebuild(id dengxu.SiteID, docs *siteDocs, parts int) []error {
	d := draft{queues: make(map[dengxu.QueueID]*queue), counters: make(map[dengxu.CounterID]*counter)}
	if old := w.sites[id]; old != nil {
		d.site = new(*old)
		for _, q := range old.queues {
			d.queues[q.id] = new(*q)
			delete(w.queues, q.id)
		}
		for _, c := range old.counters {
			d.counters[c.id] = new(*c)
			delete(w.counters, c.id)
		}
	} else {
		d.site = &site{id: id, partition: partitionOfSite(id, parts)}
	}
	bad := d.apply(docs)
	if d.site.version == 0 {
		delete(w.sites, id)
		return bad
	}
	bad = append(bad, d.link(len(docs.queues)+len(docs.counters)+len(docs.sites) > 0)...)
	for _, q := range d.site.queues {
		if other := w.queues[q.id]; other != nil {
			bad = append(bad, fmt.Errorf("queue %s is in site %s and in site %s", q.id, other.site.id, id))
			continue
		}
		w.queues[q.id] = q
	}
	for _, c := range d.site.counters {
		if other := w.counters[c.id]; other != nil {
			bad = append(bad, fmt.Errorf("counter %s is in site %s and in site %s", c.id, other.site.id, id))
			continue
		}
		w.counters[c.id] = c
	}
	w.sites[id] = d.site
	return bad
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

// apply reads the documents into the draft.
func (d *draft) apply(docs *siteDocs) (bad []error) {
	each := func(list []store.Doc, read func(store.Doc) error) {
		for _, doc := range list {
			if err := read(doc); err != nil {
				bad = append(bad, fmt.Errorf("%s %s: %w", doc.Key.Kind, doc.Key.ID, err))
			}
		}
	}
	each(docs.sites, d.readSite)
	each(docs.states, func(doc store.Doc) error {
		return readState(doc, &d.site.state, &d.site.stateV)
	})
	each(docs.queues, d.readQueue)
	each(docs.queueStates, func(doc store.Doc) error {
		if q := d.queues[dengxu.QueueID(doc.Key.ID)]; q != nil {
			return readState(doc, &q.state, &q.stateV)
		}
		return nil
	})
	each(docs.counters, d.readCounter)
	each(docs.counterStates, func(doc store.Doc) error {
		if c := d.counters[dengxu.CounterID(doc.Key.ID)]; c != nil {
			return readState(doc, &c.state, &c.stateV)
		}
		return nil
	})
	return bad
}

// readState reads a document of running state unless a newer one is there.
func readState[T any](doc store.Doc, state *T, version *uint64) error {
	var read T
	switch {
	case doc.Version == 0:
	case doc.Version <= *version:
		return nil
	default:
		if err := json.Unmarshal(doc.Body, &read); err != nil {
			return err
		}
	}
	*state, *version = read, doc.Version
	return nil
}

func (d *draft) readSite(doc store.Doc) error {
	switch {
	case doc.Version == 0:
		d.site.version = 0
		return nil
	case doc.Version <= d.site.version:
		return nil
	}
	s := *d.site
	var set dengxu.Site
	if err := json.Unmarshal(doc.Body, &set); err != nil {
		return err
	}
	s.raw, s.version = doc.Body, doc.Version
	if err := s.compile(set); err != nil {
		return err
	}
	d.site = &s
	return nil
}

func (d *draft) readQueue(doc store.Doc) error {
	id := dengxu.QueueID(doc.Key.ID)
	q := queue{id: id}
	if old := d.queues[id]; old != nil {
		q = *old
	}
	switch {
	case doc.Version == 0:
		delete(d.queues, id)
		return nil
	case doc.Version <= q.version:
		return nil
	}
	var set dengxu.Queue
	if err := json.Unmarshal(doc.Body, &set); err != nil {
		return err
	}
	q.raw, q.version = doc.Body, doc.Version
	q.compile(set)
	d.queues[id] = &q
	return nil
}

func (d *draft) readCounter(doc store.Doc) error {
	id := dengxu.CounterID(doc.Key.ID)
	c := counter{id: id}
	if old := d.counters[id]; old != nil {
		c = *old
	}
	switch {
	case doc.Version == 0:
		delete(d.counters, id)
		return nil
	case doc.Version <= c.version:
		return nil
	}
	var set dengxu.Counter
	if err := json.Unmarshal(doc.Body, &set); err != nil {
		return err
	}
	c.raw, c.version = doc.Body, doc.Version
	c.compile(set)
	d.counters[id] = &c
	return nil
}

// link makes the copies point at each other. Which classes compete is worked
// out anew only when settings changed.
func (d *draft) link(settings bool) (bad []error) {
	s := d.site
	s.queues = sortedBy(d.queues, func(q *queue) string { return string(q.id) })
	s.counters = sortedBy(d.counters, func(c *counter) string { return string(c.id) })
	for _, q := range s.queues {
		q.site = s
	}
	for _, c := range s.counters {
		c.site = s
		c.queues = make([]served, 0, len(c.set.Queues))
		for _, name := range c.set.Queues {
			q := d.queues[name.ID]
			if q == nil {
				bad = append(bad, fmt.Errorf("counter %s: no queue %s in site %s", c.id, name.ID, s.id))
				continue
			}
			c.queues = append(c.queues, served{queue: q, classes: nilWhenEmpty(name.Classes)})
		}
	}
	if settings {
		s.linkClasses()
	}
	return bad
}

func sortedBy[K comparable, V any](m map[K]V, by func(V) string) []V {
	return slices.SortedFunc(maps.Values(m), func(a, b V) int { return strings.Compare(by(a), by(b)) })
}

func cloneOrNew[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return make(map[K]V)
	}
	return maps.Clone(m)
}

func nilWhenEmpty(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}
