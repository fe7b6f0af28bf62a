package order_test

import (
	"iter"
	"slices"

	"github.com/dengxu/dengxu/internal/order"
)

// sliceIndex is an Index of sorted slices. Its lanes come in the order in which
// they were opened, which is no order at all.
type sliceIndex struct {
	lanes []order.Lane
	keys  map[order.Lane][]order.Key
	asked int // Len, Below and At calls
}

func newIndex(members ...order.Member) *sliceIndex {
	x := &sliceIndex{keys: map[order.Lane][]order.Key{}}
	for _, m := range members {
		x.add(m)
	}
	return x
}

func compareKeys(a, b order.Key) int {
	switch {
	case a.Less(b):
		return -1
	case b.Less(a):
		return 1
	}
	return 0
}

func (x *sliceIndex) add(m order.Member) {
	keys, open := x.keys[m.Lane]
	if !open {
		x.lanes = append(x.lanes, m.Lane)
	}
	i, _ := slices.BinarySearchFunc(keys, m.Key, compareKeys)
	x.keys[m.Lane] = slices.Insert(keys, i, m.Key)
}

func (x *sliceIndex) remove(m order.Member) {
	keys := x.keys[m.Lane]
	i, found := slices.BinarySearchFunc(keys, m.Key, compareKeys)
	if !found {
		panic("remove: not in the index")
	}
	x.keys[m.Lane] = slices.Delete(keys, i, i+1)
	if len(keys) == 1 {
		delete(x.keys, m.Lane)
		x.lanes = slices.DeleteFunc(x.lanes, func(l order.Lane) bool { return l == m.Lane })
	}
}

func (x *sliceIndex) Lanes() iter.Seq[order.Lane] { return slices.Values(x.lanes) }

func (x *sliceIndex) Len(l order.Lane) int {
	x.asked++
	return len(x.keys[l])
}

func (x *sliceIndex) Below(l order.Lane, k order.Key) int {
	x.asked++
	i, _ := slices.BinarySearchFunc(x.keys[l], k, compareKeys)
	return i
}

func (x *sliceIndex) At(l order.Lane, i int) (order.Key, bool) {
	x.asked++
	keys := x.keys[l]
	if i < 0 || i >= len(keys) {
		return order.Key{}, false
	}
	return keys[i], true
}
