package pebblestore_test

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/pebblestore"
)

const day = 20_700

// joinBatch is what the engine commits for a join of one person: a record of
// about 180 bytes with business id, holder mark, number, quota, operation,
// rank and event.
func joinBatch(n uint64) store.Batch {
	id := dengxu.TokenID(fmt.Sprintf("%010x", n) + rand.Text()[:16])
	line := store.LineKey{Queue: "clinic", Gen: day}
	business := fmt.Sprintf("customer-%09d", n)
	k := order.Ordinary - int(n%8)
	return store.Batch{
		Site: "main",
		Op:   store.Op{Scope: "key-kiosk", Key: rand.Text(), Hash: [16]byte{1, 2, 3}, Keep: 24 * 3600 * 1000},
		Expect: []store.Expectation{
			store.DocAt{Key: store.DocKey{Kind: store.DocQueue, ID: "clinic"}},
			store.HolderFree{Holder: store.HolderKey{Line: line, Business: business}},
			store.CountBelow{Line: line, States: []dengxu.State{dengxu.StateWaiting, dengxu.StateScheduled}, Max: 1 << 30},
			store.TallyBelow{Key: store.TallyKey{Name: "joins/clinic", Day: day}, Max: 1 << 30},
		},
		Tokens: []store.TokenWrite{{
			Token: store.Token{
				ID: id, Site: "main", Queue: "clinic", Gen: day, Group: "ordinary", Prefix: "A", Width: 3,
				State: dengxu.StateWaiting, Version: 1, Since: store.Now, JoinedAt: store.Now, Place: store.Now,
				Lane: order.Lane{K: k}, Factor: order.FactorOf(k), Business: business, Unique: true,
				Channel: "kiosk", Name: "Ada Lovelace-Byron", Phone: "+441234567890", Due: store.Now + 7_200_000,
				Attrs: []byte(`{"age":71,"vip_level":0,"language":"en"}`),
			},
			Series: &store.Series{Name: "A", Day: day, First: 1},
		}},
		Tallies: []store.TallyAdd{{Key: store.TallyKey{Name: "joins/clinic", Day: day}, N: 1}},
		Events:  []store.EventSpec{{Type: dengxu.EventJoined, Token: 1, Actor: "kiosk"}},
		Ranks:   []store.RankOf{{Token: 1}},
	}
}

// rawJoin is the same keys and bytes for pebble.
type rawJoin [6]struct{ key, value []byte }

func newRawJoin(n uint64) (r rawJoin) {
	id := fmt.Sprintf("%010x", n) + rand.Text()[:16]
	for i, kv := range []struct {
		key  string
		size int
	}{
		{"t" + id, 184},
		{"e" + string(binary.BigEndian.AppendUint64(nil, n)), 88},
		{"o\x09key-kiosk" + rand.Text(), 56},
		{"M", 52},
		{"sA", 8},
		{"yjoins/clinic", 8},
	} {
		r[i].key, r[i].value = []byte(kv.key), make([]byte, kv.size)
		_, _ = rand.Read(r[i].value) // never fails
	}
	return r
}

func (r *rawJoin) commit(db *pebble.DB) error {
	b := db.NewBatch()
	for i := range r {
		if err := b.Set(r[i].key, r[i].value, nil); err != nil {
			return err
		}
	}
	return errors.Join(b.Commit(pebble.Sync), b.Close())
}

// made are n values, made before they are needed.
func made[V any](base uint64, n int, one func(uint64) V) []V {
	all := make([]V, n)
	for i := range all {
		all[i] = one(base + uint64(i))
	}
	return all
}

