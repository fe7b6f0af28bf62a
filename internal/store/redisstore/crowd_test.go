package redisstore_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/redisstore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

const today = 20_514

// openAt opens a store at a URL, with the server's clock.
func openAt(t *testing.T, url, prefix string, edits ...func(*redisstore.Options)) *redisstore.Store {
	t.Helper()
	o := redisstore.Options{URL: url, Prefix: prefix, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
	for _, edit := range edits {
		edit(&o)
	}
	s, err := redisstore.Open(t.Context(), o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// rounds is the count of make test, or that of make torture.
func rounds(short, long int) int {
	if storetest.Torture() {
		return long
	}
	return short
}

// crowd joins, calls and completes through stores, and keeps account of what
// was acknowledged.
type crowd struct {
	t      *testing.T
	stores []*redisstore.Store
	queues map[dengxu.QueueID]store.Partition
	series bool          // whether joins are given numbers
	pace   time.Duration // of each one of the crowd

	mu      sync.Mutex
	joined  map[dengxu.TokenID]store.Token // acknowledged
	unsure  map[dengxu.TokenID]bool        // of unknown outcome
	refused map[dengxu.TokenID]bool        // surely not done
	called  map[dengxu.TokenID][]dengxu.CounterID
	failed  map[store.Partition]int // unavailable or unknown, at last

	stop    chan struct{}
	ended   sync.Once
	running sync.WaitGroup
	done    atomic.Int64 // acknowledged joins
	by      map[*redisstore.Store]int
}

func newCrowd(t *testing.T, stores ...*redisstore.Store) *crowd {
	t.Helper()
	c := &crowd{
		t: t, stores: stores, queues: map[dengxu.QueueID]store.Partition{"clinic": 0}, series: true, pace: time.Duration(rounds(4, 1)) * time.Millisecond,
		joined: map[dengxu.TokenID]store.Token{}, unsure: map[dengxu.TokenID]bool{}, refused: map[dengxu.TokenID]bool{},
		called: map[dengxu.TokenID][]dengxu.CounterID{}, failed: map[store.Partition]int{}, by: map[*redisstore.Store]int{}, stop: make(chan struct{}),
	}
	t.Cleanup(c.end) // also where the test fails
	return c
}

// start begins with that many joiners and counters a queue, spread over the
// stores.
func (c *crowd) start(joiners, counters int) {
	i := 0
	for queue, p := range c.queues {
		for range joiners {
			s := c.stores[i%len(c.stores)]
			c.running.Go(func() { c.each(func() { c.join(s, p, queue) }) })
			i++
		}
		for range counters {
			s, desk := c.stores[i%len(c.stores)], dengxu.CounterID(fmt.Sprintf("%s-desk-%d", queue, i))
			c.running.Go(func() { c.each(func() { c.serve(s, p, queue, desk) }) })
			i++
		}
	}
}

func (c *crowd) each(do func()) {
	for {
		select {
		case <-c.stop:
			return
		case <-time.After(c.pace):
			do()
		}
	}
}

// await waits until n more joins were acknowledged than were at the call.
func (c *crowd) await(n int) {
	c.t.Helper()
	from, deadline := c.done.Load(), time.Now().Add(30*time.Second)
	for c.done.Load() < from+int64(n) {
		if time.Now().After(deadline) {
			c.t.Fatalf("%d joins of %d within 30 s", c.done.Load()-from, n)
		}
		time.Sleep(time.Millisecond)
	}
}

// awaitAt waits until n more joins were acknowledged by one store.
func (c *crowd) awaitAt(s *redisstore.Store, n int) {
	c.t.Helper()
	done := func() int {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.by[s]
	}
	for from, deadline := done(), time.Now().Add(30*time.Second); done() < from+n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatalf("%d joins of %d within 30 s", done()-from, n)
		}
	}
}

// end waits for everybody.
func (c *crowd) end() {
	c.ended.Do(func() { close(c.stop) })
	c.running.Wait()
}

// insist commits until the outcome is known or half a minute is over; and
// whether the outcome of any attempt was unknown.
func (c *crowd) insist(s *redisstore.Store, b store.Batch) (res store.Result, err error) {
	unknown, deadline := error(nil), time.Now().Add(30*time.Second)
	for {
		began := time.Now()
		res, err = s.Commit(context.Background(), b)
		if took := time.Since(began); took > 4*time.Second {
			c.t.Errorf("a commit took %v: %v", took, err)
		}
		switch {
		case errors.Is(err, store.ErrUnknown):
			unknown = err
		case errors.Is(err, store.ErrUnavailable):
		default:
			return res, err
		}
		select {
		case <-c.stop:
			deadline = time.Time{}
		default:
		}
		c.mu.Lock()
		c.failed[b.Partition]++
		c.mu.Unlock()
		if time.Now().After(deadline) {
			if unknown != nil {
				return res, unknown
			}
			return res, err
		}
		time.Sleep(time.Millisecond)
	}
}

func joinBatch(p store.Partition, queue dengxu.QueueID, id dengxu.TokenID, numbered bool) store.Batch {
	site := dengxu.SiteID("north")
	tok := store.Token{
		ID: id, Site: site, Queue: queue, Gen: today, Prefix: "A", Width: 3, State: dengxu.StateWaiting, Version: 1,
		Since: store.Now, JoinedAt: store.Now, Lane: order.Lane{K: order.Ordinary}, Place: store.Now, Factor: 1000,
		Business: string(id[:20]), Unique: true, Due: store.Now + 3_600_000,
	}
	w := store.TokenWrite{Token: tok}
	if numbered {
		w.Series = &store.Series{Name: "A" + string(queue), Day: today, First: 1, At: "widen"}
	}
	return store.Batch{
		Partition: p, Site: site, Op: store.Op{Scope: "join", Key: string(id), Hash: [16]byte{1}, Keep: 3_600_000},
		Tokens: []store.TokenWrite{w}, Events: []store.EventSpec{{Type: dengxu.EventJoined, Token: 1}},
	}
}

func newID() dengxu.TokenID { return dengxu.TokenID(rand.Text()) }

func (c *crowd) join(s *redisstore.Store, p store.Partition, queue dengxu.QueueID) {
	id := newID()
	res, err := c.insist(s, joinBatch(p, queue, id, c.series))
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil && len(res.Tokens) == 1:
		c.joined[id] = res.Tokens[0]
		c.done.Add(1)
		c.by[s]++
	case errors.Is(err, store.ErrUnavailable):
		c.refused[id] = true
	case errors.Is(err, store.ErrUnknown):
		c.unsure[id] = true
	default:
		c.t.Errorf("join: %v, %d tokens", err, len(res.Tokens))
	}
}

