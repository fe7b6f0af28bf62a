package feed

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
)

// two is a store of two partitions, each a memory store. Only what the feed
// uses knows of the second.
type two struct {
	store.Store
	parts [2]*memstore.Store
}

func (s *two) About() store.About { return store.About{Kind: "two", Partitions: 2} }

func (s *two) Events(ctx context.Context, after store.Cursor, limit int) (store.EventPage, error) {
	part := s.parts[after.Partition]
	after.Partition = 0
	return part.Events(ctx, after, limit)
}

func (s *two) Watch(p store.Partition) (<-chan struct{}, func()) { return s.parts[p].Watch(0) }

// running starts a feed over s and subscribes to it.
func running(t *testing.T, s store.Store) (*Feed, *Subscription) {
	t.Helper()
	f := New(Options{Store: s, Event: func(_ store.Cursor, e store.Event) dengxu.Event {
		return dengxu.Event{Type: e.Type, Reason: e.Reason}
	}})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	sub, err := f.Subscribe(t.Context(), Filter{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sub.Close)
	return f, sub
}

// write commits one event.
func write(t *testing.T, s *memstore.Store, reason string) {
	t.Helper()
	b := store.Batch{Events: []store.EventSpec{{Type: dengxu.EventQueueChanged, Queue: "q", Reason: reason}}}
	if _, err := s.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// read takes n events, and the cursor of the last.
func read(t *testing.T, s *Subscription, n int) (reasons []string, cursor string) {
	t.Helper()
	for range n {
		it, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		reasons, cursor = append(reasons, it.Event.Reason), it.Event.ID
	}
	return reasons, cursor
}

// alternately is a feed over two partitions, in which n events were written by
// turns, a second apart.
func alternately(t *testing.T, n int) (f *Feed, live *Subscription, written []string) {
	t.Helper()
	now := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	s := &two{}
	for p := range s.parts {
		s.parts[p] = memstore.New(memstore.Options{
			Wall: func() time.Time { return now }, Mono: func() time.Duration { return now.Sub(now.Truncate(24 * time.Hour)) },
		})
		t.Cleanup(func() { s.parts[p].Close() })
	}
	f, live = running(t, s)
	for i := range n {
		now = now.Add(time.Second)
		written = append(written, fmt.Sprint(i%2, ".", i))
		write(t, s.parts[i%2], written[i])
	}
	return f, live, written
}

// TestTwoPartitions: one cursor covers both logs, and resuming by it neither
// loses nor repeats an event of either.
func TestTwoPartitions(t *testing.T) {
	t.Parallel()
	f, live, written := alternately(t, 20)
	got, cursor := read(t, live, 7)
	at, err := ParseCursor(cursor)
	if err != nil || len(at) != 2 {
		t.Fatalf("cursor %v, %v", at, err)
	}
	again, err := f.Subscribe(t.Context(), Filter{}, at)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	rest, _ := read(t, again, len(written)-7)
	got = append(got, rest...)
	slices.Sort(got) // the order of the two is nobody's promise
	want := slices.Sorted(slices.Values(written))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestTwoPartitionsBackwards: pages go back through both logs by time.
func TestTwoPartitionsBackwards(t *testing.T) {
	t.Parallel()
	f, live, written := alternately(t, 20)
	read(t, live, len(written)) // so that the feed has fanned out everything
	var back []string
	var before Cursor
	for more := true; more; more = before != nil {
		items, next, err := f.Back(t.Context(), Filter{}, func(*dengxu.Event) bool { return true }, before, 6)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range items {
			back = append(back, e.Reason)
		}
		before = next
	}
	slices.Reverse(back)
	if diff := cmp.Diff(written, back); diff != "" {
		t.Error(diff)
	}
}

// moody is a memory store whose log cannot be read while it is away.
type moody struct {
	*memstore.Store
	away atomic.Bool
}

func (s *moody) Events(ctx context.Context, after store.Cursor, limit int) (store.EventPage, error) {
	if s.away.Load() {
		return store.EventPage{}, store.ErrUnavailable
	}
	return s.Store.Events(ctx, after, limit)
}

// TestLogThatCannotBeRead makes the feed not ready, and loses nothing.
func TestLogThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := &moody{Store: memstore.New(memstore.Options{})}
	t.Cleanup(func() { s.Close() })
	f, sub := running(t, s)
	s.away.Store(true)
	write(t, s.Store, "while away")
	for f.Ready() == nil {
		runtime.Gosched()
	}
	if code := dengxu.CodeOf(f.Ready()); code != dengxu.Unavailable {
		t.Errorf("not ready is %s", code)
	}
	s.away.Store(false)
	write(t, s.Store, "back")
	got, _ := read(t, sub, 2)
	if diff := cmp.Diff([]string{"while away", "back"}, got); diff != "" {
		t.Error(diff)
	}
	for f.Ready() != nil {
		runtime.Gosched()
	}
}
