// Package memstore keeps one partition in memory. It is the reference model
// that other stores are compared with, the store of tests, and of
// `--store memory:`. It owns nothing that outlives the process and refuses
// cleverness: sorted slices, scans and one lock.
package memstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// keptEvents is how many events the log reaches back: more than a busy day of
// one site, and some tens of megabytes.
const keptEvents = 100_000

// Options are the clocks that the store reads; nil means the machine's.
type Options struct {
	Wall func() time.Time
	Mono func() time.Duration // since any fixed moment
}

// Store is a store in memory. It is safe for concurrent use.
type Store struct {
	opts Options

	clockMu sync.Mutex // guards clock; taken inside mu
	clock   store.Clock

	mu       sync.RWMutex // guards everything below
	closed   bool
	meta     ledger.Meta
	tokens   map[dengxu.TokenID]*store.Token // live
	archive  map[dengxu.TokenID]*store.Token
	docs     map[store.DocKey]*store.Doc
	index    *index
	tallies  map[string]ledger.Daily
	series   map[ledger.SeriesKey]ledger.Daily
	marks    memory[store.MarkKey, int64]
	ops      memory[opKey, *ledger.OpRecord]
	events   []store.Event // the last keptEvents, oldest first
	watchers map[chan struct{}]bool
}

type opKey struct{ scope, key string }

// New returns an empty store.
func New(o Options) *Store {
	if o.Wall == nil {
		o.Wall = time.Now //nolint:forbidigo // the default of the store's own clock
	}
	if o.Mono == nil {
		start := time.Now()                                        //nolint:forbidigo // as above
		o.Mono = func() time.Duration { return time.Since(start) } //nolint:forbidigo // as above
	}
	s := &Store{
		opts:     o,
		tokens:   make(map[dengxu.TokenID]*store.Token),
		archive:  make(map[dengxu.TokenID]*store.Token),
		docs:     make(map[store.DocKey]*store.Doc),
		index:    newIndex(),
		tallies:  make(map[string]ledger.Daily),
		series:   make(map[ledger.SeriesKey]ledger.Daily),
		marks:    newMemory[store.MarkKey, int64](),
		ops:      newMemory[opKey, *ledger.OpRecord](),
		watchers: make(map[chan struct{}]bool),
	}
	// Another process begins another log, so cursors of this one must not fit.
	s.meta.Epoch = uint64(max(1, o.Wall().UnixNano()))
	return s
}

// tick reads the partition's time. The caller holds mu in either way, so that
// no commit falls between the time and what is read with it.
func (s *Store) tick() int64 {
	s.clockMu.Lock()
	defer s.clockMu.Unlock()
	now, _ := s.clock.Tick(s.opts.Wall(), s.opts.Mono())
	return now
}

// ready refuses what cannot be served.
func (s *Store) ready(ctx context.Context, p store.Partition) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.closed {
		return store.ErrClosed
	}
	if p != 0 {
		return fmt.Errorf("memstore: there is no partition %d", p)
	}
	return nil
}

// Commit checks and writes one batch.
func (s *Store) Commit(ctx context.Context, b store.Batch) (store.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(ctx, b.Partition); err != nil {
		return store.Result{}, err
	}
	now := s.tick()
	s.logSteps(now)
	s.marks.forget(now)
	s.ops.forget(now)
	e, err := ledger.Apply(tables{s}, s.meta, 0, &b, now)
	if err != nil {
		return store.Result{}, err
	}
	r := e.Result(0, now)
	if e.Replay != nil {
		r.Tokens = s.known(e.Replay.Tokens)
		return r, nil
	}
	if !e.Empty {
		s.carryOut(e)
	}
	for i := range r.Tokens {
		r.Tokens[i] = r.Tokens[i].Clone()
	}
	for i := range r.Docs {
		r.Docs[i].Body = slices.Clone(r.Docs[i].Body)
	}
	return r, nil
}

// carryOut writes the effects of a batch.
func (s *Store) carryOut(e *ledger.Effects) {
	s.meta = e.Meta
	for i := range e.Tokens {
		if before := e.Tokens[i].Before; before != nil {
			s.index.drop(before)
		}
	}
	for i := range e.Tokens {
		after := new(e.Tokens[i].After.Clone())
		if e.Tokens[i].Archived {
			s.index.unlist(after)
			delete(s.tokens, after.ID)
			s.archive[after.ID] = after
			continue
		}
		s.tokens[after.ID] = after
		s.index.add(after)
	}
	for _, d := range e.Docs {
		s.putDoc(d)
	}
	maps.Copy(s.tallies, e.Tallies)
	maps.Copy(s.series, e.Series)
	for _, m := range e.Marks {
		s.marks.put(store.MarkKey{Queue: m.Queue, Business: m.Business}, m.At, m.At+m.Keep)
	}
	if e.Op != nil {
		s.ops.put(opKey{e.OpKey.Scope, e.OpKey.Key}, e.Op, e.Op.Expires)
	}
	s.log(e.Events)
}

func (s *Store) putDoc(d store.Doc) {
	if before := s.docs[d.Key]; before != nil {
		s.index.dropDoc(before)
	}
	if d.Version == 0 {
		delete(s.docs, d.Key)
		return
	}
	d.Body = slices.Clone(d.Body)
	s.docs[d.Key] = &d
	s.index.addDoc(&d)
}

// token is a record, live or archived, or nil.
func (s *Store) token(id dengxu.TokenID) *store.Token {
	return cmp.Or(s.tokens[id], s.archive[id])
}

// known are copies of the records of ids.
func (s *Store) known(ids []dengxu.TokenID) []store.Token {
	var found []store.Token
	for _, id := range ids {
		if t := s.token(id); t != nil {
			found = append(found, t.Clone())
		}
	}
	return found
}

// About describes the store.
func (s *Store) About() store.About {
	return store.About{
		Kind: "memory", Partitions: 1, Durability: store.D0Memory,
		Text: "Everything is in memory and gone when the process ends.",
	}
}

// Close makes every later call fail with store.ErrClosed.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}