// callers runs do n times from some goroutines and returns the rate.
func callers(b *testing.B, some, n int, do func(i uint64) error) float64 {
	b.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range some {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if err := do(uint64(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return float64(n) / time.Since(start).Seconds()
}

// BenchmarkJoin measures durable joins beside raw synced batches of pebble of
// the same keys and bytes, in turns, and reports the ratio.
func BenchmarkJoin(b *testing.B) {
	for _, some := range []int{1, 64, 256} {
		b.Run(fmt.Sprint(some, " callers"), func(b *testing.B) {
			dir := b.TempDir()
			s, err := pebblestore.Open(pebblestore.Options{Dir: filepath.Join(dir, "store")})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			o := &pebble.Options{FormatMajorVersion: pebble.FormatNewest, MemTableSize: 32 << 20, MemTableStopWritesThreshold: 4, Logger: quiet{}}
			for i := range o.Levels {
				o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
			}
			db, err := pebble.Open(filepath.Join(dir, "raw"), o)
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			var joins, raws, rounds float64
			var cpuJoins, cpuRaws time.Duration
			var base uint64
			for b.Loop() {
				// A round is about a quarter of a second of each.
				n := 1000
				if some > 1 {
					n = 10_000
				}
				batches, raw := made(base, n, joinBatch), made(base, n, newRawJoin)
				c0 := cpu()
				joins += callers(b, some, n, func(i uint64) error {
					_, err := s.Commit(b.Context(), batches[i-1])
					return err
				})
				c1 := cpu()
				raws += callers(b, some, n, func(i uint64) error { return raw[i-1].commit(db) })
				cpuJoins += c1 - c0
				cpuRaws += cpu() - c1
				base += uint64(n)
				rounds++
			}
			b.ReportMetric(float64(cpuJoins.Microseconds())/float64(base), "cpu-µs/join")
			b.ReportMetric(float64(cpuRaws.Microseconds())/float64(base), "cpu-µs/raw")
			b.ReportMetric(joins/rounds, "joins/s")
			b.ReportMetric(raws/rounds, "raw/s")
			b.ReportMetric(joins/raws, "ratio")
		})
	}
}

// BenchmarkMillion measures a line of a million people: memory a token, a
// rank, opening the folder again, and an audit.
func BenchmarkMillion(b *testing.B) {
	const people = 1_000_000
	o := pebblestore.Options{Dir: filepath.Join(b.TempDir(), "store")}
	before := heap()
	s, err := pebblestore.Open(o)
	if err != nil {
		b.Fatal(err)
	}
	joins := callers(b, 256, people, func(i uint64) error {
		_, err := s.Commit(b.Context(), joinBatch(i))
		return err
	})
	perToken := float64(heap()-before) / people
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	start, c0 := time.Now(), cpu()
	if s, err = pebblestore.Open(o); err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	opened, cpuOpen := time.Since(start), cpu()-c0
	reopened := float64(heap()-before) / people
	start, c0 = time.Now(), cpu()
	if found, err := s.Audit(b.Context()); err != nil || len(found) > 0 {
		b.Fatal(found, err)
	}
	audited, cpuAudit := time.Since(start), cpu()-c0
	page, err := s.List(b.Context(), store.ListAsk{Newest: true, Limit: 1})
	if err != nil {
		b.Fatal(err)
	}
	line := store.LineKey{Queue: "clinic", Gen: day}
	member := page.Tokens[0].Member()
	last := member.Key.Place
	for b.Loop() {
		member.Key.Place = last - (last-member.Key.Place+7)%1000
		v, err := s.View(b.Context(), store.Ask{Ranks: []store.RankAsk{{Line: line, Member: member}}})
		if err != nil || v.Ranks[0] < people/2 {
			b.Fatal(v.Ranks, err)
		}
	}
	b.ReportMetric(joins, "joins/s")
	b.ReportMetric(perToken, "B/token")
	b.ReportMetric(reopened, "B/token-reopened")
	b.ReportMetric(opened.Seconds(), "s/open")
	b.ReportMetric(audited.Seconds(), "s/audit")
	b.ReportMetric(cpuOpen.Seconds(), "cpu-s/open")
	b.ReportMetric(cpuAudit.Seconds(), "cpu-s/audit")
}

// heap is the live memory after a collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// cpu is the processor time that this process has used, which other processes
// on the machine disturb less than the clock.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(f string, a ...any) {
	panic(fmt.Sprintf(f, a...))
}
