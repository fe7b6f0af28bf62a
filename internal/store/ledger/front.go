package ledger

import (
	"slices"

	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// Front answers a store.FrontAsk from a line.
func Front(line order.Index, most int) store.FrontView {
	most = min(max(most, 0), store.MaxFront)
	var v store.FrontView
	for lane := range line.Lanes() {
		front := store.FrontLane{Lane: lane, Len: line.Len(lane)}
		for i := range min(most, front.Len) {
			key, _ := line.At(lane, i)
			front.Keys = append(front.Keys, key)
		}
		v.Lanes = append(v.Lanes, front)
	}
	slices.SortFunc(v.Lanes, func(a, b store.FrontLane) int { return a.Lane.Compare(b.Lane) })
	return v
}
