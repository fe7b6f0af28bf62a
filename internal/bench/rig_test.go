// Package bench measures the whole: the engine over the embedded store and the
// HTTP API, each beside the least that could do the same work, in one run on
// one machine. It owns no code of the product.
package bench

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/pebblestore"
)

// hall is an engine over a store on disk, with one queue and counters to it.
type hall struct {
	dir    string
	store  store.Store
	engine *engine.Engine
	n      atomic.Uint64
}

const counters = 256

// TestMain collects garbage as seldom as dengxu serve does; both sides of a
// comparison run so.
func TestMain(m *testing.M) {
	debug.SetGCPercent(300)
	m.Run()
}

func newHall(tb testing.TB) *hall {
	tb.Helper()
	h := &hall{dir: filepath.Join(tb.TempDir(), "store")}
	h.open(tb)
	h.furnish(tb)
	return h
}

// furnish makes the queue and the counters.
func (h *hall) furnish(tb testing.TB) {
	tb.Helper()
	ctx := context.Background()
	steps := []func() error{
		func() error {
			_, err := h.engine.PutSite(ctx, staff, "hall", dengxu.Site{TimeZone: "UTC"}, 0)
			return err
		},
		func() error {
			_, err := h.engine.PutQueue(ctx, staff, "main", dengxu.Queue{Site: "hall"}, 0)
			return err
		},
	}
	for i := range counters {
		steps = append(steps, func() error {
			_, err := h.engine.PutCounter(ctx, staff, counterID(i), dengxu.Counter{
				Site: "hall", Queues: []dengxu.CounterQueue{{ID: "main"}},
			}, 0)
			return err
		})
	}
	for _, step := range steps {
		if err := step(); err != nil {
			tb.Fatal(err)
		}
	}
}

func (h *hall) open(tb testing.TB) {
	tb.Helper()
	s, err := pebblestore.Open(pebblestore.Options{Dir: h.dir})
	if err != nil {
		tb.Fatal(err)
	}
	h.store = s
	if h.engine, err = engine.Open(context.Background(), engine.Options{Store: h.store}); err != nil {
		tb.Fatal(err)
	}
}

func counterID(i int) dengxu.CounterID { return dengxu.CounterID(fmt.Sprint("c", i)) }

var staff = engine.By{Kind: engine.Operator, Name: "key:bench", Scope: "bench"}

// join is one join of somebody new, with a business id and an idempotency key.
func (h *hall) join(int) error {
	by := staff
	by.Key = rand.Text()
	_, err := h.engine.Join(context.Background(), by, "main", dengxu.JoinRequest{
		BusinessID: fmt.Sprintf("customer-%09d", h.n.Add(1)), Name: "Ada Lovelace-Byron",
	})
	return err
}

// callNext completes what the caller's counter has and calls the next.
func (h *hall) callNext(caller int) error {
	by := staff
	by.Key = rand.Text()
	done, err := h.engine.CallNext(context.Background(), by, counterID(caller), "", dengxu.CallRequest{Current: "complete"})
	if err == nil && done.Value.Token == nil {
		err = fmt.Errorf("nobody to call: %s", done.Value.Reason)
	}
	return err
}

// fill joins n people from many callers.
func (h *hall) fill(tb testing.TB, n int) {
	tb.Helper()
	if took := run(tb, 256, n, h.join); took.rate == 0 {
		tb.Fatal("nobody joined")
	}
}

// run is what a run of many callers took.
type taken struct {
	rate     float64 // a second
	p50, p99 time.Duration
}

// run does n operations from some callers at once and times each.
func run(tb testing.TB, some, n int, do func(caller int) error) taken {
	tb.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	took := make([]time.Duration, n)
	start := time.Now()
	for caller := range some {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				began := time.Now()
				if err := do(caller); err != nil {
					tb.Error(err)
					return
				}
				took[i] = time.Since(began)
			}
		})
	}
	wg.Wait()
	all := time.Since(start)
	slices.Sort(took)
	return taken{rate: float64(n) / all.Seconds(), p50: took[n/2], p99: took[n*99/100]}
}

// mean of runs of the same kind.
func mean(runs []taken) taken {
	var sum taken
	for _, r := range runs {
		sum.rate += r.rate
		sum.p50 += r.p50
		sum.p99 += r.p99
	}
	n := len(runs)
	return taken{sum.rate / float64(n), sum.p50 / time.Duration(n), sum.p99 / time.Duration(n)}
}

