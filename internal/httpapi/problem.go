package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/dengxu/dengxu"
)

// statuses is THE table from codes to HTTP status.
var statuses = map[dengxu.Code]int{
	dengxu.Unauthenticated: http.StatusUnauthorized,
	dengxu.Forbidden:       http.StatusForbidden,
	dengxu.NotFound:        http.StatusNotFound,
	dengxu.Exists:          http.StatusConflict,
	dengxu.Conflict:        http.StatusConflict,
	dengxu.Closed:          http.StatusConflict,
	dengxu.Full:            http.StatusConflict,
	dengxu.Invalid:         http.StatusUnprocessableEntity,
	dengxu.TooMany:         http.StatusTooManyRequests,
	dengxu.Internal:        http.StatusInternalServerError,
	dengxu.Unavailable:     http.StatusServiceUnavailable,
	dengxu.Deadline:        http.StatusGatewayTimeout,
	dengxu.Canceled:        499, // the client has gone; nobody reads it
}

// unavailableRetry is what an answer says when nobody knows better.
const unavailableRetry = time.Second

// Problem is the answer of a refusal: RFC 9457, with the members below.
type Problem struct {
	Title             string        `json:"title" doc:"the status in words"`
	Status            int           `json:"status"`
	Detail            string        `json:"detail" doc:"one sentence for people"`
	Code              dengxu.Code   `json:"code" enum:"unauthenticated,forbidden,not_found,exists,conflict,closed,full,invalid,too_many,internal,unavailable,deadline"`
	Reason            string        `json:"reason,omitempty" doc:"a stable word for programs"`
	Field             string        `json:"field,omitempty" doc:"the field of the request at fault"`
	RequestID         string        `json:"request_id" doc:"names this request in the server's log"`
	RetryAfterSeconds float64       `json:"retry_after_seconds,omitempty" doc:"when a repeat may succeed"`
	Token             *dengxu.Token `json:"token,omitempty" doc:"conflict: the token as it is now; exists: the one in line"`
}

// Error returns the code and the sentence.
func (p *Problem) Error() string { return string(p.Code) + ": " + p.Detail }

// GetStatus tells huma the status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType tells huma the media type of RFC 9457.
func (p *Problem) ContentType(string) string { return problemType }

const problemType = "application/problem+json"

// GetHeaders tells huma the headers that belong to the code.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	if p.RetryAfterSeconds > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(p.RetryAfterSeconds))))
	}
	if p.Code == dengxu.Unauthenticated {
		h.Set("WWW-Authenticate", "Bearer")
	}
	return h
}

// Retry-After and problems of requests that huma refuses by itself come
// through this hook; requests that are not ours keep huma's own. And a field is
// named exactly: by default huma takes Name for name, checks one of the two
// when both are given, and encoding/json may read the other.
func init() {
	huma.ValidateStrictCasing = true
	others := huma.NewErrorWithContext
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
		if c, ok := ctx.(*call); ok {
			return c.problem(refusal(status, msg, errs))
		}
		return others(ctx, status, msg, errs...)
	}
}

// refusal is what huma found wrong with a request. Of several findings the
// first by field is told.
func refusal(status int, msg string, errs []error) error {
	if status >= http.StatusInternalServerError {
		return &dengxu.Error{Code: dengxu.Internal, Message: msg, Err: errors.Join(errs...)}
	}
	var found []*huma.ErrorDetail
	for _, err := range errs {
		if d, ok := err.(huma.ErrorDetailer); ok {
			found = append(found, d.ErrorDetail())
		}
	}
	if len(found) == 0 {
		return dengxu.Errorf(dengxu.Invalid, "%s", msg)
	}
	first := slices.MinFunc(found, func(a, b *huma.ErrorDetail) int { return strings.Compare(a.Location, b.Location) })
	_, field, _ := strings.Cut(first.Location, ".")
	if field == "" {
		return dengxu.Errorf(dengxu.Invalid, "%s", first.Message)
	}
	if form, ok := forms[formOf(field)]; ok && strings.Contains(first.Message, "schema") {
		return dengxu.Fieldf(dengxu.Invalid, field, "%s must be %s", field, form)
	}
	return dengxu.Fieldf(dengxu.Invalid, field, "%s: %s", field, first.Message)
}

// formOf is the name of a field without where it stands: queues of queues[0].
func formOf(field string) string {
	name := field[strings.LastIndexByte(field, '.')+1:]
	name, _, _ = strings.Cut(name, "[")
	return name
}

// problem makes the answer of an error. Of an internal one only the request id
// is shown; the rest is logged, once, here.
func (s *server) problem(ctx context.Context, requestID string, err error) *Problem {
	e, ok := errors.AsType[*dengxu.Error](err)
	if !ok {
		e = &dengxu.Error{Code: dengxu.CodeOf(err), Err: err}
	}
	p := &Problem{
		Code: e.Code, Reason: e.Reason, Field: e.Field, Detail: e.Message, RequestID: requestID,
		Status: statuses[e.Code], RetryAfterSeconds: e.RetryAfter.Seconds(),
	}
	switch {
	case e.Code == dengxu.Internal || p.Status == 0:
		s.log.LogAttrs(ctx, slog.LevelError, "internal error", slog.String("request_id", requestID), slog.Any("error", err))
		return internalProblem(requestID)
	case e.Code == dengxu.Unavailable && e.RetryAfter == 0:
		p.RetryAfterSeconds = unavailableRetry.Seconds()
	case e.Code == dengxu.Deadline && e.Reason == "":
		p.Reason = "outcome_unknown"
		p.Detail = "it took too long; the outcome is unknown, repeat with the same Idempotency-Key"
	}
	p.Title = http.StatusText(p.Status)
	return p
}

// internalProblem is all that is shown of a defect.
func internalProblem(requestID string) *Problem {
	const status = http.StatusInternalServerError
	return &Problem{
		Code: dengxu.Internal, Status: status, Title: http.StatusText(status), RequestID: requestID,
		Detail: "internal error; the log knows more under the request id",
	}
}

// refuse answers outside of an operation.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	writeProblem(w, s.problem(r.Context(), visitOf(r.Context()).requestID, err))
}

func writeProblem(w http.ResponseWriter, p *Problem) {
	h := w.Header()
	maps.Copy(h, p.GetHeaders())
	h.Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	// A failed write means that the client has gone.
	_ = json.NewEncoder(w).Encode(p)
}
