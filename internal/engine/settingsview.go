package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// QueueSite finds the site of a queue. Codes: not_found, unavailable.
func (e *Engine) QueueSite(ctx context.Context, id dengxu.QueueID) (dengxu.SiteID, error) {
	q, err := e.queue(ctx, id)
	if err != nil {
		return "", err
	}
	return q.site.id, nil
}

// CounterSite finds the site of a counter. Codes: not_found, unavailable.
func (e *Engine) CounterSite(ctx context.Context, id dengxu.CounterID) (dengxu.SiteID, error) {
	c, err := e.counter(ctx, id)
	if err != nil {
		return "", err
	}
	return c.site.id, nil
}

// PublicJoin tells what a join without a key may send to a queue. "loopback"
// counts only while the server listens on loopback. Codes: not_found,
// unavailable.
func (e *Engine) PublicJoin(ctx context.Context, id dengxu.QueueID) (dengxu.PublicJoin, error) {
	q, err := e.queue(ctx, id)
	if err != nil {
		return dengxu.PublicJoin{}, err
	}
	p := *q.set.PublicJoin
	if p.Loopback && !e.loopback {
		return dengxu.PublicJoin{}, nil
	}
	return p, nil
}

// Queue returns a queue's settings in force, its door and its counts. Codes:
// not_found, unavailable.
func (e *Engine) Queue(ctx context.Context, id dengxu.QueueID) (dengxu.QueueView, error) {
	return one(ctx, e, func(w *world) *queue { return w.queues[id] }, errNoQueue(id), e.queueViews)
}

// Queues returns the queues of a site by id; "" means all sites. Codes:
// not_found, unavailable.
func (e *Engine) Queues(ctx context.Context, id dengxu.SiteID) ([]dengxu.QueueView, error) {
	list := func(w *world) []*queue { return sortedValues(w.queues) }
	if id != "" {
		if _, err := e.site(ctx, id); err != nil {
			return nil, err
		}
		list = func(w *world) []*queue { return w.sites[id].allQueues() }
	}
	return current(ctx, e, list, e.queueViews)
}

// reader reads views of things. old are the partitions of which these are
// outdated.
type reader[T, V any] = func(ctx context.Context, things []*T) (views []V, old []store.Partition, err error)

// one reads the view of one thing.
func one[T, V any](ctx context.Context, e *Engine, get func(*world) *T, lacking error, read reader[T, V]) (view V, err error) {
	if _, err := known(ctx, e, get, lacking); err != nil {
		return view, err
	}
	views, err := current(ctx, e, func(w *world) []*T {
		if found := get(w); found != nil {
			return []*T{found}
		}
		return nil
	}, read)
	if err == nil && len(views) == 0 {
		err = lacking // it was deleted meanwhile
	}
	if err != nil {
		return view, err
	}
	return views[0], nil
}

// current reads views of a part of the world. Where the reading shows that
// other processes have changed the settings of some partitions, these are
// loaded, and all is read once more: settings that are shown are as fresh as
// the counts beside them.
func current[T, V any](ctx context.Context, e *Engine, list func(*world) []*T, read reader[T, V]) ([]V, error) {
	for again := false; ; again = true {
		w := e.world.Load()
		views, old, err := read(ctx, list(w))
		if err != nil || again || len(old) == 0 {
			return views, err
		}
		for _, p := range old {
			if err := e.refreshPart(ctx, p); err != nil {
				return nil, err
			}
		}
	}
}

// checks are documents that an Ask reads only to see whether they have the
// versions that the world knows.
type checks []uint64

// add puts a document on an Ask.
func (c *checks) add(ask *store.Ask, kind store.DocKind, id string, version uint64) {
	ask.Docs = append(ask.Docs, store.DocKey{Kind: kind, ID: id})
	*c = append(*c, version)
}

// hold reports whether all have the versions that were expected.
func (c checks) hold(docs []*store.Doc) bool {
	for i, version := range c {
		if versionOf(docs[i]) != version {
			return false
		}
	}
	return true
}

// site adds a site's own documents. Every queue and counter that is made or
// deleted in it changes its state.
func (c *checks) site(ask *store.Ask, s *site) {
	c.add(ask, store.DocSite, string(s.id), s.version)
	c.add(ask, store.DocSiteState, string(s.id), s.stateV)
}

