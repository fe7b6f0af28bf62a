package ledger

import (
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// Lines is what of the tables tells how lines stand.
type Lines interface {
	Index(store.LineKey) order.Index
	Tally(name string) Daily
}

// Rank answers a RankAsk from its line.
func Rank(now int64, t Lines, a *store.RankAsk) int {
	line := order.Line{
		Rule: a.Ordering.Rule, Index: t.Index(a.Line), Classes: a.Classes, Bound: store.BoundClass(a.Member.Lane),
	}
	line.Debts = debts(t, a.Line, &a.Ordering, line, a.Member.Lane)
	return order.Rank(now, a.Member, line)
}

// After answers an AfterAsk from its line.
func After(now int64, t Lines, a *store.AfterAsk) order.Placed {
	own := a.Member.Lane
	line := order.Line{Rule: a.Ordering.Rule, Index: t.Index(a.Line)}
	line.Debts = debts(t, a.Line, &a.Ordering, order.Line{
		Index: line.Index, Classes: []string{own.Class}, Bound: store.BoundClass(own),
	}, own)
	return order.After(now, a.Member, a.N, line, a.DayStart, a.Factor)
}
