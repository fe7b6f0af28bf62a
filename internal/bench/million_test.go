package bench

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/feed"
	"github.com/dengxu/dengxu/internal/httpapi"
	"github.com/dengxu/dengxu/internal/store"
)

// BenchmarkMillion fills one queue with 1,000,000 people who have a business
// id and an idempotency key each, and reports: heap per waiting token, the P50
// of a whole position read over HTTP beside that at 1,000, and how long the
// folder takes to open again. Run it with -benchtime 1x.
func BenchmarkMillion(b *testing.B) {
	for b.Loop() {
		small, _ := positionP50(b, 1_000)
		h := newHall(b)
		before := heap()
		h.fill(b, million)
		perToken := float64(heap()-before) / million
		large, rank := h.positionP50(b)
		if rank != million-1 {
			b.Fatalf("the last of %d has rank %d", million, rank)
		}
		if err := h.store.Close(); err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		h.open(b)
		reopen := time.Since(start)
		if _, again := h.positionP50(b); again != rank {
			b.Fatalf("after opening again the last one has rank %d", again)
		}
		_ = h.store.Close()
		b.ReportMetric(perToken, "heap-B/token")
		b.ReportMetric(float64(small.Microseconds()), "position-1k-p50-µs")
		b.ReportMetric(float64(large.Microseconds()), "position-1M-p50-µs")
		b.ReportMetric(float64(large)/float64(small), "position-ratio")
		b.ReportMetric(reopen.Seconds(), "reopen-s")
		b.ReportMetric(0, "ns/op")
	}
}

const million = 1_000_000

// heap is what is in use after a collection, in bytes.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func positionP50(b *testing.B, n int) (time.Duration, int) {
	b.Helper()
	h := newHall(b)
	h.fill(b, n)
	defer h.store.Close()
	return h.positionP50(b)
}

// positionP50 reads the last one's position over HTTP, again and again.
func (h *hall) positionP50(b *testing.B) (time.Duration, int) {
	b.Helper()
	server := h.serve(b)
	defer server.Close()
	page, err := h.store.List(context.Background(), store.ListAsk{Queue: "main", Newest: true, Limit: 1})
	if err != nil {
		b.Fatal(err)
	}
	last := page.Tokens[0].ID
	var took []time.Duration
	for range 2_000 {
		start := time.Now()
		get(b, server, "/queue/token/"+string(last)+"/position")
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	p, err := h.engine.Position(context.Background(), last)
	if err != nil {
		b.Fatal(err)
	}
	return took[len(took)/2], *p.Rank
}

// serve puts the HTTP API in front of the hall.
func (h *hall) serve(tb testing.TB) *httptest.Server {
	tb.Helper()
	f := feed.New(feed.Options{Store: h.store, Event: h.engine.Event})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = f.Run(ctx) }()
	server := httptest.NewServer(httpapi.New(httpapi.Options{Engine: h.engine, Feed: f}))
	tb.Cleanup(func() { server.Close(); stop(); <-done })
	return server
}

func get(tb testing.TB, server *httptest.Server, path string) {
	tb.Helper()
	res, err := server.Client().Get(server.URL + path) //nolint:noctx // a benchmark waits for ever
	if err != nil {
		tb.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		tb.Fatalf("%s: %s", path, res.Status)
	}
	drain(res)
}

// secret makes an admin key for requests over HTTP.
func (h *hall) secret(tb testing.TB) string {
	tb.Helper()
	secret := "bench-" + rand.Text()
	if _, err := h.engine.SetAdminSecret(context.Background(), secret); err != nil {
		tb.Fatal(err)
	}
	return secret
}

func person(n uint64) dengxu.JoinRequest {
	return dengxu.JoinRequest{BusinessID: fmt.Sprintf("customer-%09d", n), Name: "Ada Lovelace-Byron"}
}
