package sim

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
)

// site is where everything happens.
const site = dengxu.SiteID("sim")

// staff is who acts.
var staff = engine.By{Kind: engine.Operator, Name: "sim", Scope: "sim"}

// hall is an engine over a store in memory, on a clock that stands until it is
// moved. One goroutine uses it.
type hall struct {
	*engine.Engine
	base     time.Time
	now      int64 // ms since base
	store    *seen
	queues   []queue // by name
	warnings []string
}

// queue is what the simulator knows of a queue's settings, to hold calls against
// what they promise.
type queue struct {
	id       dengxu.QueueID
	ordering string
	escalate int64 // ms; strict
	groups   map[string]dengxu.Group
	classes  map[string]dengxu.Class
	standard string // class of whoever names none; "" = none, or the only one
	ruled    bool   // rules may give a class
}

// seen is a store that shows every commit to a run, which says in turn what is
// due.
type seen struct {
	store.Store
	by *run
}

// Commit commits and shows what was committed.
func (s *seen) Commit(ctx context.Context, b store.Batch) (store.Result, error) {
	r, err := s.Store.Commit(ctx, b)
	if err == nil {
		s.by.saw(&r)
	}
	return r, err
}

// Due leaves out ended tokens, which are only due to be archived: nobody looks at
// them any more, and archiving costs as much as a call.
func (s *seen) Due(_ context.Context, _ store.Partition, limit int) (store.Due, error) {
	entries := s.by.overdue(s.by.hall.now)
	return store.Due{Now: s.by.base + s.by.hall.now, Entries: entries[:min(limit, len(entries))]}, nil
}

// retainSeconds is how long ended tokens stay in the lists when the scenario
// does not say. What is due long after everything else would only lengthen the
// way of what is due soon into the store's list.
const retainSeconds = 1.0

// newHall makes the site of a plan under one policy, with desks. The run sees
// every commit from the first on.
func (p *plan) newHall(ctx context.Context, policy *Policy, desks []desk, by *run) (*hall, error) {
	h := &hall{base: p.start}
	memory := memstore.New(memstore.Options{
		Wall: func() time.Time { return h.base.Add(time.Duration(h.now) * time.Millisecond) },
		Mono: func() time.Duration { return time.Duration(h.now) * time.Millisecond },
	})
	h.store = &seen{Store: memory, by: by}
	var err error
	if h.Engine, err = engine.Open(ctx, engine.Options{Store: h.store, NoEstimates: !p.Estimates}); err != nil {
		return nil, err
	}
	if _, err := h.PutSite(ctx, staff, site, p.Site, 0); err != nil {
		return nil, of("site", "site", err)
	}
	for _, id := range slices.Sorted(maps.Keys(p.Queues)) {
		if err := h.addQueue(ctx, id, p.Queues[id], policy, p.timeouts(id)); err != nil {
			return nil, of("queue "+string(id), "queues."+string(id), err)
		}
	}
	for i := range desks {
		set := desks[i].set
		set.Site = site
		if _, err := h.PutCounter(ctx, staff, desks[i].id, set, 0); err != nil {
			return nil, of("counter "+string(desks[i].id), fmt.Sprintf("counters[%d]", desks[i].kind), err)
		}
	}
	return h, nil
}

func (h *hall) addQueue(ctx context.Context, id dengxu.QueueID, set dengxu.Queue, policy *Policy, timeouts bool) error {
	set.Site = site
	if set.RetainSeconds == nil {
		set.RetainSeconds = new(retainSeconds)
	}
	done, err := h.PutQueue(ctx, staff, id, set, 0)
	if err != nil {
		return err
	}
	view := done.Value
	if patch, ok := policy.Queues[id]; ok {
		if done, err = h.PatchQueue(ctx, staff, id, patch, 0); err != nil {
			return err
		}
		view = done.Value
	}
	for _, w := range view.Warnings {
		h.warnings = append(h.warnings, fmt.Sprintf("%s: %v", id, w))
	}
	q := queue{id: id, ordering: view.Ordering, groups: view.Groups, classes: view.Classes, standard: view.DefaultClass, ruled: len(view.QueueRules) > 0}
	if view.EscalateAfterSeconds != nil {
		q.escalate = int64(*view.EscalateAfterSeconds * 1000)
	}
	h.queues = append(h.queues, q)
	if timeouts && view.OnCallTimeout != "miss" {
		return wrong("on_call_timeout", "nobody would notice that somebody does not come: say miss, or no_show.operator_after_seconds in the streams")
	}
	return nil
}

// checkStreams refuses streams that the engine would not let into their queue: a
// slip in a name is told before anybody comes.
func (h *hall) checkStreams(streams []Stream, field func(i int, name string) string) error {
	for i, st := range streams {
		q := &h.queues[slices.IndexFunc(h.queues, func(q queue) bool { return q.id == st.Queue })]
		if _, ok := q.groups[st.Group]; !ok && st.Group != "" && st.Group != dengxu.GroupOrdinary {
			return refused(field(i, "group"), "queue %s has no group %q", q.id, st.Group)
		}
		if _, ok := q.classes[st.Class]; !ok && st.Class != "" {
			return refused(field(i, "class"), "queue %s has no class %q", q.id, st.Class)
		}
		if st.Class == "" && q.standard == "" && !q.ruled && len(q.classes) > 1 {
			all := slices.Sorted(maps.Keys(q.classes))
			return refused(field(i, "class"), "queue %s needs a class: one of %s", q.id, strings.Join(all, ", "))
		}
	}
	return nil
}

// desk is a counter as the simulator knows it. Those of a recording are never
// open: slots call there.
type desk struct {
	id      dengxu.CounterID
	kind    int // of the scenario's counters
	set     dengxu.Counter
	hours   []string
	sees    []bool // by part
	open    bool
	since   int64 // when it opened; after that, when it closed
	serving int32 // person, or nobody
	last    int32 // person
	from    int64 // when the last one was called
	unmet   bool  // the one called does not come, and the call's timeout will tell
}

// nobody stands where a person could be.
const nobody = -1
