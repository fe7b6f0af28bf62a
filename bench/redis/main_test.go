package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestQuick runs every measurement, small, against a real server: each has its
// rows, and none an error.
func TestQuick(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(t.Context(), &out, short, nil); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	t.Log("\n" + out.String())
	for _, row := range []string{
		"join, in process", "complete + call next, one commit, in process", "rank, in process",
		"asynq enqueue", "call to asynq process", "bytes for one that waits", "bytes for a task of asynq",
		"commands for a join alone", "commands for complete + call next alone", "commands a second of an idle server",
		"join of a single caller", "rank among",
		"rank in aging, 12 lanes", "complete + call next in strict, 12 lanes", "complete + call next in ratio, 32 lanes",
	} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("the table has no row %q", row)
		}
	}
}

func TestOnlyKnowsNames(t *testing.T) {
	t.Parallel()
	if err := run(t.Context(), &bytes.Buffer{}, short, []string{"jion"}); err == nil {
		t.Error("a measurement that does not exist was accepted")
	}
}

// TestAttributesAreEightyBytes holds what the goals speak of.
func TestAttributesAreEightyBytes(t *testing.T) {
	t.Parallel()
	if len(attributes) != 80 {
		t.Errorf("%d bytes of attributes", len(attributes))
	}
}
