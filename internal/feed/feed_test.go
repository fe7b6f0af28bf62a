package feed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a running feed over a memory store.
type bench struct {
	t     *testing.T
	store *memstore.Store
	feed  *Feed
	n     int

	mu       sync.Mutex // guards observed
	observed []uint64
}

func newBench(t *testing.T, o Options) *bench {
	t.Helper()
	b := &bench{t: t, store: memstore.New(memstore.Options{})}
	o.Store = b.store
	o.Event = func(_ store.Cursor, e store.Event) dengxu.Event {
		return dengxu.Event{Type: e.Type, Site: e.Site, QueueID: e.Queue, Actor: e.Actor, Reason: e.Reason}
	}
	o.Observe = func(_ context.Context, _ store.Partition, events []store.Event) {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, e := range events {
			b.observed = append(b.observed, e.Number)
		}
	}
	b.feed = New(o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := b.feed.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { cancel(); <-done; b.store.Close() })
	return b
}

// write commits n events of a queue, numbered in their reasons.
func (b *bench) write(queue dengxu.QueueID, n int) {
	b.t.Helper()
	for range n {
		b.n++
		_, err := b.store.Commit(b.t.Context(), store.Batch{Site: "s", Events: []store.EventSpec{{
			Type: dengxu.EventQueueChanged, Queue: queue, Actor: "key:test", Reason: fmt.Sprint(b.n),
		}}})
		if err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *bench) subscribe(filter Filter, after string) *Subscription {
	b.t.Helper()
	var from Cursor
	if after != "" {
		var err error
		if from, err = ParseCursor(after); err != nil {
			b.t.Fatal(err)
		}
	}
	s, err := b.feed.Subscribe(b.t.Context(), filter, from)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(s.Close)
	return s
}

func (b *bench) next(s *Subscription) Item {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 10*time.Second)
	defer cancel()
	it, err := s.Next(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	return it
}

// reasons reads n events.
func (b *bench) reasons(s *Subscription, n int) []string {
	b.t.Helper()
	var got []string
	for range n {
		got = append(got, b.next(s).Event.Reason)
	}
	return got
}

// settled reads n events and waits until the feed has given the hints of them.
func (b *bench) settled(s *Subscription, n int) {
	b.t.Helper()
	b.reasons(s, n)
	b.feed.Head() // under the lock that the feed holds for a page
}

func numbers(from, to int) []string {
	var s []string
	for i := from; i <= to; i++ {
		s = append(s, fmt.Sprint(i))
	}
	return s
}

func TestLiveEventsPassTheFilter(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	all, one := b.subscribe(Filter{}, ""), b.subscribe(Filter{Queues: []dengxu.QueueID{"b"}}, "")
	b.write("a", 2)
	b.write("b", 1)
	if diff := cmp.Diff(numbers(1, 3), b.reasons(all, 3)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"3"}, b.reasons(one, 1)); diff != "" {
		t.Error(diff)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if diff := cmp.Diff([]uint64{1, 2, 3}, b.observed); diff != "" {
		t.Errorf("observed: %s", diff)
	}
}

// TestResumeHasNoGapAndNoRepeat reads the first part of a log live, and the
// rest by cursor while more is written.
func TestResumeHasNoGapAndNoRepeat(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{Buffer: 4096})
	first := b.subscribe(Filter{}, "")
	b.write("a", 1)
	cursor := b.next(first).Cursor
	b.write("a", 400)
	resumed := b.subscribe(Filter{}, cursor)
	got := b.reasons(resumed, 100)
	b.write("a", 200)
	got = append(got, b.reasons(resumed, 500)...)
	b.write("a", 3)
	got = append(got, b.reasons(resumed, 3)...)
	if diff := cmp.Diff(numbers(2, 604), got); diff != "" {
		t.Error(diff)
	}
}

// TestQuietReaderKeepsUp: a reader who wants nothing of what happens still has
// a cursor at the head of the logs.
func TestQuietReaderKeepsUp(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	quiet, other := b.subscribe(Filter{Token: "nobody"}, ""), b.subscribe(Filter{}, "")
	b.write("a", 5)
	last := Item{}
	for range 5 {
		last = b.next(other)
	}
	if got := quiet.Cursor().String(); got != last.Cursor {
		t.Errorf("the quiet reader is at %s, the log at %s", got, last.Cursor)
	}
}

func TestHintsMergeAndEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	hints, stop, err := b.feed.Hint(t.Context(), Filter{Queues: []dengxu.QueueID{"b"}})
	if err != nil {
		t.Fatal(err)
	}
	seen := b.subscribe(Filter{}, "")
	b.write("a", 1)
	b.settled(seen, 1)
	if len(hints) > 0 {
		t.Fatal("a hint of another queue")
	}
	b.write("b", 3)
	b.settled(seen, 3)
	<-hints
	stop()
	stop()
	if len(hints) > 0 {
		t.Error("three events are more than one hint")
	}
	b.write("b", 1)
	b.settled(seen, 1)
	if len(hints) > 0 {
		t.Error("a hint came after the end")
	}
}

func TestSlowSubscriberIsDroppedAndResumes(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{Buffer: 5})
	slow, other := b.subscribe(Filter{}, ""), b.subscribe(Filter{Queues: []dengxu.QueueID{"z"}}, "")
	b.write("a", 50)
	b.write("z", 1)
	b.reasons(other, 1) // the feed went on without waiting
	got := b.reasons(slow, 5)
	if _, err := slow.Next(t.Context()); !errors.Is(err, ErrSlow) {
		t.Fatalf("got %v, want ErrSlow", err)
	}
	again := b.subscribe(Filter{}, slow.Cursor().String())
	got = append(got, b.reasons(again, 46)...)
	if diff := cmp.Diff(numbers(1, 51), got); diff != "" {
		t.Error(diff)
	}
}

