package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"

	"github.com/dengxu/dengxu/bench/internal/rig"
)

// asynq measures hibiken/asynq on the same server: 64 callers that enqueue, and
// a handler that does nothing, 64 at once in one server, and 16 in each of
// four. A task carries what a token does: the id, which asynq checks as dengxu
// does an idempotency key, the business id and the attributes.
func (b *bench) asynq(ctx context.Context) error {
	enqueued, err := b.enqueue(ctx)
	if err != nil {
		return err
	}
	joins, measured := b.best["join"]
	b.against("asynq enqueue, 64 callers", enqueued, "join", "> 1", measured && joins.ratio > enqueued.ratio)

	var best result
	for _, servers := range []int{1, 4} {
		r, err := b.process(ctx, servers)
		if err != nil {
			return err
		}
		if r.ratio > best.ratio {
			best = r
		}
	}
	calls := b.best["call"]
	b.against("asynq process, best of 1 × 64 and 4 × 16", best, "call", "≥ 2", calls.ratio >= 2*best.ratio)
	return nil
}

// against adds a row of asynq, and how many times as fast ours is, by what both
// are to the yardstick.
func (b *bench) against(what string, theirs result, ours, goal string, met bool) {
	b.table.Add(what+", to EVALSHA", fmt.Sprintf("%.2f (%.0f a second)", theirs.ratio, theirs.rate), "", string(rig.None))
	best, measured := b.best[ours]
	if !measured {
		return // not in this run
	}
	b.table.Add(ours+" to "+what, fmt.Sprintf("%.1f", best.ratio/theirs.ratio), goal, string(rig.Met(met)))
}

func (b *bench) enqueue(ctx context.Context) (result, error) {
	c := asynq.NewClient(b.asynqRedis())
	defer func() { _ = c.Close() }() // its work was checked
	return b.beside(ctx, "asynq enqueue, 64 callers", func() (result, error) {
		return b.enqueueAll(ctx, c, b.tasks)
	})
}

func (b *bench) asynqRedis() asynq.RedisClientOpt {
	return asynq.RedisClientOpt{Addr: b.redis.Addr(), PoolSize: 64}
}

func (b *bench) enqueueAll(ctx context.Context, c *asynq.Client, n int) (result, error) {
	var people atomic.Uint64
	return crowd(ctx, 64, n, func(int) error {
		payload, err := json.Marshal(person(people.Add(1)))
		if err == nil {
			_, err = c.EnqueueContext(ctx, asynq.NewTask("person", payload), asynq.TaskID(rand.Text()))
		}
		return err
	})
}

// process fills a queue and measures how fast servers empty it.
func (b *bench) process(ctx context.Context, servers int) (result, error) {
	if _, err := b.redis.Do("FLUSHALL"); err != nil {
		return result{}, err
	}
	c := asynq.NewClient(b.asynqRedis())
	defer func() { _ = c.Close() }() // its work was checked
	if _, err := b.enqueueAll(ctx, c, b.tasks); err != nil {
		return result{}, err
	}
	name := fmt.Sprintf("asynq process, %d × %d", servers, 64/servers)
	return b.beside(ctx, name, func() (result, error) {
		return b.drain(ctx, servers)
	})
}

func (b *bench) drain(ctx context.Context, servers int) (result, error) {
	var left atomic.Int64
	left.Store(int64(b.tasks))
	done := make(chan struct{})
	handler := asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
		if left.Add(-1) == 0 {
			close(done)
		}
		return nil
	})
	start := time.Now()
	for range servers {
		s := asynq.NewServer(b.asynqRedis(), asynq.Config{Concurrency: 64 / servers, LogLevel: asynq.FatalLevel})
		if err := s.Start(handler); err != nil {
			return result{}, err
		}
		defer s.Shutdown()
	}
	select {
	case <-done:
		return result{rate: float64(b.tasks) / time.Since(start).Seconds(), callers: 64}, nil
	case <-ctx.Done():
		return result{}, ctx.Err()
	case <-time.After(5 * time.Minute):
		return result{}, errors.New("asynq does not finish")
	}
}
