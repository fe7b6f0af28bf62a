package ledger

import (
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// Rank answers a RankAsk from the index of its line.
func Rank(now int64, ix order.Index, a *store.RankAsk) int {
	return order.Rank(now, a.Member, order.Line{
		Rule: a.Ordering.Rule, Index: ix, Classes: a.Classes, Bound: store.BoundClass(a.Member.Lane),
	})
}

// After answers an AfterAsk from the index of its line.
func After(now int64, ix order.Index, a *store.AfterAsk) order.Placed {
	return order.After(now, a.Member, a.N, order.Line{Rule: a.Ordering.Rule, Index: ix}, a.DayStart, a.Factor)
}
