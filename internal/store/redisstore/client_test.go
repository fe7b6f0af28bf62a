package redisstore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/redistest"
	"github.com/dengxu/dengxu/internal/store"
)

// TestPoisonedClient has a client panic: it is replaced, and the store goes on.
func TestPoisonedClient(t *testing.T) {
	t.Parallel()
	s := openAt(t, redistest.Shared(t).URL(), redistest.Prefix(t))
	c := newCrowd(t, s)
	c.start(4, 2)
	c.await(10)
	before := s.Client()
	if err := s.Break(t.Context()); !errors.Is(err, store.ErrUnknown) {
		t.Errorf("a call of a broken client: %v", err)
	}
	for s.Client() == before {
		c.await(1) // fails after half a minute without joins, not before the client is replaced
	}
	c.await(20)
	c.end()
	c.flawless(s)
}

// TestTooManyCalls has no place for another call.
func TestTooManyCalls(t *testing.T) {
	t.Parallel()
	s := openAt(t, redistest.Shared(t).URL(), redistest.Prefix(t))
	release := s.Crowd()
	c := newCrowd(t, s)
	if err := c.once(s, 0, "clinic"); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a join without a place: %v", err)
	}
	release()
	if err := c.once(s, 0, "clinic"); err != nil {
		t.Errorf("a join afterwards: %v", err)
	}
}

// TestSweep forgets marks that are over and processes that are gone.
func TestSweep(t *testing.T) {
	t.Parallel()
	server, prefix := redistest.Shared(t), redistest.Prefix(t)
	s := openAt(t, server.URL(), prefix)
	mark := func(business string, keep int64) {
		mustCommit(t, s, store.Batch{Site: "north", Marks: []store.MarkWrite{{
			MarkKey: store.MarkKey{Queue: "clinic", Business: business}, At: store.Now, Keep: keep,
		}}})
	}
	for i := range 500 {
		mark(fmt.Sprint("over-", i), 1)
	}
	mark("kept", 3_600_000)
	for from := mustCommit(t, s, joinBatch(0, "clinic", newID(), true)).Now; mustCommit(t, s, joinBatch(0, "clinic", newID(), true)).Now < from+2; {
	}
	key := func(name string) string { return server.MustDo("KEYS", prefix+"*}"+name).([]any)[0].(string) }
	const gone = "abcdef"
	roll := fmt.Sprint(server.MustDo("HGET", key("state"), "w"))
	server.MustDo("HSET", key("state"), "w", roll+gone+"\x00\x00\x00\x05", "q"+gone+"\x00", "7", "r"+gone+"\x01", "x")
	if err := s.Sweep(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if n := server.MustDo("HLEN", key("marks")); n != int64(2) { // one keeps the key existing
		t.Errorf("%d marks are left", n)
	}
	for _, field := range server.MustDo("HKEYS", key("state")).([]any) {
		if strings.Contains(field.(string), gone) {
			t.Errorf("%q is left", field)
		}
	}
	if roll := fmt.Sprint(server.MustDo("HGET", key("state"), "w")); strings.Contains(roll, gone) || !strings.Contains(roll, s.Process()) || len(roll) != 10 {
		t.Errorf("enrolled: %q", roll)
	}
	v, err := s.View(t.Context(), store.Ask{Marks: []store.MarkKey{{Queue: "clinic", Business: "kept"}, {Queue: dengxu.QueueID("clinic"), Business: "over-3"}}})
	if err != nil || v.Marks[0] == 0 || v.Marks[1] != 0 {
		t.Errorf("marks %v, %v", v.Marks, err)
	}
	clean(t, s)
}