func callBatch(p store.Partition, queue dengxu.QueueID, desk dengxu.CounterID) store.Batch {
	return store.Batch{
		Partition: p, Site: "north", Op: store.Op{Scope: string(desk), Key: rand.Text(), Hash: [16]byte{2}, Keep: 3_600_000},
		Pick: &store.Pick{
			Lines: []store.PickLine{{Line: store.LineKey{Queue: queue, Gen: today}}}, Max: 1, State: dengxu.StateServing,
			Counter: desk, Deadline: store.Now + 300_000, Due: store.Now + 300_000, Actor: "anna", Event: dengxu.EventCalled,
		},
	}
}

func completeBatch(p store.Partition, t store.Token) store.Batch {
	t.Version++
	t.State, t.Counter, t.Due, t.EndedAt, t.Since = dengxu.StateCompleted, "", 0, store.Now, store.Now
	return store.Batch{
		Partition: p, Site: t.Site, Op: store.Op{Scope: "complete", Key: string(t.ID), Hash: [16]byte{3}, Keep: 3_600_000},
		Tokens: []store.TokenWrite{{Token: t}}, Events: []store.EventSpec{{Type: dengxu.EventCompleted, Token: 1}},
	}
}

// serve calls one token and completes it.
func (c *crowd) serve(s *redisstore.Store, p store.Partition, queue dengxu.QueueID, desk dengxu.CounterID) {
	res, err := c.insist(s, callBatch(p, queue, desk))
	if err != nil {
		if !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrUnknown) {
			c.t.Errorf("call: %v", err)
		}
		return
	}
	for _, t := range res.Tokens {
		c.mu.Lock()
		c.called[t.ID] = append(c.called[t.ID], desk)
		c.mu.Unlock()
		if _, err := c.insist(s, completeBatch(p, t)); err != nil && !isLost(err) {
			c.t.Errorf("complete: %v", err)
		}
	}
}

