package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/engine"
)

var staffBy = engine.By{Kind: engine.Operator, Name: "key:test", Scope: "test"}

// journal is a log that can be read while it is written.
type journal struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

// TestLogHidesCredentials: one line a request, without token ids, queries and
// keys, and with the request's id.
func TestLogHidesCredentials(t *testing.T) {
	t.Parallel()
	var log journal
	r := newRig(t, func(o *Options) { o.Logger = slog.New(slog.NewJSONHandler(&log, nil)) })
	ticket := r.join("main", `{"name":"Anna"}`)
	r.must("", get, "/queue/token/"+string(ticket.ID)+"/position", "", 200, nil, headerRequestID, "from-the-proxy")
	r.must("admin", get, "/site/hall/tokens?q=Anna", "", 200, nil)
	r.refused("", get, "/t/"+string(ticket.ID), "", dengxu.NotFound)
	r.refused("admin", get, "/queue/"+string(ticket.ID), "", dengxu.NotFound)
	r.refused("admin", post, "/counter/"+string(ticket.ID)+"/call/"+string(ticket.ID), `{"reason":"x"}`, dengxu.NotFound)
	r.refused("bad secret", get, "/sites", "", dengxu.Unauthenticated, headerRequestID, "bad id")
	for _, secret := range []string{string(ticket.ID), "Anna", adminSecret, "bad secret"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
	for _, want := range []string{`"request_id":"from-the-proxy"`, `"operation":"position"`, ticket.ID.Mask(), `"key":"admin"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %s: %s", want, log.String())
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.CORSOrigins = []string{"https://hall.example"} })
	a := r.must("admin", get, "/sites", "", 200, nil)
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'", "Access-Control-Allow-Origin": "",
	} {
		if got := a.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	a = r.must("admin", get, "/sites", "", 200, nil, "Origin", "https://hall.example")
	if a.header.Get("Access-Control-Allow-Origin") != "https://hall.example" {
		t.Error("the allowed origin is not told so")
	}
	a = r.must("", http.MethodOptions, "/queue/main/join", "", 204, nil,
		"Origin", "https://hall.example", "Access-Control-Request-Method", "POST")
	if !strings.Contains(a.header.Get("Access-Control-Allow-Headers"), "Authorization") {
		t.Errorf("preflight %v", a.header)
	}
	r.must("admin", post, "/queue/main/join", "", 201, nil, "Origin", "https://hall.example", "Sec-Fetch-Site", "cross-site")
	p := r.refused("admin", post, "/queue/main/join", "", dengxu.Forbidden, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site")
	if p.Reason != "cross_origin" {
		t.Errorf("reason %q", p.Reason)
	}
	if a := r.refused("", get, "/sites", "", dengxu.Unauthenticated); a.Detail == "" {
		t.Error("no sentence")
	}
}

// TestCredentials: header before cookie, one header, one scheme; a stale cookie
// locks no holder out.
func TestCredentials(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ticket := r.join("main", `{}`)
	position := "/queue/token/" + string(ticket.ID) + "/position"
	r.must("", get, "/sites", "", 200, nil, "Cookie", KeyCookie+"="+adminSecret)
	r.refused("", get, "/sites", "", dengxu.Unauthenticated, "Cookie", KeyCookie+"=old")
	r.must("", get, position, "", 200, nil, "Cookie", KeyCookie+"=old")
	r.must("", get, "/sites", "", 200, nil, "Authorization", "bearer "+adminSecret)
	for _, header := range []string{"Basic YTpi", "Bearer", "Bearer ", adminSecret} {
		if a := r.do("", get, "/sites", "", "Authorization", header); a.status != 401 || a.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%q: %d", header, a.status)
		}
	}
	r.refused("", get, "/sites?key="+adminSecret, "", dengxu.Unauthenticated)
}

// TestLimitHook refuses before anything is read, and knows the client.
func TestLimitHook(t *testing.T) {
	t.Parallel()
	seen := make(chan Visit, 100)
	r := newRig(t, func(o *Options) {
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")}
		o.Limit = func(_ context.Context, v Visit) error {
			if v.Device != "flood" {
				return nil
			}
			seen <- v
			e := dengxu.Errorf(dengxu.TooMany, "too many joins").Because("rate")
			e.RetryAfter = 1500 * time.Millisecond
			return e
		}
	})
	for forwarded, want := range map[string]string{
		"203.0.113.7": "203.0.113.7", "198.51.100.1, 203.0.113.7, 10.1.1.1": "203.0.113.7", "nonsense": "127.0.0.1", "": "127.0.0.1",
	} {
		headers := []string{"Cookie", DeviceCookie + "=flood"}
		if forwarded != "" {
			headers = append(headers, "X-Forwarded-For", forwarded)
		}
		a := r.do("", post, "/queue/open/join", `{`, headers...)
		p := a.problem(t)
		if p.Code != dengxu.TooMany || a.header.Get("Retry-After") != "2" || p.RetryAfterSeconds != 1.5 {
			t.Errorf("%s %q %v", p.Code, a.header.Get("Retry-After"), p.RetryAfterSeconds)
		}
		v := <-seen
		if v.Address.String() != want || v.Operation != "join" || !v.Mutates {
			t.Errorf("X-Forwarded-For %q: %+v", forwarded, v)
		}
	}
}

// TestStatuses: the table has every code, and a new one cannot be forgotten.
func TestStatuses(t *testing.T) {
	t.Parallel()
	want := map[dengxu.Code]int{
		"unauthenticated": 401, "forbidden": 403, "not_found": 404, "exists": 409, "conflict": 409, "closed": 409, "full": 409,
		"invalid": 422, "too_many": 429, "internal": 500, "unavailable": 503, "deadline": 504, "canceled": 499,
	}
	if diff := cmp.Diff(want, statuses); diff != "" {
		t.Error(diff)
	}
	field, _ := reflect.TypeFor[Problem]().FieldByName("Code")
	for code := range want {
		if code != dengxu.Canceled && !strings.Contains(","+field.Tag.Get("enum")+",", ","+string(code)+",") {
			t.Errorf("the description does not know %s", code)
		}
	}
}

// TestInternalErrorsShowOnlyTheirID and are logged once.
func TestInternalErrorsShowOnlyTheirID(t *testing.T) {
	t.Parallel()
	var log journal
	s := New(Options{Logger: slog.New(slog.NewJSONHandler(&log, nil))}).(*server)
	for _, err := range []error{
		errors.New("disk /dev/sda is on fire"), dengxu.Errorf(dengxu.Internal, "disk /dev/sda is on fire"),
		dengxu.Errorf("unheard_of", "disk /dev/sda is on fire"), fmt.Errorf("while calling: %w", errors.New("disk /dev/sda is on fire")),
	} {
		p := s.problem(t.Context(), "id-1", err)
		text, _ := json.Marshal(p)
		if p.Status != 500 || p.Code != dengxu.Internal || strings.Contains(string(text), "fire") || !strings.Contains(string(text), "id-1") {
			t.Errorf("%v became %s", err, text)
		}
	}
	if got := strings.Count(log.String(), "on fire"); got != 4 {
		t.Errorf("%d of 4 were logged", got)
	}
	p := s.problem(t.Context(), "id-2", context.DeadlineExceeded)
	if p.Status != 504 || p.Reason != "outcome_unknown" {
		t.Errorf("deadline: %+v", p)
	}
	if p = s.problem(t.Context(), "id-3", dengxu.Errorf(dengxu.Unavailable, "away")); p.RetryAfterSeconds != 1 {
		t.Errorf("unavailable: %+v", p)
	}
}

// TestPanicIsAnswered, and the next request too.
func TestPanicIsAnswered(t *testing.T) {
	t.Parallel()
	var log journal
	h := New(Options{
		Logger: slog.New(slog.NewJSONHandler(&log, nil)),
		Pages:  http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("the page broke") }),
	})
	for range 2 {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(get, "/board", nil))
		if w.Code != 500 || strings.Contains(w.Body.String(), "broke") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if !strings.Contains(log.String(), "the page broke") {
		t.Error("the panic was not logged")
	}
}

// TestOthersErrorsStayTheirs: a program that has an API of its own with huma
// keeps huma's errors there.
func TestOthersErrorsStayTheirs(t *testing.T) {
	t.Parallel()
	err := huma.NewErrorWithContext(nil, 404, "gone")
	if _, ok := err.(*huma.ErrorModel); !ok {
		t.Errorf("%T", err)
	}
}

// TestSlowHeadersAreCut with the limits of NewServer, shortened.
func TestSlowHeadersAreCut(t *testing.T) {
	t.Parallel()
	srv := NewServer(New(Options{}), slog.New(slog.DiscardHandler))
	if srv.ReadHeaderTimeout != 5*time.Second || srv.ReadTimeout != 15*time.Second || srv.IdleTimeout != time.Minute || srv.MaxHeaderBytes != 16<<10 {
		t.Errorf("limits %v %v %v %d", srv.ReadHeaderTimeout, srv.ReadTimeout, srv.IdleTimeout, srv.MaxHeaderBytes)
	}
	srv.ReadHeaderTimeout, srv.ReadTimeout = 100*time.Millisecond, 200*time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l) // ends when it is closed
	}()
	defer func() { _ = srv.Close(); <-done }()
	for name, sent := range map[string]string{
		"half a header": "GET /healthz HTTP/1.1\r\nHost: x\r\n",
		"half a body":   "POST /queue/main/join HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{",
		"a huge header": "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("x", 32<<10) + "\r\n\r\n",
	} {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := c.Write([]byte(sent)); err != nil {
			t.Fatal(err)
		}
		// The server ends the connection, with an answer or without.
		if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil {
			if resp.StatusCode == 200 || resp.StatusCode == 201 {
				t.Errorf("%s: %s", name, resp.Status)
			}
			resp.Body.Close()
		} else if ne := net.Error(nil); errors.As(err, &ne) && ne.Timeout() {
			t.Errorf("%s kept the connection", name)
		}
		c.Close()
	}
}
