package client_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
	"github.com/dengxu/dengxu/dengxutest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lossy loses every third answer after the server has done its work.
type lossy struct {
	next http.RoundTripper
	n    atomic.Int64
}

func (l *lossy) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.next.RoundTrip(req)
	if err == nil && l.n.Add(1)%3 == 0 {
		resp.Body.Close()
		return nil, errors.New("connection reset")
	}
	return resp, err
}

// TestNothingIsDoneTwiceOverALossyLine joins and serves people while a third of
// all answers is lost: every number is there once, and everybody is called once.
func TestNothingIsDoneTwiceOverALossyLine(t *testing.T) {
	t.Parallel()
	const people, counters = 40, 4
	s := dengxutest.NewServer(t)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	c, err := client.New(client.Options{URL: s.URL, Key: s.Key, HTTP: &http.Client{Transport: &lossy{next: transport}}, Attempts: 10})
	if err != nil {
		t.Fatal(err)
	}
	ids := []dengxu.CounterID{"a", "b", "c", "d"}[:counters]
	for _, id := range ids {
		if _, err := c.PutCounter(t.Context(), id, dengxu.Counter{Site: "main", Queues: []dengxu.CounterQueue{{ID: "main"}}}, 0); err != nil {
			t.Fatal(err)
		}
	}
	ctx, done := context.WithCancel(t.Context())
	defer done()
	var mu sync.Mutex
	served := make(map[string]int)
	var all sync.WaitGroup
	for _, id := range ids {
		all.Go(func() {
			for room := c.Counter(id); ; {
				token, err := room.Next(ctx)
				if dengxu.CodeOf(err) == dengxu.Canceled {
					return
				}
				if err == nil {
					_, err = room.Start(ctx, token)
				}
				if err == nil {
					_, err = room.Complete(ctx, token)
				}
				if err != nil {
					t.Errorf("counter %s: %v", id, err)
					return
				}
				mu.Lock()
				if served[token.Number]++; len(served) == people {
					done()
				}
				mu.Unlock()
			}
		})
	}
	joined := make(map[string]bool)
	for range people {
		ticket, err := c.Join(t.Context(), "main", client.JoinRequest{})
		if err != nil {
			t.Fatal(err)
		}
		joined[ticket.Number] = true
	}
	all.Wait()
	if len(joined) != people || len(served) != people {
		t.Errorf("%d numbers, %d served, want %d", len(joined), len(served), people)
	}
	for number, n := range served {
		if n != 1 || !joined[number] {
			t.Errorf("%s was served %d times", number, n)
		}
	}
	q, err := s.Client.GetQueue(t.Context(), "main")
	if err != nil || q.JoinsToday != people || q.Counts[dengxu.StateCompleted] != people {
		t.Errorf("the server counts %d joins, %v, %v", q.JoinsToday, q.Counts, err)
	}
}
