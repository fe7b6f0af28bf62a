package order

import (
	"cmp"
	"slices"
)

// Ratio keeps the groups of a class to their shares by stride: a call charges
// its group one stride, and the group that owes least is called next. While
// time stands still a group's i-th member is therefore due when its group owes
// debt + i·stride, and a class is called in the order of these numbers. The
// classes of a line know nothing of each other: each has debts of its own and
// names its own winner.

// books are the debts of a ratio line, as the rule of today reads them.
type books struct {
	rule  Rule
	debts Debts
	round int64
}

func newBooks(line Line) books {
	return books{rule: line.Rule, debts: line.Debts, round: line.Rule.Round()}
}

// owes is what a group owes and what a call of it costs. A debt is at most one
// stride, also when it was made under other shares.
func (b *books) owes(class, group string) (debt, stride int64) {
	stride = b.round / b.rule.ShareOf(group)
	return min(max(b.debts[class][group], 0), stride), stride
}

// account is a lane with what its group owes.
type account struct {
	lane         Lane
	debt, stride int64
}

func (b *books) account(lane Lane) account {
	debt, stride := b.owes(lane.Class, lane.Group)
	return account{lane: lane, debt: debt, stride: stride}
}

// due is what the group owes when its i-th member, from 0, is called.
func (a *account) due(i int) int64 { return a.debt + int64(i)*a.stride }

// ahead counts the lane's members that are called before one of the same class
// that is due at v and has this key, which is not in the future. Where the
// division leaves a remainder, member q is due before v; where it leaves none,
// member q is due at v too, and the keys decide.
func (a *account) ahead(now, v int64, key Key, index Index) int {
	if a.debt > v {
		return 0
	}
	q, r := int((v-a.debt)/a.stride), (v-a.debt)%a.stride
	if r > 0 || index.Below(a.lane, key) > q {
		q++
	}
	return min(q, index.Below(a.lane, Key{Place: now + 1}))
}

// ratioRank is Rank in a ratio line.
func ratioRank(now int64, m Member, line Line) int {
	if m.Key.Place > now {
		// All that are not in the future are called first, whatever is owed.
		rank := 0
		for lane := range line.Index.Lanes() {
			if competes(m, lane, line) {
				rank += line.Index.Below(lane, m.Key)
			}
		}
		return rank
	}
	b := newBooks(line)
	own, others := b.accounts(m, line)
	mine := b.account(m.Lane)
	i := line.Index.Below(m.Lane, m.Key)
	rank, latest := i, m.Key
	for j := range own {
		n := own[j].ahead(now, mine.due(i), m.Key, line.Index)
		if rank += n; n == 0 || len(others) == 0 {
			continue
		}
		if key, ok := line.Index.At(own[j].lane, n-1); ok && latest.Less(key) {
			latest = key
		}
	}
	for len(others) > 0 {
		end := classEnd(others)
		rank += passing(now, others[:end], latest, line.Index)
		others = others[end:]
	}
	return rank
}

// accounts are those of m's class without m's own lane, and those of the other
// classes that compete with it, class by class.
func (b *books) accounts(m Member, line Line) (own, others []account) {
	for lane := range line.Index.Lanes() {
		switch {
		case lane == m.Lane || !competes(m, lane, line):
		case lane.Class == m.Lane.Class:
			own = append(own, b.account(lane))
		default:
			others = append(others, b.account(lane))
		}
	}
	slices.SortFunc(others, func(p, q account) int { return cmp.Compare(p.lane.Class, q.lane.Class) })
	return own, others
}

// classEnd is where the class of the first account ends.
func classEnd(accounts []account) int {
	for i := range accounts {
		if accounts[i].lane.Class != accounts[0].lane.Class {
			return i
		}
	}
	return len(accounts)
}

// passing counts the members of another class that are called before a member
// of m's class, where latest is the greatest key among those of m's class that
// are called up to and including m.
//
// Between classes the winner with the lesser key is taken. So the other class
// is called as long as its winners are less than latest, and stops for good at
// its first winner that is not: until m is called, some winner of m's class is
// less than that one. In each lane the first such member stands at the count of
// the keys below latest; the one of these that is due first is where the class
// stops. It stops nowhere when no such member is callable, for what lies in the
// future is taken last.
func passing(now int64, class []account, latest Key, index Index) int {
	all := 0
	var stop Key
	var due int64
	at := -1
	for i := range class {
		a := &class[i]
		n := index.Below(a.lane, latest)
		all += n
		key, ok := index.At(a.lane, n)
		if !ok || key.Place > now {
			continue
		}
		if at < 0 || ratioBefore(now, key, a.due(n), stop, due) {
			at, stop, due = i, key, a.due(n)
		}
	}
	if at < 0 {
		return all
	}
	rank := 0
	for i := range class {
		rank += class[i].ahead(now, due, stop, index)
	}
	return rank
}

// tab is what the groups of one class owe while members are picked.
type tab struct {
	groups       []string
	debt, stride []int64
}

// newTab is the tab of a class whose lanes have these groups: theirs and those
// of the rule, also the ones that have nobody waiting.
func (b *books) newTab(class string, lanes []runner) *tab {
	t := &tab{}
	for i := range b.rule.Groups {
		t.add(b, class, b.rule.Groups[i].Name)
	}
	for i := range lanes {
		t.add(b, class, lanes[i].head.Lane.Group)
	}
	return t
}

func (t *tab) add(b *books, class, group string) {
	if slices.Contains(t.groups, group) {
		return
	}
	debt, stride := b.owes(class, group)
	t.groups = append(t.groups, group)
	t.debt = append(t.debt, debt)
	t.stride = append(t.stride, stride)
}

// charge is a call of the group at i: time goes on to what it owed, and it owes
// a stride from there. It returns what all groups owe then.
func (t *tab) charge(i int) map[string]int64 {
	v := t.debt[i]
	for j := range t.debt {
		t.debt[j] = max(0, t.debt[j]-v)
	}
	t.debt[i] = t.stride[i]
	after := make(map[string]int64, len(t.groups))
	for j, group := range t.groups {
		after[group] = t.debt[j]
	}
	return after
}
