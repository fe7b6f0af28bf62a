package redistest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu/internal/redistest"
)

// through returns a connection through a proxy.
func through(t *testing.T, p *redistest.Proxy) *redistest.Conn {
	t.Helper()
	c, err := redistest.Dial(t.Context(), p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestProxyHandsOn(t *testing.T) {
	t.Parallel()
	s := redistest.Shared(t)
	p := redistest.NewProxy(t, s.Addr())
	key := redistest.Prefix(t) + "k"
	c := through(t, p)
	big := make([]byte, 100_000)
	got, err := c.Pipe(
		[]any{"SET", key, big}, []any{"GET", key}, []any{"GET", key + "none"}, []any{"HGETALL", key},
		[]any{"EVAL", "return {1, {2, 'x'}, false}", 0},
	)
	if err != nil {
		t.Fatal(err)
	}
	wrong := redistest.ReplyError("WRONGTYPE Operation against a key holding the wrong kind of value")
	want := []any{"OK", string(big), nil, wrong, []any{int64(1), []any{int64(2), "x"}, nil}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if all, gets := p.Count(""), p.Count("GET"); all != 5 || gets != 2 {
		t.Errorf("counted %d requests, %d of them GET; want 5 and 2", all, gets)
	}
}

// TestProxyFollowsRESP3 sends a map, a push and a null through the proxy and
// then loses the reply that is to be lost: it has not lost count.
func TestProxyFollowsRESP3(t *testing.T) {
	t.Parallel()
	s := redistest.Shared(t)
	p := redistest.NewProxy(t, s.Addr())
	key := redistest.Prefix(t) + "k"
	lost := p.On(2, "INCR", redistest.DropReply)
	c := through(t, p)
	for _, command := range [][]any{
		{"HELLO", 3}, {"SUBSCRIBE", key}, {"INCR", key}, {"PUBLISH", key, "x"}, {"GET", key + "none"},
	} {
		if _, err := c.Do(command...); err != nil {
			t.Fatalf("%v: %v", command, err)
		}
	}
	if _, err := c.Receive(); err != nil { // one more came than was asked for: the message
		t.Fatal(err)
	}
	if got, err := c.Do("INCR", key); err == nil {
		t.Errorf("the second INCR is answered %v", got)
	}
	<-lost
	if got := s.MustDo("GET", key); got != "2" {
		t.Errorf("the server counted %v, want 2", got)
	}
}

func TestProxyFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault redistest.Fault
		ran   any
	}{
		"the reply is dropped":    {redistest.DropReply, "2"},
		"the request is dropped":  {redistest.DropRequest, "1"},
		"the reply is swallowed":  {redistest.SwallowReply, "2"},
		"nothing happens to them": {0, "2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Shared(t)
			p := redistest.NewProxy(t, s.Addr())
			key := redistest.Prefix(t) + "k"
			hit := p.On(2, "INCR", c.fault)
			conn := through(t, p)
			if got, err := conn.Do("INCR", key); err != nil || got != int64(1) {
				t.Fatalf("the first is not the second: %v %v", got, err)
			}
			failed := make(chan error)
			go func() {
				_, err := conn.Do("INCR", key)
				failed <- err
			}()
			<-hit
			if c.fault == redistest.SwallowReply {
				if got, err := through(t, p).Do("GET", key); err != nil || got != "2" {
					t.Fatalf("another connection is disturbed: %v %v", got, err)
				}
				p.Cut() // else it waits for long
			}
			if err := <-failed; (err == nil) != (c.fault == 0) {
				t.Errorf("the client saw %v", err)
			}
			if got := s.MustDo("GET", key); got != c.ran {
				t.Errorf("the server counted %v, want %v", got, c.ran)
			}
		})
	}
}

func TestProxyCutAndHeal(t *testing.T) {
	t.Parallel()
	s := redistest.Shared(t)
	p := redistest.NewProxy(t, s.Addr())
	before := through(t, p)
	if _, err := before.Do("PING"); err != nil {
		t.Fatal(err)
	}
	p.Cut()
	if _, err := before.Do("PING"); err == nil {
		t.Error("an old connection was not cut")
	}
	if c, err := redistest.Dial(t.Context(), p.Addr()); err == nil {
		defer c.Close()
		if _, err := c.Do("PING"); err == nil {
			t.Error("a new connection was not cut")
		}
	}
	p.Heal()
	if _, err := through(t, p).Do("PING"); err != nil {
		t.Errorf("after the cut: %v", err)
	}
}

func TestProxyHoldsUp(t *testing.T) {
	t.Parallel()
	s := redistest.Shared(t)
	p := redistest.NewProxy(t, s.Addr())
	key := redistest.Prefix(t) + "k"
	c := through(t, p)
	p.Pause()
	answered := make(chan any)
	go func() {
		got, err := c.Do("INCR", key)
		answered <- fmt.Sprint(got, err)
	}()
	for p.Count("INCR") == 0 {
		time.Sleep(time.Millisecond)
	}
	if got := s.MustDo("GET", key); got != nil {
		t.Errorf("a request passed in spite of the pause: %v", got)
	}
	p.Heal()
	if got, want := <-answered, "1 <nil>"; got != want {
		t.Errorf("after the pause: %v, want %v", got, want)
	}
}

// TestProxyDelays holds that a delay is a longer way, not a slower road: ten
// commands at once are as late as one.
func TestProxyDelays(t *testing.T) {
	t.Parallel()
	s := redistest.Shared(t)
	p := redistest.NewProxy(t, s.Addr())
	c := through(t, p)
	const delay = 200 * time.Millisecond
	p.Delay(delay)
	began := time.Now()
	ten := make([][]any, 10)
	for i := range ten {
		ten[i] = []any{"PING"}
	}
	if _, err := c.Pipe(ten...); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < delay || took > 5*delay {
		t.Errorf("ten replies took %v, each is %v late", took, delay)
	}
}

func TestProxySwallowsUntilHealed(t *testing.T) {
	t.Parallel()
	s := redistest.Shared(t)
	p := redistest.NewProxy(t, s.Addr())
	key := redistest.Prefix(t) + "k"
	c := through(t, p)
	p.SwallowReplies()
	failed := make(chan error)
	go func() {
		_, err := c.Do("INCR", key)
		failed <- err
	}()
	s.Await("1", "GET", key)
	// The reply is lost once the server has sent it and the proxy has read it.
	select {
	case err := <-failed:
		t.Fatalf("answered: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	p.Heal()
	if err := <-failed; err == nil {
		t.Error("a swallowed reply arrived")
	}
	if got, err := through(t, p).Do("INCR", key); err != nil || got != int64(2) {
		t.Errorf("after it was healed: %v %v", got, err)
	}
}
