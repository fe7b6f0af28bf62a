package rule

import (
	"slices"
	"time"

	"github.com/expr-lang/expr/vm"
)

// Outcome is what a set says of one input.
type Outcome struct {
	// Matched are the names of the rules that matched, in their order.
	Matched []string
	// Delta is the sum of the matched rules' changes of the factor, in
	// thousandths: neither rounded nor clamped.
	Delta int32
	// Class and HeadStart are those of the last matched rule that sets them;
	// "" and nil leave what the join and its group say.
	Class     string
	HeadStart *time.Duration
	// Reject is the first matched rule that rejects; nil lets the holder in.
	Reject *Rejection
}

// Rejection is why a join is refused.
type Rejection struct {
	Rule   string
	Reason string // the rule's reject word
	// RetryAfter is when the holder's history alone would let the same join
	// in; 0 when time does not cure it.
	RetryAfter time.Duration
}

// Effect is what one rule does when it matches.
type Effect struct {
	Rule      string
	Delta     int32 // thousandths
	Class     string
	HeadStart *time.Duration
	Reject    string
}

// Effects are the effects of all rules that can match, in their order.
func (s *Set) Effects() []Effect {
	if s == nil {
		return nil
	}
	var all []Effect
	for i := range s.rules {
		if c := &s.rules[i]; c.program != nil {
			all = append(all, Effect{c.name, c.delta, c.class, c.headStart, c.reject})
		}
	}
	return all
}

// Evaluate holds an input against all rules. It never panics: a rule that
// cannot be evaluated does not match. The same input has the same outcome.
func (s *Set) Evaluate(in Input) Outcome {
	var out Outcome
	if s == nil {
		return out
	}
	env := newEnvironment(&in)
	machine := vm.VM{MemoryBudget: memoryBudget}
	for i := range s.rules {
		c := &s.rules[i]
		if !c.holds(&machine, &env) {
			continue
		}
		out.Matched = append(out.Matched, c.name)
		out.Delta += c.delta
		if c.class != "" {
			out.Class = c.class
		}
		if c.headStart != nil {
			out.HeadStart = new(*c.headStart)
		}
		if c.reject != "" && out.Reject == nil {
			out.Reject = &Rejection{Rule: c.name, Reason: c.reject}
		}
	}
	if out.Reject != nil {
		out.Reject.RetryAfter = s.retryAfter(&machine, &env)
	}
	return out
}

// holds reports whether the rule matches.
func (c *compiled) holds(machine *vm.VM, env *environment) bool {
	if c.program == nil {
		return false
	}
	// The machine turns a panic into an error.
	v, err := machine.Run(c.program, env)
	return err == nil && isTrue(v)
}

// maxEnds bounds how many ends of windows a refusal looks at, each of which
// costs the refusing rules once more.
const maxEnds = 16

// retryAfter is the first time at which a window ends and no rule rejects any
// more; 0 when there is none among the first maxEnds. Between two ends nothing
// changes, and a rule that does not look back says the same for ever.
func (s *Set) retryAfter(machine *vm.VM, env *environment) time.Duration {
	var ends []time.Duration
	var looking []*compiled
	for i := range s.rules {
		c := &s.rules[i]
		switch {
		case c.reject == "":
			continue
		case len(c.windows) > 0:
			looking = append(looking, c)
		case c.holds(machine, env):
			return 0
		}
		for _, w := range c.windows {
			if ago, ok := env.ago(w.kind).(time.Duration); ok && ago < w.long {
				ends = append(ends, w.long-ago)
			}
		}
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	for _, end := range ends[:min(len(ends), maxEnds)] {
		later := env.later(end)
		if !slices.ContainsFunc(looking, func(c *compiled) bool { return c.holds(machine, &later) }) {
			return end
		}
	}
	return 0
}
