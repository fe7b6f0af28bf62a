package app

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/feed"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
)

// counted counts what one process asks of a store. Deaf loses every hint.
type counted struct {
	store.Store
	deaf  bool
	calls atomic.Int64
	down  atomic.Bool // the first partition cannot be reached

	mu  sync.Mutex // guards due
	due map[store.Partition]int
}

func (c *counted) call(p store.Partition) error {
	c.calls.Add(1)
	if p == 0 && c.down.Load() {
		return store.ErrUnavailable
	}
	return nil
}

func (c *counted) Commit(ctx context.Context, b store.Batch) (store.Result, error) {
	if err := c.call(b.Partition); err != nil {
		return store.Result{}, err
	}
	return c.Store.Commit(ctx, b)
}

func (c *counted) View(ctx context.Context, a store.Ask) (store.View, error) {
	if err := c.call(a.Partition); err != nil {
		return store.View{}, err
	}
	return c.Store.View(ctx, a)
}

func (c *counted) Docs(ctx context.Context, p store.Partition) ([]store.Doc, error) {
	if err := c.call(p); err != nil {
		return nil, err
	}
	return c.Store.Docs(ctx, p)
}

func (c *counted) Events(ctx context.Context, after store.Cursor, limit int) (store.EventPage, error) {
	if err := c.call(after.Partition); err != nil {
		return store.EventPage{}, err
	}
	return c.Store.Events(ctx, after, limit)
}

func (c *counted) Due(ctx context.Context, p store.Partition, limit int) (store.Due, error) {
	c.mu.Lock()
	c.due[p]++
	c.mu.Unlock()
	if err := c.call(p); err != nil {
		return store.Due{}, err
	}
	return c.Store.Due(ctx, p, limit)
}

func (c *counted) Watch(p store.Partition) (<-chan struct{}, func()) {
	if c.deaf {
		return nil, func() {}
	}
	return c.Store.Watch(p)
}

// looked is in how many partitions the process has looked for what is due since
// it was asked last.
func (c *counted) looked() (partitions int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	partitions = len(c.due)
	clear(c.due)
	return partitions
}

// process is everything of a server but its listeners.
type process struct {
	*loops
	store  *counted
	cancel context.CancelFunc
	ended  sync.WaitGroup
	told   bytes.Buffer // its log at the level of serve; to be read when it ended
}

