package client

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// line is a double of the network: it carries requests to a handler without a
// socket, so that tests run in a bubble of synctest, and fails as told.
type line struct {
	mu      sync.Mutex
	handler http.HandlerFunc
	faults  []fault // of the first requests, in order
	seen    []seen
}

type fault int

const (
	fine       fault = iota
	loseAnswer       // after the effect
	cutAnswer        // in the middle of the body
)

// seen is a request as the server saw it.
type seen struct {
	method, uri, key, ifMatch, body string
	at                              time.Time
}

var errLost = errors.New("connection reset")

func (l *line) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	f := fine
	if n := len(l.seen); n < len(l.faults) {
		f = l.faults[n]
	}
	l.seen = append(l.seen, seen{
		method: req.Method, uri: req.URL.RequestURI(), key: req.Header.Get("Idempotency-Key"),
		ifMatch: req.Header.Get("If-Match"), body: string(body), at: time.Now(),
	})
	l.mu.Unlock()
	req.Body = io.NopCloser(strings.NewReader(string(body)))
	rec := httptest.NewRecorder()
	l.handler(rec, req)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	resp := rec.Result()
	switch f {
	case loseAnswer:
		return nil, errLost
	case cutAnswer:
		resp.Body = io.NopCloser(io.MultiReader(strings.NewReader("{"), brokenReader{}))
	case fine:
	}
	return resp, nil
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func (l *line) requests() []seen {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]seen(nil), l.seen...)
}

// over returns a client whose requests go over l.
func over(t *testing.T, l *line, o Options) *Client {
	t.Helper()
	o.URL, o.HTTP = "http://queue.test", &http.Client{Transport: l}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// answerJSON answers every request with one document.
func answerJSON(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// answerProblem answers every request with a refusal.
func answerProblem(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { writeProblem(w, status, body) }
}

func writeProblem(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	io.WriteString(w, body)
}
