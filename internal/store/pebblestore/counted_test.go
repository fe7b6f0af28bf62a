package pebblestore

import (
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"github.com/dengxu/dengxu/internal/order"
)

// sorted is the model of counted: a sorted slice.
type sorted []order.Key

func (s sorted) below(k order.Key) int {
	return sort.Search(len(s), func(i int) bool { return !s[i].Less(k) })
}

func (s sorted) has(k order.Key) bool {
	i := s.below(k)
	return i < len(s) && s[i] == k
}

// valueOf makes a value that tells whether it stands at the right key.
func valueOf(k order.Key) uint64 { return k.Seq*31 + uint64(k.Place) }

func TestCountedAgainstSortedSlice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var tree counted[order.Key, uint64]
		var model sorted
		// Long runs in one direction make splits at the end, joins and empty
		// nodes; random keys make the rest.
		for range rapid.IntRange(1, 12).Draw(t, "runs") {
			n := rapid.IntRange(1, 600).Draw(t, "length")
			kind := rapid.SampledFrom([]string{"append", "random", "head", "tail", "any"}).Draw(t, "kind")
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
			for range n {
				model = countedStep(t, &tree, model, kind, r)
			}
			checkCounted(t, &tree, model, r)
		}
	})
}

func countedStep(t *rapid.T, tree *counted[order.Key, uint64], model sorted, kind string, r *rand.Rand) sorted {
	k := order.Key{Place: r.Int64N(50) - 25, Seq: r.Uint64N(200)}
	if kind == "append" {
		k = order.Key{Place: 100, Seq: uint64(len(model)) + r.Uint64N(2)}
	}
	if kind == "append" || kind == "random" {
		added := tree.Insert(k, valueOf(k))
		if added == model.has(k) {
			t.Fatalf("insert %v: added %t", k, added)
		}
		if added {
			model = slices.Insert(model, model.below(k), k)
		}
		return model
	}
	if len(model) > 0 && kind != "any" {
		k = model[0]
		if kind == "tail" {
			k = model[len(model)-1]
		}
	}
	had := model.has(k)
	if tree.Delete(k) != had {
		t.Fatalf("delete %v: had %t", k, had)
	}
	if had {
		i := model.below(k)
		model = slices.Delete(model, i, i+1)
	}
	return model
}

func checkCounted(t *rapid.T, tree *counted[order.Key, uint64], model sorted, r *rand.Rand) {
	if tree.Len() != len(model) {
		t.Fatalf("length %d, not %d", tree.Len(), len(model))
	}
	for i, want := range model {
		k, v, ok := tree.At(i)
		if !ok || k != want || v != valueOf(want) {
			t.Fatalf("at %d: %v %d %t, not %v", i, k, v, ok, want)
		}
		if got := tree.Below(want); got != i {
			t.Fatalf("below %v: %d, not %d", want, got, i)
		}
	}
	for range 20 {
		k := order.Key{Place: r.Int64N(60) - 30, Seq: r.Uint64N(200)}
		i := model.below(k)
		if got := tree.Below(k); got != i {
			t.Fatalf("below %v: %d, not %d", k, got, i)
		}
		if v, ok := tree.Get(k); ok != model.has(k) || ok && v != valueOf(k) {
			t.Fatalf("get %v: %d %t", k, v, ok)
		}
		var up, down []order.Key
		for k := range tree.From(k) {
			up = append(up, k)
		}
		for k := range tree.Before(k) {
			down = append(down, k)
		}
		slices.Reverse(down)
		if !slices.Equal(up, model[i:]) || !slices.Equal(down, model[:i]) {
			t.Fatalf("around %v: %v | %v", k, down, up)
		}
	}
	if _, _, ok := tree.At(len(model)); ok {
		t.Fatal("an entry past the end")
	}
	if depth := depthOf(tree.root); depth > 4 {
		t.Fatalf("%d entries in %d levels", len(model), depth)
	}
}

func depthOf(n *cnode[order.Key, uint64]) int {
	if n == nil {
		return 0
	}
	if n.kids == nil {
		return 1
	}
	return 1 + depthOf(n.kids[0])
}

func BenchmarkCounted(b *testing.B) {
	const n = 1_000_000
	var tree counted[order.Key, uint64]
	r := rand.New(rand.NewPCG(1, 2))
	for i := range uint64(n) {
		k := order.Key{Place: int64(i) + r.Int64N(1000), Seq: i}
		tree.Insert(k, i)
	}
	b.Run("below", func(b *testing.B) {
		for b.Loop() {
			tree.Below(order.Key{Place: r.Int64N(n)})
		}
	})
	b.Run("at", func(b *testing.B) {
		for b.Loop() {
			tree.At(r.IntN(n))
		}
	})
	b.Run("insert and delete", func(b *testing.B) {
		i := uint64(n)
		for b.Loop() {
			k, _, _ := tree.At(0)
			tree.Delete(k)
			tree.Insert(order.Key{Place: int64(i), Seq: i}, i)
			i++
		}
	})
}