func launch(t *testing.T, s store.Store, deaf bool) *process {
	t.Helper()
	p := &process{store: &counted{Store: s, deaf: deaf, due: make(map[store.Partition]int)}}
	log := slog.New(slog.NewTextHandler(&p.told, &slog.HandlerOptions{Level: slog.LevelWarn}))
	e, err := engine.Open(t.Context(), engine.Options{Store: p.store, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	p.loops = newLoops(e, p.store, log)
	if err := p.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := feed.New(feed.Options{
		Store: p.store, Event: e.Event, Observe: e.Observe, Moved: p.wake,
		Refresh: e.RefreshPartition, PartitionOf: e.PartitionOf, Logger: log,
	})
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(t.Context())
	p.ended.Go(func() { _ = f.Run(ctx) })
	p.ended.Go(func() { p.run(ctx) })
	return p
}

// kill ends a process without a word to the others.
func (p *process) kill() {
	p.cancel()
	p.ended.Wait()
}

var byTest = engine.By{Kind: engine.Admin, Name: "key:test"}

// calledIn makes a site with a queue and a counter, and calls somebody there.
func (p *process) calledIn(t *testing.T, site dengxu.SiteID) dengxu.TokenID {
	t.Helper()
	ctx, e := t.Context(), p.engine
	if _, err := e.PutSite(ctx, byTest, site, dengxu.Site{TimeZone: "UTC"}, 0); err != nil {
		t.Fatal(err)
	}
	id := dengxu.QueueID(site)
	if _, err := e.PutQueue(ctx, byTest, id, dengxu.Queue{Site: site, Missed: &dengxu.Missed{Policy: "keep"}}, 0); err != nil {
		t.Fatal(err)
	}
	counter := dengxu.Counter{Site: site, Queues: []dengxu.CounterQueue{{ID: id}}}
	if _, err := e.PutCounter(ctx, byTest, dengxu.CounterID(site), counter, 0); err != nil {
		t.Fatal(err)
	}
	ticket, err := e.Join(ctx, byTest, id, dengxu.JoinRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.CallNext(ctx, byTest, dengxu.CounterID(site), "", dengxu.CallRequest{}); err != nil {
		t.Fatal(err)
	}
	return ticket.Value.ID
}

func (p *process) state(t *testing.T, id dengxu.TokenID) dengxu.State {
	t.Helper()
	token, err := p.engine.Token(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return token.State
}

var sites = []dengxu.SiteID{"north", "south", "east", "west", "centre", "harbour", "airport", "station"}

// TestTimersOfTwoProcesses: each partition is looked at by one of them, all of
// them fire on time, and what a killed one leaves is taken over.
func TestTimersOfTwoProcesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New(memstore.Options{Partitions: 4, Shared: true})
		defer s.Close()
		a := launch(t, s, false)
		b := launch(t, s, false)
		defer b.kill()
		time.Sleep(5 * time.Second) // until both have their share
		a.store.looked()
		b.store.looked()
		var ids []dengxu.TokenID
		for _, site := range sites {
			ids = append(ids, b.calledIn(t, site))
		}
		time.Sleep(5*time.Minute - time.Millisecond) // the call's time
		for _, id := range ids {
			if got := a.state(t, id); got != dengxu.StateCalling {
				t.Errorf("too early: %s", got)
			}
		}
		time.Sleep(100 * time.Millisecond)
		for _, id := range ids {
			if got := a.state(t, id); got != dengxu.StateMissed {
				t.Errorf("100 ms after its time a call is %s", got)
			}
		}
		if x, y := a.store.looked(), b.store.looked(); x != 2 || y != 2 {
			t.Errorf("they looked at %d and %d of 4 partitions", x, y)
		}

		for _, site := range sites {
			if _, err := b.engine.Join(t.Context(), byTest, dengxu.QueueID(site), dengxu.JoinRequest{}); err != nil {
				t.Fatal(err)
			}
			called, err := b.engine.CallNext(t.Context(), byTest, dengxu.CounterID(site), "", dengxu.CallRequest{})
			if err != nil || called.Value.Token == nil {
				t.Fatal(called, err)
			}
			ids = append(ids, called.Value.Token.ID)
		}
		time.Sleep(5*time.Minute - 10*time.Millisecond)
		a.kill() // at the worst moment
		time.Sleep(5 * time.Second)
		for _, id := range ids {
			if got := b.state(t, id); got != dengxu.StateMissed {
				t.Errorf("5 s after a process was killed a call is %s", got)
			}
		}
		if n := b.store.looked(); n != 4 {
			t.Errorf("the one that is left looks at %d of 4 partitions", n)
		}
	})
}

// TestAProcessThatEndsHandsOver at once.
func TestAProcessThatEndsHandsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New(memstore.Options{Partitions: 4, Shared: true})
		defer s.Close()
		a, b := launch(t, s, false), launch(t, s, false)
		defer b.kill()
		time.Sleep(5 * time.Second)
		a.kill()
		if err := a.end(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1200 * time.Millisecond)
		for p := range store.Partition(4) {
			if !b.keeper.owns(p) {
				t.Errorf("partition %d is not taken over", p)
			}
		}
	})
}

// TestIdleProcessesAskLittle: with nothing to do, and also when hints are lost,
// a process of 64 partitions calls its store at most ten times a second.
func TestIdleProcessesAskLittle(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			s := memstore.New(memstore.Options{Partitions: 64, Shared: true})
			defer s.Close()
			var all []*process
			for range n {
				all = append(all, launch(t, s, false))
			}
			time.Sleep(time.Minute)
			for _, p := range all {
				p.store.calls.Store(0)
			}
			time.Sleep(5 * time.Minute)
			for i, p := range all {
				if rate := float64(p.store.calls.Load()) / 300; rate > 10 {
					t.Errorf("process %d of %d calls the store %.1f times a second", i+1, n, rate)
				} else {
					t.Logf("process %d of %d: %.1f calls a second", i+1, n, rate)
				}
				p.kill()
			}
		})
	}
}

