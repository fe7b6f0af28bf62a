package engine

import (
	"fmt"

	"github.com/dengxu/dengxu/internal/order"
)

// ruleWarnings say what a queue's rules could do that was perhaps not meant.
func (q *queue) ruleWarnings() (warnings []string) {
	for _, err := range q.rulesBroken {
		warnings = append(warnings, fmt.Sprintf("a stored rule matches nobody in this version: %v", err))
	}
	effects := q.rules.Effects()
	for _, x := range effects {
		switch {
		case x.HeadStart != nil && *x.HeadStart > 0 && q.set.MaxOvertake > 0:
			warnings = append(warnings, fmt.Sprintf("the head start of rule %s escapes max_overtake, which bounds factors only", x.Rule))
		case x.HeadStart != nil && q.order.Discipline == order.Strict && x.HeadStart.Milliseconds() >= q.order.Escalate:
			warnings = append(warnings, fmt.Sprintf("the head start of rule %s makes its people overdue as they join", x.Rule))
		}
		if x.Delta == 0 {
			continue
		}
		if q.byGroup() {
			warnings = append(warnings, fmt.Sprintf("the action of rule %s changes nothing: in ordering %s the factor plays no part", x.Rule, q.set.Ordering))
		} else if q.onlyClips(x.Delta) {
			warnings = append(warnings, fmt.Sprintf("the action of rule %s changes nothing: min_factor and max_overtake hold the factor of every group where it is", x.Rule))
		}
	}
	if w := q.boundWarning(); w != "" {
		warnings = append(warnings, w)
	}
	return warnings
}

// onlyClips reports whether a delta leaves the factor of every group as it is.
func (q *queue) onlyClips(delta int32) bool {
	for name, g := range q.groups {
		if factor, _ := q.factor(name, delta); factor != g.factor {
			return false
		}
	}
	return true
}

// toldFrom is how many times as long a passed wait must be for a warning: every
// rule that helps somebody lets them pass others a little.
const toldFrom = 2

// boundWarning says how far rules together let somebody overtake, where that is
// much, and further than the groups alone do: a wait that counts at factor f
// passes one at factor g that is up to g/f times as long.
func (q *queue) boundWarning() string {
	if q.byGroup() {
		return ""
	}
	var down, up int32 // all deltas that make faster, and slower
	for _, x := range q.rules.Effects() {
		down, up = down+min(x.Delta, 0), up+max(x.Delta, 0)
	}
	var least, largest, fastest, slowest int32
	for name, g := range q.groups {
		f, _ := q.factor(name, down)
		s, _ := q.factor(name, up)
		if least == 0 {
			least, fastest = g.factor, f
		}
		least, largest = min(least, g.factor), max(largest, g.factor)
		fastest, slowest = min(fastest, f), max(slowest, s)
	}
	if fastest == 0 || slowest <= toldFrom*fastest || slowest*least <= largest*fastest {
		return ""
	}
	return fmt.Sprintf("with these rules a factor may be from %.2f to %.2f: somebody may pass others who have waited up to %.1f times as long (by the groups alone %.1f times); max_overtake bounds it",
		decimal(fastest), decimal(slowest), decimal(slowest)/decimal(fastest), decimal(largest)/decimal(least))
}
