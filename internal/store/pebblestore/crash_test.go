package pebblestore_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/pebblestore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

// acks is what was acknowledged so far.
type acks struct {
	mu       sync.Mutex
	versions map[dengxu.TokenID]uint64
	event    uint64
	commits  int
	every    int // calls then after so many commits
	then     func()
}

func newAcks() *acks { return &acks{versions: make(map[dengxu.TokenID]uint64)} }

func (a *acks) take(r store.Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range r.Tokens {
		a.versions[r.Tokens[i].ID] = max(a.versions[r.Tokens[i].ID], r.Tokens[i].Version)
	}
	a.event = max(a.event, r.Last.Number)
	if a.commits++; a.every > 0 && a.commits%a.every == 0 {
		a.then()
	}
}

// crashed is a disk as it may be after power loss, and what had been
// acknowledged by then.
type crashed struct {
	disk     *vfs.MemFS
	versions map[dengxu.TokenID]uint64
	event    uint64
	what     string
}

// crash copies what was acknowledged, and then the disk. The caller holds mu.
func (a *acks) crash(disk *vfs.MemFS, r *rand.Rand, what string) crashed {
	c := crashed{versions: maps.Clone(a.versions), event: a.event, what: what}
	c.disk = disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: r.IntN(101), RNG: r})
	return c
}

// verify opens a crashed disk and looks for everything that was acknowledged.
func (c crashed) verify(t *testing.T) {
	t.Helper()
	s, err := pebblestore.Open(pebblestore.Options{Dir: "data", FS: c.disk})
	if err != nil {
		t.Errorf("%s: %v", c.what, err)
		return
	}
	ask := store.Ask{}
	for id := range c.versions {
		ask.Tokens = append(ask.Tokens, id)
	}
	v, err := s.View(t.Context(), ask)
	if err != nil {
		t.Errorf("%s: view: %v", c.what, err)
	}
	for i, tok := range v.Tokens {
		if want := c.versions[ask.Tokens[i]]; tok == nil || tok.Version < want {
			t.Errorf("%s: version %d of %s was acknowledged and is lost: %v", c.what, want, ask.Tokens[i], tok)
		}
	}
	if p, err := s.Events(t.Context(), store.Cursor{}, 1); err != nil || p.End.Number < c.event {
		t.Errorf("%s: event %d was acknowledged, the log ends at %d: %v", c.what, c.event, p.End.Number, err)
	}
	numbers := map[string]dengxu.TokenID{}
	page, err := s.List(t.Context(), store.ListAsk{Limit: 10_000})
	if err != nil {
		t.Errorf("%s: list: %v", c.what, err)
	}
	for i := range page.Tokens {
		label := page.Tokens[i].Label()
		if by, taken := numbers[label]; taken {
			t.Errorf("%s: %s and %s have the number %s", c.what, by, page.Tokens[i].ID, label)
		}
		numbers[label] = page.Tokens[i].ID
	}
	if found, err := s.Audit(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("%s: audit: %v %v", c.what, found, err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("%s: close: %v", c.what, err)
	}
	if found, err := pebblestore.AuditDir(pebblestore.Options{Dir: "data", FS: c.disk}, store.Auditor{}); err != nil || len(found) > 0 {
		t.Errorf("%s: audit of the folder: %v %v", c.what, found, err)
	}
}

// callBatch calls the first of the line to a counter.
func callBatch(counter string) store.Batch {
	return store.Batch{Site: "main", Pick: &store.Pick{
		Lines: []store.PickLine{{Line: store.LineKey{Queue: "clinic", Gen: day}}}, Mode: order.Oldest, Max: 1,
		State: dengxu.StateCalling, Counter: dengxu.CounterID(counter), Deadline: store.Now + 300_000,
		Due: store.Now + 300_000, Actor: "counter:" + counter, Event: dengxu.EventCalled,
	}}
}

// completeBatch ends a called token, remembers its end, and archives another
// that ended before.
func completeBatch(t store.Token) store.Batch {
	t.CloseSpan(store.Now, dengxu.VerbComplete, "counter")
	t.State, t.EndedAt, t.Due = dengxu.StateCompleted, store.Now, store.Now+1000
	t.Version++
	return store.Batch{
		Site: "main", Tokens: []store.TokenWrite{{Token: t}},
		Marks: []store.MarkWrite{
			{MarkKey: store.MarkKey{Queue: t.Queue, Business: t.Business}, At: store.Now, Keep: 3_600_000},
			{MarkKey: store.MarkKey{Queue: t.Queue, Business: t.Business, Kind: store.MarkServed}, At: store.Now, Keep: 3_600_000},
		},
		Events: []store.EventSpec{{Type: dengxu.EventCompleted, Token: 1, Actor: "counter"}},
	}
}

func archiveBatch(t store.Token) store.Batch {
	t.Version++
	return store.Batch{Site: "main", Tokens: []store.TokenWrite{{Token: t, Archive: true}}}
}

// work is a worker's n-th piece of a busy day: joins, and now and then a whole
// stay.
func work(t *testing.T, s *pebblestore.Store, a *acks, worker, n int) bool {
	t.Helper()
	commit := func(b store.Batch) (store.Result, bool) {
		r, err := s.Commit(t.Context(), b)
		if err != nil {
			if !errors.Is(err, store.ErrUnknown) && !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("commit: %v", err)
			}
			return r, false
		}
		a.take(r)
		return r, true
	}
	if _, ok := commit(joinBatch(uint64(worker*1_000_000 + n))); !ok || n%3 > 0 {
		return ok
	}
	r, ok := commit(callBatch(fmt.Sprint(worker)))
	if !ok || len(r.Tokens) == 0 {
		return ok
	}
	if r, ok = commit(completeBatch(r.Tokens[0])); !ok || n%2 > 0 {
		return ok
	}
	_, ok = commit(archiveBatch(r.Tokens[0]))
	return ok
}

