package dengxu_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
)

var kinds = []dengxu.Kind{dengxu.KindPeople, dengxu.KindTask}

// constants returns the values of the string constants of a type, as declared
// in a file of this package, so that one which is added cannot be forgotten.
func constants(t *testing.T, file, typeName string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	for spec := range ast.Preorder(parsed) {
		constant, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		if name, ok := constant.Type.(*ast.Ident); !ok || name.Name != typeName {
			continue
		}
		for _, value := range constant.Values {
			text, err := strconv.Unquote(value.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, text)
		}
	}
	if len(values) == 0 {
		t.Fatalf("no constants of type %s in %s", typeName, file)
	}
	return values
}

func verbs(t *testing.T) []dengxu.Verb {
	t.Helper()
	var all []dengxu.Verb
	for _, verb := range constants(t, "transition.go", "Verb") {
		all = append(all, dengxu.Verb(verb))
	}
	return all
}

func TestStatesAreAll(t *testing.T) {
	t.Parallel()
	var listed []string
	for _, state := range dengxu.States() {
		listed = append(listed, string(state))
		if !state.Valid() {
			t.Errorf("%s is listed and not valid", state)
		}
	}
	if diff := cmp.Diff(constants(t, "state.go", "State"), listed); diff != "" {
		t.Errorf("States() (-declared +listed):\n%s", diff)
	}
	for _, state := range []dengxu.State{"", "Waiting", "done"} {
		if state.Valid() || state.Ended() {
			t.Errorf("%q is no state", state)
		}
	}
}

// reachable returns the states that a token of one kind of queue can be in.
func reachable(kind dengxu.Kind) map[dengxu.State]bool {
	reached := map[dengxu.State]bool{}
	for size := -1; size != len(reached); {
		size = len(reached)
		for _, row := range dengxu.Transitions() {
			begins := row.From == nil || slices.ContainsFunc(row.From, func(s dengxu.State) bool { return reached[s] })
			if !begins || !slices.Contains(row.Kinds, kind) {
				continue
			}
			for _, to := range row.To {
				reached[to] = true
			}
		}
	}
	return reached
}

func TestEveryStateIsReachable(t *testing.T) {
	t.Parallel()
	people, tasks := reachable(dengxu.KindPeople), reachable(dengxu.KindTask)
	for _, state := range dengxu.States() {
		if !people[state] && !tasks[state] {
			t.Errorf("no path from a join leads to %s", state)
		}
	}
	// A row of tasks may name a state that only people have, where it is shared.
	for _, row := range dengxu.Transitions() {
		for _, from := range row.From {
			if slices.Contains(row.Kinds, dengxu.KindPeople) && !people[from] {
				t.Errorf("%s from %s: nobody ever gets there", row.Verb, from)
			}
		}
	}
}

func TestEndsAreLeftByUndoOnly(t *testing.T) {
	t.Parallel()
	for _, row := range dengxu.Transitions() {
		for _, from := range row.From {
			for _, to := range row.To {
				if from.Ended() && to != from && row.Verb != dengxu.VerbUndo {
					t.Errorf("%s takes a token from %s to %s", row.Verb, from, to)
				}
			}
		}
	}
}

func TestJoinAloneBegins(t *testing.T) {
	t.Parallel()
	for _, row := range dengxu.Transitions() {
		if (row.Verb == dengxu.VerbJoin) != (len(row.From) == 0) {
			t.Errorf("%s from %v: a join begins a token, and nothing else does", row.Verb, row.From)
		}
	}
}

// TestTableIsWellFormed: every declared verb has a row, no row says nothing,
// and no two rows speak of the same verb in the same state.
func TestTableIsWellFormed(t *testing.T) {
	t.Parallel()
	declared := verbs(t)
	seen := map[string]bool{}
	used := map[dengxu.Verb]bool{}
	for _, row := range dengxu.Transitions() {
		used[row.Verb] = true
		if !slices.Contains(declared, row.Verb) {
			t.Errorf("%s is not declared", row.Verb)
		}
		if len(row.To) == 0 || len(row.Kinds) == 0 {
			t.Errorf("%s from %v leads nowhere or for nobody", row.Verb, row.From)
		}
		for by := range strings.SplitSeq(row.By, ", ") {
			if !slices.Contains([]string{"holder", "operator", "worker", "timer"}, by) {
				t.Errorf("%s from %v by %q: unknown", row.Verb, row.From, by)
			}
		}
		from := row.From
		if from == nil {
			from = []dengxu.State{""}
		}
		for _, kind := range row.Kinds {
			for _, state := range from {
				key := fmt.Sprintf("%s: %s from %q", kind, row.Verb, state)
				if seen[key] {
					t.Errorf("%s stands twice", key)
				}
				seen[key] = true
			}
		}
		for _, state := range slices.Concat(row.From, row.To) {
			if !state.Valid() {
				t.Errorf("%s: %q is no state", row.Verb, state)
			}
		}
	}
	for _, verb := range declared {
		if !used[verb] {
			t.Errorf("%s has no row", verb)
		}
	}
}

func TestLeadsAndAllowedAgree(t *testing.T) {
	t.Parallel()
	for _, kind := range append(slices.Clone(kinds), "other") {
		for _, verb := range append(verbs(t), "other") {
			for _, from := range append(dengxu.States(), "") {
				leads := false
				for _, to := range append(dengxu.States(), "") {
					inTable := slices.ContainsFunc(dengxu.Transitions(), func(row dengxu.Transition) bool {
						return row.Verb == verb && slices.Contains(row.Kinds, kind) &&
							slices.Contains(row.From, from) && slices.Contains(row.To, to)
					})
					if got := dengxu.Leads(kind, from, verb, to); got != inTable {
						t.Errorf("Leads(%s, %s, %s, %s) = %v, the table says %v", kind, from, verb, to, got, inTable)
					}
					leads = leads || inTable
				}
				if got := dengxu.Allowed(kind, from, verb); got != leads {
					t.Errorf("Allowed(%s, %s, %s) = %v, and Leads to some state = %v", kind, from, verb, got, leads)
				}
			}
		}
	}
}

func TestTransitionsIsACopy(t *testing.T) {
	t.Parallel()
	rows := dengxu.Transitions()
	for i := range rows {
		rows[i].Verb = "other"
		for j := range rows[i].To {
			rows[i].To[j] = "other"
		}
	}
	if !dengxu.Leads(dengxu.KindPeople, dengxu.StateWaiting, dengxu.VerbCall, dengxu.StateCalling) {
		t.Error("a change of the copy changed the table")
	}
}

func TestAtCounter(t *testing.T) {
	t.Parallel()
	for _, state := range dengxu.States() {
		want := state == dengxu.StateCalling || state == dengxu.StateServing
		if state.AtCounter() != want {
			t.Errorf("%s.AtCounter() = %v", state, state.AtCounter())
		}
	}
}