// TestWithoutHints everything comes true a little later: a key that was revoked
// elsewhere is refused within 15 s, and a call that was made elsewhere is
// missed.
func TestWithoutHints(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New(memstore.Options{Partitions: 4, Shared: true})
		defer s.Close()
		a, b := launch(t, s, true), launch(t, s, true)
		defer a.kill()
		defer b.kill()
		key, err := a.engine.PutKey(t.Context(), byTest, "k", dengxu.Key{Role: dengxu.RoleOperator}, 0)
		if err != nil {
			t.Fatal(err)
		}
		secret := key.Value.Secret
		if _, err := b.engine.Authenticate(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		if err := a.engine.DeleteKey(t.Context(), byTest, "k", 0); err != nil {
			t.Fatal(err)
		}
		id := a.calledIn(t, "north")
		time.Sleep(15*time.Second + time.Millisecond)
		if _, err := b.engine.Authenticate(t.Context(), secret); dengxu.CodeOf(err) != dengxu.Unauthenticated {
			t.Errorf("the key is still taken: %v", err)
		}
		time.Sleep(5*time.Minute - 15*time.Second + 100*time.Millisecond)
		if got := b.state(t, id); got != dengxu.StateMissed {
			t.Errorf("the call is %s", got)
		}
	})
}

// TestTimersRunWithoutTheLeases: while the partition of the leases is away, the
// timers of the others run.
func TestTimersRunWithoutTheLeases(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New(memstore.Options{Partitions: 4, Shared: true})
		defer s.Close()
		a, b := launch(t, s, false), launch(t, s, false)
		time.Sleep(5 * time.Second)
		var ids []dengxu.TokenID
		for _, site := range sites {
			if b.engine.PartitionOf(site) != 0 {
				ids = append(ids, b.calledIn(t, site))
			}
		}
		b.store.down.Store(true)
		time.Sleep(time.Minute)
		a.kill()
		time.Sleep(4*time.Minute + time.Second)
		for _, id := range ids {
			if got := b.state(t, id); got != dengxu.StateMissed {
				t.Errorf("without leases a call is %s", got)
			}
		}
		b.store.down.Store(false)
		time.Sleep(2 * time.Second)
		b.kill()
		if b.keeper.alone {
			t.Error("it still believes that the leases cannot be had")
		}
		for _, line := range []string{"leases cannot be renewed", "leases are renewed again"} {
			if n := strings.Count(b.told.String(), line); n != 1 {
				t.Errorf("%q is told %d times:\n%s", line, n, b.told.String())
			}
		}
	})
}

// TestOtherTokensGoOnInAnotherProcess: nothing of what follows from events is
// lost with the process that was to do it.
func TestOtherTokensGoOnInAnotherProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New(memstore.Options{Partitions: 4, Shared: true})
		defer s.Close()
		a, b := launch(t, s, false), launch(t, s, false)
		defer b.kill()
		time.Sleep(5 * time.Second)
		ctx := t.Context()
		for _, site := range sites[:4] {
			set := dengxu.Site{TimeZone: "UTC", OtherTokens: "hold"}
			if _, err := b.engine.PutSite(ctx, byTest, site, set, 0); err != nil {
				t.Fatal(err)
			}
			for _, end := range []dengxu.QueueID{"-1", "-2"} {
				if _, err := b.engine.PutQueue(ctx, byTest, dengxu.QueueID(site)+end, dengxu.Queue{Site: site}, 0); err != nil {
					t.Fatal(err)
				}
			}
			counter := dengxu.Counter{Site: site, Queues: []dengxu.CounterQueue{{ID: dengxu.QueueID(site) + "-1"}}}
			if _, err := b.engine.PutCounter(ctx, byTest, dengxu.CounterID(site), counter, 0); err != nil {
				t.Fatal(err)
			}
		}
		a.kill() // and what comes now in its partitions is b's to find
		var others []dengxu.TokenID
		for _, site := range sites[:4] {
			both := dengxu.SiteJoinRequest{
				JoinRequest: dengxu.JoinRequest{BusinessID: "7"},
				Queues:      []dengxu.QueueID{dengxu.QueueID(site) + "-1", dengxu.QueueID(site) + "-2"},
			}
			tickets, err := b.engine.JoinSite(ctx, byTest, site, both)
			if err != nil {
				t.Fatal(err)
			}
			others = append(others, tickets.Value[1].ID)
			if _, err := b.engine.CallNext(ctx, byTest, dengxu.CounterID(site), "", dengxu.CallRequest{}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Second)
		for _, id := range others {
			if got := b.state(t, id); got != dengxu.StateScheduled {
				t.Errorf("the other token of somebody called is %s", got)
			}
		}
	})
}
