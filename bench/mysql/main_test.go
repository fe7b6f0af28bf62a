package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/dengxu/dengxu/bench/internal/rig"
)

// TestMain is the service before the table where the story starts it.
func TestMain(m *testing.M) {
	if isTable() {
		rig.Main(serveTable)
		return
	}
	os.Exit(m.Run())
}

// TestQuick tells the story, small, on real servers: nothing fails at a rate
// that all can bear.
func TestQuick(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := run(t.Context(), &out, short, nil)
	text := out.String()
	t.Log("\n" + text)
	if err != nil {
		t.Fatal(err)
	}
	story, _, _ := strings.Cut(text[strings.Index(text, "| system"):], "\n\n")
	for _, name := range []string{"(a) table", "(b) dengxu on Redis, AOF every second", "(b) dengxu on Redis, AOF always", "(c) dengxu"} {
		row, ok := lineOf(story, "| "+name)
		if !ok {
			t.Errorf("no row of %s", name)
		} else if !strings.Contains(row, "100 %") {
			t.Errorf("something failed: %s", row)
		}
	}
}

// lineOf is the line of a text that begins with something.
func lineOf(text, begin string) (string, bool) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, begin) {
			return line, true
		}
	}
	return "", false
}

func TestOnlyKnowsNames(t *testing.T) {
	t.Parallel()
	if err := run(t.Context(), &bytes.Buffer{}, short, []string{"tabel"}); err == nil {
		t.Error("a system that does not exist was accepted")
	}
}
