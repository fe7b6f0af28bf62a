package httpapi

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/feed"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
	"github.com/dengxu/dengxu/internal/store/pebblestore"
)

// BenchmarkNullJoin is the floor: a huma handler with the request and answer
// of a join that does nothing.
func BenchmarkNullJoin(b *testing.B) {
	mux := http.NewServeMux()
	api := humago.New(mux, huma.DefaultConfig("null", "1"))
	type input struct {
		QueueID string `path:"queue_id"`
		Body    dengxu.JoinRequest
	}
	type answer struct{ Body dengxu.Ticket }
	huma.Register(api, huma.Operation{Method: post, Path: "/queue/{queue_id}/join", OperationID: "join", DefaultStatus: 201},
		func(context.Context, *input) (*answer, error) {
			return &answer{Body: dengxu.Ticket{ID: "00000000000000000000000000", QueueID: "main", Number: "A001", State: dengxu.StateWaiting, Rank: new(0)}}, nil
		})
	hammer(b, mux)
}

// BenchmarkJoin is the whole way of a join: HTTP, key, engine, store, over both
// stores. The goal is half of BenchmarkNullJoin.
func BenchmarkJoin(b *testing.B) {
	b.Run("memory", func(b *testing.B) { joins(b, memstore.New(memstore.Options{})) })
	b.Run("pebble", func(b *testing.B) {
		s, err := pebblestore.Open(pebblestore.Options{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		joins(b, s)
	})
}

func joins(b *testing.B, s store.Store) {
	b.Helper()
	defer s.Close()
	e, err := engine.Open(b.Context(), engine.Options{Store: s})
	if err != nil {
		b.Fatal(err)
	}
	f := feed.New(feed.Options{Store: s, Event: e.Event, Observe: e.Observe, Refresh: e.RefreshPartition, PartitionOf: e.PartitionOf})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = f.Run(ctx) // always nil
	}()
	defer func() { cancel(); <-done }()
	if _, err := e.SetAdminSecret(b.Context(), adminSecret); err != nil {
		b.Fatal(err)
	}
	if _, err := e.PutSite(b.Context(), staffBy, "hall", dengxu.Site{TimeZone: "UTC"}, 0); err != nil {
		b.Fatal(err)
	}
	if _, err := e.PutQueue(b.Context(), staffBy, "main", dengxu.Queue{Site: "hall"}, 0); err != nil {
		b.Fatal(err)
	}
	hammer(b, New(Options{Engine: e, Feed: f, Version: "bench"}))
}

// hammer sends joins over loopback from 64 connections and reports joins a
// second, the median and the 99th percentile.
func hammer(b *testing.B, h http.Handler) {
	b.Helper()
	srv := NewServer(h, slog.New(slog.DiscardHandler))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l) // ends when it is closed
	}()
	defer func() { _ = srv.Close(); <-done }()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	defer client.CloseIdleConnections()
	url := "http://" + l.Addr().String() + "/queue/main/join"
	body := []byte(`{"name":"Li Hua","phone":"13800000000","priority_group":"ordinary","party_size":2}`)

	var mu sync.Mutex // guards all
	var all []time.Duration
	b.SetParallelism(32) // times GOMAXPROCS
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		var took []time.Duration
		for pb.Next() {
			req, err := http.NewRequest(post, url, bytes.NewReader(body)) //nolint:noctx // measured as clients are
			if err != nil {
				b.Error(err)
				return
			}
			req.Header.Set("Authorization", "Bearer "+adminSecret)
			req.Header.Set("Content-Type", "application/json")
			began := time.Now()
			resp, err := client.Do(req)
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			took = append(took, time.Since(began))
			if resp.StatusCode != 201 {
				b.Errorf("status %d", resp.StatusCode)
				return
			}
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, took...)
	})
	b.StopTimer()
	if len(all) == 0 {
		return
	}
	slices.Sort(all)
	b.ReportMetric(float64(len(all))/b.Elapsed().Seconds(), "joins/s")
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-µs")
}
