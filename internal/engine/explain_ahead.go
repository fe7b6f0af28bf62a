package engine

import (
	"context"
	"iter"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// explainAhead counts who is ahead, class by class, and how many of them came
// later, and names the first of them.
func (e *Engine) explainAhead(ctx context.Context, x *explaining) error {
	if err := e.countAhead(ctx, x); err != nil {
		return err
	}
	rank := *x.out.Rank
	if rank == 0 {
		x.said.add(sayNext)
		x.out.AheadWhole = true
		return nil
	}
	x.said.add(sayAhead, rank)
	if x.out.Passed > 0 {
		x.said.add(sayCameLater, x.out.Passed)
	}
	return e.nameAhead(ctx, x)
}

// countAhead counts in one snapshot.
func (e *Engine) countAhead(ctx context.Context, x *explaining) error {
	q, t, out := x.q, &x.t, &x.out
	whole := q.rankAsk(t)
	v, err := e.view(ctx, store.Ask{Partition: q.site.partition, Lines: []store.LineKey{whole.Line}})
	if err != nil {
		return err
	}
	byPlace, own := whole, whole
	byPlace.Ordering = store.Ordering{Rule: order.Rule{Discipline: order.Epoch}}
	own.Classes = []string{t.Lane.Class}
	ask := store.Ask{Partition: q.site.partition, Ranks: []store.RankAsk{whole, byPlace, own}}
	classes := []string{t.Lane.Class}
	for _, l := range v.Lines[0].Lanes {
		class := l.Lane.Class
		foreign := whole.Classes != nil && !slices.Contains(whole.Classes, class)
		if slices.Contains(classes, class) || foreign || l.Lane.Bound() {
			continue
		}
		classes = append(classes, class)
		one := whole
		one.Classes = []string{class}
		ask.Ranks = append(ask.Ranks, one)
	}
	if v, err = e.view(ctx, ask); err != nil {
		return err
	}
	x.now = v.Now
	out.Rank, out.AsOf = &v.Ranks[0], at(v.Now)
	out.Passed = max(0, v.Ranks[0]-v.Ranks[1])
	for i, class := range classes {
		n := v.Ranks[i+2]
		if i > 0 {
			n -= v.Ranks[2] // a rank counts the own class always
		}
		if n > 0 {
			out.Ahead = append(out.Ahead, dengxu.ClassAhead{Class: class, Ahead: n})
		}
	}
	return nil
}

// nameAhead names the first of those ahead in the order in which they are
// called if time stands still: the pick is played on a copy of the line.
func (e *Engine) nameAhead(ctx context.Context, x *explaining) error {
	copied, whole, err := e.copyLine(ctx, x)
	if err != nil {
		return err
	}
	line := order.Line{
		Rule: x.q.order, Index: copied, Classes: x.q.rivals(&x.t), Bound: store.BoundClass(x.t.Lane),
	}
	if x.q.order.Discipline == order.Ratio {
		if line.Debts, err = e.readDebts(ctx, x.q, copied.Lanes()); err != nil {
			return err
		}
	}
	x.out.AheadWhole = whole
	for _, c := range order.Pick(x.now, []order.Line{line}, order.Oldest, maxRivals+1, 0) {
		if c.Member == x.t.Member() {
			break
		}
		if len(x.out.AheadNext) == maxRivals {
			x.out.AheadWhole = false
			break
		}
		other := copied.tokens[c.Member.Key.Seq]
		rival, why := x.rival(other, x.t.Place, x.now)
		x.out.AheadNext = append(x.out.AheadNext, rival)
		x.said.begin(sayAheadIs, rival.Number, why)
	}
	if !x.out.AheadWhole {
		x.said.begin(sayAheadMore)
	}
	return nil
}

// copyLine reads the waiting tokens of the token's line, up to a bound; whole
// says whether these are all of them.
func (e *Engine) copyLine(ctx context.Context, x *explaining) (copied *lineCopy, whole bool, err error) {
	tokens := map[uint64]*store.Token{x.t.Seq: &x.t}
	ask := store.ListAsk{
		Partition: x.q.site.partition, Site: x.q.site.id, Queue: x.t.Queue, Gen: &x.t.Gen,
		States: []dengxu.State{dengxu.StateWaiting},
	}
	whole, err = e.look(ctx, ask, "list who waits", func(t *store.Token) {
		if t.ID != x.t.ID {
			tokens[t.Seq] = t
		}
	})
	if err != nil {
		return nil, false, err
	}
	return copyOf(tokens), whole, nil
}

// readDebts reads what the groups of a line owe today.
func (e *Engine) readDebts(ctx context.Context, q *queue, lanes iter.Seq[order.Lane]) (order.Debts, error) {
	ask := store.Ask{Partition: q.site.partition}
	var names [][2]string // class, group
	seen := make(map[[2]string]bool)
	for lane := range lanes {
		groups := []string{lane.Group}
		for _, g := range q.order.Groups {
			groups = append(groups, g.Name)
		}
		for _, group := range groups {
			name := [2]string{lane.Class, group}
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
				ask.Tallies = append(ask.Tallies, store.TallyKey{
					Name: store.OwedTally(q.id, lane.Class, group), Day: q.site.state.Day,
				})
			}
		}
	}
	v, err := e.view(ctx, ask)
	if err != nil {
		return nil, err
	}
	debts := make(order.Debts)
	for i, name := range names {
		if debts[name[0]] == nil {
			debts[name[0]] = make(map[string]int64)
		}
		debts[name[0]][name[1]] = v.Tallies[i]
	}
	return debts, nil
}

// lineCopy is a line in memory that a pick can be played on, and its tokens.
type lineCopy struct {
	order.Sorted
	tokens map[uint64]*store.Token // by seq
}

func copyOf(tokens map[uint64]*store.Token) *lineCopy {
	members := func(yield func(order.Member) bool) {
		for _, t := range tokens {
			if !yield(t.Member()) {
				return
			}
		}
	}
	return &lineCopy{Sorted: order.NewSorted(members), tokens: tokens}
}