func (c *checks) queue(ask *store.Ask, q *queue) {
	c.add(ask, store.DocQueue, string(q.id), q.version)
	c.add(ask, store.DocQueueState, string(q.id), q.stateV)
}

func (c *checks) counter(ask *store.Ask, k *counter) {
	c.add(ask, store.DocCounter, string(k.id), k.version)
	c.add(ask, store.DocCounterState, string(k.id), k.stateV)
}

// queueViews reads what the store counts for several queues, one read for each
// partition.
func (e *Engine) queueViews(ctx context.Context, queues []*queue) (views []dengxu.QueueView, old []store.Partition, err error) {
	byPartition := make(map[store.Partition][]int)
	for i, q := range queues {
		byPartition[q.site.partition] = append(byPartition[q.site.partition], i)
	}
	views = make([]dengxu.QueueView, len(queues))
	for p, indexes := range byPartition {
		ask := store.Ask{Partition: p}
		var known checks
		for n, i := range indexes {
			q := queues[i]
			ask.Lines = append(ask.Lines, q.line())
			ask.Tallies = append(ask.Tallies, store.TallyKey{Name: store.JoinsTally(q.id), Day: q.site.state.Day})
			if !e.shared {
				continue
			}
			if n == 0 || queues[indexes[n-1]].site != q.site {
				known.site(&ask, q.site)
			}
			known.queue(&ask, q)
		}
		v, err := e.view(ctx, ask)
		if err != nil {
			return nil, nil, err
		}
		if !known.hold(v.Docs) {
			old = append(old, p)
		}
		for n, i := range indexes {
			views[i] = e.queueView(queues[i], v.Lines[n], v.Tallies[n], v.Now)
		}
	}
	return views, old, nil
}

func (e *Engine) queueView(q *queue, line store.LineView, joins, now int64) dengxu.QueueView {
	counts := make(map[dengxu.State]int, len(line.Counts))
	for state, n := range line.Counts {
		if n > 0 {
			counts[state] = n
		}
	}
	return dengxu.QueueView{
		ID: q.id, Version: q.version, Queue: q.set,
		Door: q.state.Door, DoorReason: q.state.Reason, DoorUntil: at(q.doorUntil(now)),
		Counts: counts, JoinsToday: joins, LastCalled: e.lastCalled(q.id),
		AsOf: at(now), Fairness: q.fairness(), Warnings: q.warnings(),
	}
}

// doorUntil is when opening hours move the door next, 0 when that is not
// known: for a door that they have shut, the next opening. The edges before it
// only change why it is shut.
func (q *queue) doorUntil(now int64) int64 {
	last := q.state.Hours == hoursLast && q.state.Door == dengxu.DoorOpen // opened by hand
	if q.site.hours == nil || q.state.Hours == hoursOpen || last {
		return q.state.Edge
	}
	opens, ok := q.site.hours.nextOpening(now)
	if !ok {
		return 0
	}
	return opens
}

// Counter returns a counter's settings in force, its state today and its
// tokens. Codes: not_found, unavailable.
func (e *Engine) Counter(ctx context.Context, id dengxu.CounterID) (dengxu.CounterView, error) {
	return one(ctx, e, func(w *world) *counter { return w.counters[id] }, errNoCounter(id), e.counterViews)
}

// Counters returns the counters of a site by id; "" means all sites. Codes:
// not_found, unavailable.
func (e *Engine) Counters(ctx context.Context, id dengxu.SiteID) ([]dengxu.CounterView, error) {
	list := func(w *world) []*counter { return sortedValues(w.counters) }
	if id != "" {
		if _, err := e.site(ctx, id); err != nil {
			return nil, err
		}
		list = func(w *world) []*counter { return w.sites[id].allCounters() }
	}
	return current(ctx, e, list, e.counterViews)
}

