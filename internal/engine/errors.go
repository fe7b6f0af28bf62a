package engine

import (
	"context"
	"errors"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// The reason words that the engine gives to what stores fail with.
const (
	reasonUnknownOutcome = "outcome_unknown"
	reasonContention     = "contention"
	reasonKeyReused      = "idempotency_key_reused"
)

// storeError gives a code to what a store failed with while the engine was
// doing something: Unavailable when surely nothing was done, Deadline with
// reason outcome_unknown when it may have been, the context's own errors and
// errors with a code as they are, else Internal. A *store.Refused that nobody
// understood is a defect, hence Internal too, except a reused idempotency key.
func storeError(doing string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*dengxu.Error](err); ok {
		return err
	}
	coded := func(code dengxu.Code, message string) *dengxu.Error {
		return &dengxu.Error{Code: code, Message: doing + ": " + message, Err: err}
	}
	switch {
	case errors.Is(err, store.ErrUnknown):
		return coded(dengxu.Deadline, "the outcome is unknown; repeat with the same idempotency key").Because(reasonUnknownOutcome)
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, store.ErrClosed):
		return coded(dengxu.Unavailable, "the store is unavailable; nothing was done")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	if _, reused := refusedBy[store.OpReused](err); reused {
		return errKeyReused()
	}
	return coded(dengxu.Internal, "failed")
}

// refusedBy returns the expectation of kind E that did not hold, when that is
// what err says.
func refusedBy[E store.Expectation](err error) (by E, ok bool) {
	if r, refused := errors.AsType[*store.Refused](err); refused {
		by, ok = r.By.(E)
	}
	return by, ok
}

// errUnchanged ends deciding: there is nothing to write.
var errUnchanged = errors.New("nothing to change")

// errReplayed ends deciding: the operation was done before, and its repeat is
// not judged by the state that it led to.
var errReplayed = errors.New("operation done before")

// errKeyReused is the answer to an idempotency key that came before with
// another body.
func errKeyReused() error {
	return dengxu.Errorf(dengxu.Invalid, "this idempotency key was used with another request").Because(reasonKeyReused)
}

// errContention is the answer after all attempts lost against other commits.
func errContention(doing string) error {
	return dengxu.Errorf(dengxu.Unavailable, "%s: too many changes at the same time; nothing was done", doing).Because(reasonContention)
}
