package bench

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/dengxu/dengxu"
)

// BenchmarkHTTP measures joins over HTTP, durable, beside a huma handler with
// the same request and answer types that does nothing, in turns. Clients and
// server share the machine. Run it with -benchtime 1x.
func BenchmarkHTTP(b *testing.B) {
	for _, callers := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("join/callers=%d", callers), func(b *testing.B) {
			for b.Loop() {
				h := newHall(b)
				secret := h.secret(b)
				server, nothing := h.serve(b), idle(b)
				ours := poster{url: server.URL + "/queue/main/join", secret: secret, client: clientFor(callers)}
				base := poster{url: nothing.URL + "/queue/main/join", secret: secret, client: clientFor(callers)}
				compareHTTP(b, callers, func(int) error { return ours.join(h.n.Add(1)) },
					func(int) error { return base.join(h.n.Add(1)) })
				server.Close()
				_ = h.store.Close()
			}
		})
	}
}

func compareHTTP(b *testing.B, callers int, join, nothing func(int) error) {
	b.Helper()
	n := opsPerRound(callers) / 3
	var ours, base []taken
	for range rounds {
		settle()
		ours = append(ours, run(b, callers, n, join))
		settle()
		base = append(base, run(b, callers, n, nothing))
	}
	m, null := mean(ours), mean(base)
	report(b, "join", m)
	report(b, "nothing", null)
	b.ReportMetric(m.rate/null.rate, "ratio")
	b.ReportMetric(0, "ns/op") // the rates say it
}

// idle is a server whose join does nothing.
func idle(b *testing.B) *httptest.Server {
	b.Helper()
	mux := http.NewServeMux()
	api := humago.New(mux, huma.DefaultConfig("nothing", "1"))
	type input struct {
		QueueID string `path:"queue_id"`
		Auth    string `header:"Authorization"`
		Key     string `header:"Idempotency-Key"`
		Body    dengxu.JoinRequest
	}
	type output struct {
		Status int
		Body   dengxu.Ticket
	}
	huma.Register(api, huma.Operation{
		OperationID: "join", Method: http.MethodPost, Path: "/queue/{queue_id}/join", DefaultStatus: http.StatusCreated,
	}, func(_ context.Context, in *input) (*output, error) {
		rank := len(in.Key)
		return &output{Status: http.StatusCreated, Body: dengxu.Ticket{
			ID: "0000000000000000000000000aa", QueueID: "main", Number: "A001", State: dengxu.StateWaiting,
			Version: 1, Rank: &rank, Estimate: dengxu.Estimate{Method: "none", Reason: dengxu.UnknownNoData},
		}}, nil
	})
	server := httptest.NewServer(mux)
	b.Cleanup(server.Close)
	return server
}

func clientFor(callers int) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConns: callers, MaxIdleConnsPerHost: callers}}
}

// poster joins over HTTP.
type poster struct {
	url, secret string
	client      *http.Client
}

func (p *poster) join(n uint64) error {
	body, err := json.Marshal(person(n))
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+p.secret)
	req.Header.Set("Idempotency-Key", rand.Text())
	res, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusCreated {
		text, _ := io.ReadAll(res.Body)
		return fmt.Errorf("%s: %s", res.Status, text)
	}
	drain(res)
	return nil
}

// drain reads an answer to its end, so that its connection is used again.
func drain(res *http.Response) { _, _ = io.Copy(io.Discard, res.Body) }
