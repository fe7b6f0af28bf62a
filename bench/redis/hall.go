package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/bench/internal/rig"
	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/redisstore"
)

// hall is an engine over a store in Redis, with queues and counters.
type hall struct {
	store    *redisstore.Store
	engine   *engine.Engine
	counters int
	people   atomic.Uint64
}

var staff = engine.By{Kind: engine.Operator, Name: "key:bench", Scope: "bench"}

// attributes are 80 bytes that a token carries.
var attributes = json.RawMessage(`{"age": 71, "vip": true, "allergies": "none", "seat": "window", "from": "app 9"}`)

// open opens a hall with a prefix of its own. Its counters serve queue main,
// and there is a queue other.
func (b *bench) open(ctx context.Context, counters int) (*hall, error) {
	s, err := redisstore.Open(ctx, redisstore.Options{URL: b.redis.URL(), Prefix: "b" + rand.Text() + ":"})
	if err != nil {
		return nil, err
	}
	h := &hall{store: s, counters: counters}
	if err := h.furnish(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return h, nil
}

func (h *hall) furnish(ctx context.Context) (err error) {
	if h.engine, err = engine.Open(ctx, engine.Options{Store: h.store}); err != nil {
		return err
	}
	if _, err = h.engine.PutSite(ctx, staff, "hall", dengxu.Site{TimeZone: "UTC"}, 0); err != nil {
		return err
	}
	for _, q := range []dengxu.QueueID{"main", "other"} {
		if _, err = h.engine.PutQueue(ctx, staff, q, dengxu.Queue{Site: "hall"}, 0); err != nil {
			return err
		}
	}
	for i := range h.counters {
		counter := dengxu.Counter{Site: "hall", Queues: []dengxu.CounterQueue{{ID: "main"}}}
		if _, err = h.engine.PutCounter(ctx, staff, counterID(i), counter, 0); err != nil {
			return err
		}
	}
	return nil
}

func counterID(i int) dengxu.CounterID { return dengxu.CounterID(fmt.Sprint("c", i)) }

// person is somebody who carries what all measurements and asynq's tasks carry.
func person(n uint64) dengxu.JoinRequest {
	return dengxu.JoinRequest{BusinessID: fmt.Sprintf("customer-%09d", n), ExtAttrs: attributes}
}

// join is one join of somebody new, with a business id, attributes and an
// idempotency key.
func (h *hall) join(ctx context.Context, q dengxu.QueueID) error {
	by := staff
	by.Key = rand.Text()
	_, err := h.engine.Join(ctx, by, q, person(h.people.Add(1)))
	return err
}

// callNext completes what the caller's counter has and calls the next, in one
// commit.
func (h *hall) callNext(ctx context.Context, caller int) error {
	return h.callFrom(ctx, counterID(caller))
}

func (h *hall) callFrom(ctx context.Context, counter dengxu.CounterID) error {
	by := staff
	by.Key = rand.Text()
	done, err := h.engine.CallNext(ctx, by, counter, "", dengxu.CallRequest{Current: "complete"})
	if err == nil && done.Value.Token == nil {
		err = fmt.Errorf("nobody to call: %s", done.Value.Reason)
	}
	return err
}

// fill joins n people from many callers.
func (h *hall) fill(ctx context.Context, q dengxu.QueueID, n int) error {
	_, err := crowd(ctx, min(512, n), n, func(int) error { return h.join(ctx, q) })
	return err
}

// fillAndOpen joins n people and makes the first call of every counter, which
// opens it.
func (h *hall) fillAndOpen(ctx context.Context, n int) error {
	if err := h.fill(ctx, "main", n+h.counters); err != nil {
		return err
	}
	for i := range h.counters {
		if err := h.callNext(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// ranks asks for the ranks of some that wait in a queue, the last ones.
func (h *hall) ranks(ctx context.Context, q dengxu.QueueID, some int) ([]store.Ask, error) {
	page, err := h.store.List(ctx, store.ListAsk{Queue: q, Newest: true, Limit: some})
	if err != nil {
		return nil, err
	}
	var asks []store.Ask
	for i := range page.Tokens {
		t := &page.Tokens[i]
		asks = append(asks, store.Ask{Ranks: []store.RankAsk{{Line: t.Line(), Member: t.Member()}}})
	}
	if len(asks) == 0 {
		return nil, errors.New("nobody waits")
	}
	return asks, nil
}

// result is what a crowd reached.
type result struct {
	rate     float64 // a second
	p50, p99 time.Duration
	callers  int
	ratio    float64 // to the yardstick
}

// crowd does n operations from some callers at once and times each. It ends at
// the first that fails.
func crowd(ctx context.Context, callers, n int, do func(caller int) error) (result, error) {
	var next atomic.Int64
	var wg sync.WaitGroup
	took := make([]time.Duration, n)
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	start := time.Now()
	for caller := range callers {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && ctx.Err() == nil; i = next.Add(1) - 1 {
				began := time.Now()
				if err := do(caller); err != nil {
					fail(err)
					return
				}
				took[i] = time.Since(began)
			}
		})
	}
	wg.Wait()
	all := time.Since(start)
	if ctx.Err() != nil {
		return result{}, context.Cause(ctx)
	}
	slices.Sort(took)
	return result{
		rate: float64(n) / all.Seconds(), p50: rig.Percentile(took, 0.5), p99: rig.Percentile(took, 0.99), callers: callers,
	}, nil
}

const yardScript = "redis.call('HSET', KEYS[1], 'f', ARGV[2]) return redis.call('ZADD', KEYS[2], ARGV[1], ARGV[2])"

var perSecond = regexp.MustCompile(`([0-9.]+) requests per second`)

// yardstick is the rate of the smallest script that could be a join, by
// redis-benchmark: 64 clients, no pipelining.
func (b *bench) yardstick(ctx context.Context) (float64, error) {
	sha, err := b.redis.Do("SCRIPT", "LOAD", yardScript)
	if err != nil {
		return 0, err
	}
	host, port, _ := strings.Cut(b.redis.Addr(), ":")
	out, err := exec.CommandContext(ctx, "redis-benchmark", "-h", host, "-p", port, "-c", "64", //nolint:gosec // a server of ours
		"-n", fmt.Sprint(b.yard), "-r", "1000000", "-q",
		"EVALSHA", fmt.Sprint(sha), "2", "yard:__rand_int__", "yard", "__rand_int__", "__rand_int__").CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("redis-benchmark: %w\n%s", err, out)
	}
	found := perSecond.FindAllSubmatch(out, -1)
	if len(found) == 0 {
		return 0, fmt.Errorf("redis-benchmark said %s", out)
	}
	return strconv.ParseFloat(string(found[len(found)-1][1]), 64)
}

// beside measures do with the yardstick just before and after.
func (b *bench) beside(ctx context.Context, name string, do func() (result, error)) (result, error) {
	before, err := b.yardstick(ctx)
	if err != nil {
		return result{}, err
	}
	r, err := do()
	if err != nil {
		return r, err
	}
	after, err := b.yardstick(ctx)
	if err != nil {
		return r, err
	}
	yard := (before + after) / 2
	r.ratio = r.rate / yard
	latency := ""
	if r.p50 > 0 {
		latency = fmt.Sprintf(", P50 %s, P99 %s", rig.Short(r.p50), rig.Short(r.p99))
	}
	fmt.Fprintf(b.out, "%s: %.0f a second%s; yardstick %.0f, ratio %.2f\n", name, r.rate, latency, yard, r.ratio)
	return r, nil
}
