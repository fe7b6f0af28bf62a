package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dengxu/dengxu"
)

// Headers of our own.
const (
	headerRequestID = "X-Request-Id"
	headerReplayed  = "Idempotent-Replayed"
	headerReason    = "Dengxu-Reason"
	headerKey       = "Idempotency-Key"
)

// visit is what is known of a request before its operation.
type visit struct {
	requestID string
	operation string // set by the gate
	stream    bool
	key       dengxu.KeyID
}

type visitKey struct{}

// visitOf returns the request's visit; an empty one outside of ServeHTTP.
func visitOf(ctx context.Context) *visit {
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		return v
	}
	return &visit{}
}

// recorder remembers what was answered, for the log.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// WriteHeader remembers the status.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write counts.
func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// ServeHTTP gives each request its id, its headers and its line in the log.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	v := &visit{requestID: s.ids.of(r)}
	r = r.WithContext(context.WithValue(r.Context(), visitKey{}, v))
	if path, ok := strings.CutPrefix(r.URL.Path, "/v1/"); ok {
		// /v1 is an alias: the request goes on as if it had been left out.
		url := *r.URL
		url.Path, url.RawPath = "/"+path, strings.TrimPrefix(url.RawPath, "/v1")
		r.URL = &url
	}
	h := w.Header()
	h.Set(headerRequestID, v.requestID)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("Cache-Control", "no-store")
	rec := &recorder{ResponseWriter: w}
	defer func() {
		if p := recover(); p != nil {
			s.panicked(rec, r, p)
		}
		s.answered(rec, r, v, time.Since(began))
	}()
	if !s.cors(rec, r) {
		s.guard.ServeHTTP(rec, r)
	}
}

// panicked ends a request whose handler panicked. A panic after the client has
// gone is huma's way to say that nothing could be written.
func (s *server) panicked(rec *recorder, r *http.Request, p any) {
	ctx, v := r.Context(), visitOf(r.Context())
	if p == http.ErrAbortHandler || ctx.Err() != nil { //nolint:errorlint // the sentinel itself is thrown
		return
	}
	s.log.LogAttrs(ctx, slog.LevelError, "panic", slog.String("request_id", v.requestID),
		slog.String("operation", v.operation), slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
	if rec.status == 0 {
		writeProblem(rec, internalProblem(v.requestID))
	}
}

// answered writes the log line. Queries are left out, since they search for
// people, and token ids are shortened, since they are credentials.
func (s *server) answered(rec *recorder, r *http.Request, v *visit, took time.Duration) {
	if s.Done != nil {
		s.Done(Access{Operation: v.operation, Status: rec.status, Took: took, Stream: v.stream})
	}
	level := slog.LevelInfo
	if rec.status >= http.StatusInternalServerError {
		level = slog.LevelWarn
	}
	if !s.log.Enabled(r.Context(), level) {
		return
	}
	path := r.URL.Path
	if t := r.PathValue("token_id"); t != "" {
		path = strings.ReplaceAll(path, t, dengxu.TokenID(t).Mask())
	} else if v.operation == "" || rec.status == http.StatusNotFound {
		path = maskPath(path) // also where a token id stands for another one
	}
	s.log.LogAttrs(r.Context(), level, "request",
		slog.String("request_id", v.requestID), slog.String("method", r.Method), slog.String("path", path),
		slog.String("operation", v.operation), slog.Int("status", rec.status), slog.Int64("bytes", rec.bytes),
		slog.Duration("took", took), slog.String("address", s.address(r).String()), slog.String("key", string(v.key)))
}

var longPart = regexp.MustCompile(`[A-Za-z0-9_-]{20,}`)

// maskPath shortens what may be a token id in the path of a page.
func maskPath(path string) string {
	return longPart.ReplaceAllStringFunc(path, func(id string) string { return dengxu.TokenID(id).Mask() })
}

// address is the client's: the connection's own, or behind trusted proxies the
// last one that they did not vouch for.
func (s *server) address(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	at := peer.Addr().Unmap()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !s.trusts(at) {
			break
		}
		before, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		at = before.Unmap()
	}
	return at
}

func (s *server) trusts(a netip.Addr) bool {
	return slices.ContainsFunc(s.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// requestIDs makes ids that are unique without a lock.
type requestIDs struct {
	prefix string
	n      atomic.Uint64
}

func (ids *requestIDs) init() {
	var b [5]byte
	_, _ = rand.Read(b[:]) // never fails
	ids.prefix = hex.EncodeToString(b[:]) + "-"
}

var requestIDPattern = regexp.MustCompile(`^[A-Za-z0-9_.-]{8,64}$`)

// of returns the id that a proxy gave the request, or a new one.
func (ids *requestIDs) of(r *http.Request) string {
	if id := r.Header.Get(headerRequestID); id != "" && requestIDPattern.MatchString(id) {
		return id
	}
	return ids.prefix + strconv.FormatUint(ids.n.Add(1), 36)
}

// crossOrigin refuses what another site's page makes a browser send.
func (s *server) crossOrigin(next http.Handler) http.Handler {
	p := http.NewCrossOriginProtection()
	for _, origin := range s.CORSOrigins {
		if err := p.AddTrustedOrigin(origin); err != nil {
			panic(fmt.Sprintf("httpapi: CORS origin %q: %v", origin, err)) // checked by whoever reads the options
		}
	}
	p.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, dengxu.Errorf(dengxu.Forbidden, "the request comes from another site's page").Because("cross_origin"))
	}))
	return p.Handler(next)
}

// cors answers for the origins that may use the API from their pages. It
// returns true when the request was a preflight.
func (s *server) cors(w http.ResponseWriter, r *http.Request) bool {
	if len(s.CORSOrigins) == 0 {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if !slices.Contains(s.CORSOrigins, origin) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", strings.Join([]string{"ETag", "Retry-After", headerRequestID, headerReplayed, headerReason}, ", "))
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, "+headerKey)
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}
