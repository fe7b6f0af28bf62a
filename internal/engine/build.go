package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// draft is a site being built: copies that may still be changed.
type draft struct {
	site     *site
	queues   map[dengxu.QueueID]*queue
	counters map[dengxu.CounterID]*counter
}

// rebuild replaces one site and all that is in it. Where only running states
// moved, that is a copy of structs; nothing is parsed, sorted or linked anew.
func (w *world) rebuild(id dengxu.SiteID, docs *siteDocs, parts int) (bad []error) {
	old := w.sites[id]
	if old != nil && docs.statesOnly() {
		next := old.copied()
		bad = next.applyStates(docs)
		return append(bad, w.place(next)...)
	}
	d := draft{
		site:   &site{id: id, partition: partitionOfSite(id, parts)},
		queues: make(map[dengxu.QueueID]*queue), counters: make(map[dengxu.CounterID]*counter),
	}
	if old != nil {
		d.site = new(*old)
		for _, q := range old.queues {
			d.queues[q.id] = new(*q)
			delete(w.queues, q.id)
		}
		for _, c := range old.counters {
			d.counters[c.id] = new(*c)
			delete(w.counters, c.id)
		}
	}
	bad = d.apply(docs)
	if d.site.version == 0 {
		delete(w.sites, id)
		return bad
	}
	bad = append(bad, d.link()...)
	bad = append(bad, d.site.applyStates(docs)...)
	return append(bad, w.place(d.site)...)
}

// place puts a site that was built into the world.
func (w *world) place(s *site) (bad []error) {
	w.sites[s.id] = s
	for _, q := range s.queues {
		q.keepSteady()
		if other := w.queues[q.id]; other != nil && other.site.id != s.id {
			bad = append(bad, fmt.Errorf("queue %s is in site %s and in site %s", q.id, other.site.id, s.id))
			continue
		}
		w.queues[q.id] = q
	}
	for _, c := range s.counters {
		c.keepSteady()
		if other := w.counters[c.id]; other != nil && other.site.id != s.id {
			bad = append(bad, fmt.Errorf("counter %s is in site %s and in site %s", c.id, other.site.id, s.id))
			continue
		}
		w.counters[c.id] = c
	}
	return bad
}

// copied returns a copy of the site and of all that is in it, linked among
// itself, that shares what was compiled from settings. The copies lie side by
// side, because hundreds of single ones cost more than all the rest.
func (s *site) copied() *site {
	next := new(*s)
	queues, counters := make([]queue, len(s.queues)), make([]counter, len(s.counters))
	next.queues, next.counters = make([]*queue, len(s.queues)), make([]*counter, len(s.counters))
	moved := make(map[*queue]*queue, len(s.queues))
	for i, q := range s.queues {
		queues[i] = *q
		queues[i].site = next
		next.queues[i], moved[q] = &queues[i], &queues[i]
	}
	serves := 0
	for _, c := range s.counters {
		serves += len(c.queues)
	}
	lists := make([]served, 0, serves)
	for i, c := range s.counters {
		counters[i] = *c
		counters[i].site = next
		first := len(lists)
		for _, q := range c.queues {
			lists = append(lists, served{queue: moved[q.queue], classes: q.classes})
		}
		counters[i].queues = lists[first:len(lists):len(lists)]
		next.counters[i] = &counters[i]
	}
	return next
}

// apply reads the documents of settings into the draft.
func (d *draft) apply(docs *siteDocs) (bad []error) {
	bad = eachDoc(bad, docs.sites, d.readSite)
	bad = eachDoc(bad, docs.queues, d.readQueue)
	return eachDoc(bad, docs.counters, d.readCounter)
}

// applyStates reads the documents of running state into a site that is being
// made.
func (s *site) applyStates(docs *siteDocs) (bad []error) {
	bad = eachDoc(bad, docs.states, func(doc store.Doc) error {
		return readState(doc, &s.state, &s.stateV)
	})
	bad = eachDoc(bad, docs.queueStates, func(doc store.Doc) error {
		i, found := slices.BinarySearchFunc(s.queues, doc.Key.ID, func(q *queue, id string) int {
			return strings.Compare(string(q.id), id)
		})
		if !found {
			return nil
		}
		return readState(doc, &s.queues[i].state, &s.queues[i].stateV)
	})
	return eachDoc(bad, docs.counterStates, func(doc store.Doc) error {
		i, found := slices.BinarySearchFunc(s.counters, doc.Key.ID, func(c *counter, id string) int {
			return strings.Compare(string(c.id), id)
		})
		if !found {
			return nil
		}
		return readState(doc, &s.counters[i].state, &s.counters[i].stateV)
	})
}

// eachDoc reads documents and adds what went wrong to bad.
func eachDoc(bad []error, docs []store.Doc, read func(store.Doc) error) []error {
	for _, doc := range docs {
		if err := read(doc); err != nil {
			bad = append(bad, fmt.Errorf("%s %s: %w", doc.Key.Kind, doc.Key.ID, err))
		}
	}
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

// link makes the copies point at each other and works out which classes
// compete.
func (d *draft) link() (bad []error) {
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
	s.linkClasses()
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
