package pebblestore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// slowDisk holds the syncs of pebble's log back while it is shut.
type slowDisk struct {
	shut   atomic.Bool
	opened chan struct{}
}

func (d *slowDisk) MaybeError(op errorfs.Op) error {
	if op.Kind == errorfs.OpFileSyncData && strings.HasSuffix(op.Path, ".log") && d.shut.Load() {
		<-d.opened
	}
	return nil
}

func (*slowDisk) String() string { return "slow disk" }

func openSlow(t *testing.T) (*Store, *slowDisk) {
	t.Helper()
	d := &slowDisk{opened: make(chan struct{})}
	s, err := Open(Options{Dir: "data", FS: errorfs.Wrap(vfs.NewMem(), d)})
	if err != nil {
		t.Fatal(err)
	}
	d.shut.Store(true)
	return s, d
}

func tokenBatch(id string) store.Batch {
	return store.Batch{
		Site: "main",
		Tokens: []store.TokenWrite{{Token: store.Token{
			ID: dengxu.TokenID(id), Site: "main", Queue: "q", State: dengxu.StateWaiting, Version: 1,
			Lane: order.Lane{K: order.Ordinary}, Place: store.Now, JoinedAt: store.Now, Since: store.Now,
		}}},
		Events: []store.EventSpec{{Type: dengxu.EventJoined, Token: 1}},
	}
}

// until waits for what another goroutine is about to do.
func until(t *testing.T, done func() bool) {
	t.Helper()
	for !done() {
		if t.Context().Err() != nil {
			t.Fatal("never happened")
		}
		runtime.Gosched()
	}
}

func (s *Store) waiting() int {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	return len(s.queue.calls)
}

