// Package feed tails the event logs of a store and fans them out to
// subscribers. It owns cursors, filters and the bounded buffers between the
// logs and whoever reads them, and refuses to wait for a slow reader: that one
// is dropped and resumes by its cursor.
package feed

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// Options are what a feed is made of. Zero values take the defaults.
type Options struct {
	Store store.Store // required
	// Event makes the wire form of a log entry; required. Its ID is replaced.
	Event func(store.Cursor, store.Event) dengxu.Event
	// Observe is told the last 1,000 entries before the start and then every
	// entry, in the order of its partition and before any subscriber, as many at
	// once as were read; nil = nobody.
	Observe func(context.Context, store.Partition, []store.Event)
	// Refresh is called when entries of a log may have gone unseen: once at
	// the start and when it was cut; nil = nobody.
	Refresh func(context.Context, store.Partition)
	// Moved is called, and must not wait, after entries of a log were fanned
	// out, and when it was found at the start; nil = nobody.
	Moved func(store.Partition)
	// PartitionOf says in whose log the events of a site are, so that nobody
	// reads more logs than are asked for; nil = they may be in any.
	PartitionOf func(dengxu.SiteID) store.Partition
	Logger      *slog.Logger
	// Tick is how often a log is read without a hint; 0 = 15 s, less by up to
	// a tenth.
	Tick time.Duration
	// Buffer is how many events a subscriber may be behind; 0 = 1024.
	Buffer int
	// MaxSubscribers bounds the subscriptions; 0 = 20,000.
	MaxSubscribers int
}

// Why a subscription ended.
var (
	ErrSlow    = errors.New("feed: the subscriber was too slow; resume by its cursor")
	ErrStopped = errors.New("feed: stopped")
)

// batch is how many entries are read from a log at once. It is well below
// Buffer, so that a reader who keeps up is not dropped by one read.
const batch = 64

// retry is how long a tail waits after a failed read of its log, and, where
// hints of other processes may be lost, how often it reads one that somebody
// listens to.
const retry = time.Second

// Feed fans out the logs of one store. It is safe for concurrent use.
type Feed struct {
	o       Options
	located chan struct{} // closed when every tail knows where its log ended

	mu      sync.Mutex // guards what follows
	tails   Cursor     // up to where each log was fanned out
	unknown int        // tails that have not found their log's end yet
	subs    map[*Subscription]struct{}
	hints   map[*hint]struct{}
	heard   []int // by partition: who listens to its log
	open    int   // subscriptions not yet closed, also those catching up
	stopped bool

	poke    []chan struct{} // by partition: somebody began to listen; capacity one, since one look is enough
	shared  bool            // hints may be lost on the way from another process
	failing atomic.Int32    // tails whose last read failed
}

// New returns a feed that reads nothing until Run.
func New(o Options) *Feed {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Tick == 0 {
		o.Tick = 15 * time.Second
	}
	if o.Buffer == 0 {
		o.Buffer = 1024
	}
	if o.MaxSubscribers == 0 {
		o.MaxSubscribers = 20_000
	}
	about := o.Store.About()
	parts := about.Partitions
	f := &Feed{
		o: o, located: make(chan struct{}), shared: about.Shared,
		heard: make([]int, parts), poke: make([]chan struct{}, parts),
		tails: make(Cursor, parts), unknown: parts, subs: make(map[*Subscription]struct{}),
		hints: make(map[*hint]struct{}),
	}
	for p := range f.tails {
		f.tails[p].Partition = store.Partition(p)
		f.poke[p] = make(chan struct{}, 1)
	}
	return f
}

// About describes the store whose logs these are.
func (f *Feed) About() store.About { return f.o.Store.About() }

// Ready reports, as Unavailable, that the logs were not found yet or that none
// can be read at the moment, or that the feed has stopped. While only some
// cannot be read, whoever asks for others is still served.
func (f *Feed) Ready() error {
	select {
	case <-f.located:
	default:
		return dengxu.Errorf(dengxu.Unavailable, "the event logs were not read yet")
	}
	f.mu.Lock()
	stopped := f.stopped
	f.mu.Unlock()
	if stopped {
		return dengxu.Errorf(dengxu.Unavailable, "the event feed has stopped")
	}
	if int(f.failing.Load()) == len(f.tails) {
		return dengxu.Errorf(dengxu.Unavailable, "the event log cannot be read")
	}
	return nil
}

// Run tails the logs until ctx ends; then every subscription ends with
// ErrStopped, and Run returns nil. It is called once.
func (f *Feed) Run(ctx context.Context) error {
	var tails sync.WaitGroup
	for p := range f.tails {
		tails.Go(func() { f.tail(ctx, store.Partition(p)) })
	}
	tails.Wait()
	f.stop()
	return nil
}

// Head returns the position up to which the logs were fanned out.
func (f *Feed) Head() Cursor {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.tails)
}

func (f *Feed) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
	for s := range f.subs {
		f.drop(s, ErrStopped)
	}
	for h := range f.hints {
		delete(f.hints, h)
		close(h.ch)
	}
}

// drop ends a live subscription. The caller holds mu.
func (f *Feed) drop(s *Subscription, why error) {
	delete(f.subs, s)
	s.why = why
	close(s.live)
}
