package rule_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/rule"
)

var update = flag.Bool("update", false, "write the table of docs/rules.md anew")

const page = "../../docs/rules.md"

// TestDocsTellTheNames holds the table of the page against the names there are.
func TestDocsTellTheNames(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| name | is | meaning |\n|---|---|---|\n")
	for _, n := range rule.Names {
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", n.Name, n.Type, n.Meaning)
	}
	before, rest, found := strings.Cut(string(text), "| name | is | meaning |\n")
	at := strings.Index(rest, "\n\n")
	if !found || at < 0 {
		t.Fatalf("%s has no table of names", page)
	}
	want := before + table.String() + rest[at+1:]
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("%s (-want +got); go test ./internal/rule -update writes it anew:\n%s", page, diff)
	}
}

// TestDocsTellTheLimits holds the numbers of the page.
func TestDocsTellTheLimits(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, limits, found := strings.Cut(string(text), "\n## Limits\n")
	if !found {
		t.Fatalf("%s has no section Limits", page)
	}
	limits = strings.Join(strings.Fields(limits), " ") // wherever lines break
	for _, want := range []string{
		fmt.Sprintf("%d rules a queue", rule.MaxRules), fmt.Sprintf("%d bytes a condition", rule.MaxSource),
		fmt.Sprintf("%d deep", rule.MaxNesting), fmt.Sprintf("%d names, values and operators", rule.MaxNodes),
		fmt.Sprintf("%d together", rule.MaxSetNodes), fmt.Sprintf("%d bytes a pattern", rule.MaxPattern),
		fmt.Sprintf("%d looks back", rule.MaxSetWindows), fmt.Sprintf("more than %d bytes matches no pattern", rule.MaxMatched),
		fmt.Sprintf("%d bytes is missing", rule.MaxText),
	} {
		if !strings.Contains(limits, want) {
			t.Errorf("%s does not say %q", page, want)
		}
	}
}

// TestExamplesOfTheDocsCompile compiles every condition that the page shows as
// one: a line of its own in a block of expr.
func TestExamplesOfTheDocsCompile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, block := range strings.Split(string(text), "```expr\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for line := range strings.Lines(block) {
			condition, _, _ := strings.Cut(line, " // ")
			if _, err := rule.Compile([]dengxu.Rule{{Name: "r", Condition: condition, Action: "-0.1"}}); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			n++
		}
	}
	if n < 10 {
		t.Errorf("only %d examples were found", n)
	}
}
