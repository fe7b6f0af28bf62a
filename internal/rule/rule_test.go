package rule_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/rule"
)

// noon is a Saturday.
var noon = time.Date(2026, 2, 14, 12, 5, 0, 0, time.FixedZone("site", 8*3600))

// briefRules are the rules that dengxu was asked for, as they are written there.
var briefRules = []dengxu.Rule{
	{Name: "vip_priority", Condition: "ext_attrs.vip_level >= 2", Action: "-0.3"},
	{Name: "elderly_priority", Condition: "ext_attrs.age >= 70", Action: "-0.2"},
	{Name: "recent_missed_penalty", Condition: `missed_within("1h")`, Action: "+0.5"},
	{Name: "once_per_half_hour", Condition: `joined_within("30m")`, Reject: "once_per_half_hour"},
	{Name: "big_table", Condition: "party_size > 4", Class: "large", HeadStartSeconds: new(0.0)},
}

func TestBriefRules(t *testing.T) {
	t.Parallel()
	set := compile(t, briefRules...)
	if diff := cmp.Diff(rule.Needs{Missed: time.Hour, Joined: 30 * time.Minute}, set.Needs()); diff != "" {
		t.Errorf("what the rules need (-want +got):\n%s", diff)
	}
	for name, c := range map[string]struct {
		in   rule.Input
		want rule.Outcome
	}{
		"nobody special": {},
		"a member": {
			in:   rule.Input{Attrs: map[string]any{"vip_level": 2.0}},
			want: rule.Outcome{Matched: []string{"vip_priority"}, Delta: -300},
		},
		"a member of level 1": {in: rule.Input{Attrs: map[string]any{"vip_level": 1.0}}},
		"an old member": {
			in:   rule.Input{Attrs: map[string]any{"vip_level": 3.0, "age": 70.0}},
			want: rule.Outcome{Matched: []string{"vip_priority", "elderly_priority"}, Delta: -500},
		},
		"an age in words":         {in: rule.Input{Attrs: map[string]any{"age": "seventy"}}},
		"missed an hour ago":      {in: rule.Input{History: rule.History{Missed: noon.Add(-time.Hour)}}},
		"joined half an hour ago": {in: rule.Input{History: rule.History{Joined: noon.Add(-30 * time.Minute)}}},
		"missed just now": {
			in:   rule.Input{History: rule.History{Missed: noon.Add(-time.Hour + time.Millisecond)}},
			want: rule.Outcome{Matched: []string{"recent_missed_penalty"}, Delta: 500},
		},
		"joined ten minutes ago": {
			in: rule.Input{History: rule.History{Joined: noon.Add(-10 * time.Minute)}},
			want: rule.Outcome{
				Matched: []string{"once_per_half_hour"},
				Reject: &rule.Rejection{
					Rule: "once_per_half_hour", Reason: "once_per_half_hour", RetryAfter: 20 * time.Minute,
				},
			},
		},
		"a family": {
			in:   rule.Input{Party: 5},
			want: rule.Outcome{Matched: []string{"big_table"}, Class: "large", HeadStart: new(time.Duration(0))},
		},
		"a couple": {in: rule.Input{Party: 4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.in.Now = noon
			if diff := cmp.Diff(c.want, set.Evaluate(c.in)); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLastMatchSetsFirstRejects(t *testing.T) {
	t.Parallel()
	set := compile(
		t,
		dengxu.Rule{Name: "a", Condition: "true", Class: "first", HeadStartSeconds: new(1.0), Action: "+0.1"},
		dengxu.Rule{Name: "b", Condition: "true", Reject: "no"},
		dengxu.Rule{Name: "c", Condition: "true", Class: "second", HeadStartSeconds: new(-2.5), Action: "-0.025"},
		dengxu.Rule{Name: "d", Condition: "true", Reject: "never"},
	)
	want := rule.Outcome{
		Matched: []string{"a", "b", "c", "d"}, Delta: 75, Class: "second", HeadStart: new(-2500 * time.Millisecond),
		Reject: &rule.Rejection{Rule: "b", Reason: "no"},
	}
	if diff := cmp.Diff(want, set.Evaluate(rule.Input{Now: noon})); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
}

func TestNoRules(t *testing.T) {
	t.Parallel()
	set, err := rule.Compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rule.Outcome{}, set.Evaluate(rule.Input{Now: noon, Party: 9})); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
	if set.Needs() != (rule.Needs{}) {
		t.Errorf("no rules need %+v", set.Needs())
	}
}

// TestRefused holds what is told of rules that cannot be saved.
func TestRefused(t *testing.T) {
	t.Parallel()
	when := func(condition string) dengxu.Rule {
		return dengxu.Rule{Name: "r", Condition: condition, Action: "-0.3"}
	}
	for name, c := range map[string]struct {
		rule    dengxu.Rule
		field   string
		message string // a part of it
	}{
		"no name":             {dengxu.Rule{Condition: "true", Action: "-0.1"}, "name", "not a name"},
		"a name with a blank": {dengxu.Rule{Name: "a b", Condition: "true", Action: "-0.1"}, "name", "not a name"},
		"a long name":         {dengxu.Rule{Name: strings.Repeat("a", 65), Condition: "true", Action: "-0.1"}, "name", "not a name"},
		"no effect":           {dengxu.Rule{Name: "r", Condition: "true"}, "", "does nothing"},
		"reject and action":   {dengxu.Rule{Name: "r", Condition: "true", Reject: "no", Action: "-0.1"}, "reject", "nothing else"},
		"reject and class":    {dengxu.Rule{Name: "r", Condition: "true", Reject: "no", Class: "x"}, "reject", "nothing else"},
		"a reject sentence":   {dengxu.Rule{Name: "r", Condition: "true", Reject: "go away"}, "reject", "not a word"},
		"a factor":            {dengxu.Rule{Name: "r", Condition: "true", Action: "0.3"}, "action", "a sign"},
		"no number":           {dengxu.Rule{Name: "r", Condition: "true", Action: "-fast"}, "action", "-0.3"},
		"too many decimals":   {dengxu.Rule{Name: "r", Condition: "true", Action: "-0.0001"}, "action", "decimals"},
		"a huge delta":        {dengxu.Rule{Name: "r", Condition: "true", Action: "+10.001"}, "action", "up to 10"},
		"a long head start":   {dengxu.Rule{Name: "r", Condition: "true", HeadStartSeconds: new(3e6)}, "head_start_seconds", "2592000"},

		"nothing":              {when(""), "condition", "line 1, column 1"},
		"an unknown name":      {when("ext_attrs.age >= 70 ||\n  age > 3"), "condition", "line 2, column 3: unknown name age"},
		"characters, no bytes": {when(`ext_attrs.级别 == "贵宾" && foo`), "condition", "line 1, column 25: unknown name foo"},
		"an unknown function":  {when("within(3)"), "condition", "line 1, column 1: within is not known"},
		"a loop":               {when("any(1..9, # > 3)"), "condition", "any is not known"},
		"a large list":         {when("len(1..1000000000) > 3"), "condition", ".. is not known here"},
		"repeat":               {when(`repeat("a", 1000000) == "a"`), "condition", "repeat is not known"},
		"a variable":           {when("let a = 1; a > 2"), "condition", "without let"},
		"two expressions":      {when("true; false"), "condition", "without let and ;"},
		"the environment":      {when("$env == nil"), "condition", "unknown name $env"},
		"a method":             {when("now.hour.String() == class"), "condition", "cannot be called"},
		"a slice":              {when(`class[0:1] == "a"`), "condition", "not allowed"},
		"a part of a text":     {when("class.name == channel"), "condition", "only ext_attrs and now"},
		"an attribute by name": {when("ext_attrs[class] > 3"), "condition", "name the attribute"},
		"all attributes":       {when("ext_attrs == nil"), "condition", "name an attribute"},
		"no part of now":       {when("now.second > 3"), "condition", "now has no second"},
		"a number":             {when("party_size"), "condition", "true or false"},
		"a wrong type":         {when(`party_size > "4"`), "condition", "line 1, column 12"},
		"a wrong type in list": {when(`class in "abc"`), "condition", "on the right of in"},
		"a value in a list":    {when("class in [channel]"), "condition", "as they stand"},
		"nil alone":            {when("nil ?? true"), "condition", "beside == and !="},
		"no window":            {when("missed_within()"), "condition", "takes one time"},
		"a window by name":     {when("missed_within(class)"), "condition", "as it stands"},
		"a window in words":    {when(`missed_within("soon")`), "condition", `column 15: "soon" is not a time`},
		"a window of 31 days":  {when(`missed_within("31d")`), "condition", "30 days"},
		"no window at all":     {when(`missed_within("0s")`), "condition", "1 second"},
		"endless days":         {when(`missed_within("99999999999999999999d")`), "condition", "not a time"},
		"a broken pattern":     {when(`class matches "("`), "condition", "line 1, column 15"},
		"a pattern of a join":  {when("class matches ext_attrs.pattern"), "condition", "a text as it stands"},
		"no text":              {when("class == \xff"), "condition", "UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, err := rule.Compile([]dengxu.Rule{{Name: "first", Condition: "true", Action: "-0.1"}, c.rule})
			if set != nil || dengxu.CodeOf(err) != dengxu.Invalid {
				t.Fatalf("want Invalid, got %v", err)
			}
			field := strings.TrimSuffix("queue_rules[1]."+c.field, ".")
			if e := err.(*dengxu.Error); e.Field != field || !strings.Contains(e.Message, c.message) { //nolint:errorlint // it has a code
				t.Errorf("want field %s and %q, got %s: %s", field, c.message, e.Field, e.Message)
			}
		})
	}
}

// TestLimits holds each limit from both sides.
func TestLimits(t *testing.T) {
	t.Parallel()
	many := func(n int, condition string) (rules []dengxu.Rule) {
		for i := range n {
			rules = append(rules, dengxu.Rule{Name: fmt.Sprint("r", i), Condition: condition, Action: "-0.1"})
		}
		return rules
	}
	nested := func(n int) string { return strings.Repeat("(", n) + "true" + strings.Repeat(")", n) }
	// Each comparison is compiled from 4 nodes, one shared with the next.
	chain := func(n int) string { return "party_size" + strings.Repeat(" < party_size", n) }
	for name, c := range map[string]struct{ good, bad []dengxu.Rule }{
		"rules":             {many(rule.MaxRules, "true"), many(rule.MaxRules+1, "true")},
		"names":             {many(2, "true"), append(many(2, "true"), many(1, "true")...)},
		"source":            {many(1, "true"+strings.Repeat(" ", rule.MaxSource-4)), many(1, "true"+strings.Repeat(" ", rule.MaxSource-3))},
		"a megabyte":        {many(1, "true"), many(1, strings.Repeat("true || ", 1<<17)+"true")},
		"nesting":           {many(1, nested(rule.MaxNesting)), many(1, nested(rule.MaxNesting+1))},
		"10,000 brackets":   {many(1, "true"), many(1, nested(10_000))},
		"only opened":       {many(1, "true"), many(1, strings.Repeat("(", 4000))},
		"lists in lists":    {many(1, `class in ["a"]`), many(1, strings.Repeat("[", 4000))},
		"brackets in texts": {many(1, `class == "`+strings.Repeat("(", 1000)+`\"["`), many(1, `class == "a\\" + `+strings.Repeat("(", 1000))},
		"nodes":             {many(1, chain(200)), many(1, chain(300))},
		"nodes of a set":    {many(12, chain(200)), many(20, chain(200))},
		"shared nodes":      {many(1, "1 < (party_size) < 3"), many(1, strings.Repeat("1 < (1 + ", 14)+"party_size"+strings.Repeat(") < 3", 14))},
		"not not":           {many(1, strings.Repeat("!", 900)+"true"), many(1, strings.Repeat("!", 3000)+"true")},
		"deep ternaries":    {many(1, strings.Repeat("true ? true : ", 200)+"true"), many(1, strings.Repeat("true?true:", 400)+"true")},
		"pattern":           {many(1, `class matches "`+strings.Repeat("a", 256)+`"`), many(1, `class matches "`+strings.Repeat("a", 257)+`"`)},
		"steps":             {many(1, `class matches "a{900}"`), many(1, `class matches "a{900}b{900}"`)},
		"steps of a set":    {many(5, `class matches "a{900}"`), many(6, `class matches "a{900}"`)},
		"repeats of it":     {many(1, `class matches "(a{9}){9}"`), many(1, `class matches "((a{100}){100}){100}"`)},
		"windows":           {many(64, `missed_within("1h")`), many(33, `missed_within("1h") || joined_within("1h")`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := compile(t, c.good...)
			set.Evaluate(rule.Input{Now: noon})
			if _, err := rule.Compile(c.bad); dengxu.CodeOf(err) != dengxu.Invalid {
				t.Errorf("over the limit: want Invalid, got %v", err)
			}
		})
	}
}

// TestLoad: a saved rule that is refused today never matches; the others hold.
func TestLoad(t *testing.T) {
	t.Parallel()
	set, errs := rule.Load([]dengxu.Rule{
		{Name: "old", Condition: "gone(3)", Reject: "no"},
		{Name: "good", Condition: "true", Action: "-0.1"},
		{Name: "empty", Condition: "true"},
	})
	effects := []rule.Effect{{Rule: "good", Delta: -100}}
	if diff := cmp.Diff(effects, set.Effects()); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
	if len(errs) != 2 {
		t.Errorf("two rules are broken, told are %v", errs)
	}
	want := rule.Outcome{Matched: []string{"good"}, Delta: -100}
	if diff := cmp.Diff(want, set.Evaluate(rule.Input{Now: noon})); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
}

func compile(t testing.TB, rules ...dengxu.Rule) *rule.Set {
	t.Helper()
	set, err := rule.Compile(rules)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// matches reports whether one condition matches an input.
func matches(t testing.TB, condition string, in rule.Input) bool {
	t.Helper()
	set := compile(t, dengxu.Rule{Name: "r", Condition: condition, Action: "-0.1"})
	return len(set.Evaluate(in).Matched) == 1
}

func BenchmarkEvaluate(b *testing.B) {
	set := compile(b, briefRules...)
	in := rule.Input{
		Attrs: map[string]any{"vip_level": 2.0, "age": 71.0}, Group: "ordinary", Party: 5, Channel: "kiosk",
		Business: "p1", Now: noon, History: rule.History{Missed: noon.Add(-time.Minute)},
	}
	b.ReportAllocs()
	for b.Loop() {
		if out := set.Evaluate(in); len(out.Matched) != 4 {
			b.Fatal(out)
		}
	}
}
