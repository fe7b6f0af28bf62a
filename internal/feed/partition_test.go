package feed

import (
	"context"
	"fmt"
	"runtime"
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

// TestTwoPartitions: one cursor covers both logs, and resuming by it neither
// loses nor repeats an event of either.
func TestTwoPartitions(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	s := &two{}
	for p := range s.parts {
		s.parts[p] = memstore.New(memstore.Options{
			Wall: func() time.Time { return now }, Mono: func() time.Duration { return now.Sub(now.Truncate(24 * time.Hour)) },
		})
		defer s.parts[p].Close()
	}
	f := New(Options{Store: s, Event: func(_ store.Cursor, e store.Event) dengxu.Event {
		return dengxu.Event{Type: e.Type, Reason: e.Reason}
	}})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- f.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	live, err := f.Subscribe(t.Context(), Filter{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	const n = 20
	var order []string // by time
	for i := range n {
		now = now.Add(time.Second)
		reason := fmt.Sprint(i%2, ".", i)
		_, err := s.parts[i%2].Commit(t.Context(), store.Batch{Events: []store.EventSpec{{Type: dengxu.EventQueueChanged, Queue: "q", Reason: reason}}})
		if err != nil {
			t.Fatal(err)
		}
		order = append(order, reason)
	}
	read := func(s *Subscription, n int) (reasons []string, cursor string) {
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
	got, cursor := read(live, 7)
	at, err := ParseCursor(cursor)
	if err != nil || len(at) != 2 {
		t.Fatalf("cursor %v, %v", at, err)
	}
	again, err := f.Subscribe(t.Context(), Filter{}, at)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	rest, _ := read(again, n-7)
	seen := map[string]int{}
	for _, reason := range append(got, rest...) {
		seen[reason]++
	}
	for _, reason := range order {
		if seen[reason] != 1 {
			t.Errorf("%s was read %d times", reason, seen[reason])
		}
	}
	read(live, n-7) // so that the feed has fanned out everything
	var back []string
	var before Cursor
	for more := true; more; more = before != nil {
		items, next, err := f.Back(t.Context(), Filter{}, func(*dengxu.Event) bool { return true }, before, 6)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range items {
			back = append([]string{e.Reason}, back...)
		}
		before = next
	}
	if diff := cmp.Diff(order, back); diff != "" {
		t.Errorf("backwards: %s", diff)
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
	defer s.Close()
	f := New(Options{Store: s, Event: func(_ store.Cursor, e store.Event) dengxu.Event { return dengxu.Event{Reason: e.Reason} }})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- f.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	sub, err := f.Subscribe(t.Context(), Filter{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	write := func(reason string) {
		t.Helper()
		if _, err := s.Commit(t.Context(), store.Batch{Events: []store.EventSpec{{Type: dengxu.EventQueueChanged, Reason: reason}}}); err != nil {
			t.Fatal(err)
		}
	}
	s.away.Store(true)
	write("while away")
	for f.Ready() == nil {
		runtime.Gosched()
	}
	if code := dengxu.CodeOf(f.Ready()); code != dengxu.Unavailable {
		t.Errorf("not ready is %s", code)
	}
	s.away.Store(false)
	write("back")
	for _, want := range []string{"while away", "back"} {
		it, err := sub.Next(t.Context())
		if err != nil || it.Event.Reason != want {
			t.Errorf("got %q, %v, want %q", it.Event.Reason, err, want)
		}
	}
	for f.Ready() != nil {
		runtime.Gosched()
	}
}
