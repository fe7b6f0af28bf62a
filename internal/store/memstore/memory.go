package memstore

import "cmp"

// memory keeps values until their time is over.
type memory[K comparable, V any] struct {
	values map[K]remembered[V]
	ends   sorted[end[K]]
	serial uint64
}

type remembered[V any] struct {
	value V
	end   int64
	// serial tells a value from one that stood under the same key before.
	serial uint64
}

type end[K comparable] struct {
	at     int64
	serial uint64
	key    K
}

func newMemory[K comparable, V any]() memory[K, V] {
	return memory[K, V]{
		values: make(map[K]remembered[V]),
		ends: sorted[end[K]]{compare: func(a, b end[K]) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.serial, b.serial))
		}},
	}
}

func (m *memory[K, V]) put(k K, v V, until int64) {
	if old, ok := m.values[k]; ok {
		m.ends.remove(end[K]{old.end, old.serial, k})
	}
	m.serial++
	m.values[k] = remembered[V]{v, until, m.serial}
	m.ends.insert(end[K]{until, m.serial, k})
}

// get is the value of k, or the zero value when there is none or now is at or
// after its end.
func (m *memory[K, V]) get(k K, now int64) V {
	v, ok := m.values[k]
	if !ok || v.end <= now {
		var zero V
		return zero
	}
	return v.value
}

// forget drops what has ended.
func (m *memory[K, V]) forget(now int64) {
	for len(m.ends.items) > 0 && m.ends.items[0].at <= now {
		delete(m.values, m.ends.items[0].key)
		m.ends.shift()
	}
}
