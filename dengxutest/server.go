// Package dengxutest gives tests a real dengxu server: the engine, the HTTP
// API and the client, over a store in memory whose clock the test moves. It
// refuses to imitate anything: what a test sees is what a server does.
package dengxutest

import (
	"context"
	"crypto/rand"
	"net/http"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
	"github.com/dengxu/dengxu/internal/app"
	"github.com/dengxu/dengxu/internal/store/memstore"
)

// Options say what kind of server a test gets. The zero value is useful: a
// site main, a queue main, a counter 1, and a clock at 09:00 UTC.
type Options struct {
	// Start is what the clock shows first; zero = 2026-03-02 09:00 UTC, a
	// Monday.
	Start time.Time
	// Bare leaves the server without a site.
	Bare bool
}

// Server is a running server. It is stopped when the test ends.
type Server struct {
	// URL is where it is reached, without a slash at its end.
	URL string
	// Key is the admin key.
	Key string
	// Client has the admin key.
	Client *client.Client
	// Clock is the store's.
	Clock *Clock

	t         testing.TB
	transport *http.Transport
}

// NewServer starts a server for the duration of t. More than one Options is a
// programmer's error.
func NewServer(t testing.TB, options ...Options) *Server {
	t.Helper()
	if len(options) > 1 {
		t.Fatal("dengxutest: one Options at most")
	}
	var o Options
	if len(options) == 1 {
		o = options[0]
	}
	if o.Start.IsZero() {
		o.Start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	}
	clock := &Clock{t: t, wall: o.Start}
	key := "dx_test_" + rand.Text()
	a, err := app.New(app.Options{
		Listen: "127.0.0.1:0", Bare: o.Bare, AdminKey: key, Version: "test",
		Store: memstore.New(memstore.Options{Wall: clock.Now, Mono: clock.elapsed}),
	})
	if err != nil {
		t.Fatal("dengxutest:", err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal("dengxutest:", err)
	}
	clock.settle = a.Settle
	s := &Server{URL: a.URL(), Key: key, Clock: clock, t: t, transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	s.Client = s.WithKey(key)
	t.Cleanup(func() {
		// t.Context() is over already: cleanups run after it.
		if err := a.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error("dengxutest:", err)
		}
		s.transport.CloseIdleConnections()
	})
	if !o.Bare {
		// The machine that runs the test must not decide where midnight is.
		if _, err := s.Client.PatchSite(t.Context(), "main", map[string]string{"time_zone": "UTC"}, 0); err != nil {
			t.Fatal("dengxutest:", err)
		}
	}
	return s
}

// WithKey returns a client with another key; "" is a client without one, as a
// holder has.
func (s *Server) WithKey(key string) *client.Client {
	s.t.Helper()
	c, err := client.New(client.Options{URL: s.URL, Key: key, HTTP: &http.Client{Transport: s.transport}})
	if err != nil {
		s.t.Fatal("dengxutest:", err)
	}
	return c
}

// Join puts n people into a queue, in order, and returns their tickets.
func (s *Server) Join(q dengxu.QueueID, n int) []dengxu.Ticket {
	s.t.Helper()
	tickets := make([]dengxu.Ticket, n)
	for i := range tickets {
		ticket, err := s.Client.Join(s.t.Context(), q, client.JoinRequest{})
		if err != nil {
			s.t.Fatalf("dengxutest: join %d of %d: %v", i+1, n, err)
		}
		tickets[i] = ticket
	}
	return tickets
}

// Call calls the next token to a counter and fails the test when there is
// none.
func (s *Server) Call(counter dengxu.CounterID) *dengxu.Token {
	s.t.Helper()
	outcome, err := s.Client.CallNext(s.t.Context(), counter, client.CallOptions{})
	if err != nil {
		s.t.Fatal("dengxutest: call next:", err)
	}
	if outcome.Token == nil {
		s.t.Fatalf("dengxutest: counter %s found nobody to call: %s", counter, outcome.Reason)
	}
	return outcome.Token
}

// State returns the state of a token and fails the test when there is none.
func (s *Server) State(t dengxu.TokenID) dengxu.State {
	s.t.Helper()
	token, err := s.Client.Token(s.t.Context(), t)
	if err != nil {
		s.t.Fatal("dengxutest: token:", err)
	}
	return token.State
}
