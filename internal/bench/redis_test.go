package bench

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/redistest"
	"github.com/dengxu/dengxu/internal/store/redisstore"
)

// redisHall is a hall over a store in Redis.
func redisHall(tb testing.TB, srv *redistest.Server) *hall {
	tb.Helper()
	h := &hall{}
	s, err := redisstore.Open(context.Background(), redisstore.Options{URL: srv.URL(), Prefix: redistest.Prefix(tb)})
	if err != nil {
		tb.Fatal(err)
	}
	h.store = s
	if h.engine, err = engine.Open(context.Background(), engine.Options{Store: s}); err != nil {
		tb.Fatal(err)
	}
	h.furnish(tb)
	tb.Cleanup(func() { _ = s.Close() })
	return h
}

// yardstick is the rate of the smallest script that could be a join, by
// redis-benchmark: HSET and ZADD, 64 clients, no pipelining.
func yardstick(tb testing.TB, srv *redistest.Server) float64 {
	tb.Helper()
	sha := fmt.Sprint(srv.MustDo("SCRIPT", "LOAD", "redis.call('HSET', KEYS[1], 'f', ARGV[2]) return redis.call('ZADD', KEYS[2], ARGV[1], ARGV[2])"))
	host, port, _ := strings.Cut(srv.Addr(), ":")
	out, err := exec.Command("redis-benchmark", "-h", host, "-p", port, "-c", "64", "-n", "100000", "-r", "1000000", "-q",
		"EVALSHA", sha, "2", "yard:h:__rand_int__", "yard:z", "__rand_int__", "__rand_int__").CombinedOutput()
	if err != nil {
		tb.Fatalf("redis-benchmark: %v\n%s", err, out)
	}
	found := regexp.MustCompile(`([0-9.]+) requests per second`).FindAllStringSubmatch(string(out), -1)
	if len(found) == 0 {
		tb.Fatalf("redis-benchmark said %s", out)
	}
	rate, _ := strconv.ParseFloat(found[len(found)-1][1], 64)
	srv.MustDo("UNLINK", "yard:z")
	return rate
}

// BenchmarkRedis measures joins, fused complete + call, and ranks over Redis,
// each beside the yardstick taken just before and after. Run it with
// -benchtime 1x.
func BenchmarkRedis(b *testing.B) {
	srv := redistest.Start(b, redistest.Options{})
	for _, callers := range []int{1, 64, 256, 1000} {
		n := 40_000
		if callers == 1 {
			n = 3_000
		}
		measure := func(name string, do func(h *hall) func(int) error) {
			b.Run(fmt.Sprintf("%s/callers=%d", name, callers), func(b *testing.B) {
				for b.Loop() {
					h := redisHall(b, srv)
					op := do(h)
					before := yardstick(b, srv)
					took := run(b, callers, n, op)
					base := (before + yardstick(b, srv)) / 2
					report(b, name, took)
					b.ReportMetric(base, "yardstick/s")
					b.ReportMetric(took.rate/base, "ratio")
					b.ReportMetric(0, "ns/op")
				}
			})
		}
		measure("join", func(h *hall) func(int) error { return h.join })
		measure("call", func(h *hall) func(int) error {
			h.fill(b, n+2*counters)
			for i := range min(callers, counters) {
				if err := h.callNext(i); err != nil {
					b.Fatal(err)
				}
			}
			return func(i int) error { return h.callNext(i % counters) }
		})
		measure("rank", func(h *hall) func(int) error {
			h.fill(b, 1000)
			ask := lastRank(b, h)
			return func(int) error {
				_, err := h.store.View(context.Background(), ask)
				return err
			}
		})
	}
}