// counterViews reads the tokens of several counters, one read for each
// partition.
func (e *Engine) counterViews(ctx context.Context, counters []*counter) (views []dengxu.CounterView, old []store.Partition, err error) {
	byPartition := make(map[store.Partition][]int)
	for i, c := range counters {
		byPartition[c.site.partition] = append(byPartition[c.site.partition], i)
	}
	views = make([]dengxu.CounterView, len(counters))
	for p, indexes := range byPartition {
		ask := store.Ask{Partition: p}
		var known checks
		for n, i := range indexes {
			c := counters[i]
			ask.Counters = append(ask.Counters, c.id)
			if !e.shared {
				continue
			}
			if n == 0 || counters[indexes[n-1]].site != c.site {
				known.site(&ask, c.site)
			}
			known.counter(&ask, c)
		}
		v, err := e.view(ctx, ask)
		if err != nil {
			return nil, nil, err
		}
		if !known.hold(v.Docs) {
			old = append(old, p)
		}
		for n, i := range indexes {
			views[i] = counters[i].view(v.Counters[n], v.Now)
		}
	}
	return views, old, nil
}

func (c *counter) view(tokens []store.Token, now int64) dengxu.CounterView {
	v := dengxu.CounterView{
		ID: c.id, Version: c.version, Counter: c.set,
		State: c.shown(), Tokens: make([]dengxu.Token, 0, len(tokens)),
		AsOf: at(now), Warnings: c.warnings(),
	}
	if v.State == c.state.State {
		v.StateReason = c.state.Reason
	}
	// The end of the day closes a counter when it has finished whom it serves.
	busy := slices.ContainsFunc(tokens, func(t store.Token) bool { return t.State.AtCounter() })
	if busy && v.State == dengxu.CounterClosed && c.state.State == dengxu.CounterOpen {
		v.State = dengxu.CounterOpen
	}
	for i := range tokens {
		v.Tokens = append(v.Tokens, staff(&tokens[i], c.site.partition, now))
	}
	return v
}

// warnings say what a site's settings could do that was perhaps not meant.
func (s *site) warnings() (warnings []string) {
	if isUTC(s.set.TimeZone) {
		warnings = append(warnings, "the time zone is UTC: business days, opening hours and printed times follow it; set time_zone if people here do not")
	}
	return warnings
}

// warnings say what a queue's settings could do that was perhaps not meant.
func (q *queue) warnings() (warnings []string) {
	if q.set.OnLastNumber == "wrap" && q.set.LastNumber != nil {
		warnings = append(warnings, fmt.Sprintf("after number %d the series starts again, so a number may be given twice a day", *q.set.LastNumber))
	}
	warnings = append(warnings, q.orderWarnings()...)
	warnings = append(warnings, q.ruleWarnings()...)
	for _, other := range q.site.queues {
		if label := q.sharesLabels(other); label != "" {
			warnings = append(warnings, fmt.Sprintf("queue %s prints the prefix %q too, in another series: numbers may look the same", other.id, label))
		}
	}
	for _, c := range q.site.counters {
		for _, served := range c.queues {
			if served.queue.id == q.id {
				warnings = append(warnings, c.warnings()...)
			}
		}
	}
	return warnings
}

// sharesLabels finds a prefix that two queues print in different series.
func (q *queue) sharesLabels(other *queue) string {
	if other.id == q.id {
		return ""
	}
	for _, mine := range append([]string{""}, q.classes...) {
		for _, their := range append([]string{""}, other.classes...) {
			if q.prefix(mine) == other.prefix(their) && q.series(mine).Name != other.series(their).Name {
				return q.prefix(mine)
			}
		}
	}
	return ""
}

// warnings say what a counter's settings could do that was perhaps not meant.
func (c *counter) warnings() (warnings []string) {
	for _, served := range c.queues[min(1, len(c.queues)):] {
		first := c.queues[0].queue
		if a, b := first.largest(), served.queue.largest(); a != b {
			warnings = append(warnings, fmt.Sprintf(
				"counter %s compares queues whose largest group factors differ (%s %.2f, %s %.2f): factors are one scale for the site",
				c.id, first.id, decimal(a), served.queue.id, decimal(b)))
			break
		}
	}
	return warnings
}

// largest is the largest factor of the queue's groups; 1 where factors play no
// part.
func (q *queue) largest() (factor int32) {
	if q.byGroup() {
		return 1000
	}
	for _, g := range q.groups {
		factor = max(factor, g.factor)
	}
	return factor
}

// partition is where a queue's tokens are.
func (e *Engine) partition(id dengxu.QueueID) store.Partition {
	if q := e.world.Load().queues[id]; q != nil {
		return q.site.partition
	}
	return 0
}