// TestPowerLoss cuts the power at many moments of a busy day: everything that
// was acknowledged is there, and everything that is there fits together.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			disk := vfs.NewCrashableMem()
			s, err := pebblestore.Open(pebblestore.Options{Dir: "data", FS: disk}.WithMemtable(16 << 10))
			if err != nil {
				t.Fatal(err)
			}
			a := newAcks()
			var moments []crashed
			a.every, a.then = 43, func() {
				moments = append(moments, a.crash(disk, r, fmt.Sprint("after commit ", a.commits)))
			}
			var wg sync.WaitGroup
			for w := range 8 {
				wg.Go(func() {
					for n := range 60 {
						work(t, s, a, w, n)
					}
				})
			}
			wg.Wait()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if len(moments) < 12 {
				t.Fatalf("only %d moments", len(moments))
			}
			for _, c := range moments {
				c.verify(t)
			}
		})
	}
}

// TestKillPoints cuts the power before every write to the disk of a store's
// whole life: made, written to, flushed, closed, opened again.
func TestKillPoints(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	disk := vfs.NewCrashableMem()
	a := newAcks()
	var moments []crashed
	seen := 0
	injector := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			a.mu.Lock()
			defer a.mu.Unlock()
			if seen++; seen%7 == 0 || seen < 40 || storetest.Torture() {
				moments = append(moments, a.crash(disk, r, fmt.Sprintf("before write %d to %s", seen, op.Path)))
			}
		}
		return nil
	})
	for life := range 3 {
		s, err := pebblestore.Open(pebblestore.Options{Dir: "data", FS: errorfs.Wrap(disk, injector)}.WithMemtable(8 << 10))
		if err != nil {
			t.Fatal(err)
		}
		for n := range 15 {
			work(t, s, a, life, n)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(moments) < 60 {
		t.Fatalf("only %d moments", len(moments))
	}
	for _, c := range moments {
		c.verify(t)
	}
}
