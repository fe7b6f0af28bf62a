package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// maxServes is how many queues a counter may serve.
const maxServes = 64

// PutCounter replaces a counter's settings, or makes the counter, closed.
// ifMatch is the version that must stand; 0 means any. Codes: invalid with the
// field, conflict with reason if_match, or in_use when somebody waits for this
// counter only in a queue that it would leave.
func (e *Engine) PutCounter(ctx context.Context, by By, id dengxu.CounterID, set dengxu.Counter, ifMatch uint64) (Done[dengxu.CounterView], error) {
	return e.setCounter(ctx, by, id, set.Site, ifMatch, func(*counter) (dengxu.Counter, error) { return set, nil })
}

// PatchCounter applies an RFC 7396 merge patch to a counter's settings as
// given. Codes: those of PutCounter, and not_found.
func (e *Engine) PatchCounter(ctx context.Context, by By, id dengxu.CounterID, patch json.RawMessage, ifMatch uint64) (Done[dengxu.CounterView], error) {
	return e.setCounter(ctx, by, id, "", ifMatch, func(c *counter) (dengxu.Counter, error) {
		if c == nil {
			return dengxu.Counter{}, errNoCounter(id)
		}
		return patched[dengxu.Counter](c.raw, patch)
	})
}

func (e *Engine) setCounter(ctx context.Context, by By, id dengxu.CounterID, site dengxu.SiteID, ifMatch uint64, wanted func(*counter) (dengxu.Counter, error)) (done Done[dengxu.CounterView], err error) {
	if err := dengxu.CheckID("id", string(id)); err != nil {
		return done, err
	}
	site = cmp.Or(site, dengxu.DefaultSite)
	switch old, err := e.counter(ctx, id); dengxu.CodeOf(err) { //nolint:exhaustive // the others are failures
	case "":
		site = old.site.id
	case dengxu.NotFound:
	default:
		return done, err
	}
	done.Replayed, err = e.change(ctx, amendment{by: by, site: site, decide: func(w *world) (store.Batch, error) {
		old := w.counters[id]
		set, err := wanted(old)
		if err != nil {
			return store.Batch{}, err
		}
		var version uint64
		if old != nil {
			version = old.version
		}
		if err := checkMatch(ifMatch, version); err != nil {
			return store.Batch{}, err
		}
		return e.putCounter(ctx, counterPut{w: w, by: by, id: id, old: old, set: set})
	}})
	if err != nil {
		return done, err
	}
	done.Value, err = e.Counter(ctx, id)
	return done, err
}

// counterPut is settings on their way into a counter.
type counterPut struct {
	w   *world
	by  By
	id  dengxu.CounterID
	old *counter // nil = new
	set dengxu.Counter
}

// putCounter decides the batch that writes a counter's settings.
func (e *Engine) putCounter(ctx context.Context, p counterPut) (store.Batch, error) {
	var version uint64
	var oldSite dengxu.SiteID
	if p.old != nil {
		version, oldSite = p.old.version, p.old.site.id
	}
	if err := firstError(settleSite(&p.set.Site, oldSite), checkCounter(&p.set)); err != nil {
		return store.Batch{}, err
	}
	raw, err := encode(p.set)
	if err != nil {
		return store.Batch{}, err
	}
	if p.old != nil && bytes.Equal(raw, p.old.raw) {
		return store.Batch{}, errUnchanged
	}
	b, s, _, err := e.inSite(ctx, p.w, p.by, p.set.Site)
	if err != nil {
		return b, err
	}
	c := &counter{id: p.id, site: s}
	c.compile(p.set)
	if err := c.serve(p.w); err != nil {
		return b, err
	}
	if p.old != nil {
		left := slices.DeleteFunc(slices.Clone(s.queues), func(q *queue) bool { return c.takesFrom(q.id) })
		if err := e.nobodyBound(ctx, p.old, left); err != nil {
			return b, err
		}
	}
	b.Op = p.by.op("counter")
	b.Docs = append(b.Docs, rawWrite(store.DocCounter, string(p.id), s.id, raw, version))
	event := changedEvent(dengxu.EventCounterChanged, version+1, p.by)
	event.Counter = p.id
	b.Events = append(b.Events, event)
	if p.old == nil {
		err = e.reserve(ctx, &b, store.DocKey{Kind: store.DocCounter, ID: string(p.id)})
	}
	return b, err
}

// nobodyBound refuses, with in_use, to take a counter from queues in which
// somebody waits for it and for no other.
func (e *Engine) nobodyBound(ctx context.Context, c *counter, queues []*queue) error {
	ask := store.Ask{Partition: c.site.partition}
	for _, q := range queues {
		ask.Lines = append(ask.Lines, q.line())
	}
	v, err := e.view(ctx, ask)
	if err != nil {
		return err
	}
	for _, line := range v.Lines {
		for _, lane := range line.Lanes {
			if lane.Lane.Class == store.BoundTo(c.id) && lane.Len > 0 {
				return errInUse("somebody waits for this counter only")
			}
		}
	}
	return nil
}

