package memstore

import "slices"

// sorted is a slice kept in order without equals. Inserting at the end and
// removing at the beginning cost no shift, which is what lines mostly do.
type sorted[T any] struct {
	compare func(a, b T) int
	items   []T
}

// find is the position of v, or where it would stand.
func (s *sorted[T]) find(v T) (int, bool) {
	return slices.BinarySearchFunc(s.items, v, s.compare)
}

// insert adds v and reports whether it was absent.
func (s *sorted[T]) insert(v T) bool {
	if n := len(s.items); n == 0 || s.compare(s.items[n-1], v) < 0 {
		s.items = append(s.items, v)
		return true
	}
	i, found := s.find(v)
	if !found {
		s.items = slices.Insert(s.items, i, v)
	}
	return !found
}

// remove takes v away and reports whether it was there.
func (s *sorted[T]) remove(v T) bool {
	i, found := s.find(v)
	switch {
	case !found:
	case i == 0:
		s.shift()
	default:
		s.items = slices.Delete(s.items, i, i+1)
	}
	return found
}

// shift takes the first away. The array behind it is given up at the next
// append that does not fit.
func (s *sorted[T]) shift() {
	var zero T
	s.items[0] = zero
	s.items = s.items[1:]
}
