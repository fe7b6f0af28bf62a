package torture

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/redistest"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
	"github.com/dengxu/dengxu/internal/store/pebblestore"
	"github.com/dengxu/dengxu/internal/store/redisstore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

// admin sets a hall up.
var admin = engine.By{Kind: engine.Admin, Name: "key:admin", Scope: "admin", Pick: true, Move: true}

// stores are the stores that runs in process go over.
var stores = map[string]func(t *testing.T, clock *storetest.Clock) store.Store{
	"memstore":    openMemory,
	"pebblestore": openPebble,
	"redisstore":  openRedis,
}

// among is stores, and one of four partitions that several processes use.
func among() map[string]func(t *testing.T, clock *storetest.Clock) store.Store {
	all := maps.Clone(stores)
	all["memstore of four"] = openFour
	return all
}

func openFour(t *testing.T, clock *storetest.Clock) store.Store {
	t.Helper()
	return closed(t, memstore.New(memstore.Options{Wall: clock.Wall, Mono: clock.Mono, Partitions: 4, Shared: true}))
}

// onRedis is a store that another process can open too.
type onRedis struct {
	store.Store
	open func(*testing.T) store.Store
}

func openRedis(t *testing.T, clock *storetest.Clock) store.Store {
	t.Helper()
	o := redisstore.Options{URL: redistest.Shared(t).URL(), Prefix: redistest.Prefix(t), Wall: clock.Wall, Mono: clock.Mono}
	open := func(t *testing.T) store.Store {
		t.Helper()
		s, err := redisstore.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return closed(t, s)
	}
	return onRedis{open(t), open}
}

func openMemory(t *testing.T, clock *storetest.Clock) store.Store {
	t.Helper()
	return closed(t, memstore.New(memstore.Options{Wall: clock.Wall, Mono: clock.Mono}))
}

func openPebble(t *testing.T, clock *storetest.Clock) store.Store {
	t.Helper()
	s, err := pebblestore.Open(pebblestore.Options{
		Dir: t.TempDir(), Wall: clock.Wall, Mono: clock.Mono,
		Fatal: func(err error) { t.Errorf("the store failed: %v", err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return closed(t, s)
}

func closed(t *testing.T, s store.Store) store.Store {
	t.Helper()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func openEngine(t *testing.T, s store.Store) *engine.Engine {
	t.Helper()
	e, err := engine.Open(t.Context(), engine.Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// setting decodes settings written as JSON.
func setting[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("settings %s: %v", text, err)
	}
	return v
}

// setter makes sites, queues and counters: in process or over HTTP.
type setter interface {
	site(ctx context.Context, id dengxu.SiteID, s dengxu.Site) error
	queue(ctx context.Context, id dengxu.QueueID, q dengxu.Queue) error
	counter(ctx context.Context, id dengxu.CounterID, c dengxu.Counter) error
}

func (d direct) site(ctx context.Context, id dengxu.SiteID, s dengxu.Site) error {
	_, err := d.PutSite(ctx, admin, id, s, 0)
	return err
}

func (d direct) queue(ctx context.Context, id dengxu.QueueID, q dengxu.Queue) error {
	_, err := d.PutQueue(ctx, admin, id, q, 0)
	return err
}

func (d direct) counter(ctx context.Context, id dengxu.CounterID, c dengxu.Counter) error {
	_, err := d.PutCounter(ctx, admin, id, c, 0)
	return err
}

func (r remote) site(ctx context.Context, id dengxu.SiteID, s dengxu.Site) error {
	_, err := r.PutSite(ctx, id, s, 0)
	return err
}

func (r remote) queue(ctx context.Context, id dengxu.QueueID, q dengxu.Queue) error {
	_, err := r.PutQueue(ctx, id, q, 0)
	return err
}

func (r remote) counter(ctx context.Context, id dengxu.CounterID, c dengxu.Counter) error {
	_, err := r.PutCounter(ctx, id, c, 0)
	return err
}

// hall is settings of a whole site, as JSON by id.
type hall struct {
	site     string
	queues   map[string]string
	counters map[string]string
}

const hallID dengxu.SiteID = "hall"

// build makes the hall.
func (h hall) build(t *testing.T, s setter) {
	t.Helper()
	if err := s.site(t.Context(), hallID, setting[dengxu.Site](t, h.site)); err != nil {
		t.Fatalf("site: %v", err)
	}
	for id, text := range h.queues {
		q := setting[dengxu.Queue](t, text)
		q.Site = hallID
		if err := s.queue(t.Context(), dengxu.QueueID(id), q); err != nil {
			t.Fatalf("queue %s: %v", id, err)
		}
	}
	for id, text := range h.counters {
		c := setting[dengxu.Counter](t, text)
		c.Site = hallID
		if err := s.counter(t.Context(), dengxu.CounterID(id), c); err != nil {
			t.Fatalf("counter %s: %v", id, err)
		}
	}
}

// historyHall is the hall of the histories: lines of first come, first served
// that share nothing, missed tokens kept.
func historyHall() hall {
	h := hall{
		site:   fmt.Sprintf(`{"time_zone":%q}`, noon()),
		queues: make(map[string]string), counters: make(map[string]string),
	}
	for q := range historyQueues {
		h.queues[string(historyQueue(q))] = fmt.Sprintf(`{"prefix":%q,"day_end":"keep","missed":{"policy":"keep"}}`, string('A'+rune(q)))
		for c := range historyCounters {
			h.counters[string(historyCounter(q, c+1))] = fmt.Sprintf(`{"queues":[%q]}`, historyQueue(q))
		}
	}
	return h
}

// sound fails the test unless the audit finds nothing.
func sound(t *testing.T, seed uint64, s store.Store) {
	t.Helper()
	found, err := s.Audit(context.WithoutCancel(t.Context()))
	if err != nil {
		t.Fatalf("seed %d: audit: %v", seed, err)
	}
	for _, f := range found {
		t.Errorf("seed %d: audit: %s: %s", seed, f.Kind, f.Text)
	}
}
