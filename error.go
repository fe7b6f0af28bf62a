package dengxu

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Code says what kind of failure an error is. The list is closed: every error
// that leaves the engine, the HTTP API or the client has one of these.
type Code string

// The codes, in the order of their HTTP status.
const (
	Unauthenticated Code = "unauthenticated" // 401: no credential, or an unknown one
	Forbidden       Code = "forbidden"       // 403: the role or a right is lacking
	NotFound        Code = "not_found"       // 404: unknown, or outside the key's scope
	Exists          Code = "exists"          // 409: the holder is already in line, or the id is taken
	Conflict        Code = "conflict"        // 409: the state, version or counter forbids it now
	Closed          Code = "closed"          // 409: the door does not let it in
	Full            Code = "full"            // 409: length, quota or numbers are used up
	Invalid         Code = "invalid"         // 422: the request can never succeed as it is
	TooMany         Code = "too_many"        // 429: too early or too often; see RetryAfter
	Internal        Code = "internal"        // 500: a defect; only a request id is shown
	Unavailable     Code = "unavailable"     // 503: the store surely did nothing
	Deadline        Code = "deadline"        // 504: the outcome is unknown; repeat with the same key
	Canceled        Code = "canceled"        // in process only: the caller gave up
)

// Error is a failure with a code. Message is written for the caller; Reason is
// a stable word for programs, such as "paused" or "stale_version".
type Error struct {
	Code       Code
	Reason     string        // stable word, may be empty
	Message    string        // one sentence for people
	Field      string        // the request field at fault, may be empty
	RetryAfter time.Duration // when a repeat may succeed; 0 = unknown
	Token      *Token        // on a conflict: the token as it is now; on exists: the one in line
	Err        error         // cause, never shown outside
}

// Error returns the code, the field where the message does not name it, the
// message and the cause.
func (e *Error) Error() string {
	text := e.Message
	if !strings.Contains(text, e.Field) {
		text = e.Field + ": " + text
	}
	if e.Err != nil && !strings.Contains(e.Message, e.Err.Error()) {
		text += ": " + e.Err.Error()
	}
	return string(e.Code) + ": " + text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Because returns e with its reason word set.
func (e *Error) Because(reason string) *Error {
	e.Reason = reason
	return e
}

// Errorf makes an error with a code. A %w at the end of format keeps the cause
// out of the message, which callers see, and in the chain, which logs show.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	message, cause := err.Error(), errors.Unwrap(err)
	if cause != nil {
		message = strings.TrimSuffix(message, ": "+cause.Error())
	}
	return &Error{Code: code, Message: message, Err: cause}
}

// Fieldf makes an error that blames one field of the request.
func Fieldf(code Code, field, format string, args ...any) *Error {
	e := Errorf(code, format, args...)
	e.Field = field
	return e
}

// CodeOf returns the code of err: "" for nil, Canceled and Deadline for the
// context's own errors, Internal for an error without a code.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	switch {
	case errors.Is(err, context.Canceled):
		return Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return Deadline
	default:
		return Internal
	}
}

// ReasonOf returns the reason word of err, or "".
func ReasonOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return ""
}
