package redisstore_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/redistest"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/redisstore"
)

// TestLostReplies loses replies after the server ran the script, and requests
// before it did: each has one effect.
func TestLostReplies(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	proxy := redistest.NewProxy(t, server.Addr())
	s := openAt(t, proxy.URL(), "p:")
	c := newCrowd(t, s)
	c.start(8, 4)
	for i := range rounds(40, 1000) {
		fault := redistest.DropReply
		if i%4 == 3 {
			fault = redistest.DropRequest
		}
		<-proxy.On(1+rand.IntN(8), "EVALSHA", fault)
	}
	for range rounds(2, 10) {
		<-proxy.On(1, "EVALSHA", redistest.SwallowReply)
	}
	c.await(20)
	c.end()
	c.flawless(s)
}

// TestLostPage loses a page of a scan: it begins anew, for another server would
// not know where it was.
func TestLostPage(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	proxy := redistest.NewProxy(t, server.Addr())
	s := openAt(t, proxy.URL(), "p:")
	const docs = 2000
	for i := range docs {
		mustCommit(t, s, store.Batch{Site: "north", Docs: []store.DocWrite{{
			Doc: store.Doc{Key: store.DocKey{Kind: store.DocQueue, ID: fmt.Sprint(i)}, Site: "north", Body: []byte(`{}`)},
		}}})
	}
	before := proxy.Count("HSCAN")
	hit := proxy.On(3, "HSCAN", redistest.DropReply)
	found, err := s.Docs(t.Context(), 0)
	<-hit
	if err != nil || len(found) != docs {
		t.Errorf("%d documents of %d, %v", len(found), docs, err)
	}
	if n := proxy.Count("HSCAN") - before; n < 6 {
		t.Errorf("%d pages, so it did not begin anew", n)
	}
	clean(t, s)
}

// TestSilence swallows all replies for longer than a call is repeated.
func TestSilence(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	proxy := redistest.NewProxy(t, server.Addr())
	s := openAt(t, proxy.URL(), "p:")
	c := newCrowd(t, s)
	c.start(8, 4)
	c.await(20)
	for range rounds(1, 10) {
		proxy.SwallowReplies()
		if err := c.once(s, 0, "clinic"); !errors.Is(err, store.ErrUnknown) && !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("a join into silence: %v", err)
		}
		proxy.Heal()
		c.await(20)
	}
	c.end()
	c.flawless(s)
}

// TestFrozenServer stops the server for three seconds.
func TestFrozenServer(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	s := openAt(t, server.URL(), "p:")
	c := newCrowd(t, s)
	c.start(8, 4)
	c.await(20)
	for range rounds(1, 20) {
		server.Stop()
		time.Sleep(3 * time.Second) // for so long the server is gone: that is the fault
		server.Cont()
		began := time.Now()
		c.await(20)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("recovered after %v", took)
		}
	}
	c.end()
	c.flawless(s)
}

// TestKilledServer kills the server again and again. With appendfsync always
// nothing is lost; with everysec what is lost is counted, and no number that was
// given is given again.
func TestKilledServer(t *testing.T) {
	t.Parallel()
	for _, fsync := range []string{"always", "everysec"} {
		t.Run(fsync, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t, redistest.Options{AppendOnly: true, AppendFsync: fsync})
			s := openAt(t, server.URL(), "p:")
			other := openAt(t, server.URL(), "p:")
			c := newCrowd(t, s, other)
			c.start(8, 4)
			for range rounds(2, 50) {
				c.await(50)
				server.Restart()
				began := time.Now()
				c.await(1)
				if took := time.Since(began); took > 10*time.Second {
					t.Errorf("recovered after %v", took)
				}
			}
			c.end()
			if fsync == "always" {
				c.flawless(s)
				return
			}
			if v := c.counted(s); v.repeated > 0 {
				t.Errorf("%d numbers were given twice by processes that lived through it", v.repeated)
			}
		})
	}
}

