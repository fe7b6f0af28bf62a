package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dengxu/dengxu/internal/ctl"
	"github.com/dengxu/dengxu/internal/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(redistest.Main(m)) }

const testKey = "an-admin-key-for-tests"

// output is what a command printed, readable while it runs. grown has a value
// whenever something came in since it was last taken.
type output struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	grown chan struct{}
}

func newOutput() *output { return &output{grown: make(chan struct{}, 1)} }

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.grown <- struct{}{}:
	default:
	}
	return o.buf.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// command runs a command line to its end.
func command(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	o, e := newOutput(), newOutput()
	code = run(t.Context(), args, ctl.Streams{In: strings.NewReader(""), Out: o, Err: e})
	return code, o.String(), e.String()
}

// server is a `dengxu serve` that runs in this process.
type server struct {
	t      *testing.T
	out    *output
	errs   *output
	url    string
	cancel context.CancelFunc
	code   chan int // capacity: its one exit code
}

var serving = regexp.MustCompile(`(?m)^serving (http\S+)$`)

func serve(t *testing.T, args ...string) *server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{t: t, out: newOutput(), errs: newOutput(), cancel: cancel, code: make(chan int, 1)}
	args = append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)
	go func() {
		s.code <- run(ctx, args, ctl.Streams{Out: s.out, Err: s.errs})
	}()
	for {
		if m := serving.FindStringSubmatch(s.out.String()); m != nil {
			s.url = m[1]
			return s
		}
		select {
		case <-s.out.grown:
		case code := <-s.code:
			cancel()
			t.Fatalf("serve exited with %d: %s", code, s.errs)
		}
	}
}

// stop is SIGTERM: main turns it into the end of the context.
func (s *server) stop() {
	s.t.Helper()
	s.cancel()
	select {
	case code := <-s.code:
		if code != 0 {
			s.t.Errorf("serve exited with %d: %s", code, s.errs)
		}
	case <-time.After(20 * time.Second):
		s.t.Fatal("serve did not stop")
	}
}

func (s *server) ask(method, path, key string) (int, map[string]any) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Close = true
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	var body map[string]any
	if len(text) > 0 {
		if err := json.Unmarshal(text, &body); err != nil {
			s.t.Fatalf("%s %s: %v in %s", method, path, err, text)
		}
	}
	return resp.StatusCode, body
}

// await asks until the answer has the status: another process's change is told
// by the log.
func (s *server) await(method, path, key string, status int) {
	s.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		got, body := s.ask(method, path, key)
		if got == status {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("%s %s: %d %v, want %d", method, path, got, body, status)
		}
	}
}

