package pebblestore

import (
	"iter"
	"slices"
)

// ordered is what a key must be able to do: a total order in which equal keys
// are the same key.
type ordered[K any] interface {
	comparable
	Less(than K) bool
}

// counted is an ordered map from keys to V that knows how many entries lie
// below any key: a B+ tree whose inner nodes keep the number of entries below
// each child. Insert, Delete, Below and At take O(log n). The zero value is
// empty. It is not safe for concurrent use; readers may share it while nobody
// writes.
type counted[K ordered[K], V any] struct {
	root *cnode[K, V]
}

// cnode is a leaf (kids nil; keys and vals are the entries) or an inner node
// (keys[i] is at most the first key of kids[i], sizes[i] its entries).
type cnode[K ordered[K], V any] struct {
	keys  []K
	vals  []V
	kids  []*cnode[K, V]
	sizes []int
}

// fanout is the most entries or children of a node. 64 keys are 1 KB: a
// search touches a few cache lines a level, and a million entries need four
// levels.
const fanout = 64

// joinBelow is how full two neighbours together may be to become one. It
// stays below fanout so that a node at the edge is not split and joined again
// at every change.
const joinBelow = fanout * 3 / 4

// Len is the number of entries.
func (t *counted[K, V]) Len() int {
	if t.root == nil {
		return 0
	}
	return t.root.len()
}

func (n *cnode[K, V]) len() int {
	if n.kids == nil {
		return len(n.keys)
	}
	total := 0
	for _, s := range n.sizes {
		total += s
	}
	return total
}

