package ledger

import (
	"slices"

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

// owe sets what the groups of the picked tokens' classes owe after the pick,
// where that changes. Like other counts they never go back to an earlier day.
func (w *work) owe(lines []order.Line, choices []order.Choice) {
	type owner struct {
		line  int
		class string
	}
	var set map[owner]bool
	for _, choice := range slices.Backward(choices) { // the last of a class says what is owed
		by := owner{choice.Line, choice.Member.Lane.Class}
		if choice.Debts == nil || set[by] {
			continue
		}
		if set == nil {
			set = make(map[owner]bool)
		}
		set[by] = true
		line := &w.b.Pick.Lines[choice.Line]
		for group := range lines[choice.Line].Debts[by.class] {
			w.setOwed(line, by.class, group, choice.Debts[group])
		}
		for group, n := range choice.Debts {
			w.setOwed(line, by.class, group, n)
		}
	}
}

func (w *work) setOwed(line *store.PickLine, class, group string, n int64) {
	name, day := store.OwedTally(line.Line.Queue, class, group), line.Ordering.Day
	if have := w.t.Tally(name); day < have.Day || have.On(day) == n {
		return
	}
	w.e.Tallies.set(name, Daily{Day: day, N: n})
}
