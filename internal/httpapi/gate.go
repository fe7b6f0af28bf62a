package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/engine"
)

type humaContext = huma.Context

// call is one request of an operation. It stands between the connection and
// huma: the gate has read the credential and the body before huma sees them.
type call struct {
	humaContext
	server  *server
	route   *route
	request *http.Request
	writer  http.ResponseWriter
	visit   *visit
	ctx     context.Context
	key     *dengxu.KeyView // nil = none, or none that counts here
	body    []byte
	idem    string // Idempotency-Key, "" = none
	hash    [16]byte
	status  int // of the answer; 0 = the route's
}

type callKey struct{}

func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// Context returns the context of the operation, with its deadline.
func (c *call) Context() context.Context { return c.ctx }

// Unwrap lets humago reach its own context.
func (c *call) Unwrap() huma.Context { return c.humaContext }

// BodyReader gives huma the body that the gate has read.
func (c *call) BodyReader() io.Reader { return bytes.NewReader(c.body) }

// SetReadDeadline does nothing: the body is read. A deadline here would end
// long polls and streams, whose connection is watched by a read.
func (c *call) SetReadDeadline(time.Time) error { return nil }

// Header tells huma that every body is JSON: what is not is malformed, whatever
// it calls itself.
func (c *call) Header(name string) string {
	if name == "Content-Type" {
		return "application/json"
	}
	return c.humaContext.Header(name)
}

// problem makes the answer of an error, as far as this caller may see it.
func (c *call) problem(err error) *Problem {
	p := c.server.problem(c.ctx, c.visit.requestID, err)
	if e, ok := errors.AsType[*dengxu.Error](err); ok && p.Code != dengxu.Internal {
		p.Token = c.shown(e.Token)
	}
	return p
}

// shown is as much of a token as the caller may see in a refusal: staff all,
// its holder and a worker where it stands, others nothing.
func (c *call) shown(t *dengxu.Token) *dengxu.Token {
	if t == nil {
		return nil
	}
	if c.key != nil && (c.key.Role == dengxu.RoleAdmin || c.key.Role == dengxu.RoleOperator) {
		return t
	}
	little := &dengxu.Token{
		ID: t.ID, Ref: t.Ref, Number: t.Number, State: t.State, Version: t.Version,
		Site: t.Site, QueueID: t.QueueID, CounterID: t.CounterID, JoinedAt: t.JoinedAt, Place: t.Place,
	}
	if c.key == nil && string(t.ID) != c.Param("token_id") || c.key != nil && c.key.Role != dengxu.RoleWorker {
		little.ID = "" // a credential of somebody else
	}
	return little
}

// longRead bounds what reads the whole store, or writes to everybody in a line.
const longRead = 10 * time.Minute

// gate is the middleware of one route: who asks, whether they may, what they
// send. Whatever fails is answered here, before the handler.
func (s *server) gate(r *route) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		req, w := humago.Unwrap(ctx)
		c := &call{humaContext: ctx, server: s, route: r, request: req, writer: w, visit: visitOf(req.Context()), ctx: req.Context()}
		c.visit.operation, c.visit.stream = r.id, r.stream
		if !r.stream {
			limit := s.Deadline
			if r.waits {
				limit += maxWait
			}
			if r.long {
				limit += longRead
			}
			var cancel context.CancelFunc
			c.ctx, cancel = context.WithTimeout(c.ctx, limit)
			defer cancel()
			// A reader who is slower than this gets no more.
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(limit + s.Deadline))
		}
		if err := c.open(); err != nil {
			writeProblem(w, c.problem(err))
			return
		}
		c.ctx = context.WithValue(c.ctx, callKey{}, c)
		next(c)
	}
}

// open checks the credential, the limits, the role and scope, and reads the
// body.
func (c *call) open() error {
	if err := c.authenticate(); err != nil {
		return err
	}
	if c.server.Limit != nil {
		if err := c.server.Limit(c.ctx, c.asVisit()); err != nil {
			return err
		}
	}
	if err := c.authorize(); err != nil {
		return err
	}
	if !c.route.mutates {
		return nil
	}
	if err := c.readBody(); err != nil {
		return err
	}
	return c.readKey()
}

func (c *call) asVisit() Visit {
	v := Visit{Operation: c.route.id, Mutates: c.route.mutates, Address: c.server.address(c.request)}
	if cookie, err := c.request.Cookie(DeviceCookie); err == nil {
		v.Device = cookie.Value
	}
	if c.key != nil {
		v.Key = c.key.ID
	}
	return v
}

