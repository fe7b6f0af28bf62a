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
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
)

// lasting is a store that outlives the servers over it.
type lasting struct{ store.Store }

func (lasting) Close() error { return nil }

// pair starts two servers on one store of four partitions.
func pair(t *testing.T) (a, b *App) {
	t.Helper()
	s := memstore.New(memstore.Options{Partitions: 4, Shared: true})
	t.Cleanup(func() { s.Close() })
	a = start(t, Options{Store: lasting{s}, Bare: true, AdminKey: testKey})
	t.Cleanup(func() { stop(t, a) })
	b = start(t, Options{Store: lasting{s}, Bare: true, AdminKey: testKey})
	t.Cleanup(func() { stop(t, b) })
	return a, b
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
	a, b := pair(t)
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
	a, b := pair(t)
	key := must[dengxu.KeyView](t, a, "PUT", "/key/front", `{"role":"operator"}`)
	if status, text := ask(t, "GET", b.URL()+"/sites", key.Secret, ""); status != 200 {
		t.Fatalf("a new key: %d %s", status, text)
	}
	if status, text := ask(t, "DELETE", a.URL()+"/key/front", testKey, ""); status != 204 {
		t.Fatalf("revoke: %d %s", status, text)
	}
	revoked := time.Now()
	for {
		status, _ := ask(t, "GET", b.URL()+"/sites", key.Secret, "")
		if status == 401 {
			return
		}
		if time.Since(revoked) > 2*time.Second {
			t.Fatalf("the key is still taken after 2 s: %d", status)
		}
	}
}
