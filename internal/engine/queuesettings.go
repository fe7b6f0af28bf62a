package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// active are the states of tokens that have not ended.
var active = []dengxu.State{
	dengxu.StateScheduled, dengxu.StateWaiting, dengxu.StateCalling,
	dengxu.StateServing, dengxu.StateHeld, dengxu.StateMissed,
}

// PutQueue replaces a queue's settings, or makes the queue, with its door open
// or as the opening hours say. ifMatch is the version that must stand; 0 means
// any. Codes: invalid with the field, conflict with reason if_match, or
// not_empty when the ordering or the day's end changes under somebody in line.
func (e *Engine) PutQueue(ctx context.Context, by By, id dengxu.QueueID, set dengxu.Queue, ifMatch uint64) (Done[dengxu.QueueView], error) {
	return e.setQueue(ctx, by, id, set.Site, ifMatch, func(*queue) (dengxu.Queue, error) { return set, nil })
}

// PatchQueue applies an RFC 7396 merge patch to a queue's settings as given.
// Codes: those of PutQueue, and not_found.
func (e *Engine) PatchQueue(ctx context.Context, by By, id dengxu.QueueID, patch json.RawMessage, ifMatch uint64) (Done[dengxu.QueueView], error) {
	return e.setQueue(ctx, by, id, "", ifMatch, func(q *queue) (dengxu.Queue, error) {
		if q == nil {
			return dengxu.Queue{}, errNoQueue(id)
		}
		return patched[dengxu.Queue](q.raw, patch)
	})
}

func (e *Engine) setQueue(ctx context.Context, by By, id dengxu.QueueID, site dengxu.SiteID, ifMatch uint64, wanted func(*queue) (dengxu.Queue, error)) (done Done[dengxu.QueueView], err error) {
	if err := dengxu.CheckID("id", string(id)); err != nil {
		return done, err
	}
	site = cmp.Or(site, dengxu.DefaultSite)
	switch old, err := e.queue(ctx, id); dengxu.CodeOf(err) { //nolint:exhaustive // the others are failures
	case "":
		site = old.site.id
	case dengxu.NotFound:
	default:
		return done, err
	}
	done.Replayed, err = e.change(ctx, amendment{
		by: by, site: site, counted: errNotEmpty,
		decide: func(w *world) (store.Batch, error) {
			old := w.queues[id]
			set, err := wanted(old)
			if err != nil {
				return store.Batch{}, err
			}
			p := queuePut{w: w, by: by, id: id, old: old, set: set}
			return e.putQueue(ctx, p, ifMatch)
		},
	})
	if err != nil {
		return done, err
	}
	done.Value, err = e.Queue(ctx, id)
	return done, err
}

func errNotEmpty() error {
	return dengxu.Errorf(dengxu.Conflict, "ordering and day_end change only while nobody is in line").Because(reasonNotEmpty)
}

// queuePut is settings on their way into a queue.
type queuePut struct {
	w   *world
	by  By
	id  dengxu.QueueID
	old *queue // nil = new
	set dengxu.Queue
}

// putQueue decides the batch that writes a queue's settings.
func (e *Engine) putQueue(ctx context.Context, p queuePut, ifMatch uint64) (store.Batch, error) {
	var version uint64
	var oldSite dengxu.SiteID
	if p.old != nil {
		version, oldSite = p.old.version, p.old.site.id
	}
	if err := firstError(checkMatch(ifMatch, version), settleSite(&p.set.Site, oldSite), checkQueue(&p.set)); err != nil {
		return store.Batch{}, err
	}
	raw, err := encode(p.set)
	if err != nil {
		return store.Batch{}, err
	}
	if p.old != nil && bytes.Equal(raw, p.old.raw) {
		return store.Batch{}, errUnchanged
	}
	b, s, now, err := e.inSite(ctx, p.w, p.by, p.set.Site)
	if err != nil {
		return b, err
	}
	q := &queue{id: p.id, site: s}
	q.compile(p.set)
	if err := q.fits(s, p.old); err != nil {
		return b, err
	}
	b.Op = p.by.op("queue")
	b.Docs = append(b.Docs, rawWrite(store.DocQueue, string(p.id), s.id, raw, version))
	event := changedEvent(dengxu.EventQueueChanged, version+1, p.by)
	event.Queue = p.id
	b.Events = append(b.Events, event)
	if p.old == nil {
		state, err := q.writeState(s.newDoor(now), now)
		if err != nil {
			return b, err
		}
		b.Docs = append(b.Docs, state)
		err = e.reserve(ctx, &b, store.DocKey{Kind: store.DocQueue, ID: string(p.id)})
		return b, err
	}
	if p.old.set.Ordering != q.set.Ordering || p.old.set.DayEnd != q.set.DayEnd {
		err = e.expectNobody(ctx, &b, p.old)
	}
	return b, err
}

