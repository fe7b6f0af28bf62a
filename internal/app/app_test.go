package app

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/redistest"
	"github.com/dengxu/dengxu/internal/store/memstore"
)

func TestMain(m *testing.M) {
	// Connections to nodes that left a cluster are closed 5 s later, whether
	// the client is closed or not.
	goleak.VerifyTestMain(redistest.Main(m), goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*clusterClient)._refresh.func2"))
}

const testKey = "an-admin-key-for-tests"

func start(t *testing.T, o Options) *App {
	t.Helper()
	o.Listen = "127.0.0.1:0"
	if o.Store == nil && o.StoreURL == "" {
		o.StoreURL = "memory:"
	}
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a
}

func stop(t *testing.T, a *App) {
	t.Helper()
	if err := a.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// ask sends one request on a connection of its own, so that none is left idle.
func ask(t *testing.T, method, url, key, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestFirstStart(t *testing.T) {
	t.Parallel()
	a := start(t, Options{})
	defer stop(t, a)
	first := a.First()
	if first.Site != "main" || first.Queue != "main" || first.Counter != "1" || first.Zone == "" || first.AdminKey == "" {
		t.Fatalf("%+v", first)
	}
	if status, body := ask(t, "POST", a.URL()+"/queue/main/join", "", ""); status != 201 || !strings.Contains(body, `"A001"`) {
		t.Errorf("a join without a key on loopback: %d %s", status, body)
	}
	status, body := ask(t, "POST", a.URL()+"/queue/main/counter/1/call_next", first.AdminKey, "")
	if status != 200 || !strings.Contains(body, `"A001"`) {
		t.Errorf("call with the key that was made: %d %s", status, body)
	}
	var q dengxu.QueueView
	if _, body := ask(t, "GET", a.URL()+"/queue/main", first.AdminKey, ""); json.Unmarshal([]byte(body), &q) != nil || q.ExpectedServiceSeconds != 300 {
		t.Errorf("queue main: %s", body)
	}
}

func TestBareStaysEmptyAndTakesTheGivenKey(t *testing.T) {
	t.Parallel()
	a := start(t, Options{Bare: true, AdminKey: testKey})
	defer stop(t, a)
	if !reflect.DeepEqual(a.First(), First{}) {
		t.Errorf("made %+v", a.First())
	}
	if status, body := ask(t, "GET", a.URL()+"/sites", testKey, ""); status != 200 || !strings.Contains(body, `"items":[]`) {
		t.Errorf("%d %s", status, body)
	}
}

func TestEverythingIsThereAfterARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := start(t, Options{StoreURL: "pebble:" + filepath.Join(dir, "s")})
	key := a.First().AdminKey
	ask(t, "POST", a.URL()+"/queue/main/join", "", "")
	stop(t, a)

	a = start(t, Options{StoreURL: "pebble:" + filepath.Join(dir, "s")})
	defer stop(t, a)
	if !reflect.DeepEqual(a.First(), First{}) {
		t.Errorf("second start made %+v", a.First())
	}
	if status, body := ask(t, "POST", a.URL()+"/counter/1/call_next", key, ""); status != 200 || !strings.Contains(body, `"A001"`) {
		t.Errorf("%d %s", status, body)
	}
}

func TestTwoServersDoNotShareAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := start(t, Options{StoreURL: "pebble:" + dir + "/s"})
	defer stop(t, a)
	b, err := New(Options{Listen: "127.0.0.1:0", StoreURL: "pebble:" + dir + "/s"})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Start(t.Context()); err == nil {
		t.Error("the second one started")
	}
}

func TestALostAdminKeyIsReplaced(t *testing.T) {
	t.Parallel()
	o := Options{Data: t.TempDir(), StoreURL: ""}
	o.StoreURL = "pebble:" + o.Data + "/store"
	stop(t, start(t, o))
	secret, err := NewAdminKey(t.Context(), Options{Data: o.Data})
	if err != nil {
		t.Fatal(err)
	}
	a := start(t, o)
	defer stop(t, a)
	if status, body := ask(t, "GET", a.URL()+"/keys", secret, ""); status != 200 {
		t.Errorf("%d %s", status, body)
	}
}

