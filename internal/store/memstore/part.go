package memstore

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// part is one partition of a store: a store of its own but for its number.
type part struct {
	opts Options
	id   store.Partition

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
	ops      memory[string, *ledger.OpRecord] // by store.OpName
	events   []store.Event                    // the last keptEvents, oldest first
	watchers map[chan struct{}]bool
}

func newPart(o Options, id store.Partition) *part {
	s := &part{
		opts:     o,
		id:       id,
		tokens:   make(map[dengxu.TokenID]*store.Token),
		archive:  make(map[dengxu.TokenID]*store.Token),
		docs:     make(map[store.DocKey]*store.Doc),
		index:    newIndex(),
		tallies:  make(map[string]ledger.Daily),
		series:   make(map[ledger.SeriesKey]ledger.Daily),
		marks:    newMemory[store.MarkKey, int64](),
		ops:      newMemory[string, *ledger.OpRecord](),
		watchers: make(map[chan struct{}]bool),
	}
	// Another process begins another log, so cursors of this one must not fit.
	s.meta.Epoch = uint64(max(1, o.Wall().UnixNano()))
	return s
}

// tick reads the partition's time. The caller holds mu in either way, so that
// no commit falls between the time and what is read with it.
func (s *part) tick() int64 {
	s.clockMu.Lock()
	defer s.clockMu.Unlock()
	now, _ := s.clock.Tick(s.opts.Wall(), s.opts.Mono())
	return now
}

// ready refuses what cannot be served.
func (s *part) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.closed {
		return store.ErrClosed
	}
	return nil
}

// Commit checks and writes one batch.
func (s *part) Commit(ctx context.Context, b store.Batch) (store.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(ctx); err != nil {
		return store.Result{}, err
	}
	now := s.tick()
	s.logSteps(now)
	s.marks.forget(now)
	s.ops.forget(now)
	e, err := ledger.Apply(tables{s}, s.meta, s.id, &b, now)
	if err != nil {
		return store.Result{}, err
	}
	r := e.Result(s.id, now)
	if e.Replay != nil {
		r.Tokens = s.known(e.Replay.Tokens)
		return r, nil
	}
	if !e.Empty {
		s.carryOut(e)
	}
	for i := range r.Docs {
		r.Docs[i].Body = slices.Clone(r.Docs[i].Body)
	}
	return r, nil
}

// carryOut writes the effects of a batch.
func (s *part) carryOut(e *ledger.Effects) {
	s.meta = e.Meta
	for i := range e.Changes {
		if before := e.Changes[i].Before; before != nil {
			s.index.drop(before)
		}
	}
	for i := range e.Tokens {
		// The effects stay with the store, and their records are never changed.
		after := &e.Tokens[i]
		if e.Changes[i].Archived {
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
	for _, c := range e.Tallies {
		s.tallies[c.Key] = c.Daily
	}
	for _, c := range e.Series {
		s.series[c.Key] = c.Daily
	}
	for _, m := range e.Marks {
		s.marks.put(m.MarkKey, m.At, m.At+m.Keep)
	}
	if e.Op != nil {
		s.ops.put(store.OpName(e.OpKey.Scope, e.OpKey.Key), e.Op, e.Op.Expires)
	}
	s.log(e.Events)
}

func (s *part) putDoc(d store.Doc) {
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
func (s *part) token(id dengxu.TokenID) *store.Token {
	return cmp.Or(s.tokens[id], s.archive[id])
}

// known are copies of the records of ids.
func (s *part) known(ids []dengxu.TokenID) []store.Token {
	var found []store.Token
	for _, id := range ids {
		if t := s.token(id); t != nil {
			found = append(found, t.Clone())
		}
	}
	return found
}

func (s *part) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}
