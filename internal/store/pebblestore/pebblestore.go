// Package pebblestore keeps one partition in a folder on disk, by
// cockroachdb/pebble: the default store. Records, documents, counts,
// operations and the log are on disk; what is derived from them, the lines
// above all, is in memory and built anew at open. Commits of many callers
// share one synced write; nothing is answered, and nothing is shown to a
// reader, before it is synced.
//
// It owns the folder, its format and its checks against silent loss. It
// refuses to open a folder that it cannot vouch for, and to go on after a
// failed write: then the process ends.
package pebblestore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// Options says where the folder is and what surrounds it. Only Dir is needed.
type Options struct {
	Dir string
	FS  vfs.FS // nil = the machine's disk

	// Wall and Mono are the clocks that the store reads; nil means the
	// machine's. Mono is since any fixed moment.
	Wall func() time.Time
	Mono func() time.Duration

	Logger *slog.Logger // nil = discard
	// Fatal is called once when a write or sync failed, after which nothing is
	// acknowledged any more: what the disk holds is not known. nil logs and
	// ends the process with code 1.
	Fatal func(error)

	memtable uint64 // bytes; tests make it small, so that pebble flushes
}

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.Wall == nil {
		o.Wall = time.Now //nolint:forbidigo // the default of the store's own clock
	}
	if o.Mono == nil {
		start := time.Now()                                        //nolint:forbidigo // as above
		o.Mono = func() time.Duration { return time.Since(start) } //nolint:forbidigo // as above
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.memtable == 0 {
		o.memtable = memtableBytes
	}
	if o.Fatal == nil {
		logger := o.Logger
		o.Fatal = func(err error) {
			logger.Error("the store failed and the process ends; nothing was acknowledged since", "error", err)
			os.Exit(1)
		}
	}
	return o
}

// Store is a store on disk. It is safe for concurrent use.
type Store struct {
	opts   Options
	folder *folder
	synced *syncedFile
	db     *pebble.DB

	life   sync.RWMutex // held shared by every call; Close takes it
	closed bool         // guarded by life

	failOnce sync.Once
	failed   chan struct{} // closed when a write failed
	failure  error         // set before failed is closed
	stuck    atomic.Bool   // pebble gave up within a write; read when all have ended

	queue queue // calls that wait for the committer
	// writes and syncs carry groups from the committer to the writer and on to
	// the syncer, see commit.go; writing and inWriter count those that the
	// writer has not passed on.
	writes, syncs chan *group
	writing       sync.WaitGroup
	inWriter      atomic.Int32
	ended         chan struct{} // closed when the syncer has ended
	sweep         *sweeper
	out           writer // of the committer
	encoder       writer // of the writer

	clockMu sync.Mutex // guards clock; taken inside mu
	clock   store.Clock

	// mu guards everything below. Only the committer writes; so the committer
	// reads without it.
	mu    sync.RWMutex
	meta  meta
	index *index
	last  *group // the last one that changed something
	cache recordCache
	// pending are the groups that are not in the database yet, written is the
	// last one that is, and spare is what they leave behind.
	pending []*group
	written uint64
	spare   []*fresh
	// filter knows which operations may be remembered at all.
	filter opFilter

	watch watchers
}

// Open opens the store in a folder, or makes both. It answers an error that
// wraps store.ErrDamaged when the folder cannot be vouched for, and
// store.ErrUnavailable when another process has it.
func Open(o Options) (*Store, error) {
	o = o.withDefaults()
	folder, err := openFolder(o.FS, o.Dir)
	if err != nil {
		return nil, err
	}
	s := newStore(o, folder)
	if err := s.load(); err != nil {
		err = errors.Join(err, s.release())
		return nil, err
	}
	close(s.last.done)
	go s.commitLoop()
	go s.writeLoop()
	go s.syncLoop()
	go s.sweepLoop()
	return s, nil
}

func newStore(o Options, f *folder) *Store {
	s := &Store{
		opts: o, folder: f,
		failed: make(chan struct{}), ended: make(chan struct{}),
		writes: make(chan *group, groupsAhead), syncs: make(chan *group, groupsAhead),
		sweep: newSweeper(), index: newIndex(), last: newGroup(0), cache: newRecordCache(),
	}
	s.queue.init()
	return s
}

// release gives up the folder.
func (s *Store) release() error {
	var err error
	if s.db != nil {
		err = errors.Join(err, s.db.Close())
	}
	if s.synced != nil {
		err = errors.Join(err, s.synced.close())
	}
	return errors.Join(err, s.folder.lock.Close())
}

// enter begins a call; the caller ends it with s.life.RUnlock.
func (s *Store) enter(ctx context.Context, p store.Partition) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.life.RLock()
	err := s.ready(p)
	if err != nil {
		s.life.RUnlock()
	}
	return err
}

func (s *Store) ready(p store.Partition) error {
	if s.closed {
		return store.ErrClosed
	}
	if p != 0 {
		return fmt.Errorf("pebblestore: there is no partition %d", p)
	}
	if s.hasFailed() {
		return s.unavailable()
	}
	return nil
}

func (s *Store) hasFailed() bool {
	select {
	case <-s.failed:
		return true
	default:
		return false
	}
}

func (s *Store) unavailable() error { return fmt.Errorf("%w: %w", store.ErrUnavailable, s.failure) }

// fail ends the store, and by default the process.
func (s *Store) fail(err error) {
	s.failOnce.Do(func() {
		s.failure = err
		close(s.failed)
		s.queue.stop()
		s.opts.Fatal(err)
	})
}

// tick reads the partition's time. The caller holds mu in either way, so that
// no commit falls between the time and what is read with it.
func (s *Store) tick() int64 {
	s.clockMu.Lock()
	defer s.clockMu.Unlock()
	now, _ := s.clock.Tick(s.opts.Wall(), s.opts.Mono())
	return now
}

// About describes the store.
func (s *Store) About() store.About {
	return store.About{
		Kind: "pebble", Partitions: 1, Durability: store.D2Commit,
		Text: AboutText,
	}
}

// AboutText is what is promised of durability, in one sentence.
const AboutText = "Everything is on this machine's disk, synced before it is answered."

// Close waits for what is being written and releases the folder. Later calls
// fail with store.ErrClosed.
func (s *Store) Close() error {
	s.life.Lock()
	defer s.life.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	// One more group, so that the time goes on from here.
	err := s.errand(context.Background(), func(g *group) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.begin(g)
		return nil
	})
	s.queue.stop()
	s.sweep.stop()
	<-s.ended
	<-s.sweep.ended
	if s.hasFailed() {
		if s.stuck.Load() {
			s.db = nil // pebble cannot be closed any more; the process's end does
		}
		return errors.Join(s.failure, s.release())
	}
	return errors.Join(err, s.release())
}

// token is a live record for the committer, or nil.
func (s *Store) token(id dengxu.TokenID) (*store.Token, error) {
	en := s.index.tokens[id]
	if en == nil {
		return nil, nil
	}
	if c, ok := s.cache.get(id); ok {
		return c.token, nil
	}
	if t := en.token(); t != nil {
		return t, nil
	}
	t, err := readToken(s.db, prefixToken, id)
	if err == nil && t == nil {
		err = missing(id)
	}
	if err != nil {
		return nil, err
	}
	s.cache.put(id, cached{token: t})
	return t, nil
}
