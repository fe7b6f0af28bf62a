package pebblestore

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// A commit goes through three goroutines. The committer takes all calls that
// have arrived, judges each against the tables in memory, each standing or
// falling alone, changes the tables, and collects what is to be written: a
// group. The writer encodes it as one batch and gives that to pebble's log and
// memtable. The syncer waits until groups are on disk, and then answers their
// calls. While one group is being synced the next is written and the one after
// it judged; each channel keeps the order.

const (
	// groupCalls is how many calls one group takes. Of 256 callers at once some
	// are then judged while others are synced or wake up; at 256 the committer
	// and the disk waited for each other (64k to 48k joins/s).
	groupCalls = 96
	// groupBytes ends a group early, so that a batch stays far below pebble's
	// memtable.
	groupBytes = 4 << 20
	// groupsAhead is how many groups may wait for the writer, and as many for
	// the syncer; then the committer waits, and the next group grows.
	groupsAhead = 1
)

// group is what is written and synced together.
type group struct {
	number  uint64
	calls   []*call
	batch   *pebble.Batch // nil while nothing is written
	tallies map[string]*daily
	series  map[ledger.SeriesKey]*daily
	fresh   *fresh        // what is not in the database yet
	sum     uint64        // what the committer's own writes add to the state sum
	meta    meta          // as it stood when the group was judged
	bytes   int           // of the batch, about
	events  bool          // wakes the watchers
	done    chan struct{} // closed when everything is on disk
}

func newGroup(number uint64) *group { return &group{number: number, done: make(chan struct{})} }

// call is one caller's batch, or an errand that the committer does between
// batches.
type call struct {
	ctx    context.Context
	batch  store.Batch
	errand func(*group) error
	state  atomic.Int32
	answer answer
	err    error
	done   chan struct{} // gets a value after answer and err are set
}

// answer is what a batch did. The caller makes a result of it.
type answer struct {
	now     int64
	effects *ledger.Effects // nil = nothing, as of an errand
	known   []store.Token   // of a replay: the records as they are now
}

func (a *answer) result() store.Result {
	if a.effects == nil {
		return store.Result{}
	}
	r := a.effects.Result(0, a.now)
	if r.Replayed {
		r.Tokens = a.known
		return r
	}
	return r
}

// calls are used again: joins by the ten thousand a second are mostly garbage
// for the collector.
var calls = sync.Pool{New: func() any { return &call{done: make(chan struct{}, 1)} }}

// free gives a call back that was answered. One that its caller left stays
// with the committer.
func (c *call) free() {
	c.ctx, c.batch, c.errand, c.answer, c.err = nil, store.Batch{}, nil, answer{}, nil
	c.state.Store(callWaiting)
	calls.Put(c)
}

// The states of a call.
const (
	callWaiting int32 = iota
	callTaken         // by the committer: it may be executed
	callLeft          // by its caller: it is not executed
)

// queue holds the calls that wait for the committer. It is bounded by its
// callers, each of which waits for one call.
type queue struct {
	mu      sync.Mutex // guards what follows
	some    sync.Cond
	calls   []*call
	stopped bool
}

func (q *queue) init() { q.some.L = &q.mu }

func (q *queue) put(c *call) {
	q.mu.Lock()
	q.calls = append(q.calls, c)
	q.mu.Unlock()
	q.some.Signal()
}

// take waits for calls and returns all, at most groupCalls, or nil when the
// queue is stopped and empty.
func (q *queue) take() []*call {
	if !q.wait() {
		return nil
	}
	// The first caller woke us. The others that the same group woke are about
	// to come too: after them, one group takes all, and not one the first.
	runtime.Gosched()
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.calls), groupCalls)
	taken := q.calls[:n:n]
	if q.calls = q.calls[n:]; len(q.calls) == 0 {
		q.calls = nil
	}
	return taken
}

// wait waits for calls and reports whether there are some; there are none when
// the queue is stopped and empty.
func (q *queue) wait() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.calls) == 0 && !q.stopped {
		q.some.Wait()
	}
	return len(q.calls) > 0
}

func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.calls) == 0
}

func (q *queue) stop() {
	q.mu.Lock()
	q.stopped = true
	q.mu.Unlock()
	q.some.Broadcast()
}

// Commit checks and writes one batch. It returns when the batch is on disk.
func (s *Store) Commit(ctx context.Context, b store.Batch) (store.Result, error) {
	if err := s.enter(ctx, b.Partition); err != nil {
		return store.Result{}, err
	}
	defer s.life.RUnlock()
	c := calls.Get().(*call)
	c.ctx, c.batch = ctx, b
	return s.do(c)
}

// do lets the committer do a call, waits for it, and frees it.
func (s *Store) do(c *call) (store.Result, error) {
	s.queue.put(c)
	var why error
	select {
	case <-c.done:
		return c.take()
	case <-c.ctx.Done():
		why = c.ctx.Err()
	case <-s.failed:
		why = s.unavailable()
	}
	if c.state.CompareAndSwap(callWaiting, callLeft) {
		return store.Result{}, why
	}
	select {
	case <-c.done:
		return c.take()
	default:
		return store.Result{}, store.ErrUnknown // the call is still the committer's
	}
}

