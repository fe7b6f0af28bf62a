package bench

import (
	"context"
	"fmt"
	"testing"

	"github.com/dengxu/dengxu/internal/store"
)

// rounds is how often the two sides of a comparison take turns.
const rounds = 5

// opsPerRound is about half a second of work at so many callers.
func opsPerRound(callers int) int {
	if callers == 1 {
		return 1_000
	}
	return 15_000
}

// BenchmarkDurable measures durable joins, and fused complete + call, in
// process, beside raw synced batches of pebble of the same keys and bytes, in
// turns. Run it with -benchtime 1x.
func BenchmarkDurable(b *testing.B) {
	for _, callers := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("join/callers=%d", callers), func(b *testing.B) {
			sizes := measuredShape(b, false)
			for b.Loop() {
				h := newHall(b)
				r := newRaw(b, sizes, "teoMys")
				compare(b, callers, "join", h.join, r)
				_ = h.store.Close()
			}
		})
		b.Run(fmt.Sprintf("call+complete/callers=%d", callers), func(b *testing.B) {
			sizes := measuredShape(b, true)
			for b.Loop() {
				h := newHall(b)
				h.fill(b, rounds*opsPerRound(callers)+counters)
				// The first call of each counter opens it.
				for i := range callers {
					if err := h.callNext(i); err != nil {
						b.Fatal(err)
					}
				}
				r := newRaw(b, sizes, "tteeoM")
				compare(b, callers, "call", h.callNext, r)
				_ = h.store.Close()
			}
		})
	}
}

// measuredShape reads the mean sizes of what joins, or joins and calls, write.
func measuredShape(b *testing.B, calls bool) shape {
	b.Helper()
	h := newHall(b)
	h.fill(b, 2_000)
	if calls {
		for i := range 2_000 {
			if err := h.callNext(i % counters); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := h.store.Close(); err != nil {
		b.Fatal(err)
	}
	return shapeOf(b, h.dir)
}

// compare runs both sides in turns and reports them and their ratio.
func compare(b *testing.B, callers int, name string, do func(int) error, r *raw) {
	b.Helper()
	var ours, raws []taken
	for range rounds {
		ours = append(ours, run(b, callers, opsPerRound(callers), do))
		raws = append(raws, run(b, callers, opsPerRound(callers), r.write))
	}
	m, base := mean(ours), mean(raws)
	report(b, name, m)
	report(b, "raw", base)
	b.ReportMetric(m.rate/base.rate, "ratio")
	b.ReportMetric(0, "ns/op") // the rates say it
}

// BenchmarkRank measures one rank in process, without disk.
func BenchmarkRank(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("waiting=%d", n), func(b *testing.B) {
			h := newHall(b)
			h.fill(b, n)
			ask := lastRank(b, h)
			for b.Loop() {
				if _, err := h.store.View(context.Background(), ask); err != nil {
					b.Fatal(err)
				}
			}
			_ = h.store.Close()
		})
	}
}

// lastRank asks for the rank of the last one in line.
func lastRank(b *testing.B, h *hall) store.Ask {
	b.Helper()
	page, err := h.store.List(context.Background(), store.ListAsk{Queue: "main", Newest: true, Limit: 1})
	if err != nil || len(page.Tokens) == 0 {
		b.Fatal("nobody waits", err)
	}
	t := &page.Tokens[0]
	return store.Ask{Ranks: []store.RankAsk{{Line: t.Line(), Member: t.Member()}}}
}
