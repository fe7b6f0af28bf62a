package feed

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
)

// apart is a store of two partitions that several processes use, over a
// network that loses every hint. Site "b" is in the second, which may be away.
type apart struct {
	*memstore.Store
	away  atomic.Bool
	reads [2]atomic.Int64
}

func newApart(t *testing.T) *apart {
	t.Helper()
	s := &apart{Store: memstore.New(memstore.Options{Partitions: 2, Shared: true})}
	t.Cleanup(func() { s.Close() })
	return s
}

func (s *apart) Watch(store.Partition) (<-chan struct{}, func()) { return nil, func() {} }

func (s *apart) Events(ctx context.Context, after store.Cursor, limit int) (store.EventPage, error) {
	s.reads[after.Partition].Add(1)
	if after.Partition == 1 && s.away.Load() {
		return store.EventPage{}, store.ErrUnavailable
	}
	return s.Store.Events(ctx, after, limit)
}

func partitionOf(site dengxu.SiteID) store.Partition {
	if site == "b" {
		return 1
	}
	return 0
}

func (s *apart) write(t *testing.T, site dengxu.SiteID, reason string) {
	t.Helper()
	b := store.Batch{Partition: partitionOf(site), Site: site, Events: []store.EventSpec{
		{Type: dengxu.EventQueueChanged, Queue: "q", Reason: reason},
	}}
	if _, err := s.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// begin runs a feed over s. end ends it, and waits.
func (s *apart) begin(t *testing.T) (f *Feed, end func()) {
	t.Helper()
	f = New(Options{Store: s, PartitionOf: partitionOf, Event: func(_ store.Cursor, e store.Event) dengxu.Event {
		return dengxu.Event{Type: e.Type, Reason: e.Reason}
	}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- f.Run(ctx) }()
	if err := f.wait(ctx); err != nil {
		t.Fatal(err)
	}
	return f, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestALogThatIsListenedToIsReadOften where hints may be lost, and the others
// seldom.
func TestALogThatIsListenedToIsReadOften(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newApart(t)
		f, end := s.begin(t)
		defer end()
		read := func(during time.Duration) (a, b int64) {
			s.reads[0].Store(0)
			s.reads[1].Store(0)
			time.Sleep(during)
			return s.reads[0].Load(), s.reads[1].Load()
		}
		if a, b := read(time.Minute); a > 5 || b > 5 {
			t.Errorf("with no listener the logs were read %d and %d times a minute", a, b)
		}
		sub, err := f.Subscribe(t.Context(), Filter{Site: "b"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := read(time.Minute); a > 5 || b < 55 {
			t.Errorf("with a listener of b the logs were read %d and %d times a minute", a, b)
		}
		s.write(t, "b", "heard")
		began := time.Now()
		if it, err := sub.Next(t.Context()); err != nil || it.Event.Reason != "heard" || time.Since(began) > time.Second {
			t.Errorf("%+v, %v, after %v", it.Event, err, time.Since(began))
		}
		sub.Close()
		leave := f.Attend("a")
		if a, b := read(time.Minute); a < 55 || b > 6 {
			t.Errorf("with somebody attending a the logs were read %d and %d times a minute", a, b)
		}
		leave()
		read(2 * time.Second)
		if a, b := read(time.Minute); a > 5 || b > 5 {
			t.Errorf("after they left the logs were read %d and %d times a minute", a, b)
		}
	})
}

// TestALogThatIsAwayHoldsUpNoOther: reading, resuming and looking back at a
// site need its own log only.
func TestALogThatIsAwayHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newApart(t)
		f, end := s.begin(t)
		defer end()
		ctx := t.Context()
		first, err := f.Subscribe(ctx, Filter{Site: "a"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		at := first.Cursor()
		s.write(t, "a", "1")
		s.write(t, "b", "2")
		time.Sleep(20 * time.Second)
		s.away.Store(true)
		time.Sleep(20 * time.Second)
		if err := f.Ready(); err != nil {
			t.Errorf("one of two logs is away, and the feed is not ready: %v", err)
		}
		s.write(t, "a", "3")
		for name, after := range map[string]Cursor{"resumed": at, "new": nil} {
			sub, err := f.Subscribe(ctx, Filter{Site: "a"}, after)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if name == "new" {
				s.write(t, "a", "4")
			}
			want := map[string]string{"resumed": "1", "new": "4"}[name]
			if it, err := sub.Next(ctx); err != nil || it.Event.Reason != want {
				t.Errorf("%s: %+v, %v", name, it.Event, err)
			}
			sub.Close()
		}
		time.Sleep(2 * time.Second)
		all := func(*dengxu.Event) bool { return true }
		if items, _, err := f.Back(ctx, Filter{Site: "a"}, all, nil, 10); err != nil || len(items) < 2 {
			t.Errorf("looking back: %d, %v", len(items), err)
		}
		if _, err := f.Subscribe(ctx, Filter{Site: "b"}, nil); err == nil {
			t.Error("a log that is away was subscribed to")
		}
		follower, err := f.Follow(ctx)
		if err != nil {
			t.Fatal(err)
		}
		s.away.Store(false)
		s.write(t, "b", "back")
		for {
			it, err := follower.Next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if it.Event.Reason == "back" {
				break
			}
		}
		follower.Close()
		first.Close()
	})
}
