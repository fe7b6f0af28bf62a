package app

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/redistest"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
)

// lasting is a store that outlives the servers over it.
type lasting struct{ store.Store }

func (lasting) Close() error { return nil }

// pairs are stores of four partitions that two servers share.
var pairs = map[string]func(t *testing.T) (a, b Options){
	"memory": func(t *testing.T) (a, b Options) {
		t.Helper()
		s := memstore.New(memstore.Options{Partitions: 4, Shared: true})
		t.Cleanup(func() { s.Close() })
		return Options{Store: lasting{s}}, Options{Store: lasting{s}}
	},
	"redis": func(t *testing.T) (a, b Options) {
		t.Helper()
		o := Options{StoreURL: redistest.Shared(t).URL() + "?partitions=4&prefix=" + redistest.Prefix(t)}
		return o, o
	},
	"cluster": func(t *testing.T) (a, b Options) {
		t.Helper()
		o := Options{StoreURL: redistest.SharedCluster(t).URL() + "?partitions=4&prefix=" + redistest.Prefix(t)}
		return o, o
	},
}

// onPairs runs a test with two servers on each shared store.
func onPairs(t *testing.T, test func(t *testing.T, a, b *App)) {
	t.Helper()
	for name, options := range pairs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var both [2]*App
			oa, ob := options(t)
			for i, o := range []Options{oa, ob} {
				o.Bare, o.AdminKey = true, testKey
				server := start(t, o)
				t.Cleanup(func() { stop(t, server) })
				both[i] = server
			}
			test(t, both[0], both[1])
		})
	}
}

// must asks as the admin and decodes the answer.
func must[T any](t *testing.T, a *App, method, path, body string) (v T) {
	t.Helper()
	status, text := ask(t, method, a.URL()+path, testKey, body)
	if status >= 300 {
		t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s %s: %s: %v", method, path, text, err)
	}
	return v
}

// sse opens a stream and returns its data lines as they come. It is closed with
// the stream, at the end of the test.
func sse(t *testing.T, url string) <-chan string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req) //nolint:bodyclose // closed at the end of the test
	if err != nil {
		t.Fatal(err)
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(resp.Body); s.Scan(); {
			if data, ok := strings.CutPrefix(s.Text(), "data: "); ok {
				select {
				case lines <- data:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		resp.Body.Close()
		for range lines { // until it has ended
		}
	})
	return lines
}

// waitFor takes lines until one has the text.
func waitFor(t *testing.T, lines <-chan string, text string) {
	t.Helper()
	late := time.After(10 * time.Second)
	for {
		select {
		case line, more := <-lines:
			if !more {
				t.Fatalf("the stream ended before %s", text)
			}
			if strings.Contains(line, text) {
				return
			}
		case <-late:
			t.Fatalf("no %s came", text)
		}
	}
}

// TestTwoServersServeOneQueue in sites of several partitions: what is made on
// one is joined on the other at once, and streams and long polls on each see
// what the other does.
func TestTwoServersServeOneQueue(t *testing.T) {
	t.Parallel()
	onPairs(t, twoServersServeOneQueue)
}

func twoServersServeOneQueue(t *testing.T, a, b *App) {
	t.Helper()
	for _, site := range []string{"north", "south", "east"} {
		must[dengxu.SiteView](t, a, "PUT", "/site/"+site, `{"time_zone":"UTC"}`)
		must[dengxu.QueueView](t, a, "PUT", "/queue/"+site, `{"site":"`+site+`"}`)
		must[dengxu.CounterView](t, a, "PUT", "/counter/"+site, `{"site":"`+site+`","queues":["`+site+`"]}`)
		ticket := must[dengxu.Ticket](t, b, "POST", "/queue/"+site+"/join", `{}`)
		position := sse(t, a.URL()+"/queue/token/"+string(ticket.ID)+"/stream")
		waitFor(t, position, `"waiting"`)
		called := must[dengxu.Token](t, b, "POST", "/counter/"+site+"/call_next", `{}`)
		if called.ID != ticket.ID {
			t.Errorf("%s called %s", site, called.Number)
		}
		waitFor(t, position, `"calling"`)

		next := make(chan string, 1)
		go func() {
			_, text := ask(t, "POST", b.URL()+"/counter/"+site+"/call_next?wait_seconds=20", testKey, `{"current":"complete"}`)
			next <- text
		}()
		waitFor(t, position, `"completed"`) // the poll has done that, and waits
		must[dengxu.Ticket](t, a, "POST", "/queue/"+site+"/join", `{}`)
		if text := <-next; !strings.Contains(text, `"A002"`) {
			t.Errorf("%s: the long poll was answered %s", site, text)
		}
	}
}

// TestAKeyRevokedOnOneServerIsRefusedByTheOther as soon as the hint has come.
func TestAKeyRevokedOnOneServerIsRefusedByTheOther(t *testing.T) {
	t.Parallel()
	onPairs(t, revoked)
}

func revoked(t *testing.T, a, b *App) {
	t.Helper()
	key := must[dengxu.KeyView](t, a, "PUT", "/key/front", `{"role":"operator"}`)
	if status, text := ask(t, "GET", b.URL()+"/sites", key.Secret, ""); status != 200 {
		t.Fatalf("a new key: %d %s", status, text)
	}
	if status, text := ask(t, "DELETE", a.URL()+"/key/front", testKey, ""); status != 204 {
		t.Fatalf("revoke: %d %s", status, text)
	}
	since := time.Now()
	for {
		status, _ := ask(t, "GET", b.URL()+"/sites", key.Secret, "")
		if status == 401 {
			return
		}
		if time.Since(since) > 2*time.Second {
			t.Fatalf("the key is still taken after 2 s: %d", status)
		}
	}
}

// TestTimersOfTwoServers: what is called on either is missed on time, whichever
// of them looks after its partition, and both tell.
func TestTimersOfTwoServers(t *testing.T) {
	t.Parallel()
	onPairs(t, timersOfTwoServers)
}

func timersOfTwoServers(t *testing.T, a, b *App) {
	t.Helper()
	const deadline, late = time.Second, 3 * time.Second
	for i, site := range []string{"north", "south", "east", "west"} {
		must[dengxu.SiteView](t, a, "PUT", "/site/"+site, `{"time_zone":"UTC"}`)
		must[dengxu.QueueView](t, a, "PUT", "/queue/"+site, `{"site":"`+site+`","call_timeout_seconds":1,"missed":{"policy":"keep"}}`)
		must[dengxu.CounterView](t, a, "PUT", "/counter/"+site, `{"site":"`+site+`","queues":["`+site+`"]}`)
		caller, other := a, b
		if i%2 == 1 {
			caller, other = b, a
		}
		ticket := must[dengxu.Ticket](t, other, "POST", "/queue/"+site+"/join", `{}`)
		position := sse(t, other.URL()+"/queue/token/"+string(ticket.ID)+"/stream")
		waitFor(t, position, `"waiting"`)
		called := time.Now()
		must[dengxu.Token](t, caller, "POST", "/counter/"+site+"/call_next", `{}`)
		waitFor(t, position, `"missed"`)
		// The call was a moment after called, so that this is no sooner than its time.
		if took := time.Since(called); took < deadline || took > late {
			t.Errorf("%s: missed after %v", site, took)
		}
		if token := must[dengxu.Token](t, caller, "GET", "/token/"+string(ticket.ID), ""); token.State != dengxu.StateMissed {
			t.Errorf("%s: it is %s where it was called", site, token.State)
		}
	}
}