// search is the first index whose key is not less than k.
func (n *cnode[K, V]) search(k K) int {
	low, high := 0, len(n.keys)
	for low < high {
		if mid := (low + high) / 2; n.keys[mid].Less(k) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// child is the index of the child in which k belongs.
func (n *cnode[K, V]) child(k K) int {
	i := n.search(k)
	if i < len(n.keys) && n.keys[i] == k {
		return i
	}
	return max(i-1, 0)
}

// Get is the value at k.
func (t *counted[K, V]) Get(k K) (v V, ok bool) {
	n := t.root
	if n == nil {
		return v, false
	}
	for n.kids != nil {
		n = n.kids[n.child(k)]
	}
	if i := n.search(k); i < len(n.keys) && n.keys[i] == k {
		return n.vals[i], true
	}
	return v, false
}

// Below counts the entries with a key less than k.
func (t *counted[K, V]) Below(k K) int {
	n := t.root
	if n == nil {
		return 0
	}
	below := 0
	for n.kids != nil {
		i := n.child(k)
		for _, s := range n.sizes[:i] {
			below += s
		}
		n = n.kids[i]
	}
	return below + n.search(k)
}

// At is the i-th entry in key order, from 0.
func (t *counted[K, V]) At(i int) (k K, v V, ok bool) {
	n := t.root
	if n == nil || i < 0 {
		return k, v, false
	}
	for n.kids != nil {
		c := 0
		for c < len(n.sizes) && i >= n.sizes[c] {
			i -= n.sizes[c]
			c++
		}
		if c == len(n.kids) {
			return k, v, false
		}
		n = n.kids[c]
	}
	if i >= len(n.keys) {
		return k, v, false
	}
	return n.keys[i], n.vals[i], true
}

// Insert sets the value at k and reports whether k is new.
func (t *counted[K, V]) Insert(k K, v V) bool {
	if t.root == nil {
		t.root = new(cnode[K, V])
	}
	added, right := t.root.insert(k, v)
	if right != nil {
		left := t.root
		t.root = &cnode[K, V]{
			keys:  []K{left.keys[0], right.keys[0]},
			kids:  []*cnode[K, V]{left, right},
			sizes: []int{left.len(), right.len()},
		}
	}
	return added
}

// insert reports whether k is new; a full node gives its right part away.
func (n *cnode[K, V]) insert(k K, v V) (added bool, right *cnode[K, V]) {
	if n.kids == nil {
		return n.insertLeaf(k, v)
	}
	i := n.child(k)
	added, split := n.kids[i].insert(k, v)
	if added {
		n.sizes[i]++
	}
	if k.Less(n.keys[i]) {
		n.keys[i] = k
	}
	if split == nil {
		return added, nil
	}
	moved := split.len()
	n.sizes[i] -= moved
	if len(n.kids) == fanout {
		right = n.split(i+1 == fanout)
		if i >= len(n.kids) {
			i -= len(n.kids)
			right.put(i+1, split, moved)
			return added, right
		}
	}
	n.put(i+1, split, moved)
	return added, right
}

func (n *cnode[K, V]) put(i int, kid *cnode[K, V], size int) {
	n.keys = slices.Insert(n.keys, i, kid.keys[0])
	n.kids = slices.Insert(n.kids, i, kid)
	n.sizes = slices.Insert(n.sizes, i, size)
}

func (n *cnode[K, V]) insertLeaf(k K, v V) (added bool, right *cnode[K, V]) {
	i := n.search(k)
	if i < len(n.keys) && n.keys[i] == k {
		n.vals[i] = v
		return false, nil
	}
	if len(n.keys) == fanout {
		right = n.split(i == fanout)
		if i > len(n.keys) {
			n, i = right, i-len(n.keys)
		}
	}
	n.keys = slices.Insert(n.keys, i, k)
	n.vals = slices.Insert(n.vals, i, v)
	return true, right
}

// split takes the right half of a full node into a new one; of a node that
// grows at its end, only the last entry, so that keys that arrive in order,
// as they mostly do, leave full nodes behind.
func (n *cnode[K, V]) split(atEnd bool) *cnode[K, V] {
	at := len(n.keys) / 2
	if atEnd {
		at = len(n.keys) - 1
	}
	right := &cnode[K, V]{keys: slices.Clone(n.keys[at:])}
	n.keys = n.keys[:at]
	if n.kids == nil {
		right.vals = slices.Clone(n.vals[at:])
		clear(n.vals[at:])
		n.vals = n.vals[:at]
		return right
	}
	right.kids, right.sizes = slices.Clone(n.kids[at:]), slices.Clone(n.sizes[at:])
	clear(n.kids[at:])
	n.kids, n.sizes = n.kids[:at], n.sizes[:at]
	return right
}

// Delete takes k out and reports whether it was there.
func (t *counted[K, V]) Delete(k K) bool {
	if t.root == nil || !t.root.delete(k) {
		return false
	}
	for len(t.root.kids) == 1 {
		t.root = t.root.kids[0]
	}
	if len(t.root.keys) == 0 && cap(t.root.keys) > fanout/8 {
		t.root = nil // a small one is kept: a counter's list is empty at every call
	}
	return true
}

func (n *cnode[K, V]) delete(k K) bool {
	if n.kids == nil {
		i := n.search(k)
		if i == len(n.keys) || n.keys[i] != k {
			return false
		}
		n.keys, n.vals = slices.Delete(n.keys, i, i+1), slices.Delete(n.vals, i, i+1)
		return true
	}
	i := n.child(k)
	if !n.kids[i].delete(k) {
		return false
	}
	n.sizes[i]--
	switch {
	case len(n.kids[i].keys) == 0:
		n.drop(i)
	case i+1 < len(n.kids) && n.join(i):
	case i > 0:
		n.join(i - 1)
	}
	return true
}

func (n *cnode[K, V]) drop(i int) {
	n.keys = slices.Delete(n.keys, i, i+1)
	n.kids = slices.Delete(n.kids, i, i+1)
	n.sizes = slices.Delete(n.sizes, i, i+1)
}

// join makes children i and i+1 one, if both together are small.
func (n *cnode[K, V]) join(i int) bool {
	left, right := n.kids[i], n.kids[i+1]
	if len(left.keys)+len(right.keys) > joinBelow {
		return false
	}
	left.keys = append(left.keys, right.keys...)
	left.vals = append(left.vals, right.vals...)
	left.kids = append(left.kids, right.kids...)
	left.sizes = append(left.sizes, right.sizes...)
	n.sizes[i] += n.sizes[i+1]
	n.drop(i + 1)
	return true
}

// From yields the entries from key k on, ascending.
func (t *counted[K, V]) From(k K) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		if t.root != nil {
			t.root.from(k, yield)
		}
	}
}

func (n *cnode[K, V]) from(k K, yield func(K, V) bool) bool {
	if n.kids == nil {
		for i := n.search(k); i < len(n.keys); i++ {
			if !yield(n.keys[i], n.vals[i]) {
				return false
			}
		}
		return true
	}
	for i := n.child(k); i < len(n.kids); i++ {
		if !n.kids[i].from(k, yield) {
			return false
		}
	}
	return true
}

// Before yields the entries before key k, descending.
func (t *counted[K, V]) Before(k K) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		if t.root != nil {
			t.root.before(k, yield)
		}
	}
}

func (n *cnode[K, V]) before(k K, yield func(K, V) bool) bool {
	if n.kids == nil {
		for i := n.search(k) - 1; i >= 0; i-- {
			if !yield(n.keys[i], n.vals[i]) {
				return false
			}
		}
		return true
	}
	for i := n.child(k); i >= 0; i-- {
		if !n.kids[i].before(k, yield) {
			return false
		}
	}
	return true
}
