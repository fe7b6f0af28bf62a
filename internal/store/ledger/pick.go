package ledger

import (
	"fmt"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// pick takes the first tokens of the lines as the tables hold them, that is,
// before the batch's own writes.
func (w *work) pick() error {
	p := w.b.Pick
	if p == nil {
		return nil
	}
	exclude, err := w.seq(p.Exclude)
	if err != nil {
		return err
	}
	lines := make([]order.Line, len(p.Lines))
	for i, l := range p.Lines {
		lines[i] = order.Line{
			Rule: l.Ordering.Rule, Index: w.t.Index(l.Line), Classes: l.Classes,
			Bound: store.BoundTo(p.Counter),
		}
		lines[i].Debts = debts(w.t, l.Line, &p.Lines[i].Ordering, lines[i])
	}
	choices := order.Pick(w.now, lines, p.Mode, p.Max, exclude)
	for _, choice := range choices {
		if err := w.take(&p.Lines[choice.Line], choice); err != nil {
			return err
		}
	}
	w.owe(lines, choices)
	return nil
}

// seq is the seq of a token, or 0, which no token has.
func (w *work) seq(id dengxu.TokenID) (uint64, error) {
	if id == "" {
		return 0, nil
	}
	for _, t := range w.before {
		if t != nil && t.ID == id {
			return t.Seq, nil // nearly always: what the batch itself ends
		}
	}
	t, err := w.t.Token(id)
	if err != nil || t == nil {
		return 0, err
	}
	return t.Seq, nil
}

// take writes the call on one picked token.
func (w *work) take(line *store.PickLine, choice order.Choice) error {
	id := w.t.TokenAt(line.Line, choice.Member)
	before, err := w.t.Token(id)
	if err != nil {
		return err
	}
	switch {
	case before == nil || before.State != dengxu.StateWaiting:
		return fmt.Errorf("ledger: lane %v of %v names token %s, which does not wait there: %w",
			choice.Member.Lane, line.Line, id.Mask(), store.ErrDamaged)
	case before.Site != w.b.Site:
		return fmt.Errorf("ledger: batch of site %q picks from site %q", w.b.Site, before.Site)
	case writes(w.b.Tokens, id):
		return fmt.Errorf("ledger: batch writes and picks token %s", id.Mask())
	}
	t := w.next(before)
	*t = *before
	w.call(t, line, choice)
	w.e.Picked++
	return nil
}

// call writes on a record that it was just called.
func (w *work) call(t *store.Token, line *store.PickLine, choice order.Choice) {
	p := w.b.Pick
	w.e.Meta.CallNo++
	deadline, due := line.Deadline, line.Due
	if deadline == 0 {
		deadline = p.Deadline
	}
	if due == 0 {
		due = p.Due
	}
	t.Call(store.Call{
		Now: w.now, Number: w.e.Meta.CallNo, State: p.State, Counter: p.Counter,
		Deadline: store.Resolve(deadline, w.now), Due: store.Resolve(due, w.now),
		Actor: p.Actor, Passed: choice.Passed, Compared: choice.Compared,
	})
}
