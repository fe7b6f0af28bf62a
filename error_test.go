package dengxu_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/dengxu/dengxu"
)

func TestCodeOfEveryCode(t *testing.T) {
	t.Parallel()
	for _, word := range constants(t, "error.go", "Code") {
		code := dengxu.Code(word)
		err := dengxu.Errorf(code, "it did not work")
		for name, err := range map[string]error{
			"plain":   err,
			"wrapped": fmt.Errorf("read queue clinic: %w", err),
			"joined":  errors.Join(io.EOF, err),
			"by hand": &dengxu.Error{Code: code},
		} {
			if got := dengxu.CodeOf(err); got != code {
				t.Errorf("%s %s: CodeOf = %q", name, code, got)
			}
		}
	}
}

func TestCodeOfOthers(t *testing.T) {
	t.Parallel()
	timeout, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for _, c := range []struct {
		name string
		err  error
		want dengxu.Code
	}{
		{"nil", nil, ""},
		{"cancelled context", context.Canceled, dengxu.Canceled},
		{"wrapped cancel", fmt.Errorf("commit: %w", context.Canceled), dengxu.Canceled},
		{"deadline", context.DeadlineExceeded, dengxu.Deadline},
		{"a context's own", timeout.Err(), dengxu.Deadline},
		{"without a code", io.ErrUnexpectedEOF, dengxu.Internal},
		// The code that was given says more than the cause.
		{"code over cause", dengxu.Errorf(dengxu.Unavailable, "read: %w", context.Canceled), dengxu.Unavailable},
		// Of two codes, the outer one is the later judgement.
		{"code over code", dengxu.Errorf(dengxu.Conflict, "call: %w", dengxu.Errorf(dengxu.NotFound, "no such token")), dengxu.Conflict},
	} {
		if got := dengxu.CodeOf(c.err); got != c.want {
			t.Errorf("%s: CodeOf = %q, want %q", c.name, got, c.want)
		}
	}
}

// TestErrorNamesItsField: whoever reads the text learns which setting is wrong,
// and not twice.
func TestErrorNamesItsField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{dengxu.Fieldf(dengxu.Invalid, "queue_rules[2].condition", "line 1, column 16: unexpected >="), "invalid: queue_rules[2].condition: line 1, column 16: unexpected >="},
		{dengxu.Fieldf(dengxu.Invalid, "max_misses", "max_misses is at least 1"), "invalid: max_misses is at least 1"},
		{dengxu.Fieldf(dengxu.Invalid, "a", "b: %w", io.EOF), "invalid: a: b: EOF"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestErrorKeepsItsCause(t *testing.T) {
	t.Parallel()
	err := dengxu.Errorf(dengxu.Internal, "read queue %s: %w", "clinic", io.ErrUnexpectedEOF)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("the cause is lost")
	}
	if err.Message != "read queue clinic" || err.Error() != "internal: read queue clinic: unexpected EOF" {
		t.Errorf("message %q, whole %q: want the cause in the second only, once", err.Message, err.Error())
	}
	if err := dengxu.Errorf(dengxu.Internal, "%w", io.EOF); err.Error() != "internal: EOF" {
		t.Errorf("a cause alone reads %q", err.Error())
	}
	if err := dengxu.Errorf(dengxu.Invalid, "no cause"); err.Unwrap() != nil {
		t.Errorf("a cause from nowhere: %v", err.Unwrap())
	}
}

func TestErrorTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  *dengxu.Error
		want string
	}{
		{dengxu.Errorf(dengxu.Full, "%d are waiting", 40), "full: 40 are waiting"},
		{dengxu.Fieldf(dengxu.Invalid, "class", "class %q is not declared", "x"), `invalid: class "x" is not declared`},
		{&dengxu.Error{Code: dengxu.Internal, Message: "read", Err: io.EOF}, "internal: read: EOF"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("Error() = %q, want %q", got, c.want)
		}
	}
}

func TestErrorFieldAndReason(t *testing.T) {
	t.Parallel()
	err := dengxu.Fieldf(dengxu.Conflict, "version", "token is at %d", 7).Because("stale_version")
	if err.Field != "version" || err.Reason != "stale_version" || err.Code != dengxu.Conflict {
		t.Errorf("%+v: want field, reason and code", err)
	}
	if got := dengxu.ReasonOf(fmt.Errorf("call: %w", err)); got != "stale_version" {
		t.Errorf("ReasonOf a wrapped error = %q", got)
	}
	for _, err := range []error{nil, io.EOF, dengxu.Errorf(dengxu.Full, "full")} {
		if got := dengxu.ReasonOf(err); got != "" {
			t.Errorf("ReasonOf(%v) = %q, want none", err, got)
		}
	}
}
