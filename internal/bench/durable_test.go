package bench

import (
	"context"
	"fmt"
	"testing"

	"github.com/dengxu/dengxu/internal/store"
)

// rounds is how often the two sides of a comparison take turns.
const rounds = 5

// opsPerRound is about half a second of work at so many callers. A round is not
// shorter, so that each side flushes and compacts in its own rounds what they
// write: of 15,000 operations pebble alone was done in 80 ms, within a memtable,
// and most of what it left to do then ran in the turn of the other side, which
// took three times as long.
func opsPerRound(callers int) int {
	if callers == 1 {
		return 3_000
	}
	return 30_000
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
				r := newRaw(b, sizes, joinKinds)
				compare(b, callers, "join", h.join, r)
				_ = h.store.Close()
			}
		})
		b.Run(fmt.Sprintf("call+complete/callers=%d", callers), func(b *testing.B) {
			joins, sizes := measuredShape(b, false), measuredShape(b, true)
			for b.Loop() {
				h := newHall(b)
				waiting := rounds*opsPerRound(callers) + counters
				h.fill(b, waiting)
				// The first call of each counter opens it.
				for i := range callers {
					if err := h.callNext(i); err != nil {
						b.Fatal(err)
					}
				}
				// As many keys are in both databases.
				r := newRaw(b, joins, joinKinds)
				r.fill(b, waiting)
				r.shape, r.kinds = sizes, callKinds
				compare(b, callers, "call", h.callNext, r)
				_ = h.store.Close()
			}
		})
	}
}

// What one operation writes: the first bytes of its keys. The numbers of the
// partition, a tally and a series are once a group there, and once an
// operation in the raw batches.
const (
	joinKinds = "teoMys"
	callKinds = "tTeeoM" // the completed record and the called one
)

// measuredShape reads the mean sizes of what joins write, or of what calls
// write that complete the token before.
func measuredShape(b *testing.B, calls bool) shape {
	b.Helper()
	const n = 2_000
	h := newHall(b)
	empty := h.written(b)
	h.fill(b, n)
	joined := h.written(b)
	if !calls {
		return joined.since(empty)
	}
	for i := range counters { // the first call of each counter opens it
		if err := h.callNext(i); err != nil {
			b.Fatal(err)
		}
	}
	called := h.written(b)
	for i := range n - counters {
		if err := h.callNext(i % counters); err != nil {
			b.Fatal(err)
		}
	}
	return h.written(b).since(called)
}

// compare runs both sides in turns and reports them and their ratio.
func compare(b *testing.B, callers int, name string, do func(int) error, r *raw) {
	b.Helper()
	var ours, raws []taken
	for range rounds {
		settle()
		ours = append(ours, run(b, callers, opsPerRound(callers), do))
		settle()
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
