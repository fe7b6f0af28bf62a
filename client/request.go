package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/dengxu/dengxu"
)

// maxAnswer bounds what is read of one answer: 200 tokens with their largest
// attributes are under 4 MB.
const maxAnswer = 16 << 20

// request is one operation of the API.
type request struct {
	method, path string
	query        url.Values
	body         any
	ifMatch      uint64        // 0 = not given
	key          string        // idempotency key; "" = of the context, or a new one
	wait         time.Duration // how long the server was asked to wait
}

func (r request) changes() bool { return r.method != http.MethodGet }

// answer is what came back, its body already decoded.
type answer struct {
	status int
	header http.Header
}

// failure is one attempt that brought no definite answer.
type failure struct {
	err     error
	unknown bool          // the server may have done it
	after   time.Duration // what the server asked to wait; 0 = nothing
}

// do sends r until it gets a definite answer or the budget is spent, and
// decodes the answer's body into into (nil drops it).
func (c *Client) do(ctx context.Context, r request, into any) (*answer, error) {
	var payload []byte
	if r.body != nil {
		var err error
		if payload, err = json.Marshal(r.body); err != nil {
			return nil, asError(dengxu.Invalid, "encode the request", err)
		}
	}
	if r.key == "" && r.changes() {
		r.key = newKey(ctx)
	}
	unknown := false
	left := c.newBudget()
	for {
		a, failed, err := c.once(ctx, r, payload, into)
		if failed == nil {
			if unknown && r.method == http.MethodDelete && dengxu.CodeOf(err) == dengxu.NotFound {
				return &answer{status: http.StatusNoContent}, nil // an attempt before this one did it
			}
			return a, err
		}
		unknown = unknown || failed.unknown
		if ctx.Err() != nil {
			return nil, ended(ctx)
		}
		if !left.wait(ctx, failed.after) {
			if ctx.Err() != nil {
				return nil, ended(ctx)
			}
			return nil, giveUp(r, unknown, failed)
		}
	}
}

// newKey returns the context's idempotency key, or a new one of 128 bits.
func newKey(ctx context.Context) string {
	if key, ok := ctx.Value(contextKey{}).(string); ok && key != "" {
		return key
	}
	return rand.Text()
}

// once sends r one time. It returns a failure when the answer is not definite.
func (c *Client) once(ctx context.Context, r request, payload []byte, into any) (*answer, *failure, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout+r.wait)
	defer cancel()
	// The transport itself sends a request again whose connection was closed
	// under it. What it fails with at last says nothing about the first time.
	var connected atomic.Bool
	req, err := c.newRequest(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	}), r, payload)
	if err != nil {
		return nil, nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, &failure{err: err, unknown: connected.Load() || !neverSent(err)}, nil
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 400 {
		problem := readProblem(resp)
		if passing(problem.Code) {
			return nil, &failure{err: problem, unknown: problem.Code == dengxu.Deadline, after: problem.RetryAfter}, nil
		}
		return nil, nil, problem
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, &failure{err: fmt.Errorf("read the answer: %w", err), unknown: true}, nil
	}
	if len(body) > maxAnswer {
		return nil, nil, dengxu.Errorf(dengxu.Internal, "the answer is larger than %d bytes", maxAnswer)
	}
	if into != nil && len(body) > 0 {
		if err := json.Unmarshal(body, into); err != nil {
			return nil, nil, asError(dengxu.Internal, "decode the answer", err)
		}
	}
	return &answer{status: resp.StatusCode, header: resp.Header}, nil, nil
}

func (c *Client) newRequest(ctx context.Context, r request, payload []byte) (*http.Request, error) {
	target := c.base + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	var body io.Reader = http.NoBody
	if payload != nil {
		body = bytes.NewReader(payload)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, body)
	if err != nil {
		return nil, asError(dengxu.Invalid, "make the request", err)
	}
	h := req.Header
	h.Set("Accept", "application/json, application/problem+json")
	h.Set("User-Agent", "dengxu-go")
	if c.key != "" {
		h.Set("Authorization", "Bearer "+c.key)
	}
	if c.language != "" {
		h.Set("Accept-Language", c.language)
	}
	if payload != nil {
		h.Set("Content-Type", "application/json")
	}
	if r.changes() {
		h.Set("Idempotency-Key", r.key)
	}
	if r.ifMatch != 0 {
		h.Set("If-Match", strconv.Quote(strconv.FormatUint(r.ifMatch, 10)))
	}
	return req, nil
}

// passing reports whether a refusal may be gone in a moment. too_many is not
// one of these: to wait longer than the caller meant to is the caller's choice.
func passing(code dengxu.Code) bool {
	return code == dengxu.Unavailable || code == dengxu.Deadline
}

// neverSent reports whether a failed request surely did not reach the server,
// because no connection came about.
func neverSent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// giveUp is the error after the last attempt.
func giveUp(r request, unknown bool, last *failure) error {
	if unknown && r.changes() {
		e := asError(dengxu.Deadline, "no definite answer; repeat with the same idempotency key to learn it", last.err)
		return e.Because("outcome_unknown")
	}
	if e, ok := errors.AsType[*dengxu.Error](last.err); ok {
		return e
	}
	return asError(dengxu.Unavailable, "the server did not answer", last.err)
}

// ended is the error of a context that is over.
func ended(ctx context.Context) error {
	return &dengxu.Error{Code: dengxu.CodeOf(ctx.Err()), Message: "the caller gave up", Err: ctx.Err()}
}

func asError(code dengxu.Code, message string, cause error) *dengxu.Error {
	return &dengxu.Error{Code: code, Message: message, Err: cause}
}
