package ctl

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/dengxutest"
)

const memberRules = `{site: main, classes: {small: {}, large: {}}, default_class: small, groups: {VIP: {factor: 0.5}},
  queue_rules: [
    {name: vip_priority, condition: "ext_attrs.vip_level >= 2", action: "-0.3"},
    {name: once, condition: 'joined_within("30m")', reject: once_per_half_hour},
    {name: big_table, condition: "party_size > 4", class: large, head_start_seconds: 60}]}`

// written is a file with a text.
func written(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestRulesAtTheTerminal(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	ok(t, s, "queue", "put", "b", memberRules)
	want := []string{
		"HOLDER MATCHED FACTOR CLASS HEAD START REFUSED",
		"party_size:6 big_table 1 large 1m0s –",
		"priority_group:VIP,vip_level:3,会员:金卡 vip_priority 0.25 (clipped) small 0s –",
		"checked:true,joined_ago_seconds:600 once 1 small 0s once_per_half_hour for 20m0s",
		"– – 1 small 0s –",
	}
	table := written(t, "holders.csv", "\ufeffparty_size,priority_group,vip_level,会员,joined_ago_seconds,checked\n"+
		"6,,,,,\n,VIP,3,金卡,,\n,,,,600,true\n,,,,,\n")
	var got []string
	for line := range strings.Lines(ok(t, s, "rule", "test", "b", "-f", table)) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("as CSV (-want +got):\n%s", diff)
	}
	yaml := written(t, "holders.yaml", "- {ext_attrs: {vip_level: 2}}\n- {party_size: 5}\n")
	var tested dengxu.RulesTested
	if err := json.Unmarshal([]byte(ok(t, s, "--json", "rule", "test", "b", "-f", yaml)), &tested); err != nil {
		t.Fatal(err)
	}
	verdicts := []dengxu.RuleVerdict{
		{Matched: []string{"vip_priority"}, Factor: 0.7, Class: "small"},
		{Matched: []string{"big_table"}, Factor: 1, Class: "large", HeadStartSeconds: 60},
	}
	if diff := cmp.Diff(verdicts, tested.Items); diff != "" {
		t.Errorf("as YAML (-want +got):\n%s", diff)
	}
	others := written(t, "rules.yaml", "holders: [{party_size: 2}]\nqueue_rules: [{name: pair, condition: party_size == 2, action: \"-0.1\"}]\n")
	if out := ok(t, s, "rule", "test", "b", "-f", others); !strings.Contains(out, "pair     0.9") {
		t.Errorf("other rules:\n%s", out)
	}
}

func TestRulesAreReappliedAtTheTerminal(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	s.Join("main", 2)
	ok(t, s, "queue", "patch", "main", `{queue_rules: [{name: all, condition: "true", action: "-0.1"}]}`)
	if out := ok(t, s, "rule", "reapply", "main"); out != "2 of 2 in line changed\n" {
		t.Error(out)
	}
	if out := ok(t, s, "rule", "reapply", "main"); out != "0 of 2 in line changed\n" {
		t.Error(out)
	}
}

// TestMistakesInATableHaveTheirPlace: the line of a table, the place in a
// condition.
func TestMistakesInATableHaveTheirPlace(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	for _, c := range []struct {
		name, text, want string
		code             int
	}{
		{"t.csv", "party_size\n2\nmany\n", "t.csv:3:1: ", ExitUsage},
		{"t.csv", "party_size\n2,3\n", "wrong number of fields", ExitUsage},
		{"t.csv", "party_size\n", "at least one holder", ExitUsage},
		{"t.yaml", "- {party: 2}\n", "t.yaml:1:", ExitUsage},
		{"t.yaml", "holders: [{}]\nqueue_rules: [{name: a, condition: age > 3, action: \"-0.1\"}]\n", "line 1, column 1: unknown name age", ExitRefused},
		{"t.yaml", "[]\n", "holders: expected array length >= 1", ExitRefused},
	} {
		got := ctl(t, s, "rule", "test", "main", "-f", written(t, c.name, c.text))
		if got.code != c.code || !strings.Contains(got.err, c.want) {
			t.Errorf("%q: exit %d: %s, want %d: %s", c.text, got.code, got.err, c.code, c.want)
		}
	}
}
