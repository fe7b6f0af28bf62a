package order

import (
	"iter"
	"maps"
	"slices"
)

// Sorted is an Index of a line that is held in memory: the keys of each lane, in
// order. Whoever adds to it keeps them so and leaves no lane empty.
type Sorted map[Lane][]Key

// NewSorted is the index of members, which come in any order.
func NewSorted(members iter.Seq[Member]) Sorted {
	s := make(Sorted)
	for m := range members {
		s[m.Lane] = append(s[m.Lane], m.Key)
	}
	for _, keys := range s {
		slices.SortFunc(keys, Key.Compare)
	}
	return s
}

// Lanes yields the lanes that have a member, in order, so that whatever is worked
// out of them is the same each time.
func (s Sorted) Lanes() iter.Seq[Lane] {
	return slices.Values(slices.SortedFunc(maps.Keys(s), Lane.Compare))
}

// Len is the number of members of a lane.
func (s Sorted) Len(l Lane) int { return len(s[l]) }

// Below counts the members of a lane whose key is less than k.
func (s Sorted) Below(l Lane, k Key) int {
	n, _ := slices.BinarySearchFunc(s[l], k, Key.Compare)
	return n
}

// At is the i-th member of a lane, from 0, in key order; false outside.
func (s Sorted) At(l Lane, i int) (Key, bool) {
	if i < 0 || i >= len(s[l]) {
		return Key{}, false
	}
	return s[l][i], true
}
