// Package redisstore keeps the state in Redis: one server, one watched by
// Sentinel, or a cluster. Many processes may share it. Each commit is judged
// and written by a script on the server, together with the others that wait in
// the process for the same partition; so two counters never get one token,
// whichever processes they talk to.
//
// It owns the layout in Redis, the scripts, and what becomes of a call whose
// answer was lost. It refuses to decide anything about people, to keep state
// in the process that Redis does not have, and to run where Redis may evict.
package redisstore

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dengxu/dengxu/internal/store"
)

// Options says where Redis is. Only URL is needed.
type Options struct {
	// URL is as ParseURL reads it; Prefix and Partitions stand here alone.
	URL string
	// Prefix begins every key; "" = "dengxu:".
	Prefix string
	// Partitions is how many a new store gets; 0 = 64 in a cluster, else 1. A
	// store that exists keeps its own.
	Partitions int
	// Replicated makes a commit wait until a replica has it.
	Replicated bool
	// Wall and Mono are clocks of tests: Wall stands in for the server's.
	Wall func() time.Time
	Mono func() time.Duration // since any fixed moment
	// Dial stands in for this machine's network in tests; it has no TLS.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	Logger *slog.Logger // nil = discard
}

// defaultPrefix begins the keys of a store that says nothing else.
const defaultPrefix = "dengxu:"

// format is the version of the layout.
const format = "1"

// Store is a store in Redis. It is safe for concurrent use.
type Store struct {
	opts    Options
	link    atomic.Pointer[link]
	cluster bool
	scripts *scripts
	process string // names this process in the partitions' state
	parts   []*part

	gate    chan struct{} // bounds the calls under way
	sick    chan sick     // buffered, for one is enough
	losses  losses
	report  atomic.Pointer[Report]
	changed chan struct{} // buffered, for one is enough: look at the servers anew

	closed  atomic.Bool
	closing context.Context // ends when the store closes
	end     context.CancelFunc
	working context.Context // does not end: what was begun is finished
	running sync.WaitGroup
	stopped chan struct{} // closed when nobody answers any more
}

// Open connects and creates the partitions of a new store. It returns an error
// when Redis cannot be reached or has data of another format.
func Open(ctx context.Context, o Options) (*Store, error) {
	o = o.withDefaults()
	client, cluster, err := connect(&o)
	if err != nil {
		return nil, err
	}
	publish := "PUBLISH"
	if cluster {
		publish = "SPUBLISH"
	}
	var id [6]byte
	_, _ = rand.Read(id[:]) // never fails
	s := &Store{
		opts: o, cluster: cluster, scripts: newScripts(publish), process: string(id[:]),
		gate: make(chan struct{}, atOnce), sick: make(chan sick, 1), changed: make(chan struct{}, 1), stopped: make(chan struct{}), working: context.WithoutCancel(ctx),
	}
	s.link.Store(&link{client})
	s.closing, s.end = context.WithCancel(s.working)
	// What a server does with its memory comes before anything is put there.
	err = s.assess(ctx)
	if err == nil {
		err = s.openParts(ctx)
	}
	if err != nil {
		s.end()
		client.Close()
		return nil, err
	}
	s.start()
	return s, nil
}

func (o Options) withDefaults() Options {
	if o.Prefix == "" {
		o.Prefix = defaultPrefix
	}
	if o.Mono == nil {
		start := time.Now()                                        //nolint:forbidigo // durations only, never a time
		o.Mono = func() time.Duration { return time.Since(start) } //nolint:forbidigo // as above
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// start begins what goes on until the store closes.
func (s *Store) start() {
	for _, p := range s.parts {
		p.recent.most = remembered / len(s.parts)
		s.running.Go(p.commitLoop)
		s.running.Go(p.viewLoop)
	}
	s.running.Go(s.tend)
	s.running.Go(s.renewLoop)
	s.listen()
}

// openParts opens partition 0, which knows how many there are, and then the
// others.
func (s *Store) openParts(ctx context.Context) error {
	n := s.opts.Partitions
	if n == 0 && s.cluster {
		n = 64
	}
	first, n, err := s.openPart(ctx, 0, max(n, 1))
	if err != nil {
		return err
	}
	if asked := s.opts.Partitions; asked != 0 && asked != n {
		s.opts.Logger.Warn("the store keeps the number of partitions that it was made with", "has", n, "asked", asked)
	}
	s.parts = append(make([]*part, 0, n), first)
	for i := 1; i < n; i++ {
		p, _, err := s.openPart(ctx, i, n)
		if err != nil {
			return err
		}
		s.parts = append(s.parts, p)
	}
	return nil
}

// openPart creates partition i of n, or learns its numbers.
func (s *Store) openPart(ctx context.Context, i, n int) (*part, int, error) {
	p := newPart(s, store.Partition(i), partitionKeys(s.opts.Prefix, i, n))
	epoch := fmt.Sprint(time.Now().Unix()) //nolint:forbidigo // another store begins another log
	reply, err := s.scripts.create.run(ctx, s.client(), p.keys, epoch, format, fmt.Sprint(n), s.wall(), s.process)
	if err != nil {
		return nil, 0, fmt.Errorf("open partition %d: %w", i, outcome(err))
	}
	u := &unpacker{buf: reply}
	u.array()
	if have := u.text(); have != format && u.err == nil {
		return nil, 0, fmt.Errorf("redis has data of format %q, this program knows %q", have, format)
	}
	var parts int
	if _, err := fmt.Sscan(u.text(), &parts); err != nil {
		u.fail("no count of partitions")
	}
	p.epoch.Store(uint64(u.int()))
	p.marks.see(u.int(), u.int(), u.int())
	p.readHead(u)
	return p, parts, u.err
}

// wall is what stands in for the server's time in tests, or "".
func (s *Store) wall() string {
	if s.opts.Wall == nil {
		return ""
	}
	return fmt.Sprint(s.opts.Wall().UnixMilli())
}

// About describes the store. The class is what the last Check found.
func (s *Store) About() store.About {
	r := s.report.Load()
	return store.About{Kind: "redis", Partitions: len(s.parts), Shared: true, Durability: r.Durability, Text: r.Text}
}

// Close waits for what is being written, at most a few seconds, and releases
// the connections.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.end()
	s.running.Wait()
	close(s.stopped)
	s.leave()
	s.client().Close()
	return nil
}

// ready refuses what cannot be served.
func (s *Store) ready(ctx context.Context, p store.Partition) (*part, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.closed.Load() {
		return nil, store.ErrClosed
	}
	if int(p) >= len(s.parts) {
		return nil, fmt.Errorf("redisstore: there is no partition %d", p)
	}
	return s.parts[p], nil
}

// wait waits, at most until the store closes.
func (s *Store) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.closing.Done():
	}
}

// pauseBetween is how long the store waits before it subscribes again, and
// between two clients that were poisoned.
const pauseBetween = 250 * time.Millisecond
