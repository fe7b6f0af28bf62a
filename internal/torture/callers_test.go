package torture

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
)

// callers is how many counters call at the same time.
const callers = 64

// callersHall has one line and many counters.
func callersHall() hall {
	h := hall{
		site:     fmt.Sprintf(`{"time_zone":%q}`, noon()),
		queues:   map[string]string{"main": `{"day_end":"keep","number_width":1}`},
		counters: make(map[string]string),
	}
	for i := range callers {
		h.counters[fmt.Sprintf("c%d", i)] = `{"queues":["main"]}`
	}
	return h
}

// TestCallersShareALine: many counters call at once while people still come, at
// one server or at two that share a store. Everybody is called exactly once, and
// the numbers run from 1 without a gap.
func TestCallersShareALine(t *testing.T) {
	t.Parallel()
	for name, ground := range grounds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, people := ground(t), 10_000
			servers := []*client.Client{serve(t, url)}
			if url != "" {
				servers = append(servers, serve(t, url))
				people = rounds(3000, 10_000)
			}
			shareALine(t, servers, people)
		})
	}
}

func shareALine(t *testing.T, servers []*client.Client, people int) {
	t.Helper()
	callersHall().build(t, remote{servers[0]})
	var numbers, called tally
	var first, rest sync.WaitGroup
	join := func(wg *sync.WaitGroup, n int) {
		for i := range callers {
			wg.Go(func() {
				for k := range share(n, i) {
					ticket, err := servers[(i+k)%len(servers)].Join(t.Context(), "main", dengxu.JoinRequest{})
					numbers.add(t, ticket.Number, err)
				}
			})
		}
	}
	join(&first, people/2)
	first.Wait()
	join(&rest, people-people/2)
	joined := make(chan struct{})
	go func() {
		rest.Wait()
		close(joined)
	}()
	var counters sync.WaitGroup
	for i := range callers {
		counters.Go(func() {
			callAll(t.Context(), t, servers[i%len(servers)], dengxu.CounterID(fmt.Sprintf("c%d", i)), joined, &called)
		})
	}
	counters.Wait()
	numbers.once(t, "given", people)
	called.once(t, "called", people)
	for _, c := range servers {
		auditLive(t, 0, c)
	}
}

// share is the part of n that falls to the i-th of the callers.
func share(n, i int) int { return (n + callers - 1 - i) / callers }

// callAll completes and calls until nobody waits after everybody has joined.
func callAll(ctx context.Context, t *testing.T, c *client.Client, id dengxu.CounterID, joined <-chan struct{}, called *tally) {
	for {
		last := false
		select {
		case <-joined:
			last = true
		default:
		}
		o, err := c.CallNext(ctx, id, client.CallOptions{CallRequest: dengxu.CallRequest{Current: "complete"}})
		switch {
		case err != nil:
			called.add(t, "", err)
			return
		case o.Token != nil:
			called.add(t, o.Token.Number, nil)
		case last:
			return
		}
	}
}

// tally is a list of numbers that many add to.
type tally struct {
	mu      sync.Mutex // guards numbers
	numbers []int
}

func (l *tally) add(t *testing.T, number string, err error) {
	if err != nil {
		t.Error(err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.numbers = append(l.numbers, numberOf(number))
}

// once fails the test unless the numbers are 1 to n, each of them once.
func (l *tally) once(t *testing.T, what string, n int) {
	t.Helper()
	slices.Sort(l.numbers)
	for i := range n {
		if i >= len(l.numbers) || l.numbers[i] != i+1 {
			t.Fatalf("%s: %d numbers, and %v where %d should be", what, len(l.numbers), l.numbers[min(i, len(l.numbers)):min(i+3, len(l.numbers))], i+1)
		}
	}
	if len(l.numbers) != n {
		t.Fatalf("%s: %d numbers, want %d", what, len(l.numbers), n)
	}
}
