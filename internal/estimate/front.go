package estimate

import (
	"iter"
	"slices"

	"github.com/dengxu/dengxu/internal/order"
)

// Fronts is an order.Index of a line of which only the beginning of each lane is
// known, and how long it is. Those behind are taken to have come evenly since
// the last known one.
type Fronts struct {
	now   int64
	lanes []Front // by lane
}

// Front is the beginning of one lane.
type Front struct {
	Lane order.Lane
	Len  int
	Keys []order.Key // the first of its members, in order
	// Foreign is a lane of another queue that the same counters serve.
	Foreign bool
}

// NewFronts makes an index as of a moment. The fronts may be in any order; those
// without a member are left out.
func NewFronts(now int64, fronts []Front) *Fronts {
	f := &Fronts{now: now}
	for _, lane := range fronts {
		if lane.Len > 0 {
			lane.Len = max(lane.Len, len(lane.Keys))
			f.lanes = append(f.lanes, lane)
		}
	}
	slices.SortFunc(f.lanes, func(a, b Front) int { return a.Lane.Compare(b.Lane) })
	return f
}

// Lanes yields the lanes in order.
func (f *Fronts) Lanes() iter.Seq[order.Lane] {
	return func(yield func(order.Lane) bool) {
		for i := range f.lanes {
			if !yield(f.lanes[i].Lane) {
				return
			}
		}
	}
}

func (f *Fronts) find(l order.Lane) *Front {
	i, ok := slices.BinarySearchFunc(f.lanes, l, func(a Front, l order.Lane) int { return a.Lane.Compare(l) })
	if !ok {
		return nil
	}
	return &f.lanes[i]
}

// Len is how many members a lane has.
func (f *Fronts) Len(l order.Lane) int {
	if lane := f.find(l); lane != nil {
		return lane.Len
	}
	return 0
}

// Below counts the members below a key; of those that are not known, as many as
// would have come by its place.
func (f *Fronts) Below(l order.Lane, k order.Key) int {
	lane := f.find(l)
	if lane == nil {
		return 0
	}
	known := len(lane.Keys)
	n, _ := slices.BinarySearchFunc(lane.Keys, k, order.Key.Compare)
	if n < known || lane.Len == known {
		return n
	}
	last, step := f.behind(lane)
	if step <= 0 || k.Place >= f.now {
		return lane.Len
	}
	return min(lane.Len, known+max(0, int(float64(k.Place-last)/step)))
}

// At is the i-th member of a lane; of those that are not known, where it would
// stand, without an arrival number.
func (f *Fronts) At(l order.Lane, i int) (order.Key, bool) {
	lane := f.find(l)
	switch {
	case lane == nil || i < 0 || i >= lane.Len:
		return order.Key{}, false
	case i < len(lane.Keys):
		return lane.Keys[i], true
	}
	last, step := f.behind(lane)
	return order.Key{Place: last + int64(step*float64(i-len(lane.Keys)+1))}, true
}

// behind is the place of the last known member of a lane, and by how many ms
// those after it follow each other.
func (f *Fronts) behind(lane *Front) (last int64, step float64) {
	last = f.now
	if n := len(lane.Keys); n > 0 {
		last = min(f.now, lane.Keys[n-1].Place)
	}
	return last, float64(f.now-last) / float64(lane.Len-len(lane.Keys)+1)
}