// take is the answer to a call that is done. It frees the call.
func (c *call) take() (store.Result, error) {
	a, err := c.answer, c.err
	c.free()
	if err != nil {
		return store.Result{}, err
	}
	return a.result(), nil
}

// errand lets the committer do something between batches.
func (s *Store) errand(ctx context.Context, do func(*group) error) error {
	c := calls.Get().(*call)
	c.ctx, c.errand = ctx, do
	_, err := s.do(c)
	return err
}

// commitLoop is the committer.
func (s *Store) commitLoop() {
	defer close(s.writes)
	for calls := s.queue.take(); calls != nil; calls = s.queue.take() {
		for len(calls) > 0 {
			if s.hasFailed() {
				return
			}
			g := newGroup(s.meta.Group + 1)
			calls = s.judgeAll(g, calls)
			if g.batch != nil {
				if err := s.finish(g); err != nil {
					s.fail(fmt.Errorf("write: %w", err))
					return
				}
			}
			s.pass(g, len(calls) == 0 && s.queue.empty())
		}
	}
}

// pass gives a group on. When nothing else is to be judged and the writer has
// nothing, the committer writes it: waking the writer would only take time.
func (s *Store) pass(g *group, idle bool) {
	if idle && s.inWriter.Load() == 0 {
		if err := s.write(g); err != nil {
			s.fail(fmt.Errorf("write: %w", err))
		}
		s.syncs <- g
		return
	}
	s.inWriter.Add(1)
	s.writing.Add(1)
	s.writes <- g
}

// judgeAll judges calls until the group is full, and returns the rest.
func (s *Store) judgeAll(g *group, calls []*call) []*call {
	for i, c := range calls {
		// An errand finds everything before it in the database.
		if g.batch != nil && (c.errand != nil || g.bytes > groupBytes) {
			return calls[i:]
		}
		if !c.state.CompareAndSwap(callWaiting, callTaken) {
			continue
		}
		g.calls = append(g.calls, c)
		switch {
		case c.ctx.Err() != nil:
			c.err = c.ctx.Err()
		case c.errand != nil:
			s.writing.Wait()
			c.err = c.errand(g)
		default:
			c.answer, c.err = s.judge(g, &c.batch)
		}
	}
	return nil
}

// judge judges one batch and carries it out. It holds the lock all along, so
// that no reader sees a later time with an earlier state.
func (s *Store) judge(g *group, b *store.Batch) (answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.tick()
	s.logSteps(g, now)
	e, err := ledger.Apply(tables{s, now}, s.meta.Meta, 0, b, now)
	if err != nil {
		return answer{}, err
	}
	a := answer{now: now, effects: e}
	switch {
	case e.Replay != nil:
		a.known, err = s.known(e.Replay.Tokens)
		return a, err
	case e.Empty:
		return a, nil
	}
	marks, err := s.marksBefore(e.Marks)
	if err != nil {
		return answer{}, err
	}
	s.carryOut(g, e, marks)
	return a, nil
}

// writeLoop is the writer.
func (s *Store) writeLoop() {
	defer close(s.syncs)
	for g := range s.writes {
		if err := s.write(g); err != nil {
			s.fail(fmt.Errorf("write: %w", err))
		}
		s.syncs <- g
		s.inWriter.Add(-1) // from here on the committer may pass it by
		s.writing.Done()
	}
}

// write encodes a group and gives it to pebble. After it, the group is in the database,
// though not yet on disk.
func (s *Store) write(g *group) error {
	if g.batch == nil || s.hasFailed() {
		return nil
	}
	if err := s.encode(g); err != nil {
		return err
	}
	if err := s.apply(g.batch); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = s.pending[1:]
	s.written = g.number
	s.meta.Sum = g.meta.Sum
	for i := range g.fresh.tokens {
		// Should a later group have changed the record by now, then that one is
		// still in the cache, and this is replaced before it leaves it.
		t := &g.fresh.tokens[i]
		t.entry.record = t.record
	}
	g.fresh.reset()
	s.spare = append(s.spare, g.fresh)
	g.fresh = nil
	return nil
}

// apply turns pebble's panic over a log that cannot be written into an error.
func (s *Store) apply(b *pebble.Batch) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.stuck.Store(true)
			err = fmt.Errorf("pebble: %v", p)
		}
	}()
	return s.db.ApplyNoSyncWait(b, pebble.Sync)
}

// syncLoop is the syncer. After a failure it answers nobody.
func (s *Store) syncLoop() {
	defer close(s.ended)
	for g := range s.syncs {
		if err := s.sync(g); err != nil {
			s.fail(err)
		}
		if s.hasFailed() {
			continue
		}
		close(g.done)
		for _, c := range g.calls {
			c.done <- struct{}{}
		}
		if g.events {
			s.watch.wake()
		}
	}
}

// sync waits until a group is on disk and remembers that it was.
func (s *Store) sync(g *group) error {
	if g.batch == nil || s.hasFailed() {
		return nil
	}
	if err := g.batch.SyncWait(); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	if err := s.synced.write(g.number); err != nil {
		return fmt.Errorf("write %s: %w", fileSynced, err)
	}
	if err := g.batch.Close(); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	return nil
}
