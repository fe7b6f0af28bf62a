package order_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dengxu/dengxu/internal/order"
)

// TestSortedIsTheIndexOfItsMembers, in whatever order they come.
func TestSortedIsTheIndexOfItsMembers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		members := make([]order.Member, rapid.IntRange(0, 30).Draw(t, "members"))
		for i := range members {
			members[i] = order.Member{
				Lane: order.Lane{Class: rapid.SampledFrom([]string{"", "a", "@1"}).Draw(t, "class"), K: rapid.IntRange(19, 20).Draw(t, "k")},
				Key:  order.Key{Place: rapid.Int64Range(0, 5).Draw(t, "place"), Seq: uint64(i) + 1},
			}
		}
		want := newIndex(members...)
		got := order.NewSorted(slices.Values(rapid.Permutation(members).Draw(t, "order")))
		lanes := slices.SortedFunc(want.Lanes(), order.Lane.Compare)
		if l := slices.Collect(got.Lanes()); !slices.Equal(l, lanes) {
			t.Fatalf("lanes %v, want %v", l, lanes)
		}
		for _, lane := range append(lanes, order.Lane{Class: "nobody"}) {
			if got.Len(lane) != want.Len(lane) {
				t.Fatalf("%v has %d, want %d", lane, got.Len(lane), want.Len(lane))
			}
			for i := -1; i <= want.Len(lane); i++ {
				k, ok := got.At(lane, i)
				if wantK, wantOK := want.At(lane, i); k != wantK || ok != wantOK {
					t.Fatalf("%v at %d: %v %v, want %v %v", lane, i, k, ok, wantK, wantOK)
				}
			}
			for place := range int64(7) {
				k := order.Key{Place: place, Seq: uint64(place) * 4}
				if got.Below(lane, k) != want.Below(lane, k) {
					t.Fatalf("%v below %v: %d, want %d", lane, k, got.Below(lane, k), want.Below(lane, k))
				}
			}
		}
	})
}
