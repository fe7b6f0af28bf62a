package rule_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/rule"
)

// FuzzCompile compiles any source: it is refused with a code, or it has an
// answer, the same twice, for whoever joins.
func FuzzCompile(f *testing.F) {
	for _, r := range briefRules {
		f.Add(r.Condition)
	}
	for _, source := range []string{
		"", "((((", "!!!!true", "1 < ext_attrs.a < 3", `ext_attrs.a not matches "^(a|b)*$"`, "a ? b : c ? d : e",
		`{"a": [1, 2..3]} | len()`, "let a = 1; a", "if true { nil } else { 1 ?? 2 }", "$env?.class[1:2]", "::len(class)",
		`"\u0000" in ext_attrs`, "`raw` == 'x'", "b'\\x00'", "/* ( */ true // )", "-9223372036854775808 == 0x7f", "1e309 > 0b1",
		`served_within("1h") and now.time > "08:00"`, "not (channel in ['web'])", "round(-0.5) / 0 % 0 ** 0 == nil", "any(1..9, {# > 1})",
	} {
		f.Add(source)
	}
	inputs := []rule.Input{
		{Now: noon},
		{
			Attrs: map[string]any{"a": 1.0, "b": true, "vip_level": "x", "age": nil}, Group: "VIP", Class: "c", Party: 5,
			Channel: "web", Business: "p", Now: noon, Waiting: new(7),
			History: rule.History{Missed: noon, Joined: noon.Add(-time.Hour), Served: noon.Add(time.Hour)},
		},
	}
	f.Fuzz(func(t *testing.T, source string) {
		set, err := rule.Compile([]dengxu.Rule{{Name: "r", Condition: source, Reject: "no"}})
		if err != nil {
			if dengxu.CodeOf(err) != dengxu.Invalid {
				t.Fatalf("refused without a code: %v", err)
			}
			return
		}
		for _, in := range inputs {
			first, second := set.Evaluate(in), set.Evaluate(in)
			if !reflect.DeepEqual(first, second) {
				t.Fatalf("%+v, then %+v", first, second)
			}
		}
	})
}

// everything asks each operator and function about attributes a and b.
var everything = func() (rules []dengxu.Rule) {
	conditions := []string{"ext_attrs.a", "!ext_attrs.a", "ext_attrs.a ? ext_attrs.b : ext_attrs.a", `"a" in ext_attrs`}
	for op := range strings.FieldsSeq("== != < <= > >= contains startsWith endsWith && ||") {
		conditions = append(conditions, "ext_attrs.a "+op+" ext_attrs.b")
	}
	for op := range strings.FieldsSeq("+ - * / % ^ ??") {
		conditions = append(conditions, "(ext_attrs.a "+op+" ext_attrs.b) > 0", "(ext_attrs.a "+op+" ext_attrs.b) == nil")
	}
	for f := range strings.FieldsSeq("lower upper trim len abs floor ceil round") {
		conditions = append(conditions, f+"(ext_attrs.a) != nil")
	}
	conditions = append(
		conditions, "min(ext_attrs.a, ext_attrs.b) < max(ext_attrs.a, ext_attrs.b)", "ext_attrs.a in 0..ext_attrs.b",
		`ext_attrs.a matches "^.{3}" && ext_attrs.a not in ["a", 1, true]`,
	)
	for i, c := range conditions {
		rules = append(rules, dengxu.Rule{Name: fmt.Sprint("r", i), Condition: c, Action: "+0.001"})
	}
	return rules
}()

// FuzzEvaluate holds any attributes against every operator: no panic, the same
// outcome twice, and no comparison of a missing attribute.
func FuzzEvaluate(f *testing.F) {
	for _, attrs := range []string{
		`{}`, `{"a": 1, "b": 2.5}`, `{"a": "x", "b": 1e308}`, `{"a": null, "b": true}`, `{"a": [1], "b": {"a": 1}}`,
		`{"a": "王伟abc", "b": ""}`, `{"a": -1, "b": 0.5}`, `{"a": 1e308, "b": 1e308}`,
	} {
		f.Add(attrs)
	}
	set := compile(f, everything...)
	missing := compile(f, dengxu.Rule{Name: "r", Action: "-0.1", Condition: "ext_attrs.a == nil && " +
		"(ext_attrs.a < 1 || ext_attrs.a >= 1 || ext_attrs.a != 1 || ext_attrs.a + 1 != 2 || ext_attrs.a not in [1])"})
	f.Fuzz(func(t *testing.T, attrs string) {
		var in rule.Input
		if json.Unmarshal([]byte(attrs), &in.Attrs) != nil {
			return
		}
		in.Now = noon
		if first, second := set.Evaluate(in), set.Evaluate(in); !reflect.DeepEqual(first, second) {
			t.Fatalf("%+v, then %+v", first, second)
		}
		if missing.Evaluate(in).Matched != nil {
			t.Fatal("a missing attribute was compared")
		}
	})
}

// TestMissingNeverCompares makes comparisons of any shape with an operand that
// is missing: none holds, nor its opposite, and it leaves the rest to decide.
func TestMissingNeverCompares(t *testing.T) {
	t.Parallel()
	numbers := rapid.SampledFrom([]string{"1", "-2", "waiting", "party_size", "ext_attrs.n", "now.hour", "len(channel)"})
	var missing func(depth int) *rapid.Generator[string]
	missing = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			if depth == 0 {
				return rapid.SampledFrom([]string{"ext_attrs.x", "ext_attrs.text * 1", "1 / (waiting - waiting)", "round(ext_attrs.x)"}).Draw(t, "missing")
			}
			inner := "(" + missing(depth-1).Draw(t, "inner") + ")"
			op := rapid.SampledFrom(strings.Fields("+ - * /")).Draw(t, "op")
			if rapid.Bool().Draw(t, "right") {
				return numbers.Draw(t, "n") + " " + op + " " + inner
			}
			inner = fmt.Sprintf(rapid.SampledFrom([]string{"%s", "-%s", "round(%s)", "floor(%s)"}).Draw(t, "f"), inner)
			return inner + " " + op + " " + numbers.Draw(t, "n")
		})
	}
	in := rule.Input{
		Attrs: map[string]any{"n": 3.0, "text": "a"}, Party: 2, Channel: "web", Now: noon, Waiting: new(4),
	}
	rapid.Check(t, func(t *rapid.T) {
		m := "(" + missing(rapid.IntRange(0, 3).Draw(t, "depth")).Draw(t, "operand") + ")"
		n := numbers.Draw(t, "other")
		comparison := rapid.SampledFrom([]string{
			m + " %s " + n, n + " %s " + m, m + " %s " + m,
		}).Draw(t, "sides")
		comparison = fmt.Sprintf(comparison, rapid.SampledFrom(strings.Fields("< <= > >= == !=")).Draw(t, "op"))
		if rapid.Bool().Draw(t, "in") {
			comparison = m + rapid.SampledFrom([]string{" in 1..9", " not in 1..9", " in [1, 2]", " not in [1, 2]"}).Draw(t, "list")
		}
		for condition, want := range map[string]bool{
			comparison: false, "!(" + comparison + ")": true, "(" + comparison + ") || waiting == 4": true, m + " == nil": true,
		} {
			set, err := rule.Compile([]dengxu.Rule{{Name: "r", Condition: condition, Action: "-0.1"}})
			if err != nil {
				t.Fatalf("%s: %v", condition, err)
			}
			if got := len(set.Evaluate(in).Matched) == 1; got != want {
				t.Fatalf("%s is %v", condition, got)
			}
		}
	})
}
