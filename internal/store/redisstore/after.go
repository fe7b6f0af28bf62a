package redisstore

import (
	"iter"
	"math"
	"slices"

	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// Behind the n-th of a class is found from the beginnings of its lanes, without
// the member that moves, and what stands behind them is told apart from them by
// three things: a beginning has at least glimpse members; how many stand at the
// place of its last one is known, and the first place behind that; and for
// strict, how many of the lane are overdue, and how many are not in the future.
//
// Let R be the rank of the member by its place, as the whole line says it, and S
// as the beginnings say it. Both never fall; S ≤ R, and min(R, glimpse) ≤ S, for
// so it is in each lane. So the n-th is the same, the least place with R ≥ n is
// that with S ≥ n, and where S < glimpse R is the same. Then After is the same,
// and so is its rank, or the rank there is counted anew from what is known, which
// is found out by doing so:
//
//   - In aging and epoch the place follows from the n-th alone.
//   - In strict it may be the last place before R rises. It rises at places of
//     members that count by place. S rises there too: the least place with S ≥ n
//     is at most the last place of each cut beginning, if that is within reach,
//     and the first one behind it is known.
//   - In ratio the rises depend on how many others are waiting at all, so there
//     the rank must be below glimpse.
//
// When it is not found out, the whole Ask is asked again with longer beginnings.

// afterReach is how far back order.After places a member, in ms.
const afterReach = 1 << 35

// glimpse is how many members of each lane are read at first: enough for the
// n-th and some that stand close behind it, in ratio those that have their turn
// between two of the member's group.
func glimpse(a *store.AfterAsk, times int) int {
	n := max(a.N, 1) + 4
	if a.Ordering.Discipline == order.Ratio {
		for i := range a.Ordering.Groups {
			n += a.Ordering.Groups[i].Share
		}
	}
	return min(n, math.MaxInt32/times) * times
}

// packAfter writes an AfterAsk; after.lua names the positions.
func packAfter(p *packer, rules *once, a *store.AfterAsk, times int) {
	n := 4
	if ruled(&a.Ordering) {
		n = 6
	}
	p.array(n)
	p.text(packLine(a.Line))
	p.text(a.Member.Lane.Class)
	p.int(int64(glimpse(a, times)))
	p.text(packMember(a.Member))
	if ruled(&a.Ordering) {
		p.text(a.Member.Lane.Group)
		p.int(ruleOf(rules, a.Line.Queue, &a.Ordering))
	}
}

// readAfter finds the place behind the n-th; exact says whether the answer is
// that of the whole line.
func readAfter(u *unpacker, a *store.AfterAsk, times int, now int64) (placed order.Placed, exact bool) {
	u.array()
	known := readBeginnings(u, a, now)
	class := a.Member.Lane.Class
	own := order.Line{Rule: a.Ordering.Rule, Index: known, Classes: []string{class}, Bound: class}
	if n := u.array(); n > 0 {
		owed := make(map[string]int64, n/2)
		for range n / 2 {
			group := u.text()
			owed[group] = u.int()
		}
		own.Debts = order.Debts{class: owed}
	}
	if u.err != nil {
		return order.Placed{}, true
	}
	placed = order.After(now, a.Member, a.N, own, a.DayStart, a.Factor)
	if known.whole() || placed.Rank < glimpse(a, times) {
		return placed, true
	}
	counted := &counting{beginnings: known, exact: true}
	own.Index = counted
	placed.Rank = order.Rank(now, order.Member{Lane: a.Member.Lane, Key: order.Key{Place: placed.Place, Seq: math.MaxUint64}}, own)
	switch a.Ordering.Discipline {
	case order.Aging, order.Epoch:
		return placed, counted.exact
	case order.Strict:
		return placed, counted.exact && known.reach(now)
	case order.Ratio:
	}
	return placed, false
}

// beginnings is an index of the first members of lanes: an order.Index whose
// answers agree with each other.
type beginnings map[order.Lane]*beginning

// beginning is what is known of one lane.
type beginning struct {
	keys []order.Key // the last one stands behind a gap when the lane was cut
	cut  bool
	tied int           // when cut: how many stand up to the place of the last key before the gap
	gap  order.Key     // when cut: the first point behind that place
	more bool          // when cut: the last key stands behind the gap
	at   map[int64]int // when cut: how many are before some places
}

func readBeginnings(u *unpacker, a *store.AfterAsk, now int64) beginnings {
	known := beginnings{}
	key := func() (order.Key, bool) {
		b := u.bytes()
		if len(b) != keySize {
			return order.Key{}, false
		}
		return unpackPoint(b), true
	}
	for range u.array() {
		u.array()
		lane, l := order.Lane{Class: u.text(), Group: u.text(), K: int(u.int())}, &beginning{}
		for range u.array() {
			if k, ok := key(); ok && (len(l.keys) == 0 || l.keys[len(l.keys)-1].Less(k)) {
				l.keys = append(l.keys, k)
			} else {
				u.fail("a lane out of order")
			}
		}
		if u.no() {
			if len(l.keys) > 0 {
				known[lane] = l
			}
			continue
		}
		n := u.array()
		if len(l.keys) == 0 || n < 2 {
			u.fail("a lane that is cut before its first member")
			break
		}
		l.cut, l.tied = true, int(u.int())
		l.gap = order.Key{Place: l.keys[len(l.keys)-1].Place + 1}
		if k, ok := key(); ok && l.gap.Less(k) {
			l.keys, l.more = append(l.keys, k), true
		}
		if n == 4 {
			l.at = map[int64]int{now + 1: int(u.int()), now - a.Ordering.Escalate + 1: int(u.int())}
		}
		known[lane] = l
	}
	return known
}

// whole reports whether no lane was cut.
func (b beginnings) whole() bool {
	for _, l := range b {
		if l.cut {
			return false
		}
	}
	return true
}

// reach reports whether no cut beginning ends before all places that After may
// find.
func (b beginnings) reach(now int64) bool {
	for _, l := range b {
		if l.cut && l.gap.Place <= now-afterReach {
			return false
		}
	}
	return true
}

// Lanes yields the lanes that have a member.
func (b beginnings) Lanes() iter.Seq[order.Lane] {
	return func(yield func(order.Lane) bool) {
		for l := range b {
			if !yield(l) {
				return
			}
		}
	}
}

// Len is how many members of a lane are known.
func (b beginnings) Len(l order.Lane) int {
	if known := b[l]; known != nil {
		return len(known.keys)
	}
	return 0
}

// Below counts the known members below k.
func (b beginnings) Below(l order.Lane, k order.Key) int {
	if known := b[l]; known != nil {
		n, _ := slices.BinarySearchFunc(known.keys, k, order.Key.Compare)
		return n
	}
	return 0
}

// At is the i-th known member of a lane.
func (b beginnings) At(l order.Lane, i int) (order.Key, bool) {
	if known := b[l]; known != nil && i >= 0 && i < len(known.keys) {
		return known.keys[i], true
	}
	return order.Key{}, false
}

// counting is an index that counts all members, for ranks. exact becomes false
// when it was asked for a count that is not known.
type counting struct {
	beginnings
	exact bool
}

// Below counts the members below k, or answers how many there are at least.
func (c *counting) Below(l order.Lane, k order.Key) int {
	n, known := c.beginnings.Below(l, k), c.beginnings[l]
	if known == nil || !known.cut {
		return n
	}
	if k.Seq >= 1<<48 { // behind all at its place
		k = order.Key{Place: k.Place + 1}
	}
	before := len(known.keys) // the gap
	if known.more {
		before--
	}
	switch count, ok := known.at[k.Place]; {
	case n < before:
		return n
	case n == before && !k.Less(known.gap):
		return known.tied
	case ok && k.Seq == 0:
		return count
	}
	c.exact = false
	return max(n, known.tied)
}