// isLost reports whether a change could not be made because what it changes may
// have been lost, or because nobody answers.
func isLost(err error) bool {
	_, refused := errors.AsType[*store.Refused](err)
	return refused || errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrUnknown)
}

// verdict is what was found out about a crowd.
type verdict struct {
	joined, lost, unsure, appeared int
	repeated                       int // acknowledged numbers that were given twice
	doubly                         int // tokens that two counters were given
}

// account holds what is stored against what was acknowledged. What must always
// hold it insists on.
func (c *crowd) account(s *redisstore.Store) verdict {
	c.t.Helper()
	stored := map[dengxu.TokenID]store.Token{}
	for p := range store.Partition(s.About().Partitions) {
		for _, t := range listAll(c.t, s, p) {
			if _, twice := stored[t.ID]; twice {
				c.t.Errorf("%s is stored twice", t.ID)
			}
			stored[t.ID] = t
		}
	}
	v := verdict{joined: len(c.joined), unsure: len(c.unsure)}
	numbers := map[string]dengxu.TokenID{}
	name := func(t *store.Token) string { return fmt.Sprintf("%s %d", t.Queue, t.Number) }
	for id, t := range stored {
		if _, was := c.joined[id]; !was && !c.unsure[id] {
			c.t.Errorf("%s is stored, and nobody joined under that name; refused: %v", id, c.refused[id])
		}
		if by, taken := numbers[name(&t)]; taken && c.series {
			c.t.Errorf("%s and %s are stored with one number %s", by, id, name(&t))
		}
		numbers[name(&t)] = id
	}
	for id, t := range c.joined {
		got, there := stored[id]
		if there && got.Number != t.Number {
			c.t.Errorf("%s was given %d and has %d", id, t.Number, got.Number)
		}
		if !there {
			v.lost++
		}
		if by, taken := numbers[name(&t)]; taken && by != id {
			v.repeated++
		}
	}
	for id := range c.unsure {
		if _, there := stored[id]; there {
			v.appeared++
		}
	}
	for _, desks := range c.called {
		if slices.Sort(desks); len(slices.Compact(desks)) > 1 {
			v.doubly++
		}
	}
	return v
}

// clean expects an audit to find nothing.
func clean(t *testing.T, s *redisstore.Store) {
	t.Helper()
	found, err := s.AuditWith(t.Context(), store.Auditor{})
	if err != nil {
		t.Fatalf("audit: %v", err)
	}
	for _, f := range found {
		t.Errorf("audit: %s: %s", f.Kind, f.Text)
	}
}

// flawless expects that nothing was lost, doubled or left out.
func (c *crowd) flawless(s *redisstore.Store) {
	c.t.Helper()
	v := c.account(s)
	c.t.Logf("%+v", v)
	if v.lost+v.repeated+v.doubly > 0 {
		c.t.Errorf("lost, repeated or doubly called: %+v", v)
	}
	highest := map[dengxu.QueueID]int64{}
	count := map[dengxu.QueueID]int64{}
	for p := range store.Partition(s.About().Partitions) {
		for _, t := range listAll(c.t, s, p) {
			highest[t.Queue] = max(highest[t.Queue], t.Number)
			count[t.Queue]++
		}
	}
	for queue, n := range highest {
		if c.series && n != count[queue] {
			c.t.Errorf("%s: numbers up to %d for %d tokens", queue, n, count[queue])
		}
	}
	clean(c.t, s)
}

func listAll(t *testing.T, s *redisstore.Store, p store.Partition) []store.Token {
	t.Helper()
	var all []store.Token
	for after := uint64(0); ; {
		page, err := s.List(t.Context(), store.ListAsk{Partition: p, After: after, Limit: 500})
		if err != nil {
			t.Fatalf("list: %v", err)
		}
		all = append(all, page.Tokens...)
		if page.Next == 0 {
			return all
		}
		after = page.Next
	}
}
