package client

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/dengxu/dengxu"
)

// problem is the body of a refusal: RFC 9457 with dengxu's members.
type problem struct {
	Title  string        `json:"title"`
	Detail string        `json:"detail"`
	Code   dengxu.Code   `json:"code"`
	Reason string        `json:"reason"`
	Field  string        `json:"field"`
	Token  *dengxu.Token `json:"token"`
	Retry  float64       `json:"retry_after_seconds"` // finer than the header
}

// readProblem turns a refusal into an error. What is not a problem document,
// such as the page of a proxy, gets its code from the status.
func readProblem(resp *http.Response) *dengxu.Error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20)) // half a body still has its status
	var p problem
	if !strings.Contains(resp.Header.Get("Content-Type"), "json") || json.Unmarshal(body, &p) != nil {
		p = problem{}
	}
	return &dengxu.Error{
		Code:       cmp.Or(p.Code, codeOf(resp.StatusCode)),
		Reason:     p.Reason,
		Message:    cmp.Or(p.Detail, p.Title, "the server answered "+resp.Status),
		Field:      p.Field,
		RetryAfter: cmp.Or(seconds(p.Retry), retryAfter(resp.Header)),
		Token:      p.Token,
	}
}

// codeOf is the code of a status that came without one.
func codeOf(status int) dengxu.Code {
	switch status {
	case http.StatusUnauthorized:
		return dengxu.Unauthenticated
	case http.StatusForbidden:
		return dengxu.Forbidden
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone:
		return dengxu.NotFound
	case http.StatusConflict, http.StatusPreconditionFailed:
		return dengxu.Conflict
	case http.StatusTooManyRequests:
		return dengxu.TooMany
	case http.StatusServiceUnavailable:
		return dengxu.Unavailable
	case http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return dengxu.Deadline // a proxy cannot tell whether the server did it
	}
	if status >= 500 {
		return dengxu.Internal
	}
	return dengxu.Invalid
}

// seconds is a number of seconds that makes sense; 0 for any other.
func seconds(n float64) time.Duration {
	if n > 0 && n < 1e9 {
		return time.Duration(n * float64(time.Second))
	}
	return 0
}

// retryAfter reads seconds or a date; 0 = nothing said.
func retryAfter(h http.Header) time.Duration {
	v := h.Get("Retry-After")
	if n, err := strconv.ParseFloat(v, 64); err == nil && seconds(n) > 0 {
		return seconds(n)
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