// counted expects that what was lost is no more than what the store says, and
// that nothing was given twice.
func (c *crowd) counted(s *redisstore.Store) verdict {
	c.t.Helper()
	v := c.account(s)
	var lost redisstore.Losses
	for _, each := range c.stores {
		l := each.Lost()
		lost.Times, lost.Joins = lost.Times+l.Times, lost.Joins+l.Joins
		lost.Numbers, lost.Calls = lost.Numbers+l.Numbers, lost.Calls+l.Calls
	}
	c.t.Logf("%+v; the store says %+v", v, lost)
	if v.lost > 0 && lost.Times == 0 || v.lost > int(lost.Joins) {
		c.t.Errorf("%d joins were lost, and the store says %+v", v.lost, lost)
	}
	if v.repeated > int(lost.Numbers) {
		c.t.Errorf("%d numbers were given twice, and the store says %+v", v.repeated, lost)
	}
	if v.doubly > int(lost.Calls) {
		c.t.Errorf("%d were called by two, and the store says %+v", v.doubly, lost)
	}
	clean(c.t, s)
	return v
}

// TestLostTail takes the end off the log of a killed server, as a power loss
// does under everysec: the loss is found and counted, whatever the chances of a
// kill are.
func TestLostTail(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{AppendOnly: true, Config: []string{"appendfsync no"}})
	s := openAt(t, server.URL(), "p:")
	c := newCrowd(t, s)
	c.start(4, 2)
	c.await(100)
	c.end()
	then := remember(server, "p:")
	c2 := newCrowd(t, s)
	c2.start(4, 2)
	c2.await(100)
	c2.end()
	then.comeBack()
	c3 := newCrowd(t, s)
	c3.start(4, 2)
	c3.await(100)
	c3.end()
	for _, each := range []*crowd{c, c2} {
		maps.Copy(c3.joined, each.joined)
	}
	v := c3.account(s)
	lost := s.Lost()
	if lost.Times != 1 || int(lost.Joins) != v.lost || v.lost < 100 || v.repeated != 0 {
		t.Errorf("%+v; the store says %+v", v, lost)
	}
	clean(t, s)
}

// TestScriptsAreFlushed flushes the scripts under load.
func TestScriptsAreFlushed(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	s := openAt(t, server.URL(), "p:")
	c := newCrowd(t, s)
	c.start(8, 4)
	for range rounds(20, 500) {
		c.await(3)
		server.MustDo("SCRIPT", "FLUSH")
	}
	c.end()
	c.flawless(s)
	if n := len(c.failed); n != 0 {
		t.Errorf("commits failed: %v", c.failed)
	}
}

// TestReadonly makes the server a replica of nobody for a while.
func TestReadonly(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	s := openAt(t, server.URL(), "p:")
	c := newCrowd(t, s)
	c.start(8, 4)
	for range rounds(1, 10) {
		c.await(20)
		server.MustDo("REPLICAOF", "127.0.0.1", "1")
		if err := c.once(s, 0, "clinic"); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("a join of a replica: %v", err)
		}
		server.MustDo("REPLICAOF", "NO", "ONE")
	}
	c.await(20)
	c.end()
	c.flawless(s)
}

// once joins without repeating, and expects an answer within three seconds.
func (c *crowd) once(s *redisstore.Store, p store.Partition, queue dengxu.QueueID) error {
	c.t.Helper()
	began, id := time.Now(), newID()
	res, err := s.Commit(c.t.Context(), joinBatch(p, queue, id, true))
	if took := time.Since(began); took > 3500*time.Millisecond {
		c.t.Errorf("a join took %v: %v", took, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.joined[id] = res.Tokens[0]
	case errors.Is(err, store.ErrUnknown):
		c.unsure[id] = true
	default:
		c.refused[id] = true
	}
	return err
}

// TestLoading restarts a server that takes long to read its data.
func TestLoading(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{
		AppendOnly: true, AppendFsync: "always", Config: []string{"key-load-delay 500", "loading-process-events-interval-bytes 1024"},
	})
	s := openAt(t, server.URL(), "p:")
	c := newCrowd(t, s)
	c.start(8, 4)
	c.await(300)
	server.RestartLoading()
	server.Await("LOADING", "HGET", "k", "f")
	if err := c.once(s, 0, "clinic"); err == nil {
		t.Log("loaded within the patience of a join")
	}
	server.Await("loading:0", "INFO", "persistence")
	c.await(20)
	c.end()
	c.flawless(s)
}

