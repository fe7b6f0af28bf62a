package order

import (
	"math"
	"slices"
)

// maxAge is how far back After may place a member behind another, in ms: about
// 397 days. It keeps the products of a script in doubles exact.
const maxAge = 1 << 35

// After finds the place at which m, with a new seq larger than all others,
// stands behind the n-th of its own class over all lanes of the class; 0 is
// before the first. m keeps its lane, and is left out of the line if it stands
// there. n larger than the line is the tail, as if joining now, but behind the
// last. The line's Classes and Bound do not matter.
//
// Rank is how many of the class are ahead there. It is n unless others stand so
// close that no millisecond lies between them, or in a place more than 2^35 ms
// ago; then m is behind the fewest more, and never before the n-th. Strict and
// ratio have more ranks that no place reaches, for they heed the group: strict
// puts nobody inside a better tier nor behind a worse one that is not overdue,
// ratio only where the group has its turns. Then m is behind the fewest more
// too, or, where even joining now is before the n-th, it joins now.
//
// dayStart (ms) and factor (thousandths) are of ordering epoch, where joining
// now means the place Scale(now, dayStart, factor); other disciplines ignore
// them.
func After(now int64, m Member, n int, line Line, dayStart int64, factor int32) Placed {
	own := Line{
		Rule:    line.Rule,
		Debts:   line.Debts,
		Index:   leaveOut(line.Index, m),
		Classes: []string{m.Lane.Class},
		Bound:   m.Lane.Class,
	}
	tail := now
	if line.Rule.Discipline == Epoch {
		tail = Scale(now, dayStart, factor)
	}
	// Places before 1970 have no form in an index.
	place := max(0, behind(now, m.Lane, n, own, tail))
	found := Member{Lane: m.Lane, Key: Key{Place: place, Seq: math.MaxUint64}}
	return Placed{Place: place, Rank: Rank(now, found, own)}
}

// behind is the place behind the n-th of a line that shows one class only.
func behind(now int64, lane Lane, n int, own Line, tail int64) int64 {
	length := 0
	for l := range own.Index.Lanes() {
		if own.Sees(l) {
			length += own.Index.Len(l)
		}
	}
	if length == 0 {
		return tail
	}
	if n > length {
		return max(tail, nth(now, length, own).Key.Place)
	}
	n = max(n, 0)
	t := nth(now, max(n, 1), own)
	if n > 0 && t.Key.Place > now {
		return t.Key.Place
	}
	switch own.Rule.Discipline {
	case Aging:
		return agingBehind(now, lane, n, t)
	case Epoch:
		if n == 0 {
			return min(tail, t.Key.Place-1)
		}
		return t.Key.Place
	case Strict, Ratio:
		wish := now
		if n > 0 {
			wish = t.Key.Place
		}
		return groupBehind(now, lane, n, wish, own)
	}
	panic("order: no such discipline")
}

// groupBehind bisects for the places that have the least rank of at least n,
// and of these takes the nearest to the one that is wished for. Rank does not
// fall as place grows.
func groupBehind(now int64, lane Lane, n int, wish int64, own Line) int64 {
	rank := func(place int64) int {
		return Rank(now, Member{Lane: lane, Key: Key{Place: place, Seq: math.MaxUint64}}, own)
	}
	if rank(now) < n {
		return now
	}
	// least is the first place with rank r or more, up to now+1.
	least := func(r int) int64 {
		low, high := max(0, now-maxAge), now+1
		for low < high {
			if middle := low + (high-low)/2; rank(middle) >= r {
				high = middle
			} else {
				low = middle + 1
			}
		}
		return low
	}
	first := least(n)
	last := least(rank(first)+1) - 1
	return min(max(wish, first), last)
}

// agingBehind is the last place of the lane that is before t when n is 0, else
// the first place at which the newest seq is behind t. The division rounds the
// age down, which is behind.
func agingBehind(now int64, lane Lane, n int, t Member) int64 {
	if t.Key.Place > now {
		return now
	}
	age := (now - t.Key.Place) * pace(lane, Aging) / pace(t.Lane, Aging)
	if n == 0 {
		return now - age - 1
	}
	return now - min(maxAge, age)
}