func TestAuditOfAFolder(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	stop(t, start(t, Options{StoreURL: "pebble:" + data + "/store"}))
	if found, err := Audit(t.Context(), Options{Data: data}); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
	empty := filepath.Join(data, "nothing")
	if _, err := Audit(t.Context(), Options{Data: empty}); err == nil {
		t.Error("a folder that is not there was read")
	}
	if _, err := os.Stat(empty); !os.IsNotExist(err) {
		t.Error("the audit made a folder")
	}
}

// TestStopDrains holds a long poll and two streams open: Stop answers and
// closes them and does not wait for their time to pass.
func TestStopDrains(t *testing.T) {
	t.Parallel()
	a := start(t, Options{AdminKey: testKey})
	_, body := ask(t, "POST", a.URL()+"/queue/main/join", "", "")
	var ticket dengxu.Ticket
	if err := json.Unmarshal([]byte(body), &ticket); err != nil {
		t.Fatal(err)
	}
	ask(t, "POST", a.URL()+"/counter/1/call_next", testKey, "")
	events := openStream(t, a.URL()+"/events")
	position := openStream(t, a.URL()+"/queue/token/"+string(ticket.ID)+"/stream")

	ended := make(chan int, 1)
	go func() { // completes, then waits for somebody
		req, err := http.NewRequestWithContext(t.Context(), "POST", a.URL()+"/counter/1/call_next?wait_seconds=30", strings.NewReader(`{"current":"complete"}`))
		if err == nil {
			req.Header.Set("Authorization", "Bearer "+testKey)
			req.Header.Set("Content-Type", "application/json")
			req.Close = true
			var resp *http.Response
			if resp, err = http.DefaultClient.Do(req); err == nil {
				resp.Body.Close()
				ended <- resp.StatusCode
				return
			}
		}
		t.Error(err)
		ended <- 0
	}()
	for !strings.Contains(nextLine(t, events), `"token.completed"`) { // the long poll is being worked on
	}
	began := time.Now()
	stop(t, a)
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("the drain took %v", took)
	}
	if status := <-ended; status != 204 {
		t.Errorf("the long poll was answered %d, want 204: nobody to call", status)
	}
	for _, r := range []*bufio.Reader{events, position} {
		if _, err := io.Copy(io.Discard, r); err != nil {
			t.Errorf("a stream was cut: %v", err)
		}
	}
}

