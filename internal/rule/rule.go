package rule

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/expr-lang/expr/vm"

	"github.com/dengxu/dengxu"
)

// The limits of rules. A set within them takes well under a millisecond to
// evaluate unless it was written to be slow, and some milliseconds then.
const (
	MaxRules        = 64                  // rules of a queue
	MaxSource       = 4 << 10             // bytes of a condition
	MaxNesting      = 32                  // brackets within brackets
	MaxNodes        = 1000                // names, values and operators of a condition
	MaxSetNodes     = 10_000              // the same, of all conditions of a queue
	MaxPattern      = 256                 // bytes of a pattern
	MaxPatternSteps = 1000                // instructions of a compiled pattern
	MaxSetSteps     = 5000                // the same, of all patterns of a queue
	MaxSetWindows   = 64                  // looks back at a history, of all conditions of a queue
	MaxMatched      = 1000                // bytes that a pattern is held against, or that lower, upper and trim take; a longer text matches none and is missing
	MaxText         = 8 << 10             // bytes of a text that + makes; a longer one is missing
	MaxWindow       = 30 * 24 * time.Hour // of missed_within and its kind
	MinWindow       = time.Second
	maxDelta        = 10_000      // thousandths: the largest factor there is
	maxHeadStart    = 30 * 86_400 // seconds
	maxWord         = 64          // bytes of a name, a class or a reject word
	memoryBudget    = 10_000      // values that the machine may make: nothing that is let through makes any
	fieldRules      = "queue_rules"
	fieldCondition  = ".condition"
	fieldHeadStart  = ".head_start_seconds"
)

// Set is the compiled rules of a queue, in their order. It is never changed,
// and safe for use by several goroutines. A nil Set has no rules.
type Set struct {
	rules []compiled
	needs Needs
}

// compiled is one rule.
type compiled struct {
	name      string
	program   *vm.Program // nil = it does not compile, so it never matches
	delta     int32       // thousandths
	reject    string      // "" = it does not reject
	class     string      // "" = it does not set the class
	headStart *time.Duration
	windows   []window
	waiting   bool // it asks how many wait
	clock     bool // it asks the time
}

// Needs says what of the input a set asks for, beyond what a join says of
// itself.
type Needs struct {
	// Missed, Joined and Served are the longest windows over the holder's
	// history in the queue; 0 = not asked.
	Missed, Joined, Served time.Duration
	// Waiting is whether the number of people waiting is asked.
	Waiting bool
	// Clock is whether the time of the join is asked.
	Clock bool
}

// Needs returns what the set asks for.
func (s *Set) Needs() Needs {
	if s == nil {
		return Needs{}
	}
	return s.needs
}

// Compile checks rules that are to be saved. The error is Invalid with the
// field, such as queue_rules[2].condition, and for a condition with line and
// column, counted in characters from 1. Whether a class is declared is for the
// caller to check.
func Compile(rules []dengxu.Rule) (*Set, error) {
	set, errs := Load(rules)
	if len(errs) > 0 {
		return nil, errs[0]
	}
	return set, nil
}

// Load compiles rules that were saved before. One that this version refuses
// never matches, and is told in errs as Compile would; the others hold.
func Load(rules []dengxu.Rule) (set *Set, errs []error) {
	if len(rules) == 0 {
		return nil, nil
	}
	if len(rules) > MaxRules {
		errs = append(errs, dengxu.Fieldf(dengxu.Invalid, fieldRules, "more than %d rules", MaxRules))
		rules = rules[:MaxRules]
	}
	set = &Set{rules: make([]compiled, 0, len(rules))}
	var spent cost
	for i := range rules {
		c, err := compileRule(fmt.Sprintf("%s[%d]", fieldRules, i), &rules[i], &spent)
		if err == nil && slices.ContainsFunc(rules[:i], func(r dengxu.Rule) bool { return r.Name == c.name }) {
			err = dengxu.Fieldf(dengxu.Invalid, fmt.Sprintf("%s[%d].name", fieldRules, i), "two rules are named %q", c.name)
		}
		if err != nil {
			errs = append(errs, err)
			c = compiled{name: rules[i].Name}
		}
		set.rules = append(set.rules, c)
		set.needs.add(c)
	}
	return set, errs
}

