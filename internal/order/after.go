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
// ago; then m is behind the fewest more, and never before the n-th.
//
// dayStart (ms) and factor (thousandths) are of ordering epoch, where joining
// now means the place Scale(now, dayStart, factor); other disciplines ignore
// them.
func After(now int64, m Member, n int, line Line, dayStart int64, factor int32) Placed {
	own := Line{
		Rule:    line.Rule,
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
	switch own.Rule.Discipline {
	case Aging:
		return agingBehind(now, lane, n, t)
	case Epoch:
		if n == 0 {
			return min(tail, t.Key.Place-1)
		}
		return t.Key.Place
	}
	panic("order: no such discipline")
}

// agingBehind is the last place of the lane that is before t when n is 0, else
// the first place at which the newest seq is behind t. The division rounds the
// age down, which is behind.
func agingBehind(now int64, lane Lane, n int, t Member) int64 {
	if t.Key.Place > now {
		if n == 0 {
			return now
		}
		return t.Key.Place
	}
	age := (now - t.Key.Place) * pace(lane, Aging) / pace(t.Lane, Aging)
	if n == 0 {
		return now - age - 1
	}
	return now - min(maxAge, age)
}

// part is the stretch [lo, hi) of a lane in which the member sought may be.
type part struct {
	lane   Lane
	lo, hi int
	middle Member
}

// nth is the n-th member of the line, from 1 to its length. It narrows all
// lanes at once by the weighted median of their middles, which drops at least
// a quarter of what is left at a step: O(lanes·log²members).
func nth(now int64, n int, line Line) Member {
	var parts []part
	for lane := range line.Index.Lanes() {
		if line.Sees(lane) {
			parts = append(parts, part{lane: lane, hi: line.Index.Len(lane)})
		}
	}
	for {
		pivot, ok := median(now, parts, line)
		if !ok {
			panic("order: an index whose counts do not agree")
		}
		counts := make([]int, len(parts))
		rank := 0
		for i := range parts {
			counts[i] = ahead(now, pivot, parts[i].lane, line)
			rank += counts[i]
		}
		if rank == n-1 {
			return pivot
		}
		for i := range parts {
			p := &parts[i]
			switch {
			case rank >= n:
				p.hi = min(p.hi, counts[i])
			case p.lane == pivot.Lane:
				p.lo = max(p.lo, counts[i]+1)
			default:
				p.lo = max(p.lo, counts[i])
			}
		}
	}
}

// median is the middle of a part, chosen so that about half of all candidates
// lie in parts whose middle is not behind it, and half in those not before it.
// ok is false when no candidate is left.
func median(now int64, parts []part, line Line) (middle Member, ok bool) {
	var live []*part
	total := 0
	for i := range parts {
		p := &parts[i]
		if p.lo >= p.hi {
			continue
		}
		key, _ := line.Index.At(p.lane, (p.lo+p.hi)/2)
		p.middle = Member{Lane: p.lane, Key: key}
		live = append(live, p)
		total += p.hi - p.lo
	}
	slices.SortFunc(live, func(a, b *part) int {
		switch {
		case Before(now, a.middle, b.middle, line.Rule.Discipline):
			return -1
		case Before(now, b.middle, a.middle, line.Rule.Discipline):
			return 1
		}
		return 0
	})
	seen := 0
	for _, p := range live {
		if seen += p.hi - p.lo; 2*seen >= total {
			return p.middle, true
		}
	}
	return Member{}, false
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
