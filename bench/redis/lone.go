package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/rueidis"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/bench/internal/rig"
)

// memory counts what one that waits costs in Redis, all in: its record, its
// place in the line, its idempotency key, its event.
func (b *bench) memory(ctx context.Context) (err error) {
	h, err := b.open(ctx, 1)
	if err != nil {
		return err
	}
	ours, err := b.grown(func() error { return h.fill(ctx, "main", b.resident) })
	if err == nil {
		err = b.weigh()
	}
	h.close(&err)
	if err != nil {
		return err
	}
	b.table.Add("bytes for one that waits", fmt.Sprintf("%.0f", ours), "≤ 600, aim 450", string(rig.Met(ours <= 600)))

	if _, err := b.redis.Do("FLUSHALL"); err != nil {
		return err
	}
	c := asynq.NewClient(b.asynqRedis())
	defer func() { _ = c.Close() }() // its work was checked
	theirs, err := b.grown(func() error {
		_, err := b.enqueueAll(ctx, c, b.resident)
		return err
	})
	if err == nil {
		b.table.Add("bytes for a task of asynq", fmt.Sprintf("%.0f", theirs), "", string(rig.None))
	}
	return err
}

// weigh tells which keys the memory is in.
func (b *bench) weigh() error {
	reply, err := b.redis.Do("KEYS", "*")
	if err != nil {
		return err
	}
	keys, _ := reply.([]any)
	for _, key := range keys {
		size, err := b.redis.Do("MEMORY", "USAGE", key, "SAMPLES", "1000")
		if err != nil {
			return err
		}
		n, _ := size.(int64)
		if each := float64(n) / float64(b.resident); each >= 1 {
			_, name, _ := strings.Cut(fmt.Sprint(key), "}")
			fmt.Fprintf(b.out, "bytes for one that waits in %s: %.0f\n", name, each)
		}
	}
	return nil
}

// grown is how much more memory each of the residents took.
func (b *bench) grown(do func() error) (float64, error) {
	before, err := b.used()
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := b.used()
	return float64(after-before) / float64(b.resident), err
}

// commands counts what Redis does for one operation that comes alone.
func (b *bench) commands(ctx context.Context) (err error) {
	h, err := b.open(ctx, 1)
	if err != nil {
		return err
	}
	defer h.close(&err)
	if err := h.fillAndOpen(ctx, b.lone); err != nil {
		return err
	}
	count := func(what string, most float64, do func() error) error {
		before, err := b.ran()
		if err != nil {
			return err
		}
		for range b.lone {
			if err := do(); err != nil {
				return err
			}
		}
		each, which, err := b.ranSince(before, float64(b.lone))
		each = math.Round(each*10) / 10 // what the store does besides, now and then, is not the operation's
		fmt.Fprintf(b.out, "%s: %s\n", what, which)
		b.table.Add(what, fmt.Sprintf("%.1f", each), fmt.Sprintf("≤ %g", most), string(rig.Met(each <= most)))
		return err
	}
	err = count("Redis commands for a join alone", 16, func() error { return h.join(ctx, "main") })
	if err != nil {
		return err
	}
	return count("Redis commands for complete + call next alone", 30, func() error { return h.callNext(ctx, 0) })
}

// idle counts what a server does when nobody asks anything of it.
func (b *bench) idle(ctx context.Context) error {
	binary, err := rig.Build(ctx, b.dir)
	if err != nil {
		return err
	}
	server, err := rig.Serve(ctx, binary, b.redis.URL())
	if err != nil {
		return err
	}
	defer server.Stop()
	if err := rest(ctx, b.settle); err != nil {
		return err
	}
	before, err := b.ran()
	if err != nil {
		return err
	}
	if err := rest(ctx, b.watched); err != nil {
		return err
	}
	each, which, err := b.ranSince(before, b.watched.Seconds())
	fmt.Fprintf(b.out, "idle, a second: %s\n", which)
	b.table.Add("Redis commands a second of an idle server", fmt.Sprintf("%.1f", each), "≤ 10", string(rig.Met(each <= 10)))
	return err
}

// rest does nothing for a while.
func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// single compares the join of a caller that is alone with a bare script by the
// same client, in turns.
func (b *bench) single(ctx context.Context) (err error) {
	h, err := b.open(ctx, 1)
	if err != nil {
		return err
	}
	defer h.close(&err)
	c, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{b.redis.Addr()}, ForceSingleClient: true, DisableRetry: true, DisableCache: true,
	})
	if err != nil {
		return err
	}
	defer c.Close()
	script := rueidis.NewLuaScript(yardScript)
	n := 0
	bare := func() error {
		n++
		text := fmt.Sprint(n)
		return script.Exec(ctx, c, []string{"yard:" + text, "yard"}, []string{text, text}).Error()
	}
	p50, err := inTurns(b.lone, bare, func() error { return h.join(ctx, "main") })
	if err != nil {
		return err
	}
	ratio := float64(p50[1]) / float64(p50[0])
	b.table.Add("join of a single caller, P50, to a bare EVALSHA", fmt.Sprintf("%.2f (%s to %s)", ratio, rig.Short(p50[1]), rig.Short(p50[0])),
		"≤ 3", string(rig.Met(ratio <= 3)))
	return nil
}

// bigLine compares the rank of the last in a long line with that of the last in
// a short one, in turns.
func (b *bench) bigLine(ctx context.Context) (err error) {
	h, err := b.open(ctx, 1)
	if err != nil {
		return err
	}
	defer h.close(&err)
	var ask [2]func() error
	for i, line := range []struct {
		queue dengxu.QueueID
		n     int
	}{{"other", b.small}, {"main", b.big}} {
		if err := h.fill(ctx, line.queue, line.n); err != nil {
			return err
		}
		asks, err := h.ranks(ctx, line.queue, 1)
		if err != nil {
			return err
		}
		ask[i] = func() error {
			v, err := h.store.View(ctx, asks[0])
			if err == nil && v.Ranks[0] != line.n-1 {
				err = errors.New("the last one's rank is wrong")
			}
			return err
		}
	}
	p50, err := inTurns(b.lone, ask[0], ask[1])
	if err != nil {
		return err
	}
	ratio := float64(p50[1]) / float64(p50[0])
	b.table.Add(fmt.Sprintf("rank among %d, P50, to that among %d", b.big, b.small),
		fmt.Sprintf("%.2f (%s to %s)", ratio, rig.Short(p50[1]), rig.Short(p50[0])), "≤ 1.5", string(rig.Met(ratio <= 1.5)))
	return nil
}

// inTurns does each operation n times, a few of one and a few of the other, and
// returns their P50.
func inTurns(n int, ops ...func() error) ([]time.Duration, error) {
	const turn = 50
	took := make([][]time.Duration, len(ops))
	for len(took[0]) < n {
		for i, op := range ops {
			for range turn {
				began := time.Now()
				if err := op(); err != nil {
					return nil, err
				}
				took[i] = append(took[i], time.Since(began))
			}
		}
	}
	var p50 []time.Duration
	for i := range took {
		slices.Sort(took[i])
		p50 = append(p50, rig.Percentile(took[i], 0.5))
	}
	return p50, nil
}