func report(b *testing.B, name string, t taken) {
	b.Helper()
	b.ReportMetric(t.rate, name+"/s")
	b.ReportMetric(float64(t.p50.Microseconds()), name+"-p50-µs")
	b.ReportMetric(float64(t.p99.Microseconds()), name+"-p99-µs")
}

// shape is the mean size of what the store wrote, by the first byte of the key.
type shape map[byte]struct{ key, value int }

// totals is what a database holds, by the first byte of the key; T are the
// records of tokens that are being called.
type totals map[byte]struct{ n, keys, values int }

// since is the mean size of what was written since before. Of keys that are
// written over, it is that of all which stand there now.
func (t totals) since(before totals) shape {
	out := make(shape)
	for p, now := range t {
		if was := before[p]; now.n > was.n && (p == 'e' || p == 'o') {
			now.n, now.keys, now.values = now.n-was.n, now.keys-was.keys, now.values-was.values
		}
		out[p] = struct{ key, value int }{now.keys / now.n, now.values / now.n}
	}
	return out
}

// written closes the hall's store, reads what is in its database, and opens it
// again.
func (h *hall) written(tb testing.TB) totals {
	tb.Helper()
	if err := h.store.Close(); err != nil {
		tb.Fatal(err)
	}
	out := totalsOf(tb, filepath.Join(h.dir, "db"))
	h.open(tb)
	tb.Cleanup(func() { _ = h.store.Close() })
	return out
}

func totalsOf(tb testing.TB, dir string) totals {
	tb.Helper()
	db, err := pebble.Open(dir, rawOptions())
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	it, err := db.NewIter(nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer it.Close()
	out := make(totals)
	for it.First(); it.Valid(); it.Next() {
		p := it.Key()[0]
		if p == 't' {
			t, err := store.DecodeToken("", it.Value())
			if err != nil {
				tb.Fatal(err)
			}
			if t.State.AtCounter() {
				p = 'T'
			}
		}
		s := out[p]
		s.n, s.keys, s.values = s.n+1, s.keys+len(it.Key()), s.values+len(it.Value())
		out[p] = s
	}
	return out
}

// raw writes batches of the given kinds of keys straight to pebble, each
// caller for itself, synced.
type raw struct {
	db    *pebble.DB
	shape shape
	kinds string
	noise []byte // values are cut out of it: nothing that compresses
	n     atomic.Uint64
}

func newRaw(tb testing.TB, s shape, kinds string) *raw {
	tb.Helper()
	db, err := pebble.Open(filepath.Join(tb.TempDir(), "raw"), rawOptions())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	for _, k := range []byte(kinds) {
		if s[k].key == 0 {
			tb.Fatalf("the store wrote no key of kind %c", k)
		}
	}
	r := &raw{db: db, shape: s, kinds: kinds, noise: make([]byte, 1<<20)}
	_, _ = rand.Read(r.noise) // never fails
	return r
}

// fill writes n batches that are synced once.
func (r *raw) fill(tb testing.TB, n int) {
	tb.Helper()
	for i := range n {
		durably := pebble.NoSync
		if i == n-1 {
			durably = pebble.Sync
		}
		if err := r.commit(durably); err != nil {
			tb.Fatal(err)
		}
	}
}

func (r *raw) write(int) error { return r.commit(pebble.Sync) }

func (r *raw) commit(durably *pebble.WriteOptions) error {
	b := r.db.NewBatch()
	defer b.Close()
	n := r.n.Add(1)
	for i, kind := range []byte(r.kinds) {
		size := r.shape[kind]
		key := make([]byte, size.key)
		from := int((n*4099 + uint64(i)*509) % uint64(len(r.noise)-size.value))
		key[0] = kind
		switch kind {
		case 'M', 'y', 's': // the same keys each time
		case 'e': // in order, as the store's are
			binary.BigEndian.PutUint64(key[1:9], n<<2+uint64(i))
		case 't', 'T': // ids begin with a time
			_, _ = rand.Read(key[9:])
			binary.BigEndian.PutUint64(key[1:9], n)
		default: // the keys of operations are random
			_, _ = rand.Read(key[1:])
		}
		if err := b.Set(key, r.noise[from:from+size.value], nil); err != nil {
			return err
		}
	}
	return b.Commit(durably)
}

func rawOptions() *pebble.Options {
	o := &pebble.Options{FormatMajorVersion: pebble.FormatNewest, MemTableSize: 64 << 20, Logger: quiet{}}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	return o
}

type quiet struct{}

func (quiet) Infof(string, ...any)      {}
func (quiet) Errorf(string, ...any)     {}
func (quiet) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
