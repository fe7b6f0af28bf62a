package ctl

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu/dengxutest"
)

const foreseen = `
site: main
time_zone: UTC
queues:
  main: {day_end: keep}
  tables:
    classes: {small: {}, large: {}}
    default_class: small
    queue_rules:
      - {name: big, condition: party_size > 4, class: large}
      - {name: old, condition: ext_attrs.age >= 70 && party_size < 3, action: "-0.2"}
`

// TestADryRunSaysWhatIsRefused: what it says is what applying does.
func TestADryRunSaysWhatIsRefused(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	s.Join("main", 2)
	for _, row := range []struct {
		edit   []string // pairs
		want   string   // of the dry run; "" = nothing is refused
		answer string   // of apply
	}{
		{nil, "queue main: would change, but ordering and day_end change only while nobody is in line, and 2 are still in it", "ordering and day_end change only"},
		{[]string{"day_end: keep", "", "ext_attrs.age", "age"}, ", but it is refused: queue_rules[1].condition: line 1, column 1: unknown name age", "queue_rules[1].condition: line 1, column 1"},
		{[]string{"day_end: keep", "", "class: large", "class: huge"}, `queue_rules[0].class: class "huge" is not declared`, "queue_rules[0].class"},
		{[]string{"day_end: keep", ""}, "", ""},
	} {
		file := written(t, "main.yaml", strings.NewReplacer(row.edit...).Replace(foreseen))
		out := ok(t, s, "apply", "-f", file, "--dry-run")
		if !strings.Contains(out, row.want) || strings.Contains(out, "would be refused now") != (row.want != "") {
			t.Errorf("%v: no %q in\n%s", row.edit, row.want, out)
		}
		r := ctl(t, s, "apply", "-f", file)
		if !strings.Contains(r.err, row.answer) || (r.code == ExitDone) != (row.answer == "") {
			t.Errorf("%v: applied, exit %d: %s", row.edit, r.code, r.err)
		}
	}
}

// TestChangedRulesAreTold one by one, by their names, as they were written.
func TestChangedRulesAreTold(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	text := strings.Replace(foreseen, "day_end: keep", "", 1)
	ok(t, s, "apply", "-f", written(t, "main.yaml", text))
	told := func(text string) []string {
		t.Helper()
		var lines []string
		for line := range strings.Lines(ok(t, s, "apply", "--dry-run", "-f", written(t, "main.yaml", text))) {
			if strings.HasPrefix(line, "    ") {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
		return lines
	}
	changed := strings.NewReplacer("age >= 70 &&", "age > 65 &&", "- {name: big, condition: party_size > 4, class: large}",
		"- {name: kids, condition: 'party_size < 2', action: \"-0.1\"}").Replace(text)
	want := []string{
		`queue_rules.big: {"class":"large","condition":"party_size > 4","name":"big"} → –`,
		`queue_rules.old.condition: "ext_attrs.age >= 70 && party_size < 3" → "ext_attrs.age > 65 && party_size < 3"`,
		`queue_rules.kids: – → {"action":"-0.1","condition":"party_size < 2","name":"kids"}`,
	}
	if diff := cmp.Diff(want, told(changed)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	lines := strings.SplitAfter(text, "\n")
	slices.Reverse(lines[len(lines)-3 : len(lines)-1])
	if diff := cmp.Diff([]string{`queue_rules in the order: ["big","old"] → ["old","big"]`}, told(strings.Join(lines, ""))); diff != "" {
		t.Errorf("another order (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string(nil), told(text)); diff != "" {
		t.Errorf("no change (-want +got):\n%s", diff)
	}
}
