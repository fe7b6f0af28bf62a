package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/feed"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a whole server over a memory store: sites hall and annex, and a key
// of each role for each site.
type rig struct {
	*testing.T
	engine *engine.Engine
	store  *memstore.Store
	server *server
	url    string
	client *http.Client
	keys   map[string]string // secret by "role@site", and "admin"
	stop   context.CancelFunc
}

const adminSecret = "admin-secret-of-the-tests"

func newRig(t *testing.T, change ...func(*Options)) *rig {
	t.Helper()
	r := &rig{T: t, store: memstore.New(memstore.Options{}), keys: map[string]string{"admin": adminSecret}}
	var err error
	if r.engine, err = engine.Open(t.Context(), engine.Options{Store: r.store, Loopback: true}); err != nil {
		t.Fatal(err)
	}
	f := feed.New(feed.Options{
		Store: r.store, Event: r.engine.Event, Observe: r.engine.Observe,
		Refresh: r.engine.RefreshPartition, PartitionOf: r.engine.PartitionOf,
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- f.Run(ctx) }()
	r.stop = cancel
	o := Options{Engine: r.engine, Feed: f, Version: "test"}
	for _, c := range change {
		c(&o)
	}
	r.server = New(o).(*server)
	ts := httptest.NewServer(r.server)
	r.url, r.client = ts.URL, ts.Client()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		ts.Close()
		_ = r.store.Close()
	})
	if _, err := r.engine.SetAdminSecret(t.Context(), adminSecret); err != nil {
		t.Fatal(err)
	}
	r.furnish()
	return r
}

// furnish makes the sites and the keys, over the API.
func (r *rig) furnish() {
	r.Helper()
	for path, body := range map[string]string{
		"/site/hall": `{"time_zone":"UTC"}`, "/site/annex": `{"time_zone":"UTC"}`,
	} {
		r.must("admin", put, path, body, 201, nil)
	}
	for path, body := range map[string]string{
		"/queue/main": `{"site":"hall"}`, "/queue/side": `{"site":"hall","prefix":"B"}`,
		"/queue/open": `{"site":"hall","prefix":"C","classes":{"first":{},"return":{}},"default_class":"first",
			"fields":[{"name":"name"},{"name":"floor","type":"number"}],"public_join":{"fields":["name","floor"],"classes":["first"]}}`,
		"/queue/here": `{"site":"hall","prefix":"D","public_join":"loopback"}`,
		"/queue/far":  `{"site":"annex"}`,
	} {
		r.must("admin", put, path, body, 201, nil)
	}
	for path, body := range map[string]string{
		"/counter/1": `{"site":"hall","queues":["main"]}`, "/counter/9": `{"site":"annex","queues":["far"]}`,
	} {
		r.must("admin", put, path, body, 201, nil)
	}
	for _, role := range []dengxu.Role{dengxu.RoleAdmin, dengxu.RoleOperator, dengxu.RoleKiosk, dengxu.RoleWorker, dengxu.RoleDisplay} {
		for _, site := range []string{"hall", "annex"} {
			r.key(string(role)+"@"+site, dengxu.Key{Role: role, Sites: []dengxu.SiteID{dengxu.SiteID(site)}})
		}
	}
}

func (r *rig) key(name string, k dengxu.Key) {
	r.Helper()
	var view dengxu.KeyView
	body, err := json.Marshal(k)
	if err != nil {
		r.Fatal(err)
	}
	r.must("admin", put, "/key/"+strings.ReplaceAll(name, "@", "-"), string(body), 201, &view)
	r.keys[name] = view.Secret
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a *answer) problem(t *testing.T) Problem {
	t.Helper()
	var p Problem
	if got := a.header.Get("Content-Type"); got != problemType {
		t.Fatalf("status %d, type %q, not a problem: %s", a.status, got, a.body)
	}
	if err := json.Unmarshal(a.body, &p); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	if p.Status != a.status || statuses[p.Code] != a.status || p.RequestID == "" || p.RequestID != a.header.Get(headerRequestID) || p.Title == "" {
		t.Errorf("status %d with problem %s", a.status, a.body)
	}
	return p
}

// do sends a request with the key of that name ("" = none) and headers as
// pairs.
func (r *rig) do(key, method, path, body string, headers ...string) *answer {
	r.Helper()
	secret := r.keys[key]
	if secret == "" && key != "" {
		secret = key // a credential as it is
	}
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(r.Context(), method, r.url+path, reader)
	if err != nil {
		r.Fatal(err)
	}
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := r.client.Do(req)
	if err != nil {
		r.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.Fatal(err)
	}
	return &answer{resp.StatusCode, resp.Header, b}
}

