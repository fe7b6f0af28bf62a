package estimate

import "github.com/dengxu/dengxu/internal/order"

// ratio is the place in a line of shares. Another group of my class has its
// turns before mine by its debt and mine: as many as it has members now, and
// who comes meanwhile takes the turns that are left over.
func (r *roll) ratio() Place {
	rank := max(0, order.Rank(r.Now, r.me, r.competing())+r.Came)
	turns := r.turns()
	wait := r.thinned(float64(rank + 1))
	for range maxSolved {
		services := float64(rank + 1)
		for group, left := range turns {
			services += min(left, wait*r.flow(group))
		}
		wait = r.thinned(services)
	}
	return Place{Services: wait * r.rate, Ahead: rank, Seconds: wait}
}

// flow is how many of a group of my class come in a second.
func (r *roll) flow(group string) float64 {
	sum := 0.0
	for _, f := range r.flows {
		if f.Lane.Class == r.me.Lane.Class && f.Lane.Group == group {
			sum += f.PerSecond
		}
	}
	return sum
}

// turns are those that other groups of my class have before me and nobody to
// take, by group.
func (r *roll) turns() map[string]float64 {
	rule := r.Order.Rule
	round, err := order.Shares(rule.Groups)
	if err != nil || r.me.Key.Place > r.Now {
		return nil
	}
	class := r.me.Lane.Class
	owes := func(group string) (debt, stride int64) {
		share := 1
		for _, g := range rule.Groups {
			if g.Name == group {
				share = max(g.Share, 1)
			}
		}
		stride = round / int64(share)
		return min(max(r.Order.Debts[class][group], 0), stride), stride
	}
	debt, stride := owes(r.me.Lane.Group)
	due := debt + int64(r.Order.Index.Below(r.me.Lane, r.me.Key))*stride
	left := make(map[string]float64)
	for _, f := range r.flows {
		group := f.Lane.Group
		if f.Lane.Class != class || group == r.me.Lane.Group {
			continue
		}
		debt, stride := owes(group)
		lane := order.Lane{Class: class, Group: group}
		there := r.Order.Index.Below(lane, order.Key{Place: r.Now + 1})
		left[group] = max(0, float64((due-debt)/stride+1)-float64(there))
		if due < debt {
			left[group] = 0
		}
	}
	return left
}
