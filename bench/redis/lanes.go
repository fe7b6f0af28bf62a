package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/bench/internal/rig"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// manyLanes compares a lone call and a lone rank in a long line of twelve lanes
// with those in one as long of a single lane, in turns, and those of as many
// lanes as a queue may have in a shorter one.
func (b *bench) manyLanes(ctx context.Context) error {
	for _, d := range []order.Discipline{order.Aging, order.Strict, order.Ratio} {
		if _, err := b.redis.Do("FLUSHALL"); err != nil {
			return err
		}
		if err := b.lanesIn(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// laned is a queue that was filled in so many lanes.
type laned struct {
	queue   dengxu.QueueID
	counter dengxu.CounterID
	lanes   int
	waiting int
	asks    []store.Ask
}

func (b *bench) lanesIn(ctx context.Context, d order.Discipline) (err error) {
	h, err := b.open(ctx, 0)
	if err != nil {
		return err
	}
	defer h.close(&err)
	lines := []*laned{
		{queue: "one", lanes: 1, waiting: b.big}, {queue: "twelve", lanes: 12, waiting: b.big}, {queue: "most", lanes: 32, waiting: max(b.big/10, 200)},
	}
	var calls, ranks []func() error
	for _, l := range lines {
		if err := h.fillLanes(ctx, l, d); err != nil {
			return err
		}
		calls = append(calls, func() error { return h.callFrom(ctx, l.counter) })
		n := 0
		ranks = append(ranks, func() error {
			n++
			v, err := h.store.View(ctx, l.asks[n%len(l.asks)])
			if err == nil && (v.Ranks[0] < 0 || v.Ranks[0] >= l.waiting) {
				err = errors.New("a rank is not within the line")
			}
			return err
		})
	}
	for _, m := range []struct {
		what string
		ops  []func() error
	}{{"rank", ranks}, {"complete + call next", calls}} {
		p50, err := inTurns(b.lone, m.ops...)
		if err != nil {
			return err
		}
		for i, l := range lines[1:] {
			ratio, goal, met := float64(p50[i+1])/float64(p50[0]), "", rig.None
			if l.lanes == 12 {
				goal, met = "≤ 3", rig.Met(ratio <= 3)
			}
			b.table.Add(fmt.Sprintf("%s in %s, %d lanes with %d, P50, to one lane with %d", m.what, orderingOf[d], l.lanes, l.waiting, lines[0].waiting),
				fmt.Sprintf("%.2f (%s to %s)", ratio, rig.Short(p50[i+1]), rig.Short(p50[0])), goal, string(met))
		}
	}
	return nil
}

// orderingOf are the disciplines as settings name them.
var orderingOf = map[order.Discipline]string{order.Aging: "aging", order.Strict: "strict", order.Ratio: "ratio"}

// fillLanes makes the queue and its counter, has people of all groups join in
// turns, opens the counter, and prepares ranks of those who came last.
func (h *hall) fillLanes(ctx context.Context, l *laned, d order.Discipline) error {
	set := dengxu.Queue{Site: "hall", Ordering: orderingOf[d], Groups: map[string]dengxu.Group{}}
	rule, names := order.Rule{Discipline: d}, []string{dengxu.GroupOrdinary}
	for i := 1; i < l.lanes; i++ {
		name := fmt.Sprint("g", i)
		// Factors differ, so that each group has a lane of its own in aging too.
		set.Groups[name] = dengxu.Group{Factor: new(1 + float64(i)/20), Rank: new(i), Share: new(1 + i%5)}
		rule.Groups = append(rule.Groups, order.Group{Name: name, Rank: i, Share: 1 + i%5})
		names = append(names, name)
	}
	rule.Groups = append(rule.Groups, order.Group{Name: dengxu.GroupOrdinary, Rank: l.lanes, Share: 1})
	if d == order.Strict {
		set.EscalateAfterSeconds, rule.Escalate = new(3600.0), 3_600_000
	}
	if _, err := h.engine.PutQueue(ctx, staff, l.queue, set, 0); err != nil {
		return err
	}
	l.counter = dengxu.CounterID("at-" + string(l.queue))
	counter := dengxu.Counter{Site: "hall", Queues: []dengxu.CounterQueue{{ID: l.queue}}}
	if _, err := h.engine.PutCounter(ctx, staff, l.counter, counter, 0); err != nil {
		return err
	}
	_, err := crowd(ctx, min(512, l.waiting), l.waiting, func(int) error {
		n := h.people.Add(1)
		r := person(n)
		r.PriorityGroup = names[n%uint64(len(names))]
		_, err := h.engine.Join(ctx, staff, l.queue, r)
		return err
	})
	if err != nil {
		return err
	}
	if err := h.callFrom(ctx, l.counter); err != nil {
		return err
	}
	page, err := h.store.List(ctx, store.ListAsk{Queue: l.queue, Newest: true, Limit: 64})
	for i := range page.Tokens {
		t := &page.Tokens[i]
		l.asks = append(l.asks, store.Ask{Ranks: []store.RankAsk{{
			Line: t.Line(), Ordering: store.Ordering{Rule: rule, Day: t.Gen}, Member: t.Member(),
		}}})
	}
	return err
}
