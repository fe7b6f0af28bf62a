package engine

import (
	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// The orderings as settings name them.
const (
	orderAging  = "aging"
	orderStrict = "strict"
	orderRatio  = "ratio"
	orderEpoch  = "epoch"
)

// maxGroupRank is the last rank that a group may have; ordinary may stand one
// behind it.
const maxGroupRank = 999

// maxEscalate bounds escalate_after_seconds: ages are exact in every store up
// to about a year.
const maxEscalate = 365 * 86_400 // seconds

// compileOrder makes the queue's ordering of settings that were checked.
func (q *queue) compileOrder() {
	q.order = order.Rule{}
	switch q.set.Ordering {
	case orderEpoch:
		q.order.Discipline = order.Epoch
	case orderStrict:
		q.order.Discipline = order.Strict
		q.order.Escalate = ms(*q.set.EscalateAfterSeconds)
	case orderRatio:
		q.order.Discipline = order.Ratio
	default:
		q.order.Discipline = order.Aging
	}
	if !q.byGroup() {
		return
	}
	for _, name := range sortedKeys(q.set.Groups) {
		set, g := q.set.Groups[name], order.Group{Name: name, Share: 1}
		if set.Rank != nil {
			g.Rank = *set.Rank
		}
		if set.Share != nil {
			g.Share = *set.Share
		}
		q.order.Groups = append(q.order.Groups, g)
	}
}

// byGroup reports whether the queue has a lane for each group, and none for
// each factor.
func (q *queue) byGroup() bool {
	return q.order.Discipline == order.Strict || q.order.Discipline == order.Ratio
}

// epoch reports whether the places of the queue are scaled by the day.
func (q *queue) epoch() bool { return q.order.Discipline == order.Epoch }

// scaleFrom is where the places of an epoch queue count from for a token: the
// beginning of the present day, or of the later one that it is booked for.
func (q *queue) scaleFrom(t *store.Token) int64 {
	began := q.site.dayBegan()
	if t.Booked == 0 {
		return began
	}
	day, _ := dayAt(q.site.zone, q.site.dayStart, t.Booked)
	return max(began, dayBegin(q.site.zone, q.site.dayStart, day))
}

// lane is where a token of the class, group and factor stands while waiting.
func (q *queue) lane(class, group string, factor int32) order.Lane {
	switch {
	case q.epoch():
		return order.Lane{Class: class}
	case q.byGroup():
		return order.Lane{Class: class, Group: group}
	default:
		return order.Lane{Class: class, K: order.KOf(factor)}
	}
}

// fit is the lane of a record from before the last change of the ordering, which
// an undo brings back into a line that was empty then.
func (q *queue) fit(old store.UndoState) order.Lane {
	if !q.byGroup() && !q.epoch() && old.Lane.K != 0 {
		return old.Lane // its factor may have been moved to the nearest lane
	}
	return q.lane(old.Lane.Class, old.Group, old.Factor)
}

// checkOrder checks what a queue's settings say of its order, except what
// checkLanes says of classes and groups together.
func checkOrder(set *dengxu.Queue) error {
	if err := firstError(
		checkOneOf("ordering", set.Ordering, orderAging, orderStrict, orderRatio, orderEpoch),
		checkRange("min_factor", set.MinFactor, 0.05, 10),
		checkRange("escalate_after_seconds", set.EscalateAfterSeconds, 1, maxEscalate),
		checkOneOf("day_end", set.DayEnd, "keep", "expire"),
	); err != nil {
		return err
	}
	if set.MaxOvertake != 0 {
		if err := checkRange("max_overtake", &set.MaxOvertake, 1, 1000); err != nil {
			return err
		}
	}
	if set.Ordering == orderEpoch && set.DayEnd == "keep" {
		return dengxu.Fieldf(dengxu.Invalid, "ordering", "epoch counts from the start of the day, so it needs day_end expire")
	}
	return firstError(checkGroups(set), checkLanes(set))
}

func checkGroups(set *dengxu.Queue) error {
	if len(set.Groups) > maxGroups {
		return dengxu.Fieldf(dengxu.Invalid, "groups", "more than %d groups", maxGroups)
	}
	for _, name := range sortedKeys(set.Groups) {
		field, group := "groups."+name, set.Groups[name]
		last := maxGroupRank
		if name == dengxu.GroupOrdinary {
			last++
		}
		if err := firstError(
			checkWord(field, name),
			checkRange(field+".factor", group.Factor, 0.05, 10),
			checkRange(field+".head_start_seconds", &group.HeadStartSeconds, -maxHeadStart, maxHeadStart),
			checkRange(field+".rank", group.Rank, 0, last),
			// With shares up to 20, no debt can leave what every store keeps exactly.
			checkRange(field+".share", group.Share, 1, 20),
		); err != nil {
			return err
		}
	}
	return nil
}

// checkLanes bounds how many lanes the classes and groups of a queue can open.
func checkLanes(set *dengxu.Queue) error {
	switch set.Ordering {
	case orderEpoch:
		if len(set.Classes) > maxLanes {
			return dengxu.Fieldf(dengxu.Invalid, "classes", "more than %d classes", maxLanes)
		}
	case orderStrict, orderRatio:
		groups := len(set.Groups)
		if _, named := set.Groups[dengxu.GroupOrdinary]; !named {
			groups++
		}
		if n := max(len(set.Classes), 1) * groups; n > maxLanes {
			return dengxu.Fieldf(dengxu.Invalid, "groups", "%d classes with %d groups, ordinary included, make %d lanes; in %s at most %d",
				max(len(set.Classes), 1), groups, n, set.Ordering, maxLanes)
		}
	default:
		if len(set.Classes) > maxClasses {
			return dengxu.Fieldf(dengxu.Invalid, "classes", "more than %d classes", maxClasses)
		}
	}
	return nil
}
