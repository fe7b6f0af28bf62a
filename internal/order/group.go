package order

import "fmt"

// maxShare is the largest share of a group. The least common multiple of all
// shares up to it is 232,792,560, so that no debt and no sum of debts leaves
// what a script's doubles keep exactly.
const maxShare = 20

// Shares returns the units of one round of ratio: the least common multiple of
// the groups' shares, at most 232,792,560. A group with share s is charged
// round/s units for each of its calls. It fails when a share is not within
// 1..20; the error names the group.
func Shares(groups []Group) (round int64, err error) {
	round = 1
	for _, g := range groups {
		if g.Share < 1 || g.Share > maxShare {
			return 0, fmt.Errorf("order: share %d of group %q is not within 1..%d", g.Share, g.Name, maxShare)
		}
		round = multiple(round, int64(g.Share))
	}
	return round, nil
}

// multiple is the least common multiple of two positive numbers.
func multiple(a, b int64) int64 {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}

// RankOf is where strict puts a group: one that is not declared stands with the
// last of those that are.
func (r *Rule) RankOf(group string) int {
	last := 0
	for i := range r.Groups {
		g := &r.Groups[i]
		if g.Name == group {
			return g.Rank
		}
		if i == 0 || g.Rank > last {
			last = g.Rank
		}
	}
	return last
}

// Round is Shares of a rule that was checked; a share that was not counts as
// the nearest one that is allowed.
func (r *Rule) Round() int64 {
	round := int64(1)
	for i := range r.Groups {
		round = multiple(round, r.Groups[i].share())
	}
	return round
}

// ShareOf is that of a group by Round, 1 if the group is not declared.
func (r *Rule) ShareOf(group string) int64 {
	for i := range r.Groups {
		if r.Groups[i].Name == group {
			return r.Groups[i].share()
		}
	}
	return 1
}

func (g *Group) share() int64 { return int64(min(max(g.Share, 1), maxShare)) }