// checkCounter cleans a counter's settings and checks what can be judged
// without looking at anything else.
func checkCounter(set *dengxu.Counter) error {
	if err := firstError(
		cleanName("name", &set.Name),
		cleanLabels("labels", set.Labels),
		checkOneOf("pick", set.Pick, "oldest", "listed"),
		checkRange("max_serving", set.MaxServing, 1, 1000),
	); err != nil {
		return err
	}
	if len(set.Queues) > maxServes {
		return dengxu.Fieldf(dengxu.Invalid, "queues", "more than %d queues", maxServes)
	}
	for i, q := range set.Queues {
		if slices.ContainsFunc(set.Queues[:i], func(other dengxu.CounterQueue) bool { return other.ID == q.ID }) {
			return dengxu.Fieldf(dengxu.Invalid, fmt.Sprintf("queues[%d]", i), "queue %s is named twice", q.ID)
		}
	}
	if s := set.Seats; s != nil {
		if s.Min < 0 || s.Max < 0 || s.Max != 0 && s.Max < s.Min || s.Min > maxQuantity || s.Max > maxQuantity {
			return dengxu.Fieldf(dengxu.Invalid, "seats", "seats from %d to %d make no sense", s.Min, s.Max)
		}
	}
	return nil
}

// serve finds the queues that a counter names. Codes: invalid with the field
// when one is not in the counter's site, lacks a class, or may not be compared
// with the others.
func (c *counter) serve(w *world) error {
	c.queues = nil
	for i, name := range c.set.Queues {
		q := w.queues[name.ID]
		if q == nil || q.site.id != c.site.id {
			return dengxu.Fieldf(dengxu.Invalid, fmt.Sprintf("queues[%d]", i), "no queue %s in site %s", name.ID, c.site.id)
		}
		for _, class := range name.Classes {
			if !slices.Contains(q.classes, class) {
				return dengxu.Fieldf(dengxu.Invalid, fmt.Sprintf("queues[%d].classes", i), "queue %s has no class %q", q.id, class)
			}
		}
		c.queues = append(c.queues, served{queue: q, classes: nilWhenEmpty(name.Classes)})
	}
	return c.mixes("pick", nil)
}

// DeleteCounter removes a counter that has no tokens, called, served or held,
// and to which no waiting token is bound. Codes: not_found, conflict with
// reason if_match or in_use.
func (e *Engine) DeleteCounter(ctx context.Context, by By, id dengxu.CounterID, ifMatch uint64) error {
	name := store.DocKey{Kind: store.DocCounter, ID: string(id)}
	site, err := e.CounterSite(ctx, id)
	if err != nil {
		return e.goneBefore(ctx, by, name, err)
	}
	_, err = e.change(ctx, amendment{
		by: by, site: site,
		counted: func() error { return errInUse("the counter still has tokens") },
		decide: func(w *world) (store.Batch, error) {
			c := w.counters[id]
			if c == nil {
				return store.Batch{}, errNoCounter(id)
			}
			if err := checkMatch(ifMatch, c.version); err != nil {
				return store.Batch{}, err
			}
			return e.deleteCounter(ctx, by, c)
		},
	})
	if err == nil {
		e.release(ctx, name)
	}
	return err
}

func (e *Engine) deleteCounter(ctx context.Context, by By, c *counter) (store.Batch, error) {
	v, err := e.view(ctx, store.Ask{Partition: c.site.partition, Counters: []dengxu.CounterID{c.id}})
	if err != nil {
		return store.Batch{}, err
	}
	if len(v.Counters[0]) > 0 {
		return store.Batch{}, errInUse("the counter still has tokens")
	}
	if err := e.nobodyBound(ctx, c, c.site.queues); err != nil {
		return store.Batch{}, err
	}
	touch, err := c.site.touch()
	b := store.Batch{
		Partition: c.site.partition, Site: c.site.id, Op: by.op("delete_counter"),
		Expect: []store.Expectation{store.RoomAt{Counter: c.id, Max: 1}},
		Docs:   []store.DocWrite{touch, deletion(store.DocCounter, string(c.id), c.site.id, c.version)},
	}
	if c.stateV > 0 {
		b.Docs = append(b.Docs, deletion(store.DocCounterState, string(c.id), c.site.id, c.stateV))
	}
	event := changedEvent(dengxu.EventCounterChanged, 0, by)
	event.Counter = c.id
	b.Events = append(b.Events, event)
	return b, err
}
