package memstore

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSorted compares with a set that is sorted when it is read.
func TestSorted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := sorted[int]{compare: cmp.Compare[int]}
		set := make(map[int]bool)
		for range rapid.IntRange(1, 80).Draw(t, "changes") {
			v := rapid.IntRange(0, 30).Draw(t, "value")
			if rapid.Bool().Draw(t, "insert") {
				if s.insert(v) == set[v] {
					t.Fatalf("insert of %d, there before: %t", v, set[v])
				}
				set[v] = true
			} else {
				if s.remove(v) != set[v] {
					t.Fatalf("remove of %d, there before: %t", v, set[v])
				}
				delete(set, v)
			}
			var want []int
			for v := range set {
				want = append(want, v)
			}
			slices.Sort(want)
			if !slices.Equal(s.items, want) {
				t.Fatalf("holds %v, want %v", s.items, want)
			}
		}
	})
}

// TestMemory: a value lasts until its end, a later one under the same key
// until its own, and what is over takes no room.
func TestMemory(t *testing.T) {
	t.Parallel()
	m := newMemory[string, int]()
	m.put("a", 1, 100)
	m.put("b", 2, 50)
	m.put("a", 3, 200)
	for _, x := range []struct {
		now        int64
		a, b, left int
	}{{0, 3, 2, 2}, {49, 3, 2, 2}, {50, 3, 0, 1}, {150, 3, 0, 1}, {200, 0, 0, 0}} {
		if a, b := m.get("a", x.now), m.get("b", x.now); a != x.a || b != x.b {
			t.Errorf("at %d: a = %d, b = %d; want %d, %d", x.now, a, b, x.a, x.b)
		}
		m.forget(x.now)
		if len(m.values) != x.left || len(m.ends.items) != x.left {
			t.Errorf("at %d: %d values and %d ends are left, want %d", x.now, len(m.values), len(m.ends.items), x.left)
		}
		if a := m.get("a", x.now); a != x.a {
			t.Errorf("at %d, after forgetting: a = %d, want %d", x.now, a, x.a)
		}
	}
}