// compileRule checks and compiles one rule. field is its path in the settings.
func compileRule(field string, r *dengxu.Rule, spent *cost) (compiled, error) {
	c := compiled{name: r.Name, reject: r.Reject, class: r.Class}
	if !nameForm.MatchString(r.Name) || len(r.Name) > maxWord {
		return c, dengxu.Fieldf(dengxu.Invalid, field+".name",
			"%q is not a name of 1 to %d bytes: letters, digits, _ . and -", clip(r.Name), maxWord)
	}
	if err := c.effects(field, r); err != nil {
		return c, err
	}
	made, err := compileCondition(r.Condition, *spent)
	if err != nil {
		return c, dengxu.Fieldf(dengxu.Invalid, field+fieldCondition, "%s", err)
	}
	*spent = made.spent
	c.program, c.windows, c.waiting, c.clock = made.program, made.windows, made.waiting, made.clock
	return c, nil
}

// effects checks and takes over what follows when the rule matches.
func (c *compiled) effects(field string, r *dengxu.Rule) error {
	if r.Action == "" && r.Reject == "" && r.Class == "" && r.HeadStartSeconds == nil {
		return dengxu.Fieldf(dengxu.Invalid, field, "rule %s does nothing: give it action, reject, class or head_start_seconds", r.Name)
	}
	if r.Reject != "" {
		if r.Action != "" || r.Class != "" || r.HeadStartSeconds != nil {
			return dengxu.Fieldf(dengxu.Invalid, field+".reject", "a rule that rejects can do nothing else")
		}
		if !wordForm.MatchString(r.Reject) || len(r.Reject) > maxWord {
			return dengxu.Fieldf(dengxu.Invalid, field+".reject",
				"%q is not a word of 1 to %d characters: a-z, A-Z, 0-9, _ . and -", clip(r.Reject), maxWord)
		}
	}
	if r.Action != "" {
		delta, ok := parseDelta(r.Action)
		if !ok {
			return dengxu.Fieldf(dengxu.Invalid, field+".action",
				"%q is not a change of the factor such as -0.3 or +0.5: a sign and at most three decimals, up to 10", clip(r.Action))
		}
		c.delta = delta
	}
	if h := r.HeadStartSeconds; h != nil {
		if !(*h >= -maxHeadStart && *h <= maxHeadStart) { // written so that NaN is refused too
			return dengxu.Fieldf(dengxu.Invalid, field+fieldHeadStart, "must be from %d to %d seconds", -maxHeadStart, maxHeadStart)
		}
		c.headStart = new(time.Duration(*h*1000) * time.Millisecond)
	}
	return nil
}

var deltaForm = regexp.MustCompile(`^[+-][0-9]{1,2}(\.[0-9]{1,3})?$`)

// parseDelta reads a signed decimal such as -0.3 into thousandths. The sign is
// required, so that nobody reads it as the factor itself.
func parseDelta(s string) (int32, bool) {
	if !deltaForm.MatchString(s) {
		return 0, false
	}
	whole, fraction, _ := strings.Cut(s[1:], ".")
	n, err := strconv.Atoi(whole + (fraction + "000")[:3])
	if err != nil || n > maxDelta {
		return 0, false
	}
	if s[0] == '-' {
		n = -n
	}
	return int32(n), true //nolint:gosec // at most maxDelta
}

// A name is read by people in explanations; a reject word is a reason, which
// programs compare.
var (
	nameForm = regexp.MustCompile(`^[\p{L}\p{N}_.-]+$`)
	wordForm = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
)

// clip shortens what somebody wrote for a message about it.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
