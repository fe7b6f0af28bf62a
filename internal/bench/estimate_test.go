package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// BenchmarkEstimate reads positions, with their estimates, beside ranks alone, by
// turns, of people all over a line of two paces that eight counters serve. It
// reports the P50 and P99 of both and their ratios.
func BenchmarkEstimate(b *testing.B) {
	for _, waiting := range []int{100, 10_000} {
		b.Run(fmt.Sprint("waiting=", waiting), func(b *testing.B) {
			h := newHall(b)
			ids := h.twoPaces(b, waiting)
			ctx := context.Background()
			random := rand.New(rand.NewPCG(1, 1))
			var ranks, estimates []time.Duration
			clock := func(took *[]time.Duration, read func(dengxu.TokenID) error) {
				id := ids[random.IntN(len(ids))]
				start := time.Now()
				if err := read(id); err != nil {
					b.Fatal(err)
				}
				*took = append(*took, time.Since(start))
			}
			for until := time.Now().Add(5 * time.Second); time.Now().Before(until); { // several pictures
				clock(&ranks, func(id dengxu.TokenID) error {
					_, err := h.engine.Token(ctx, id)
					return err
				})
				clock(&estimates, func(id dengxu.TokenID) error {
					p, err := h.engine.Position(ctx, id)
					if err == nil && !p.Estimate.Known {
						err = fmt.Errorf("no estimate: %s", p.Estimate.Reason)
					}
					return err
				})
			}
			slices.Sort(ranks)
			slices.Sort(estimates)
			at := func(took []time.Duration, share float64) float64 {
				return float64(took[int(share*float64(len(took)-1))].Nanoseconds()) / 1000
			}
			for _, share := range []float64{0.5, 0.99} {
				rank, estimate := at(ranks, share), at(estimates, share)
				name := fmt.Sprintf("p%.0f", 100*share)
				b.ReportMetric(rank, "rank-"+name+"-µs")
				b.ReportMetric(estimate, "estimate-"+name+"-µs")
				b.ReportMetric(estimate/rank, "ratio-"+name)
			}
			b.ReportMetric(0, "ns/op")
			_ = h.store.Close()
		})
	}
}

// twoPaces fills the line with ordinary people and members, a third of them, and
// has eight counters call from it. It returns who waits.
func (h *hall) twoPaces(b *testing.B, waiting int) []dengxu.TokenID {
	b.Helper()
	ctx := context.Background()
	if _, err := h.engine.PutQueue(ctx, staff, "main", dengxu.Queue{
		Site: "hall", ExpectedServiceSeconds: 180, Groups: map[string]dengxu.Group{"member": {Factor: new(0.5)}},
	}, 0); err != nil {
		b.Fatal(err)
	}
	const desks = 8
	for i := range waiting + desks {
		req := dengxu.JoinRequest{}
		if i%3 == 0 {
			req.PriorityGroup = "member"
		}
		if _, err := h.engine.Join(ctx, staff, "main", req); err != nil {
			b.Fatal(err)
		}
	}
	for i := range desks {
		if err := h.callNext(i); err != nil {
			b.Fatal(err)
		}
	}
	var ids []dengxu.TokenID
	ask := store.ListAsk{Queue: "main", States: []dengxu.State{dengxu.StateWaiting}, Limit: 200}
	for {
		page, err := h.store.List(ctx, ask)
		if err != nil {
			b.Fatal(err)
		}
		for i := range page.Tokens {
			ids = append(ids, page.Tokens[i].ID)
		}
		if page.Next == 0 {
			return ids
		}
		ask.After = page.Next
	}
}
