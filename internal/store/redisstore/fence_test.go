package redisstore_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/redistest"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/redisstore"
)

// past is a server's keys of one prefix at a moment, to go back to: what a
// failover to a replica that was behind does.
type past struct {
	server *redistest.Server
	prefix string
	dumps  map[string]any
}

func remember(server *redistest.Server, prefix string) past {
	p := past{server, prefix, map[string]any{}}
	for _, key := range server.MustDo("KEYS", prefix+"*").([]any) {
		p.dumps[key.(string)] = server.MustDo("DUMP", key)
	}
	return p
}

func (p past) forget() {
	for _, key := range p.server.MustDo("KEYS", p.prefix+"*").([]any) {
		p.server.MustDo("DEL", key)
	}
}

func (p past) comeBack() {
	p.forget()
	for key, dump := range p.dumps {
		p.server.MustDo("RESTORE", key, 0, dump)
	}
}

func mustCommit(t *testing.T, s *redisstore.Store, b store.Batch) store.Result {
	t.Helper()
	res, err := s.Commit(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// joinOne joins and returns the number that was given.
func joinOne(t *testing.T, s *redisstore.Store) int64 {
	t.Helper()
	return mustCommit(t, s, joinBatch(0, "clinic", newID(), true)).Tokens[0].Number
}

// lostEvents are the events that tell of losses.
func lostEvents(t *testing.T, s *redisstore.Store, after store.Cursor) []map[string]int {
	t.Helper()
	page, err := s.Events(t.Context(), after, 1000)
	if err != nil || page.Reset {
		t.Fatalf("events after %+v: %v, reset %v", after, err, page.Reset)
	}
	var found []map[string]int
	for _, ev := range page.Events {
		if ev.Type != dengxu.EventWritesLost {
			continue
		}
		data := map[string]int{}
		if err := json.Unmarshal(ev.Data, &data); err != nil {
			t.Fatal(err)
		}
		found = append(found, data)
	}
	return found
}

// TestLossIsFound has a server go back by some commits that were answered.
func TestLossIsFound(t *testing.T) {
	t.Parallel()
	server, prefix := redistest.Shared(t), redistest.Prefix(t)
	s := openAt(t, server.URL(), prefix)
	for range 5 {
		joinOne(t, s)
	}
	then := remember(server, prefix)
	var last store.Cursor
	for range 3 {
		last = mustCommit(t, s, joinBatch(0, "clinic", newID(), true)).Last
	}
	then.comeBack()
	res := mustCommit(t, s, joinBatch(0, "clinic", newID(), true))
	if n := res.Tokens[0].Number; n != 9 {
		t.Errorf("number %d was given after eight", n)
	}
	if res.Last.Epoch != last.Epoch+1 || res.Last.Number <= last.Number {
		t.Errorf("the log goes on at %+v after %+v", res.Last, last)
	}
	if page, err := s.Events(t.Context(), last, 10); err != nil || !page.Reset {
		t.Errorf("a cursor from before fits: %v", err)
	}
	want := redisstore.Losses{Times: 1, Events: 3, Joins: 3, Burned: 3}
	if got := s.Lost(); got != want {
		t.Errorf("lost %+v, want %+v", got, want)
	}
	if got, err := s.Losses(t.Context()); err != nil || got != want {
		t.Errorf("the store says %+v, %v, want %+v", got, err, want)
	}
	found := lostEvents(t, s, store.Cursor{Epoch: res.Last.Epoch, Number: last.Number})
	told := map[string]int{
		"epoch": int(res.Last.Epoch), "events": 3, "joins": 3, "numbers_burned": 3, "numbers_repeated": 0, "calls_repeated": 0,
	}
	if diff := cmp.Diff([]map[string]int{told}, found); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	clean(t, s)
}

// TestLossIsFoundBehindOthers has a process that did not live through it go on
// from the older state, further than the first had come: no number shows the loss.
func TestLossIsFoundBehindOthers(t *testing.T) {
	t.Parallel()
	server, prefix := redistest.Shared(t), redistest.Prefix(t)
	a := openAt(t, server.URL(), prefix)
	for range 5 {
		joinOne(t, a)
	}
	then := remember(server, prefix)
	given := map[int64]bool{}
	for range 3 {
		given[joinOne(t, a)] = true
	}
	doubly := mustCommit(t, a, callBatch(0, "clinic", "desk-a")).Tokens[0]
	then.comeBack()
	b := openAt(t, server.URL(), prefix)
	for range 6 {
		joinOne(t, b)
	}
	if got := mustCommit(t, b, callBatch(0, "clinic", "desk-b")).Tokens[0]; got.ID != doubly.ID {
		t.Fatalf("%s was called, not %s", got.ID, doubly.ID)
	}
	for range 3 {
		if n := joinOne(t, a); given[n] || n <= 8 {
			t.Errorf("a process that had given %v gives %d", given, n)
		}
	}
	want := redisstore.Losses{Times: 1, Events: 4, Joins: 3, Numbers: 3, Calls: 1}
	if got := a.Lost(); got != want {
		t.Errorf("lost %+v, want %+v", got, want)
	}
	if n := joinOne(t, b); n != 15 {
		t.Errorf("the other process gives %d", n)
	}
	if got := b.Lost(); got.Times != 0 {
		t.Errorf("the other process lost %+v", got)
	}
	if _, err := b.View(t.Context(), store.Ask{}); err != nil {
		t.Errorf("view: %v", err)
	}
	clean(t, a)
}

// TestLossIsHeardOf has a process go on that gave nothing of what was lost, but
// had heard of it.
func TestLossIsHeardOf(t *testing.T) {
	t.Parallel()
	server, prefix := redistest.Shared(t), redistest.Prefix(t)
	a, b := openAt(t, server.URL(), prefix), openAt(t, server.URL(), prefix)
	hint, stop := b.Watch(0)
	defer stop()
	// hears joins until the other process has heard of it.
	hears := func() (n int64) {
		for deadline := time.Now().Add(10 * time.Second); ; {
			res := mustCommit(t, a, joinBatch(0, "clinic", newID(), true))
			select {
			case <-hint:
			case <-time.After(10 * time.Millisecond): // it did not listen yet
			}
			if b.LastEvent() >= res.Last.Number {
				return res.Tokens[0].Number
			}
			if time.Now().After(deadline) {
				t.Fatal("the other process hears nothing")
			}
		}
	}
	first := hears()
	then := remember(server, prefix)
	last := hears()
	then.comeBack()
	if n := joinOne(t, b); n != last+1 {
		t.Errorf("number %d was given after %d", n, last)
	}
	if n := joinOne(t, a); n != last+2 {
		t.Errorf("number %d was given after %d", n, last+1)
	}
	gone := uint64(last - first)
	if got := b.Lost(); got.Times != 1 || got.Burned != gone || got.Numbers != 0 || got.Joins != 0 {
		t.Errorf("of %d, the process that had heard of it lost %+v", gone, got)
	}
	if got := a.Lost(); got.Times != 1 || got.Joins != gone || got.Numbers != 0 || got.Burned != 0 {
		t.Errorf("of %d, the process that had given it lost %+v", gone, got)
	}
	clean(t, a)
}

// TestLossIsFoundByReads has no commit follow.
func TestLossIsFoundByReads(t *testing.T) {
	t.Parallel()
	server, prefix := redistest.Shared(t), redistest.Prefix(t)
	a := openAt(t, server.URL(), prefix)
	joinOne(t, a)
	then := remember(server, prefix)
	joinOne(t, a)
	then.comeBack()
	b := openAt(t, server.URL(), prefix)
	joinOne(t, b)
	joinOne(t, b)
	if _, err := a.View(t.Context(), store.Ask{}); err != nil {
		t.Fatal(err)
	}
	if got := a.Lost(); got.Times != 1 {
		t.Errorf("lost %+v", got)
	}
}

// TestEverythingIsLost has a server begin with nothing, as one without
// persistence does.
func TestEverythingIsLost(t *testing.T) {
	t.Parallel()
	server, prefix := redistest.Shared(t), redistest.Prefix(t)
	s := openAt(t, server.URL(), prefix)
	var before store.Result
	for range 3 {
		before = mustCommit(t, s, joinBatch(0, "clinic", newID(), true))
	}
	remember(server, prefix).forget()
	after := mustCommit(t, s, joinBatch(0, "clinic", newID(), true))
	if n := after.Tokens[0].Number; n != 4 || after.Last.Epoch <= before.Last.Epoch || after.Now < before.Now {
		t.Errorf("number %d, log at %+v, was at %+v", n, after.Last, before.Last)
	}
	other := openAt(t, server.URL(), prefix)
	if n := joinOne(t, other); n != 5 {
		t.Errorf("number %d", n)
	}
	clean(t, s)
}

// TestSlotsAreLeft has a store that closes leave nothing of its own behind.
func TestSlotsAreLeft(t *testing.T) {
	t.Parallel()
	server, prefix := redistest.Shared(t), redistest.Prefix(t)
	s := openAt(t, server.URL(), prefix)
	for range 3 {
		joinOne(t, s)
	}
	state := prefix + "{" + strings.Split(strings.Split(server.MustDo("KEYS", prefix+"*}state").([]any)[0].(string), "{")[1], "}")[0] + "}state"
	slots := func() (n int) {
		for _, field := range server.MustDo("HKEYS", state).([]any) {
			if f := field.(string); f[0] == 'q' || f[0] == 'r' {
				n++
			}
		}
		return n
	}
	if n := slots(); n != 4 {
		t.Errorf("%d fields of slots", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := slots(); n != 0 {
		t.Errorf("%d fields of slots are left", n)
	}
	if w := server.MustDo("HGET", state, "w"); w != "" {
		t.Errorf("enrolled are %q", w)
	}
}