// part is the stretch [lo, hi) of a lane in which the member sought may be.
type part struct {
	account // its lane; in ratio also what its group owes
	lo, hi  int
	middle  Member
	due     int64 // ratio: of middle
}

// before compares the middles of two parts.
func (p *part) before(now int64, o *part, rule *Rule) bool {
	if rule.Discipline == Ratio {
		return ratioBefore(now, p.middle.Key, p.due, o.middle.Key, o.due)
	}
	return Before(now, p.middle, o.middle, *rule)
}

// ahead counts the members of the part's lane that are called before the
// middle of another.
func (p *part) ahead(now int64, o *part, line Line) int {
	switch {
	case line.Rule.Discipline != Ratio:
		return ahead(now, o.middle, p.lane, line)
	case o.middle.Key.Place > now:
		return line.Index.Below(p.lane, o.middle.Key)
	}
	return p.account.ahead(now, o.due, o.middle.Key, line.Index)
}

// nth is the n-th member of the line, from 1 to its length. It narrows all
// lanes at once by the weighted median of their middles, which drops at least
// a quarter of what is left at a step: O(lanes·log²members).
func nth(now int64, n int, line Line) Member {
	parts := split(line)
	live, counts := make([]*part, 0, len(parts)), make([]int, len(parts))
	for {
		pivot := median(now, parts, live, line)
		if pivot == nil {
			panic("order: an index whose counts do not agree")
		}
		rank := 0
		for i := range parts {
			counts[i] = parts[i].ahead(now, pivot, line)
			rank += counts[i]
		}
		if rank == n-1 {
			return pivot.middle
		}
		for i := range parts {
			p := &parts[i]
			switch {
			case rank >= n:
				p.hi = min(p.hi, counts[i])
			case p == pivot:
				p.lo = max(p.lo, counts[i]+1)
			default:
				p.lo = max(p.lo, counts[i])
			}
		}
	}
}

// split is the whole line in parts.
func split(line Line) []part {
	var parts []part
	var b books
	if line.Rule.Discipline == Ratio {
		b = newBooks(line)
	}
	for lane := range line.Index.Lanes() {
		if !line.Sees(lane) {
			continue
		}
		p := part{account: account{lane: lane}, hi: line.Index.Len(lane)}
		if line.Rule.Discipline == Ratio {
			p.account = b.account(lane)
		}
		parts = append(parts, p)
	}
	return parts
}

// median is the part whose middle is chosen so that about half of all
// candidates lie in parts whose middle is not behind it, and half in those not
// before it. It is nil when no candidate is left. live is room for all parts.
func median(now int64, parts []part, live []*part, line Line) *part {
	total := 0
	for i := range parts {
		p := &parts[i]
		if p.lo >= p.hi {
			continue
		}
		at := (p.lo + p.hi) / 2
		key, _ := line.Index.At(p.lane, at)
		p.middle, p.due = Member{Lane: p.lane, Key: key}, p.account.due(at)
		live = append(live, p)
		total += p.hi - p.lo
	}
	slices.SortFunc(live, func(a, b *part) int {
		switch {
		case a.before(now, b, &line.Rule):
			return -1
		case b.before(now, a, &line.Rule):
			return 1
		}
		return 0
	})
	seen := 0
	for _, p := range live {
		if seen += p.hi - p.lo; 2*seen >= total {
			return p
		}
	}
	return nil
}

// without is an index that hides one member which stands in it.
type without struct {
	Index
	hidden Member
	at     int // its position in its lane
}

// leaveOut hides m, if it stands in the index.
func leaveOut(index Index, m Member) Index {
	at := index.Below(m.Lane, m.Key)
	if key, ok := index.At(m.Lane, at); !ok || key != m.Key {
		return index
	}
	return without{Index: index, hidden: m, at: at}
}

func (w without) Len(l Lane) int {
	n := w.Index.Len(l)
	if l == w.hidden.Lane {
		n--
	}
	return n
}

func (w without) Below(l Lane, k Key) int {
	n := w.Index.Below(l, k)
	if l == w.hidden.Lane && w.hidden.Key.Less(k) {
		n--
	}
	return n
}

func (w without) At(l Lane, i int) (Key, bool) {
	if l == w.hidden.Lane && i >= w.at {
		i++
	}
	return w.Index.At(l, i)
}
