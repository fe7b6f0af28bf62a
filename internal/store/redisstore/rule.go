package redisstore

import (
	"slices"
	"strings"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// What order_pick.lua calls the disciplines and the modes of a counter.
var (
	disciplines = map[order.Discipline]string{order.Aging: "aging", order.Epoch: "epoch", order.Strict: "strict", order.Ratio: "ratio"}
	modes       = map[order.Mode]string{order.Oldest: "oldest", order.Listed: "listed"}
)

// ruled reports whether a discipline knows groups. Lines of the others are packed
// without a rule.
func ruled(o *store.Ordering) bool {
	return o.Discipline == order.Strict || o.Discipline == order.Ratio
}

// sightFields is how many fields packSight writes.
func sightFields(o *store.Ordering) int {
	if ruled(o) {
		return 4
	}
	return 3
}

// packSight writes which lanes of a line are seen, and how it is ordered. The
// rule is one of rules, named by its number.
func packSight(p *packer, rules *once, q dengxu.QueueID, o *store.Ordering, classes []string, bound string) {
	p.fieldText("discipline", disciplines[o.Discipline])
	p.text("classes")
	if classes == nil {
		p.no()
	} else {
		p.array(len(classes))
		for _, class := range classes {
			p.text(class)
		}
	}
	p.fieldText("bound", bound)
	if ruled(o) {
		p.fieldInt("rule", ruleOf(rules, q, o))
	}
}

// packMemberGroup writes the group of a member that is ranked in a line with a
// rule: a field more.
func packMemberGroup(p *packer, o *store.Ordering, group string) {
	if ruled(o) {
		p.fieldText("group", group)
	}
}

// memberFields is how many fields packMemberGroup writes.
func memberFields(o *store.Ordering) int {
	if ruled(o) {
		return 1
	}
	return 0
}

// ruleOf is the number of an ordering's rule.
func ruleOf(rules *once, q dengxu.QueueID, o *store.Ordering) int64 {
	return rules.index(func(p *packer) { packRule(p, q, o) })
}

// packRule writes what order_rule.lua knows of the groups: in strict their ranks
// and the age of who is overdue, in ratio their strides and where the debts are.
func packRule(p *packer, q dengxu.QueueID, o *store.Ordering) {
	if o.Discipline == order.Ratio {
		p.fields(4)
		p.fieldText("owed", strings.TrimSuffix(tallyField(store.OwedTally(q, "", "")), "\x00"))
		p.fieldInt("day", int64(o.Day))
		round := o.Round()
		packWeights(p, o, func(group string) int64 { return round / o.ShareOf(group) })
		return
	}
	p.fields(3)
	p.fieldInt("escalate", o.Escalate)
	packWeights(p, o, func(group string) int64 { return int64(o.RankOf(group)) })
}

// undeclared is no group's name, and stands for all that a rule does not declare.
const undeclared = "\x00"

// packWeights writes a number for each group, once, and that of all others.
func packWeights(p *packer, o *store.Ordering, weight func(group string) int64) {
	names := make([]string, 0, len(o.Groups))
	for i := range o.Groups {
		if name := o.Groups[i].Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	p.text("of")
	p.fields(len(names))
	for _, name := range names {
		p.fieldInt(name, weight(name))
	}
	p.fieldInt("last", weight(undeclared))
}
