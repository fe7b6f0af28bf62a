package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// QueueSite finds the site of a queue, from what the engine knows. It returns
// NotFound for an unknown queue.
func (e *Engine) QueueSite(id dengxu.QueueID) (dengxu.SiteID, error) {
	q := e.world.Load().queues[id]
	if q == nil {
		return "", errNoQueue(id)
	}
	return q.site.id, nil
}

// CounterSite finds the site of a counter, from what the engine knows. It
// returns NotFound for an unknown counter.
func (e *Engine) CounterSite(id dengxu.CounterID) (dengxu.SiteID, error) {
	c := e.world.Load().counters[id]
	if c == nil {
		return "", errNoCounter(id)
	}
	return c.site.id, nil
}

// PublicJoin tells what a join without a key may send to a queue. "loopback"
// counts only while the server listens on loopback. It returns NotFound for an
// unknown queue.
func (e *Engine) PublicJoin(id dengxu.QueueID) (dengxu.PublicJoin, error) {
	q := e.world.Load().queues[id]
	if q == nil {
		return dengxu.PublicJoin{}, errNoQueue(id)
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
	q := e.world.Load().queues[id]
	if q == nil {
		return dengxu.QueueView{}, errNoQueue(id)
	}
	views, err := e.queueViews(ctx, []*queue{q})
	if err != nil {
		return dengxu.QueueView{}, err
	}
	return views[0], nil
}

// Queues returns the queues of a site by id; "" means all sites. Codes:
// not_found, unavailable.
func (e *Engine) Queues(ctx context.Context, site dengxu.SiteID) ([]dengxu.QueueView, error) {
	w := e.world.Load()
	if site != "" {
		s := w.sites[site]
		if s == nil {
			return nil, errNoSite(site)
		}
		return e.queueViews(ctx, s.queues)
	}
	all := make([]*queue, 0, len(w.queues))
	for _, id := range sortedKeys(w.queues) {
		all = append(all, w.queues[id])
	}
	return e.queueViews(ctx, all)
}

// queueViews reads what the store counts for several queues, one read for each
// partition.
func (e *Engine) queueViews(ctx context.Context, queues []*queue) ([]dengxu.QueueView, error) {
	byPartition := make(map[store.Partition][]int)
	for i, q := range queues {
		byPartition[q.site.partition] = append(byPartition[q.site.partition], i)
	}
	views := make([]dengxu.QueueView, len(queues))
	for p, indexes := range byPartition {
		ask := store.Ask{Partition: p}
		for _, i := range indexes {
			q := queues[i]
			ask.Lines = append(ask.Lines, q.line())
			ask.Tallies = append(ask.Tallies, store.TallyKey{Name: store.JoinsTally(q.id), Day: q.site.state.Day})
		}
		v, err := e.view(ctx, ask)
		if err != nil {
			return nil, err
		}
		for n, i := range indexes {
			views[i] = e.queueView(queues[i], v.Lines[n], v.Tallies[n], v.Now)
		}
	}
	return views, nil
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
		AsOf: at(now), Warnings: q.warnings(),
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
	c := e.world.Load().counters[id]
	if c == nil {
		return dengxu.CounterView{}, errNoCounter(id)
	}
	views, err := e.counterViews(ctx, []*counter{c})
	if err != nil {
		return dengxu.CounterView{}, err
	}
	return views[0], nil
}

// Counters returns the counters of a site by id; "" means all sites. Codes:
// not_found, unavailable.
func (e *Engine) Counters(ctx context.Context, site dengxu.SiteID) ([]dengxu.CounterView, error) {
	w := e.world.Load()
	if site != "" {
		s := w.sites[site]
		if s == nil {
			return nil, errNoSite(site)
		}
		return e.counterViews(ctx, s.counters)
	}
	all := make([]*counter, 0, len(w.counters))
	for _, id := range sortedKeys(w.counters) {
		all = append(all, w.counters[id])
	}
	return e.counterViews(ctx, all)
}

// counterViews reads the tokens of several counters, one read for each
// partition.
func (e *Engine) counterViews(ctx context.Context, counters []*counter) ([]dengxu.CounterView, error) {
	byPartition := make(map[store.Partition][]int)
	for i, c := range counters {
		byPartition[c.site.partition] = append(byPartition[c.site.partition], i)
	}
	views := make([]dengxu.CounterView, len(counters))
	for p, indexes := range byPartition {
		ask := store.Ask{Partition: p}
		for _, i := range indexes {
			ask.Counters = append(ask.Counters, counters[i].id)
		}
		v, err := e.view(ctx, ask)
		if err != nil {
			return nil, err
		}
		for n, i := range indexes {
			views[i] = counters[i].view(v.Counters[n], v.Now)
		}
	}
	return views, nil
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
	if q.set.MaxOvertake > 0 {
		for _, name := range sortedKeys(q.groups) {
			if q.groups[name].headStart > 0 {
				warnings = append(warnings, fmt.Sprintf("the head start of group %s escapes max_overtake, which bounds factors only", name))
			}
		}
	}
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

// largest is the largest factor of the queue's groups.
func (q *queue) largest() (factor int32) {
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