// authenticate finds the key of the request. A wrong one in the header is
// refused everywhere; a stale cookie does not lock a holder out.
func (c *call) authenticate() error {
	secret := ""
	header := c.request.Header.Values("Authorization")
	if len(header) > 0 {
		scheme, rest, _ := strings.Cut(header[0], " ")
		secret = strings.TrimSpace(rest)
		if len(header) > 1 || !strings.EqualFold(scheme, "Bearer") || secret == "" {
			return errNoKey("Authorization must be: Bearer KEY")
		}
	} else if cookie, err := c.request.Cookie(KeyCookie); err == nil {
		secret = cookie.Value
	}
	if secret == "" {
		return nil
	}
	key, err := c.server.engine.Authenticate(c.ctx, secret)
	switch {
	case err == nil:
		c.key, c.visit.key = &key, key.ID
		return nil
	case len(header) == 0 && dengxu.CodeOf(err) == dengxu.Unauthenticated:
		return nil
	default:
		return err
	}
}

func errNoKey(message string) error { return dengxu.Errorf(dengxu.Unauthenticated, "%s", message) }

// authorize applies the route's roles and scope; what the table does not
// allow is refused.
func (c *call) authorize() error {
	r := c.route
	if c.key == nil {
		if r.public || r.holder {
			return nil
		}
		return errNoKey("this operation needs a key")
	}
	if len(r.roles) == 0 && (r.public || r.holder) {
		return nil
	}
	err := c.checkRole()
	if err == nil {
		err = c.checkScope()
	}
	if err != nil && r.holder && dengxu.CodeOf(err) != dengxu.Internal {
		c.key = nil // the token id in the path is credential enough
		return nil
	}
	return err
}

func (c *call) checkRole() error {
	if slices.Contains(c.route.roles, c.key.Role) {
		return nil
	}
	return dengxu.Errorf(dengxu.Forbidden, "a key with the role %s may not do this", c.key.Role).Because("role")
}

// readBody reads the whole body, within the limit.
func (c *call) readBody() error {
	if c.request.ContentLength == 0 {
		return nil
	}
	limit := max(c.server.MaxBody, c.route.maxBody)
	var buf bytes.Buffer
	if n := c.request.ContentLength; n > 0 && n <= limit {
		buf.Grow(int(n) + bytes.MinRead)
	}
	_, err := buf.ReadFrom(http.MaxBytesReader(c.writer, c.request.Body, limit))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return dengxu.Errorf(dengxu.Invalid, "the body is larger than %d bytes", limit).Because("body_too_large")
	}
	if err != nil {
		return dengxu.Errorf(dengxu.Invalid, "the body could not be read").Because("body_unreadable")
	}
	c.body = buf.Bytes()
	if len(c.body) > 0 && !c.route.takesBody {
		return dengxu.Errorf(dengxu.Invalid, "this operation takes no body").Because("body_unexpected")
	}
	return nil
}

// readKey reads the idempotency key and hashes the request that it stands for.
func (c *call) readKey() error {
	c.idem = c.request.Header.Get(headerKey)
	if c.idem == "" {
		return nil
	}
	if len(c.idem) > 128 || strings.ContainsFunc(c.idem, func(r rune) bool { return r < ' ' || r > '~' }) {
		return dengxu.Fieldf(dengxu.Invalid, headerKey, "%s has at most 128 printable characters", headerKey)
	}
	h := sha256.New()
	_, _ = io.WriteString(h, c.request.Method+" "+c.request.URL.Path+"\n")
	_, _ = h.Write(c.body)
	copy(c.hash[:], h.Sum(nil))
	return nil
}

// by is the caller as the engine knows it. Without a key it is the holder of
// the token in the path, or the public that joins.
func (c *call) by() engine.By {
	b := engine.By{Key: c.idem, Hash: c.hash}
	switch {
	case c.key != nil:
		b.Kind, b.Name, b.Scope = engine.Operator, "key:"+string(c.key.ID), "key/"+string(c.key.ID)
		if c.key.Role == dengxu.RoleAdmin {
			b.Kind = engine.Admin
		}
		b.Pick = b.Kind == engine.Admin || slices.Contains(c.key.Rights, "pick")
		b.Move = b.Kind == engine.Admin || slices.Contains(c.key.Rights, "move")
	case c.route.holder:
		b.Kind, b.Name, b.Scope = engine.Holder, "holder", "token/"+c.Param("token_id")
	default:
		b.Kind, b.Name, b.Scope = engine.Public, "public", "public/"+c.Param("queue_id")+c.Param("site_id")
	}
	return b
}

// replayed tells that the answer is that of an earlier request.
func (c *call) replayed(was bool) {
	if was {
		c.status = http.StatusOK
		c.SetHeader(headerReplayed, "true")
	}
}
