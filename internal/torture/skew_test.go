package torture

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
	"github.com/dengxu/dengxu/internal/redistest"
)

// ahead is how far the clock of one of two servers is ahead.
const ahead = 10 * time.Minute

// skewVariable tells a skewed program by how many seconds.
const skewVariable = "DENGXU_TORTURE_SKEW"

// skewed builds the server so that the wall clock of its process can be set:
// package time is replaced by a copy of which Now adds what the environment
// says. Elapsed time stays what it is.
func skewed(t *testing.T) (binary string) {
	t.Helper()
	dir := t.TempDir()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	source, err := os.ReadFile(filepath.Join(folder, "time.go"))
	if err != nil {
		t.Fatal(err)
	}
	reading := regexp.MustCompile(`(?m)^(func Now\(\) Time \{\n\tsec, nsec, mono := \w+\(\)\n)`)
	if !reading.Match(source) {
		t.Fatal("time.Now is written in another way: teach this test")
	}
	source = reading.ReplaceAll(source, []byte("$1\tsec += skew\n"))
	added := fmt.Sprintf(`package time

import "syscall"

var skew = func() (s int64) {
	text, _ := syscall.Getenv(%q)
	for _, c := range text {
		s = 10*s + int64(c-'0')
	}
	return s
}()
`, skewVariable)
	replace := make(map[string]string)
	for name, text := range map[string]string{"time.go": string(source), "skew.go": added} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(folder, name)] = file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	binary = filepath.Join(dir, "dengxu")
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", file, "-o", binary, "github.com/dengxu/dengxu/cmd/dengxu")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, text)
	}
	return binary
}

// serveSkewed runs the server with a skewed clock until the test ends.
func serveSkewed(t *testing.T, binary, url string, skew time.Duration) *client.Client {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), binary, "serve", "--listen", "127.0.0.1:0", "--bare", "--store", url)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", skewVariable, int(skew.Seconds())), "DENGXU_ADMIN_KEY="+childKey)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // "signal: killed"
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		address, ok := strings.CutPrefix(lines.Text(), "serving ")
		if !ok {
			continue
		}
		c, err := client.New(client.Options{URL: address, Key: childKey, HTTP: &http.Client{Transport: transport}})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := transport.RoundTrip(httpGet(t, address+"/healthz"))
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		date, err := http.ParseTime(answer.Header.Get("Date"))
		if off := time.Until(date) - skew; err != nil || off.Abs() > 5*time.Second {
			t.Fatalf("the clock of the process is off by %v: %v", off+skew, err)
		}
		return c
	}
	t.Fatal("the server did not start")
	return nil
}

func httpGet(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestClocksOfProcessesDecideNothing: two servers share a line on one Redis, and
// the clock of one is ten minutes ahead. Whoever came first is called first, at
// whichever server, and deadlines are kept by Redis's clock.
func TestClocksOfProcessesDecideNothing(t *testing.T) {
	t.Parallel()
	binary, url := skewed(t), redistest.Start(t, redistest.Options{}).URL()
	servers := []*client.Client{serveSkewed(t, binary, url, 0), serveSkewed(t, binary, url, ahead)}
	hall{
		site: fmt.Sprintf(`{"time_zone":%q}`, noon()),
		queues: map[string]string{
			"line":  `{"day_end":"keep"}`,
			"timed": `{"day_end":"keep","prefix":"T","call_timeout_seconds":2,"missed":{"policy":"keep"}}`,
		},
		counters: map[string]string{"desk": `{"queues":["line"]}`, "d0": `{"queues":["timed"]}`, "d1": `{"queues":["timed"]}`},
	}.build(t, remote{servers[0]})
	inOrder(t, servers)
	for i := range servers {
		onTime(t, servers, i)
	}
	for _, c := range servers {
		auditLive(t, 0, c)
	}
}

// inOrder has people join at one server after the other, in no regular order,
// and calls them in the same way.
func inOrder(t *testing.T, servers []*client.Client) {
	t.Helper()
	const people = 60
	rng := dice(1, 0)
	for i := range people {
		ticket, err := pick(rng, servers...).Join(t.Context(), "line", dengxu.JoinRequest{})
		if err != nil || numberOf(ticket.Number) != i+1 {
			t.Fatalf("join %d: %v %v", i+1, ticket.Number, err)
		}
		if off := time.Since(ticket.JoinedAt); off.Abs() > time.Minute {
			t.Fatalf("%s joined %v ago", ticket.Number, off)
		}
	}
	for i := range people {
		o, err := pick(rng, servers...).CallNext(t.Context(), "desk", client.CallOptions{CallRequest: dengxu.CallRequest{Current: "complete"}})
		if err != nil || o.Token == nil || numberOf(o.Token.Number) != i+1 {
			t.Fatalf("call %d: %+v %v", i+1, o.Token, err)
		}
	}
}

// onTime calls at one server and watches at the other: nobody is missed before
// the deadline, nor long after it.
func onTime(t *testing.T, servers []*client.Client, at int) {
	t.Helper()
	const deadline, late = 2 * time.Second, 5 * time.Second
	caller, other := servers[at], servers[1-at]
	ticket, err := other.Join(t.Context(), "timed", dengxu.JoinRequest{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var called time.Time
	for p, err := range other.Watch(ctx, ticket.ID) {
		switch {
		case err != nil:
			t.Fatal(err)
		case p.State == dengxu.StateWaiting && called.IsZero():
			called = time.Now()
			o, err := caller.CallNext(t.Context(), dengxu.CounterID(fmt.Sprintf("d%d", at)), client.CallOptions{})
			if err != nil || o.Token == nil || o.Token.ID != ticket.ID {
				t.Fatalf("call: %+v %v", o.Token, err)
			}
		case p.State == dengxu.StateMissed:
			if took := time.Since(called); took < deadline || took > late {
				t.Errorf("called at server %d and missed after %v, not %v", at, took, deadline)
			}
			return
		}
	}
	t.Fatal("the watch ended before anybody was missed")
}