// openStream opens a stream and waits for its first line.
func openStream(t *testing.T, url string) *bufio.Reader {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	req.Header.Set("Authorization", "Bearer "+testKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	r := bufio.NewReader(resp.Body)
	nextLine(t, r)
	return r
}

func nextLine(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func TestTimersFireByThemselves(t *testing.T) {
	t.Parallel()
	a := start(t, Options{AdminKey: testKey})
	defer stop(t, a)
	ask(t, "PATCH", a.URL()+"/queue/main", testKey, `{"call_timeout_seconds":1,"missed":{"policy":"keep"}}`)
	_, body := ask(t, "POST", a.URL()+"/queue/main/join", "", "")
	var ticket dengxu.Ticket
	if err := json.Unmarshal([]byte(body), &ticket); err != nil {
		t.Fatal(err)
	}
	ask(t, "POST", a.URL()+"/counter/1/call_next", testKey, "")
	req, err := http.NewRequestWithContext(t.Context(), "GET", a.URL()+"/queue/token/"+string(ticket.ID)+"/stream", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if strings.Contains(lines.Text(), `"state":"missed"`) {
			return
		}
	}
	t.Error("the stream ended before the call timed out")
}

// TestSettleFollowsAMovedClock shows what dengxutest stands on: with the
// store's clock moved, Settle does what is due before it returns.
func TestSettleFollowsAMovedClock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	var passed atomic.Int64 // the loops read the clock too
	s := memstore.New(memstore.Options{
		Wall: func() time.Time { return now.Add(time.Duration(passed.Load())) },
		Mono: func() time.Duration { return time.Duration(passed.Load()) },
	})
	a := start(t, Options{Store: s, AdminKey: testKey})
	defer stop(t, a)
	ask(t, "POST", a.URL()+"/queue/main/join", "", `{"delay_seconds":60}`)
	passed.Add(int64(time.Minute))
	if _, err := a.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status, body := ask(t, "POST", a.URL()+"/counter/1/call_next", testKey, ""); status != 200 {
		t.Errorf("%d %s", status, body)
	}
}

func TestOtherTokensStepBack(t *testing.T) {
	t.Parallel()
	a := start(t, Options{AdminKey: testKey})
	defer stop(t, a)
	ask(t, "PATCH", a.URL()+"/site/main", testKey, `{"other_tokens":"hold"}`)
	ask(t, "PUT", a.URL()+"/queue/b", testKey, `{"site":"main","prefix":"B"}`)
	ask(t, "POST", a.URL()+"/site/main/join", testKey, `{"queues":["main","b"],"business_id":"p1"}`)
	ask(t, "POST", a.URL()+"/counter/1/call_next", testKey, "")
	if _, err := a.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, body := ask(t, "GET", a.URL()+"/queue/b/tokens?state=scheduled", testKey, ""); !strings.Contains(body, `"B001"`) {
		t.Errorf("the other token did not step back: %s", body)
	}
}

func TestTheAdminListenerTellsMetrics(t *testing.T) {
	t.Parallel()
	a := start(t, Options{AdminListen: "127.0.0.1:0", AdminKey: testKey, Version: "v9"})
	defer stop(t, a)
	ask(t, "POST", a.URL()+"/queue/main/join", "", "")
	ask(t, "GET", a.URL()+"/no/such", "", "")
	_, body := ask(t, "GET", "http://"+a.AdminAddr().String()+"/metrics", "", "")
	for _, want := range []string{
		`dengxu_http_requests_total{operation="join",status="201"} 1`,
		`dengxu_http_requests_total{operation="none",status="404"} 1`,
		`dengxu_build_info{durability="D0",store="memory",version="v9"} 1`,
		`dengxu_http_request_seconds_count{operation="join"} 1`, "go_goroutines", "process_cpu_seconds_total",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
	if status, _ := ask(t, "GET", "http://"+a.AdminAddr().String()+"/debug/pprof/cmdline", "", ""); status != 200 {
		t.Errorf("pprof: %d", status)
	}
}

func TestOptionsThatContradictAreRefused(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{
		{TLSCert: "c.pem"},
		{PublicURL: "queue.example"},
		{Durability: "replicated"},
		{StoreURL: "memory:", Durability: "replicated"},
		{StoreURL: "redis://x", Durability: "safe"},
	} {
		if _, err := New(o); dengxu.CodeOf(err) != dengxu.Invalid {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, url := range []string{"redis://:password@x/y", "redis:password", "memory:x", "pebble:", "x"} {
		_, err := New(Options{StoreURL: url})
		if dengxu.CodeOf(err) != dengxu.Invalid || strings.Contains(err.Error(), "password") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestAPublicAddressIsNotLoopback: a proxy on this machine reaches a loopback
// listener, so the public join setting "loopback" must not hold.
func TestAPublicAddressIsNotLoopback(t *testing.T) {
	t.Parallel()
	a := start(t, Options{PublicURL: "https://queue.example/"})
	defer stop(t, a)
	if a.URL() != "https://queue.example" {
		t.Errorf("URL %s", a.URL())
	}
	if status, body := ask(t, "POST", "http://"+a.Addr().String()+"/queue/main/join", "", ""); status != 401 {
		t.Errorf("a join without a key: %d %s", status, body)
	}
}

func TestRunDrainsWhenItIsToldTo(t *testing.T) {
	t.Parallel()
	a, err := New(Options{Listen: "127.0.0.1:0", StoreURL: "memory:"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := a.Run(ctx, cancel); err != nil {
		t.Error(err)
	}
}
