package dengxu_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
)

var update = flag.Bool("update", false, "write golden files anew")

// meanings are the words of docs/states.md for each state.
var meanings = map[dengxu.State]string{
	dengxu.StateScheduled: "not callable yet: delayed, deferred, not checked in, just missed, or backing off",
	dengxu.StateWaiting:   "in line; the next call may take it",
	dengxu.StateCalling:   "called to a counter, not yet served; the call has a deadline",
	dengxu.StateServing:   "being served at its counter; a task: leased to a worker",
	dengxu.StateHeld:      "parked by the operator; never comes back by itself",
	dengxu.StateMissed:    "did not come; kept until reinstated or expired (policy `keep`)",
	dengxu.StateCompleted: "served",
	dengxu.StateCancelled: "given up by the holder or the operator",
	dengxu.StateAbandoned: "never came, or expired",
	dengxu.StateFailed:    "a task without attempts left (dead letter)",
}

func TestStatesPage(t *testing.T) {
	t.Parallel()
	golden(t, filepath.Join("docs", "states.md"), statesPage(t))
}

// golden compares what was made with a checked-in file, or writes it with
// -update.
func golden(t *testing.T, file, made string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(kept), made); diff != "" {
		t.Errorf("%s is not what the code says; run make docs (-kept +made):\n%s", file, diff)
	}
}

func statesPage(t *testing.T) string {
	t.Helper()
	var page strings.Builder
	page.WriteString(`<!-- Generated from the transition table in transition.go by make docs; do not edit. -->

# States and transitions

A token is one stay in a queue. It is in one of these states, and only the
transitions below change it; anything else is refused with ` + "`conflict`" + `, the
present state and the counter that has the token. ` + "`version`" + ` rises by one at
each change.

## States

| state | meaning | end |
|---|---|---|
`)
	writeStates(t, &page)
	page.WriteString(`
## Transitions

An empty *from* begins a token. Where several states stand under *to*, the
settings of the queue or the note say which.

| from | verb | to | queues | by | notes |
|---|---|---|---|---|---|
`)
	writeRows(&page)
	for _, kind := range kinds {
		fmt.Fprintf(&page, "\n## A token of a %s queue\n\n", kind)
		diagram(&page, kind)
		writeKnown(t, &page, kind)
	}
	return page.String()
}

func writeStates(t *testing.T, page *strings.Builder) {
	t.Helper()
	for _, state := range dengxu.States() {
		if meanings[state] == "" {
			t.Errorf("%s has no meaning in this test", state)
		}
		end := ""
		if state.Ended() {
			end = "yes"
		}
		fmt.Fprintf(page, "| `%s` | %s | %s |\n", state, meanings[state], end)
	}
}

func writeRows(page *strings.Builder) {
	for _, row := range dengxu.Transitions() {
		from := "–"
		if row.From != nil {
			from = words(row.From)
		}
		to := words(row.To)
		if row.Verb == dengxu.VerbEdit {
			to = "the same"
		}
		fmt.Fprintf(page, "| %s | `%s` | %s | %s | %s | %s |\n", from, row.Verb, to, plain(row.Kinds), row.By, row.Note)
	}
}

func writeKnown(t *testing.T, page *strings.Builder, kind dengxu.Kind) {
	t.Helper()
	page.WriteString("\n| in state | verbs |\n|---|---|\n")
	reached := reachable(kind)
	for _, state := range dengxu.States() {
		var known []dengxu.Verb
		for _, verb := range verbs(t) {
			if reached[state] && dengxu.Allowed(kind, state, verb) {
				known = append(known, verb)
			}
		}
		if len(known) > 0 {
			fmt.Fprintf(page, "| `%s` | %s |\n", state, words(known))
		}
	}
}

// diagram draws one kind of queue, without undo, which goes back anywhere, and
// without verbs that change no state.
func diagram(page *strings.Builder, kind dengxu.Kind) {
	reached := reachable(kind)
	page.WriteString("```mermaid\nstateDiagram-v2\n")
	var order []string
	labels := map[string][]string{}
	add := func(from, to string, verb dengxu.Verb) {
		edge := from + " --> " + to
		if labels[edge] == nil {
			order = append(order, edge)
		}
		labels[edge] = append(labels[edge], string(verb))
	}
	for _, row := range dengxu.Transitions() {
		if row.Verb == dengxu.VerbUndo || row.Verb == dengxu.VerbEdit || !slices.Contains(row.Kinds, kind) {
			continue
		}
		for _, to := range row.To {
			if row.From == nil {
				add("[*]", string(to), row.Verb)
			}
			for _, from := range row.From {
				if from != to && reached[from] {
					add(string(from), string(to), row.Verb)
				}
			}
		}
	}
	for _, edge := range order {
		fmt.Fprintf(page, "    %s: %s\n", edge, strings.Join(labels[edge], ", "))
	}
	page.WriteString("```\n")
}

func words[T ~string](list []T) string {
	var quoted []string
	for _, word := range list {
		quoted = append(quoted, "`"+string(word)+"`")
	}
	return strings.Join(quoted, ", ")
}

func plain[T ~string](list []T) string {
	var all []string
	for _, word := range list {
		all = append(all, string(word))
	}
	return strings.Join(all, ", ")
}