func TestForeignAndOldCursors(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	b.write("a", 3)
	old := b.subscribe(Filter{}, Cursor{{Epoch: 1, Number: 1}}.String())
	reset := b.next(old)
	if !reset.Reset || reset.Cursor == "" {
		t.Fatalf("a cursor of an older log got %+v, want a reset", reset)
	}
	b.write("a", 1)
	if diff := cmp.Diff([]string{"4"}, b.reasons(old, 1)); diff != "" {
		t.Error(diff)
	}
	_, err := b.feed.Subscribe(t.Context(), Filter{}, Cursor{{}, {Partition: 1}})
	if got := dengxu.CodeOf(err); got != dengxu.Invalid {
		t.Errorf("a cursor of another store: %v", err)
	}
}

func TestSubscribersAreBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{MaxSubscribers: 2})
	first := b.subscribe(Filter{}, "")
	b.subscribe(Filter{}, Cursor{{}}.String())
	if _, err := b.feed.Subscribe(t.Context(), Filter{}, nil); dengxu.CodeOf(err) != dengxu.Unavailable {
		t.Fatalf("third of two: %v", err)
	}
	first.Close()
	first.Close()
	b.subscribe(Filter{}, "")
}

func TestStopEndsSubscriptions(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Options{})
	defer s.Close()
	f := New(Options{Store: s, Event: func(store.Cursor, store.Event) dengxu.Event { return dengxu.Event{} }})
	if f.Ready() == nil {
		t.Error("ready before Run")
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- f.Run(ctx) }()
	sub, err := f.Subscribe(t.Context(), Filter{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Ready(); err != nil {
		t.Errorf("not ready while running: %v", err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := sub.Next(t.Context()); !errors.Is(err, ErrStopped) {
		t.Errorf("got %v, want ErrStopped", err)
	}
	if _, err := f.Subscribe(t.Context(), Filter{}, nil); !errors.Is(err, ErrStopped) {
		t.Errorf("subscribe after the end: %v", err)
	}
}

func TestBackPagesNewestFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{Buffer: 512})
	seen := b.subscribe(Filter{}, "")
	b.write("a", 300)
	b.write("b", 1)
	b.reasons(seen, 301)
	var got []string
	var before Cursor
	pages := 0
	for {
		items, next, err := b.feed.Back(t.Context(), Filter{Queues: []dengxu.QueueID{"a"}},
			func(e *dengxu.Event) bool { return e.Reason != "7" }, before, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range items {
			got = append(got, e.Reason)
		}
		pages++
		if next == nil {
			break
		}
		before = next
	}
	var want []string
	for i := 300; i >= 1; i-- {
		if i != 7 {
			want = append(want, fmt.Sprint(i))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || pages < 3 {
		t.Errorf("%d pages: %s", pages, diff)
	}
}

func TestCursorRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfNDistinct(rapid.Uint8(), 0, 8, rapid.ID[uint8]).Draw(t, "partitions")
		var c Cursor
		for p := range 256 {
			for _, q := range parts {
				if int(q) == p {
					c = append(c, store.Cursor{
						Partition: store.Partition(p),
						Epoch:     rapid.Uint64().Draw(t, "epoch"), Number: rapid.Uint64().Draw(t, "number"),
					})
				}
			}
		}
		text := c.String()
		got, err := ParseCursor(text)
		if err != nil || !cmp.Equal(c, got) {
			t.Fatalf("%v became %v, %v", c, got, err)
		}
		at := rapid.IntRange(0, len(text)-1).Draw(t, "tampered")
		bad := []byte(text)
		bad[at] = rapid.SampledFrom([]byte("Aa0-_!")).Draw(t, "by")
		if string(bad) == text {
			return
		}
		if _, err := ParseCursor(string(bad)); dengxu.CodeOf(err) != dengxu.Invalid {
			t.Fatalf("tampered %q was taken: %v", bad, err)
		}
	})
}

func FuzzParseCursor(f *testing.F) {
	f.Add(Cursor{{Epoch: 1, Number: 2}}.String())
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := ParseCursor(s); err == nil && c.String() != s {
			// Every cursor has one spelling, so that it can be compared as text.
			t.Fatalf("%q is also %q", s, c.String())
		}
	})
}

// TestStartReplaysTheEnd: what Observe keeps of the log comes back at a start,
// and is fanned out to nobody.
func TestStartReplaysTheEnd(t *testing.T) {
	t.Parallel()
	b := &bench{t: t, store: memstore.New(memstore.Options{})}
	defer b.store.Close()
	b.write("a", 1003)
	var seen []uint64
	f := New(Options{
		Store: b.store, Event: func(store.Cursor, store.Event) dengxu.Event { return dengxu.Event{} },
		Observe: func(_ context.Context, _ store.Partition, events []store.Event) {
			for _, e := range events {
				seen = append(seen, e.Number)
			}
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- f.Run(ctx) }()
	sub, err := f.Subscribe(t.Context(), Filter{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.write("a", 1)
	it, err := sub.Next(t.Context())
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err != nil || it.Cursor != f.Head().String() {
		t.Errorf("the first event is at %s, %v; the log ends at %s", it.Cursor, err, f.Head())
	}
	if len(seen) != 1001 || seen[0] != 4 || seen[1000] != 1004 {
		t.Errorf("%d entries were observed, from %d to %d", len(seen), seen[0], seen[len(seen)-1])
	}
}