// expectNobody lets a batch commit only while nobody is in the queue's line.
func (e *Engine) expectNobody(ctx context.Context, b *store.Batch, q *queue) error {
	// The commit counts the present generation only; earlier ones may not be
	// swept yet, and nobody joins them.
	if some, err := e.anyActive(ctx, q); err != nil || some {
		return cmp.Or(err, errNotEmpty())
	}
	b.Expect = append(b.Expect, store.Before{At: q.site.state.DayEnds},
		store.CountBelow{Line: q.line(), States: active, Max: 1})
	return nil
}

// settleSite finds the site of settings: the one that was set once and for all,
// the one given, or the default. Moving to another site is Invalid.
func settleSite(site *dengxu.SiteID, old dengxu.SiteID) error {
	if old != "" && *site != "" && *site != old {
		return dengxu.Fieldf(dengxu.Invalid, "site", "the site is %s and never changes", old)
	}
	*site = cmp.Or(*site, old, dengxu.DefaultSite)
	return dengxu.CheckID("site", string(*site))
}

// inSite begins a batch that writes settings of a queue or counter of a site.
// The default site is made by whoever needs it first; another one must exist.
func (e *Engine) inSite(ctx context.Context, w *world, by By, id dengxu.SiteID) (b store.Batch, s *site, now int64, err error) {
	b = store.Batch{Partition: partitionOfSite(id, e.parts), Site: id}
	v, err := e.view(ctx, store.Ask{Partition: b.Partition})
	if err != nil {
		return b, nil, 0, err
	}
	if s = w.sites[id]; s != nil {
		touch, err := s.touch()
		b.Docs = append(b.Docs, touch)
		b.Expect = append(b.Expect, store.DocAt{
			Key: store.DocKey{Kind: store.DocSite, ID: string(id)}, Version: s.version,
		})
		return b, s, v.Now, err
	}
	if id != dengxu.DefaultSite {
		return b, nil, 0, dengxu.Fieldf(dengxu.Invalid, "site", "no site %s", id)
	}
	s, err = e.addSite(&b, by, id, dengxu.Site{}, v.Now)
	return b, s, v.Now, err
}

// fits holds a queue against the others of its site and the counters that
// serve it. The error is Invalid with the field.
func (q *queue) fits(s *site, old *queue) error {
	for _, other := range s.queues {
		if other.id == q.id {
			continue
		}
		if err := q.sharesSeries(other); err != nil {
			return err
		}
	}
	if old == nil {
		return nil
	}
	for _, c := range s.counters {
		for _, served := range c.queues {
			if served.queue.id != q.id {
				continue
			}
			for _, class := range served.classes {
				if !slices.Contains(q.classes, class) {
					return dengxu.Fieldf(dengxu.Invalid, "classes", "counter %s serves class %q", c.id, class)
				}
			}
		}
		if err := c.mixes("ordering", q); err != nil {
			return err
		}
	}
	return nil
}

// sharesSeries refuses two queues that count in one series differently.
func (q *queue) sharesSeries(other *queue) error {
	theirs := other.countings()
	for _, mine := range q.countings() {
		for _, their := range theirs {
			if mine.name == their.name && mine != their {
				return dengxu.Fieldf(dengxu.Invalid, "series",
					"queue %s counts in series %q with another first_number, last_number, number_width or on_last_number", other.id, mine.name)
			}
		}
	}
	return nil
}

