package ledger

import (
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// debts reads what the groups of each class that a line sees owe on the
// ordering's day. Lanes in own are of members that the line knows though they
// may not stand in it. nil in orderings without debts.
func debts(t Lines, k store.LineKey, o *store.Ordering, line order.Line, own ...order.Lane) order.Debts {
	if o.Discipline != order.Ratio {
		return nil
	}
	all := make(order.Debts)
	read := func(class, group string) {
		if _, known := all[class][group]; !known {
			all[class][group] = t.Tally(store.OwedTally(k.Queue, class, group)).On(o.Day)
		}
	}
	see := func(lane order.Lane) {
		if all[lane.Class] == nil {
			all[lane.Class] = make(map[string]int64, len(o.Groups))
			for i := range o.Groups {
				read(lane.Class, o.Groups[i].Name)
			}
		}
		read(lane.Class, lane.Group)
	}
	for _, lane := range own {
		see(lane)
	}
	for lane := range line.Index.Lanes() {
		if line.Sees(lane) || all[lane.Class] != nil {
			see(lane)
		}
	}
	return all
}

// owe sets what the groups of a picked token's class owe after it, where that
// changes. Like other counts they never go back to an earlier day.
func (w *work) owe(line *store.PickLine, before order.Debts, choice *order.Choice) {
	if choice.Debts == nil {
		return
	}
	class, day := choice.Member.Lane.Class, line.Ordering.Day
	set := func(group string, n int64) {
		name := store.OwedTally(line.Line.Queue, class, group)
		have, mine := w.e.Tallies[name]
		if !mine {
			have = w.t.Tally(name)
		}
		if day < have.Day || have.On(day) == n {
			return
		}
		if w.e.Tallies == nil {
			w.e.Tallies = make(map[string]Daily)
		}
		w.e.Tallies[name] = Daily{Day: day, N: n}
	}
	for group := range before[class] {
		set(group, choice.Debts[group])
	}
	for group, n := range choice.Debts {
		set(group, n)
	}
}
