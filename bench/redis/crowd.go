package main

import (
	"context"
	"fmt"

	"github.com/dengxu/dengxu/bench/internal/rig"
)

// kind is one of the operations of which many callers do as many as they can.
type kind struct {
	name, what string
	ownCounter bool    // whether each caller has one, as people at counters do
	goal, aim  float64 // ratios to the yardstick; no aim = 0
	n          int
	// prepare fills the hall and returns the operation.
	prepare func(context.Context, *hall) (func(caller int) error, error)
}

func (b *bench) joins(ctx context.Context) error {
	return b.crowds(ctx, kind{
		name: "join", what: "join", goal: 0.8, aim: 1.2, n: b.ops,
		prepare: func(ctx context.Context, h *hall) (func(int) error, error) {
			return func(int) error { return h.join(ctx, "main") }, nil
		},
	})
}

func (b *bench) calls(ctx context.Context) error {
	return b.crowds(ctx, kind{
		name: "call", what: "complete + call next, one commit", ownCounter: true, goal: 0.6, aim: 1, n: b.ops,
		prepare: func(ctx context.Context, h *hall) (func(int) error, error) {
			return func(caller int) error { return h.callNext(ctx, caller) }, h.fillAndOpen(ctx, b.ops)
		},
	})
}

// ranksOf measures ranks in one lane of 1,000, each caller asking for another.
func (b *bench) ranksOf(ctx context.Context) error {
	return b.crowds(ctx, kind{
		name: "rank", what: "rank", goal: 2, n: b.ranks,
		prepare: func(ctx context.Context, h *hall) (func(int) error, error) {
			if err := h.fill(ctx, "main", b.small); err != nil {
				return nil, err
			}
			asks, err := h.ranks(ctx, "main", b.small)
			return func(caller int) error {
				_, err := h.store.View(ctx, asks[caller%len(asks)])
				return err
			}, err
		},
	})
}

// crowds measures a kind with every number of callers, each in a new hall, and
// keeps the best.
func (b *bench) crowds(ctx context.Context, k kind) error {
	var best result
	for _, callers := range b.callers {
		r, err := b.inNewHall(ctx, k, callers)
		if err != nil {
			return err
		}
		if r.ratio > best.ratio {
			best = r
		}
	}
	b.best[k.name] = best
	goal := fmt.Sprintf("≥ %g", k.goal)
	if k.aim > 0 {
		goal += fmt.Sprintf(", aim %g", k.aim)
	}
	b.table.Add(k.what+", in process, to EVALSHA",
		fmt.Sprintf("%.2f (%.0f a second, %d callers, P50 %s, P99 %s)", best.ratio, best.rate, best.callers, rig.Short(best.p50), rig.Short(best.p99)),
		goal, string(rig.Met(best.ratio >= k.goal)))
	return nil
}

func (b *bench) inNewHall(ctx context.Context, k kind, callers int) (r result, err error) {
	if _, err := b.redis.Do("FLUSHALL"); err != nil {
		return r, err
	}
	counters := 1
	if k.ownCounter {
		counters = callers
	}
	h, err := b.open(ctx, counters)
	if err != nil {
		return r, err
	}
	defer h.close(&err)
	do, err := k.prepare(ctx, h)
	if err != nil {
		return r, err
	}
	return b.beside(ctx, fmt.Sprintf("%s, %d callers", k.what, callers), func() (result, error) {
		return crowd(ctx, callers, k.n, do)
	})
}

// close closes the store; its error stands where there is none before it.
func (h *hall) close(err *error) {
	if closed := h.store.Close(); *err == nil {
		*err = closed
	}
}