// counting is how a queue counts in one series.
type counting struct {
	name        string
	first, last int64
	width       int
	at          string
}

// countings are the series of a queue: its own, and those of classes with a
// prefix of their own.
func (q *queue) countings() []counting {
	found := make([]counting, 0, 1+len(q.classes))
	for _, class := range append([]string{""}, q.classes...) {
		s := q.series(class)
		c := counting{s.Name, s.First, s.Last, *q.set.NumberWidth, s.At}
		if !slices.Contains(found, c) {
			found = append(found, c)
		}
	}
	return found
}

// mixes refuses a counter that would compare an epoch queue with another kind
// by age. changed stands for the queue of its id.
func (c *counter) mixes(field string, changed *queue) error {
	if c.mode != order.Oldest {
		return nil
	}
	var first *queue
	for _, served := range c.queues {
		q := served.queue
		if changed != nil && q.id == changed.id {
			q = changed
		}
		if first == nil {
			first = q
		}
		if q.epoch() != first.epoch() {
			return dengxu.Fieldf(dengxu.Invalid, field,
				"counter %s picks the oldest over queues %s and %s, which an epoch queue does not allow; use pick listed", c.id, first.id, q.id)
		}
	}
	return nil
}

// DeleteQueue removes a queue in which nobody is and which no counter serves.
// What remains of ended tokens stays readable by token id. Codes: not_found,
// conflict with reason if_match or in_use.
func (e *Engine) DeleteQueue(ctx context.Context, by By, id dengxu.QueueID, ifMatch uint64) error {
	name := store.DocKey{Kind: store.DocQueue, ID: string(id)}
	site, err := e.QueueSite(ctx, id)
	if err != nil {
		return e.goneBefore(ctx, by, name, err)
	}
	_, err = e.change(ctx, amendment{
		by: by, site: site,
		counted: func() error { return errInUse("somebody is still in the queue") },
		decide: func(w *world) (store.Batch, error) {
			q := w.queues[id]
			if q == nil {
				return store.Batch{}, errNoQueue(id)
			}
			if err := checkMatch(ifMatch, q.version); err != nil {
				return store.Batch{}, err
			}
			return e.deleteQueue(ctx, by, q)
		},
	})
	if err == nil {
		e.release(ctx, name)
		e.forgetEstimates(ctx, site, id)
	}
	return err
}

func (e *Engine) deleteQueue(ctx context.Context, by By, q *queue) (store.Batch, error) {
	for _, c := range q.site.counters {
		if c.takesFrom(q.id) {
			return store.Batch{}, errInUse(fmt.Sprintf("counter %s still serves the queue", c.id))
		}
	}
	// The commit can count one generation only; nobody joins an older one.
	some, err := e.anyActive(ctx, q)
	if err != nil {
		return store.Batch{}, err
	}
	if some {
		return store.Batch{}, errInUse("somebody is still in the queue")
	}
	touch, err := q.site.touch()
	b := store.Batch{
		Partition: q.site.partition, Site: q.site.id, Op: by.op("delete_queue"),
		Expect: []store.Expectation{
			store.Before{At: q.site.state.DayEnds},
			store.CountBelow{Line: q.line(), States: active, Max: 1},
		},
		Docs: []store.DocWrite{touch, deletion(store.DocQueue, string(q.id), q.site.id, q.version)},
	}
	if q.stateV > 0 {
		b.Docs = append(b.Docs, deletion(store.DocQueueState, string(q.id), q.site.id, q.stateV))
	}
	event := changedEvent(dengxu.EventQueueChanged, 0, by)
	event.Queue = q.id
	b.Events = append(b.Events, event)
	return b, err
}

// anyActive reports whether any token of the queue has not ended.
func (e *Engine) anyActive(ctx context.Context, q *queue) (bool, error) {
	ask := store.ListAsk{Partition: q.site.partition, Site: q.site.id, Queue: q.id, States: active, Limit: 1}
	for {
		page, err := e.store.List(ctx, ask)
		if err != nil {
			return false, storeError("list tokens", err)
		}
		if len(page.Tokens) > 0 || page.Next == 0 {
			return len(page.Tokens) > 0, nil
		}
		ask.After = page.Next
	}
}