// TestFullMemory has no memory for new tokens: joins are refused, and calls and
// completions, which make room, go on.
func TestFullMemory(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	s := openAt(t, server.URL(), "p:")
	c := newCrowd(t, s)
	var waiting []store.Token
	for range 20 {
		waiting = append(waiting, mustCommit(t, s, joinBatch(0, "clinic", newID(), true)).Tokens...)
	}
	server.MustDo("CONFIG", "SET", "maxmemory", "1mb")
	if err := c.once(s, 0, "clinic"); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a join without memory: %v", err)
	}
	for i := range 5 {
		tok := mustCommit(t, s, callBatch(0, "clinic", "desk")).Tokens[0]
		if tok.ID != waiting[i].ID {
			t.Errorf("%s is called, not %s", tok.ID, waiting[i].ID)
		}
		mustCommit(t, s, completeBatch(0, tok))
	}
	if _, err := s.View(t.Context(), store.Ask{}); err != nil {
		t.Errorf("a read without memory: %v", err)
	}
	server.MustDo("CONFIG", "SET", "maxmemory", "0")
	if n := joinOne(t, s); n != 21 {
		t.Errorf("number %d", n)
	}
	clean(t, s)
}

// TestBusyServer has somebody else's script run for ever.
func TestBusyServer(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{Config: []string{"busy-reply-threshold 20"}})
	s := openAt(t, server.URL(), "p:")
	c := newCrowd(t, s)
	c.start(8, 4)
	c.await(20)
	other := server.Conn()
	done := make(chan error, 1)
	go func() {
		_, err := other.Do("EVAL", "while true do end", 0)
		done <- err
	}()
	server.Await("BUSY", "PING")
	if err := c.once(s, 0, "clinic"); err == nil {
		t.Error("a join of a busy server is done")
	}
	server.MustDo("SCRIPT", "KILL")
	if err := <-done; err == nil {
		t.Error("an endless script ended")
	}
	c.await(20)
	c.end()
	c.flawless(s)
}

// TestCloseUnderLoad closes a store that a crowd is joining: what was begun is
// answered, the rest is refused, and nobody waits for ever.
func TestCloseUnderLoad(t *testing.T) {
	t.Parallel()
	server := redistest.Shared(t)
	for range rounds(3, 100) {
		prefix := redistest.Prefix(t)
		s := openAt(t, server.URL(), prefix)
		c := newCrowd(t, s)
		var running sync.WaitGroup
		for range 100 {
			running.Go(func() {
				for {
					if err := c.once(s, 0, "clinic"); err != nil {
						if !errors.Is(err, store.ErrClosed) {
							t.Errorf("a join of a store that closes: %v", err)
						}
						return
					}
					c.done.Add(1)
				}
			})
		}
		c.await(500)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		running.Wait()
		c.flawless(openAt(t, server.URL(), prefix))
	}
}

// TestIdle counts what a store asks that nobody uses.
func TestIdle(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	s := openAt(t, server.URL(), "p:")
	joinOne(t, s)
	count := func() (n int64) {
		_, text, _ := strings.Cut(fmt.Sprint(server.MustDo("INFO", "stats")), "total_commands_processed:")
		_, err := fmt.Sscan(text, &n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before, seconds := count(), int64(2)
	time.Sleep(time.Duration(seconds) * time.Second) // what happens in no time at all is nothing
	if n := count() - before - 1; n > 5*seconds {
		t.Errorf("%d commands in %d s of nothing", n, seconds)
	} else {
		t.Logf("%d commands in %d s of nothing", n, seconds)
	}
}