// TestTheFirstMinutes is the README's way: start, take numbers, call, stop,
// and find everything again.
func TestTheFirstMinutes(t *testing.T) {
	t.Setenv("DENGXU_ADMIN_KEY", "")
	data := t.TempDir()
	s := serve(t, "--data", data)
	text := s.out.String()
	for _, want := range []string{"store: pebble (D2).", "first start: site main (", "queue main (5 min a person assumed), counter 1", "/docs", "curl -X POST " + s.url + "/queue/main/join"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	found := regexp.MustCompile(`admin key, shown this once: (\S+)`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no admin key in\n%s", text)
	}
	key := found[1]
	for range 3 {
		if status, _ := s.ask("POST", "/queue/main/join", ""); status != 201 {
			t.Fatalf("join: %d", status)
		}
	}
	if status, token := s.ask("POST", "/queue/main/counter/1/call_next", key); status != 200 || token["number"] != "A001" {
		t.Errorf("call: %d %v", status, token)
	}
	s.stop()
	if !strings.Contains(s.out.String(), "stopped") {
		t.Errorf("after the stop:\n%s", s.out)
	}

	if !strings.Contains(s.out.String(), "acknowledged changes are on disk") {
		t.Errorf("after the stop:\n%s", s.out)
	}

	if code, out, errs := command(t, "audit", "--data", data); code != 0 || !strings.Contains(out, "clean") {
		t.Errorf("audit: %d %s %s", code, out, errs)
	}
	s = serve(t, "--data", data)
	defer s.stop()
	if text := s.out.String(); strings.Contains(text, "admin key") || strings.Contains(text, "first start") {
		t.Errorf("second start:\n%s", text)
	}
	if _, q := s.ask("GET", "/queue/main", key); q["joins_today"] != 3.0 {
		t.Errorf("after the restart: %v", q)
	}
	if code, out, errs := command(t, "audit", "--url", s.url, "--key", key); code != 0 || !strings.Contains(out, "clean") {
		t.Errorf("audit of the running server: %d %s %s", code, out, errs)
	}
	if code, _, errs := command(t, "audit", "--data", data); code != 2 || !strings.Contains(errs, "in use by another dengxu; stop that server first, or ask it") {
		t.Errorf("audit of a folder in use: %d %s", code, errs)
	}
	taken := strings.TrimPrefix(s.url, "http://")
	if code, _, errs := command(t, "serve", "--listen", taken, "--store", "memory:"); code != 2 || !strings.Contains(errs, "try --listen") {
		t.Errorf("a taken port: %d %s", code, errs)
	}
}

func TestTheFileIsStrictAndWeakerThanFlags(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "dengxu.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("store: 'memory:'\nlisten: 127.0.0.1:1\nbare: true\nlog_level: error\nadmin_listen: 127.0.0.1:0\ntrusted_proxy: [10.0.0.0/8]\ncors_origin: ['https://a.example']\n")
	t.Setenv("DENGXU_ADMIN_KEY", testKey)
	s := serve(t, "--config", file)
	defer s.stop()
	text := s.out.String()
	if !strings.Contains(text, "store: memory (D0).") || strings.Contains(text, "first start") || !strings.Contains(text, "/metrics") {
		t.Errorf("with the file:\n%s", text)
	}
	if status, body := s.ask("GET", "/sites", testKey); status != 200 {
		t.Errorf("the key of the variable: %d %v", status, body)
	}
	for _, row := range []struct{ text, want string }{
		{"store: 'memory:'\nlisten_on: x\n", file + ":2:1: unknown key listen_on"},
		{"bare: maybe\n", file + ":1:7: bare must be true or false, not a string"},
		{"trusted_proxy: [nowhere]\n", file + ":1:17: "},
	} {
		write(row.text)
		code, _, errs := command(t, "serve", "--config", file)
		if code != ctl.ExitUsage || !strings.Contains(errs, row.want) {
			t.Errorf("%q: exit %d, %s", row.text, code, errs)
		}
	}
}

func TestVariablesAreFlags(t *testing.T) {
	t.Setenv("DENGXU_STORE", "memory:")
	t.Setenv("DENGXU_ADMIN_KEY", testKey)
	t.Setenv("DENGXU_PUBLIC_URL", "https://queue.example")
	s := serve(t)
	defer s.stop()
	if !strings.Contains(s.out.String(), "store: memory") || s.url != "https://queue.example" {
		t.Errorf("printed\n%s", s.out)
	}
}

func TestALostKeyIsMadeAnew(t *testing.T) {
	t.Setenv("DENGXU_ADMIN_KEY", "")
	data := t.TempDir()
	serve(t, "--data", data).stop()
	code, out, errs := command(t, "ctl", "key", "new", "--data", data)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	s := serve(t, "--data", data)
	defer s.stop()
	if status, body := s.ask("GET", "/keys", strings.TrimSpace(out)); status != 200 {
		t.Errorf("the new key: %d %v", status, body)
	}
}

func TestReplayPrintsTheComparison(t *testing.T) {
	t.Setenv("DENGXU_ADMIN_KEY", testKey)
	s := serve(t, "--store", "memory:")
	defer s.stop()
	recording := filepath.Join("..", "..", "internal", "replay", "testdata", "small.csv")
	code, out, errs := command(t, "replay", "--url", s.url, "--key", testKey, "--csv", recording, "--date", "2030-01-07", "--speed", "1000")
	if code != 0 || !strings.Contains(out, "mean wait") || !strings.Contains(out, "2030-01-07 at 1000 times its speed") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if code, _, errs := command(t, "replay", "--url", s.url, "--key", testKey, "--csv", recording, "--date", "2031-01-07"); code == 0 || !strings.Contains(errs, "no rows of 2031-01-07") {
		t.Errorf("another day: exit %d, %s", code, errs)
	}
}

// TestAWrongOptionIsUsage: what the options say is refused as what they are,
// not as a refusal of the server.
func TestAWrongOptionIsUsage(t *testing.T) {
	t.Setenv("DENGXU_ADMIN_KEY", "short")
	code, _, errs := command(t, "serve", "--listen", "127.0.0.1:0", "--store", "memory:")
	if code != ctl.ExitUsage || !strings.Contains(errs, "16 to 128") {
		t.Errorf("a short admin key: exit %d, %s", code, errs)
	}
	if _, _, errs := command(t, "backup"); strings.Count(errs, "\n") != 2 || !strings.Contains(errs, "dengxu --help") {
		t.Errorf("an unknown command:\n%s", errs)
	}
	if _, _, errs := command(t, "ctl", "tokens", "list"); !strings.Contains(errs, "dengxu ctl tokens list --help") {
		t.Errorf("a list of nothing:\n%s", errs)
	}
	_, out, _ := command(t, "ctl", "tokens", "list", "--help")
	if usage, _, _ := strings.Cut(out, "\n"); strings.Contains(usage, "--site") {
		t.Errorf("one of two flags reads as needed: %s", usage)
	}
}

// TestAWrongStoreIsSaidInPlainWords: what is wrong with the URL of a Redis, and
// a code that does not let it be tried for ever.
func TestAWrongStoreIsSaidInPlainWords(t *testing.T) {
	t.Setenv("DENGXU_ADMIN_KEY", testKey)
	guarded := redistest.Start(t, redistest.Options{})
	guarded.MustDo("CONFIG", "SET", "requirepass", "pw")
	locked, host := guarded.URL(), strings.TrimPrefix(guarded.URL(), "redis://")
	open := strings.TrimPrefix(redistest.Shared(t).URL(), "redis://")
	s := serve(t, "--store", "memory:")
	defer s.stop()
	for _, row := range []struct {
		url  string
		code int
		want string
	}{
		{locked, 2, "wants a password"},
		{"redis://:bad@" + host, 2, "user or password is wrong"},
		{"redis+sentinel://" + open + "/main", 2, "no Sentinel is there"},
		{"redis://" + strings.TrimPrefix(s.url, "http://"), 2, "no Redis is there"},
		{"rediss://" + open, 3, "without TLS the URL begins with redis"},
	} {
		want(t, row.code, row.want, "serve", "--listen", "127.0.0.1:0", "--store", row.url)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		args []string
		code int
		out  string
	}{
		{[]string{"version"}, 0, "dengxu "},
		{[]string{"--help"}, 0, "serve"},
		{[]string{"ctl", "--help"}, 0, "apply"},
		{[]string{"frobnicate"}, 2, ""},
		{[]string{"serve", "--store", "redis://x/y"}, 2, ""},
		{[]string{"serve", "--store", "memory:", "--durability", "replicated"}, 2, ""},
		{[]string{"serve", "--listen", "127.0.0.1:0", "--store", "redis://127.0.0.1:1"}, 3, ""},
		{[]string{"serve", "--cors-origin", "foo"}, 2, ""},
		{[]string{"audit"}, 2, ""},
		{[]string{"audit", "--data", "/no/such/folder"}, 2, ""},
		{[]string{"ctl", "--url", "http://127.0.0.1:1", "queue", "list"}, 3, ""},
	} {
		code, out, errs := command(t, row.args...)
		if code != row.code || !strings.Contains(out, row.out) {
			t.Errorf("%v: exit %d, want %d: %s%s", row.args, code, row.code, out, errs)
		}
	}
}