// TestReadersWaitForTheDisk: nobody sees what a crash may still take back.
func TestReadersWaitForTheDisk(t *testing.T) {
	t.Parallel()
	s, disk := openSlow(t)
	done := make(chan error, 1)
	go func() {
		_, err := s.Commit(context.Background(), tokenBatch("a"))
		done <- err
	}()
	until(t, func() bool {
		s.mu.RLock()
		defer s.mu.RUnlock()
		return s.index.tokens["a"] != nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	ask := store.Ask{Tokens: []dengxu.TokenID{"a"}}
	if v, err := s.View(ctx, ask); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("view before the sync: %v, %v", v.Tokens, err)
	}
	if p, err := s.Events(ctx, store.Cursor{Epoch: s.meta.Epoch}, 10); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("events before the sync: %v, %v", p, err)
	}
	if d, err := s.Due(ctx, 0, 10); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("due before the sync: %v, %v", d, err)
	}
	// A refusal tells of the token too.
	refused := make(chan error, 1)
	go func() {
		_, err := s.Commit(context.Background(), tokenBatch("a"))
		refused <- err
	}()
	until(t, func() bool { return s.waiting() == 0 })
	select {
	case err := <-done:
		t.Fatalf("answered before the sync: %v", err)
	case err := <-refused:
		t.Fatalf("refused before the sync: %v", err)
	default:
	}
	close(disk.opened)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, ok := errors.AsType[*store.Refused](<-refused); !ok {
		t.Error("the second one was not refused")
	}
	if v, err := s.View(t.Context(), ask); err != nil || v.Tokens[0] == nil {
		t.Errorf("view after the sync: %v, %v", v.Tokens, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestCancelledCommits: a call that was taken may have an effect, one that was
// not has none.
func TestCancelledCommits(t *testing.T) {
	t.Parallel()
	s, disk := openSlow(t)
	const callers = 2 * (groupsAhead + 3)
	cancels, errs := [callers]context.CancelFunc{}, [callers]chan error{}
	started := 0
	start := func() {
		ctx, cancel := context.WithCancel(context.Background())
		i := started
		cancels[i], errs[i] = cancel, make(chan error, 1)
		go func() {
			_, err := s.Commit(ctx, tokenBatch(fmt.Sprint(i)))
			errs[i] <- err
		}()
		started++
	}
	// One by one, until the syncer and the channel before it are full and the
	// committer stands.
	for range groupsAhead + 2 {
		start()
		until(t, func() bool {
			s.mu.RLock()
			defer s.mu.RUnlock()
			return len(s.index.tokens) == started
		})
	}
	taken := started
	for started < callers {
		start()
		until(t, func() bool { return s.waiting() == started-taken })
	}
	for i := range callers {
		cancels[i]()
		err := <-errs[i]
		if i < taken && !errors.Is(err, store.ErrUnknown) {
			t.Errorf("call %d was taken: %v", i, err)
		}
		if i >= taken && !errors.Is(err, context.Canceled) {
			t.Errorf("call %d was not taken: %v", i, err)
		}
	}
	close(disk.opened)
	if _, err := s.Commit(t.Context(), tokenBatch("last")); err != nil {
		t.Fatal(err)
	}
	for i := range callers {
		v, err := s.View(t.Context(), store.Ask{Tokens: []dengxu.TokenID{dengxu.TokenID(fmt.Sprint(i))}})
		if err != nil {
			t.Fatal(err)
		}
		if there := v.Tokens[0] != nil; there != (i < taken) {
			t.Errorf("token %d is there: %t", i, there)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestSweep: operations and marks whose time is over go, and only they.
func TestSweep(t *testing.T) {
	t.Parallel()
	wall := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	var passed atomic.Int64
	s, err := Open(Options{
		Dir: "data", FS: vfs.NewMem(),
		Wall: func() time.Time { return wall.Add(time.Duration(passed.Load())) },
		Mono: func() time.Duration { return time.Duration(passed.Load()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	commit := func(id string, keep time.Duration) {
		b := tokenBatch(id)
		b.Op = store.Op{Scope: "s", Key: id, Keep: keep.Milliseconds()}
		b.Marks = []store.MarkWrite{
			{MarkKey: store.MarkKey{Queue: "q", Business: id}, At: store.Now, Keep: keep.Milliseconds()},
			// Of another kind, and over at a time of its own.
			{MarkKey: store.MarkKey{Queue: "q", Business: id, Kind: store.MarkMissed}, At: store.Now, Keep: time.Minute.Milliseconds()},
		}
		if _, err := s.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	const n = 700
	for i := range n {
		commit(fmt.Sprint("short-", i), time.Minute)
	}
	commit("long", 48*time.Hour)
	passed.Add(int64(30 * time.Second))
	passed.Add(int64(40 * time.Second))
	count := func(prefix byte) (keys int) {
		if err := scan(s.db, prefix, func(_, _ []byte) error { keys++; return nil }); err != nil {
			t.Fatal(err)
		}
		return keys
	}
	if ops := count(prefixOp); ops < n {
		t.Fatalf("%d operations", ops)
	}
	w := newSweeper()
	for range 2 * (3*n/sweepKeys + 1) {
		if err := s.sweepRound(w); err != nil {
			t.Fatal(err)
		}
	}
	if ops, marks := count(prefixOp), count(prefixMark); ops != 1 || marks != 1 {
		t.Errorf("%d operations and %d marks are left, not one of each", ops, marks)
	}
	// The state sum and the indexes must have followed, also over a reopen.
	if found, err := s.Audit(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("audit: %v %v", found, err)
	}
	v, err := s.View(t.Context(), store.Ask{
		Op: store.Op{Scope: "s", Key: "long"}, Marks: []store.MarkKey{
			{Queue: "q", Business: "long"}, {Queue: "q", Business: "short-1"}, {Queue: "q", Business: "long", Kind: store.MarkMissed},
		},
	})
	if err != nil || v.Op == nil || v.Marks[0] == 0 || v.Marks[1] != 0 || v.Marks[2] != 0 {
		t.Errorf("view: %+v %v", v, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestTrim: the log keeps what is young or among the last; a reader whose
// cursor lies before that is told to begin anew.
func TestTrim(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	wall := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	o := Options{Dir: "data", FS: fs, Wall: func() time.Time { return wall }, Mono: func() time.Duration { return 0 }}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	log := func(events int) {
		t.Helper()
		for range events / 100 {
			b := store.Batch{Site: "main"}
			for range 100 {
				b.Events = append(b.Events, store.EventSpec{Type: dengxu.EventSiteChanged})
			}
			if _, err := s.Commit(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
	}
	log(3000)
	s = reopenLater(t, s, &o, &wall, 47*time.Hour)
	log(2000)
	w := newSweeper()
	w.events = 1000
	trim := func() uint64 {
		t.Helper()
		if err := s.sweepRound(w); err != nil {
			t.Fatal(err)
		}
		return s.meta.First
	}
	if first := trim(); first != 1 {
		t.Errorf("young events were dropped: first is %d", first)
	}
	s = reopenLater(t, s, &o, &wall, 2*time.Hour)
	log(100)
	if first := trim(); first != 3001 {
		t.Errorf("first is %d, not 3001", first)
	}
	s = reopenLater(t, s, &o, &wall, 100*time.Hour)
	if first := trim(); first != 4101 {
		t.Errorf("first is %d, not 4101: the last 1000 stay", first)
	}
	for number, reset := range map[uint64]bool{0: true, 4099: true, 4100: false, 5100: false, 5101: true} {
		p, err := s.Events(t.Context(), store.Cursor{Epoch: s.meta.Epoch, Number: number}, 2000)
		if err != nil || p.Reset != reset || !reset && uint64(len(p.Events)) != 5100-number {
			t.Errorf("after %d: reset %t, %d events, %v", number, p.Reset, len(p.Events), err)
		}
	}
	s = reopenLater(t, s, &o, &wall, time.Hour)
	if found, err := s.Audit(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("audit: %v %v", found, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// reopenLater opens the store again when some time has passed, which a
// restarted process believes at once.
func reopenLater(t *testing.T, s *Store, o *Options, wall *time.Time, later time.Duration) *Store {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	*wall = wall.Add(later)
	s, err := Open(*o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