// must sends a request that has to be answered with status, and decodes it.
func (r *rig) must(key, method, path, body string, status int, into any, headers ...string) *answer {
	r.Helper()
	a := r.do(key, method, path, body, headers...)
	if a.status != status {
		r.Fatalf("%s %s %s: %d, want %d: %s", method, path, body, a.status, status, a.body)
	}
	if into != nil {
		if err := json.Unmarshal(a.body, into); err != nil {
			r.Fatalf("%s %s: %v: %s", method, path, err, a.body)
		}
	}
	return a
}

// refused sends a request that has to be refused with code.
func (r *rig) refused(key, method, path, body string, code dengxu.Code, headers ...string) Problem {
	r.Helper()
	p := r.do(key, method, path, body, headers...).problem(r.T)
	if p.Code != code {
		r.Errorf("%s %s %.200s: %s (%s %s %q), want %s", method, path, body, p.Code, p.Reason, p.Field, p.Detail, code)
	}
	return p
}

func (r *rig) join(queue, body string) dengxu.Ticket {
	r.Helper()
	var t dengxu.Ticket
	r.must("admin", post, "/queue/"+queue+"/join", body, 201, &t)
	return t
}

func (r *rig) call(counter string) dengxu.Token {
	r.Helper()
	var t dengxu.Token
	r.must("operator@hall", post, "/counter/"+counter+"/call_next", "", 200, &t)
	return t
}

// state is everything that a refusal must leave alone: the log's end and all
// documents.
func (r *rig) state() string {
	r.Helper()
	docs, err := r.store.Docs(r.Context(), 0)
	if err != nil {
		r.Fatal(err)
	}
	page, err := r.store.Events(r.Context(), store.Cursor{Epoch: ^uint64(0)}, 1)
	if err != nil {
		r.Fatal(err)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for _, d := range docs {
		if err := enc.Encode(d); err != nil {
			r.Fatal(err)
		}
	}
	// What was learned is no setting, so it is not among the documents above.
	learned, err := r.store.View(r.Context(), store.Ask{Docs: []store.DocKey{{Kind: store.DocModel, ID: "main"}}})
	if err != nil {
		r.Fatal(err)
	}
	if err := enc.Encode(learned.Docs); err != nil {
		r.Fatal(err)
	}
	return fmt.Sprint(page.End) + out.String()
}

// messages reads server-sent events until its context ends.
type messages struct {
	t    *testing.T
	body io.ReadCloser
	buf  []byte
}

// message is one server-sent event.
type message struct{ event, id, data string }

func (r *rig) stream(key, path string, headers ...string) *messages {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), 20*time.Second)
	req, err := http.NewRequestWithContext(ctx, get, r.url+path, nil)
	if err != nil {
		r.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+r.keys[key])
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := r.client.Do(req)
	if err != nil {
		r.Fatal(err)
	}
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		r.Fatalf("stream %s: %d %s", path, resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	m := &messages{t: r.T, body: resp.Body}
	r.Cleanup(func() { cancel(); resp.Body.Close() })
	return m
}

// next returns the next block: a message, or one without data.
func (m *messages) next() (message, bool) {
	m.t.Helper()
	for {
		if block, rest, ok := bytes.Cut(m.buf, []byte("\n\n")); ok {
			m.buf = rest
			var out message
			for line := range strings.Lines(string(block)) {
				name, value, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
				switch name {
				case "event":
					out.event = value
				case "id":
					out.id = value
				case "data":
					out.data = value
				}
			}
			return out, true
		}
		chunk := make([]byte, 4096)
		n, err := m.body.Read(chunk)
		m.buf = append(m.buf, chunk[:n]...)
		if err != nil && n == 0 {
			if err != io.EOF {
				m.t.Fatal(err)
			}
			return message{}, false
		}
	}
}

// message returns the next message with data, into which it is decoded.
func (m *messages) message(into any) message {
	m.t.Helper()
	for {
		got, ok := m.next()
		if !ok {
			m.t.Fatal("the stream ended")
		}
		if got.data == "" {
			continue
		}
		if err := json.Unmarshal([]byte(got.data), into); err != nil {
			m.t.Fatal(err)
		}
		return got
	}
}
