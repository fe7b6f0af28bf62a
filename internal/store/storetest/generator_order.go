package storetest

import (
	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// someGroups are those of random lines with groups; "guest" is in no rule.
var someGroups = []string{"vip", "staff", "ordinary", "guest"}

// someRules order the random queues: mostly the first of each, for settings
// change.
var someRules = map[dengxu.QueueID][]order.Rule{
	"clinic": {{}},
	"lab":    {{}},
	"epoch":  {{Discipline: order.Epoch}},
	"strict": {
		{Discipline: order.Strict, Escalate: 20_000, Groups: []order.Group{
			{Name: "vip"}, {Name: "staff", Rank: 1}, {Name: "ordinary", Rank: 1},
		}},
		{Discipline: order.Strict, Escalate: 300_000, Groups: []order.Group{{Name: "staff", Rank: 2}, {Name: "vip", Rank: 4}}},
	},
	"ratio": {
		{Discipline: order.Ratio, Groups: []order.Group{
			{Name: "vip", Share: 3}, {Name: "staff", Share: 2}, {Name: "ordinary", Share: 1},
		}},
		{Discipline: order.Ratio, Groups: []order.Group{{Name: "vip", Share: 1}, {Name: "staff", Share: 7}}},
	},
}

// discipline is that of a random queue, which never changes.
func discipline(q dengxu.QueueID) order.Discipline { return someRules[q][0].Discipline }

// ordering is how a queue is ordered at the moment. Its days go by, and some
// batches come late.
func (g *generator) ordering(q dengxu.QueueID) store.Ordering {
	o := store.Ordering{Rule: someRules[q][0], Day: today + g.made/200}
	if g.chance(8) {
		o.Rule = one(g, someRules[q])
	}
	if g.chance(3) {
		o.Day--
	}
	return o
}

// lane is where a token of a queue may stand.
func (g *generator) lane(q dengxu.QueueID, class string) order.Lane {
	switch discipline(q) {
	case order.Epoch:
		return order.Lane{Class: class}
	case order.Strict, order.Ratio:
		return order.Lane{Class: class, Group: one(g, someGroups)}
	case order.Aging:
	}
	return order.Lane{Class: class, K: 10 + 5*g.rnd.IntN(3)}
}

// competing are the classes that a question about a rank names.
func (g *generator) competing() []string {
	if g.chance(70) {
		return nil
	}
	return one(g, [][]string{{"cash"}, {""}, {"cash", "", "gold"}})
}

// owed is the name of what a group owes.
func (g *generator) owed() string {
	return store.OwedTally("ratio", one(g, g.classes), one(g, someGroups))
}
