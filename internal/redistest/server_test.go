package redistest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu/internal/redistest"
)

func TestKilledServerForgets(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	s.MustDo("SET", "k", "v")
	before, addr := s.Pid(), s.Addr()
	s.Restart()
	if s.Pid() == before || s.Addr() != addr {
		t.Fatalf("after the restart: process %d at %s, before %d at %s", s.Pid(), s.Addr(), before, addr)
	}
	if got := s.MustDo("GET", "k"); got != nil {
		t.Errorf("a server that keeps nothing has %v", got)
	}
	if got, want := s.URL(), "redis://"+s.Addr(); got != want {
		t.Errorf("URL %q, want %q", got, want)
	}
}

func TestKilledServerKeepsItsLog(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{AppendOnly: true, AppendFsync: "always"})
	s.MustDo("SET", "k", []byte("v\r\n\x00"))
	s.Kill()
	if reply, err := s.Do("GET", "k"); err == nil {
		t.Fatalf("a killed server answers %v", reply)
	}
	s.RestartLoading()
	s.Await("v\r\n\x00", "GET", "k")
}

func TestServerOptions(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{
		MaxMemory: "3mb", Policy: "allkeys-lru", Config: []string{"busy-reply-threshold 100"},
	})
	got := s.MustDo("CONFIG", "GET", "maxmemory", "maxmemory-policy", "busy-reply-threshold")
	want := []any{"maxmemory", "3145728", "maxmemory-policy", "allkeys-lru", "busy-reply-threshold", "100"}
	pairs := func(list []any) map[any]any {
		m := map[any]any{}
		for i := 0; i+1 < len(list); i += 2 {
			m[list[i]] = list[i+1]
		}
		return m
	}
	list, _ := got.([]any)
	if diff := cmp.Diff(pairs(want), pairs(list)); diff != "" {
		t.Error(diff)
	}
}

func TestReplica(t *testing.T) {
	t.Parallel()
	master := redistest.Start(t, redistest.Options{})
	replica := redistest.Start(t, redistest.Options{ReplicaOf: master})
	master.MustDo("SET", "k", "v")
	if got := master.MustDo("WAIT", 1, 5000); got != int64(1) {
		t.Fatalf("%v replicas have it", got)
	}
	if got := replica.MustDo("GET", "k"); got != "v" {
		t.Errorf("the replica has %v", got)
	}
	_, err := replica.Do("SET", "k", "w")
	if refused, ok := errors.AsType[redistest.ReplyError](err); !ok || !strings.HasPrefix(refused.Error(), "READONLY") {
		t.Errorf("a write to the replica: %v", err)
	}
}

func TestStoppedServerAnswersLater(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	s.MustDo("PING") // has a connection
	s.Stop()
	answered := make(chan any)
	go func() {
		reply, err := s.Do("ECHO", "late")
		answered <- []any{reply, err}
	}()
	select {
	case got := <-answered:
		t.Fatalf("a stopped server answers %v", got)
	case <-time.After(100 * time.Millisecond): // a running one needs less than one
	}
	s.Cont()
	if diff := cmp.Diff(any([]any{"late", nil}), <-answered); diff != "" {
		t.Error(diff)
	}
}

func TestStoppedServerIsKilledUnderACommand(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	s.MustDo("PING")
	s.Stop()
	failed := make(chan error)
	go func() {
		_, err := s.Do("PING")
		failed <- err
	}()
	s.Kill()
	if err := <-failed; err == nil {
		t.Error("a stopped server answered")
	}
}

func TestSharedServer(t *testing.T) {
	t.Parallel()
	a, b := redistest.Shared(t), redistest.Shared(t)
	if a.Pid() != b.Pid() || a.Pid() == 0 {
		t.Fatalf("two shared servers: %d and %d", a.Pid(), b.Pid())
	}
	first, second := redistest.Prefix(t), redistest.Prefix(t)
	if first == second {
		t.Fatalf("one prefix twice: %s", first)
	}
	a.MustDo("SET", first+"k", 1)
	if got := b.MustDo("GET", second+"k"); got != nil {
		t.Errorf("a key of another test: %v", got)
	}
	if got := b.MustDo("GET", first+"k"); got != "1" {
		t.Errorf("the key of this test: %v", got)
	}
}

func TestConnHearsMessages(t *testing.T) {
	t.Parallel()
	s := redistest.Shared(t)
	channel := redistest.Prefix(t) + "news"
	c := s.Conn()
	if _, err := c.Do("SUBSCRIBE", channel); err != nil {
		t.Fatal(err)
	}
	s.MustDo("PUBLISH", channel, "hello")
	got, err := c.Receive()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(any([]any{"message", channel, "hello"}), got); diff != "" {
		t.Error(diff)
	}
}

func TestPipeAnswersInTurn(t *testing.T) {
	t.Parallel()
	s := redistest.Shared(t)
	key := redistest.Prefix(t) + "k"
	got, err := s.Conn().Pipe([]any{"SET", key, "text"}, []any{"INCR", key}, []any{"LRANGE", key + "none", 0, -1})
	if err != nil {
		t.Fatal(err)
	}
	want := []any{"OK", redistest.ReplyError("ERR value is not an integer or out of range"), []any{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
