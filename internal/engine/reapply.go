package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// reasonReapplied is the reason in the events of tokens that were judged anew.
const reasonReapplied = "rules_reapplied"

// inLine are the states of those who wait for their turn.
var inLine = []dengxu.State{dengxu.StateWaiting, dengxu.StateScheduled}

// ReapplyRules judges those who wait, or are scheduled, by the present rules
// and groups of the queue, with the inputs of their joins: they get the factor,
// class and lane that they would have had. Places, head starts and numbers stay,
// and nobody is refused. It is done in commits of at most store.MaxTokens, each
// change an event; repeating it changes nothing more. Codes: not_found;
// forbidden without the right move; unavailable, and then some are done.
func (e *Engine) ReapplyRules(ctx context.Context, by By, id dengxu.QueueID) (done dengxu.RulesReapplied, err error) {
	if !by.Move {
		return done, dengxu.Errorf(dengxu.Forbidden, "judging those who wait anew needs the right move").Because("move")
	}
	q, err := e.queue(ctx, id)
	if err != nil {
		return done, err
	}
	if e.shared { // so that they are judged by no older rules
		if err := e.refreshPart(ctx, q.site.partition); err != nil {
			return done, err
		}
	}
	ask := store.ListAsk{
		Partition: q.site.partition, Site: q.site.id, Queue: id, States: inLine, Limit: store.MaxTokens,
	}
	for {
		page, err := e.store.List(ctx, ask)
		if err != nil {
			return done, storeError("list", err)
		}
		changed, err := e.reapplyTo(ctx, by, id, page.Tokens)
		done.Checked += len(page.Tokens)
		done.Changed += changed
		if err != nil || page.Next == 0 {
			return done, err
		}
		ask.After = page.Next
	}
}

// reapplyTo judges some tokens of a queue anew, in one commit, and answers how
// many it changed.
func (e *Engine) reapplyTo(ctx context.Context, by By, id dengxu.QueueID, tokens []store.Token) (int, error) {
	if len(tokens) == 0 {
		return 0, nil
	}
	ask := store.Ask{}
	for i := range tokens {
		ask.Tokens = append(ask.Tokens, tokens[i].ID)
	}
	for range maxTries {
		res, err := e.commit(ctx, func(w *world) (store.Batch, error) {
			q := w.queues[id]
			if q == nil {
				return store.Batch{}, errNoQueue(id)
			}
			ask.Partition, ask.Lines = q.site.partition, []store.LineKey{q.line()}
			v, err := e.view(ctx, ask)
			if err != nil {
				return store.Batch{}, err
			}
			return q.reapply(by, &v)
		})
		if errors.Is(err, errUnchanged) {
			return 0, nil
		}
		// Others have opened lanes since they were read.
		if _, full := refusedBy[store.LaneOpen](err); full {
			continue
		}
		if err != nil {
			return 0, storeError("commit", err)
		}
		return len(res.Tokens), nil
	}
	return 0, errContention("find lanes")
}

// reapply is the commit that judges the tokens of a view anew.
func (q *queue) reapply(by By, v *store.View) (store.Batch, error) {
	b := store.Batch{Partition: q.site.partition, Site: q.site.id, Expect: slices.Clone(q.steady())}
	lanes := lanesOf{q: q, open: v.Lines[0].Lanes}
	for _, t := range v.Tokens {
		if t == nil || t.Queue != q.id || t.Gen != q.gen() || !slices.Contains(inLine, t.State) {
			continue // it has left since it was listed
		}
		next := q.judgedAnew(t)
		if t.State == dengxu.StateWaiting && next.Lane != t.Lane {
			lanes.enter(&next, &b)
		}
		if next.Factor == t.Factor && next.Clipped == t.Clipped && next.Lane == t.Lane && next.Class == t.Class &&
			slices.Equal(next.Rules, t.Rules) {
			continue
		}
		next.Version++
		next.Undo, next.Reason = nil, reasonReapplied
		write := store.TokenWrite{Token: next}
		if q.epoch() && next.Factor != t.Factor {
			write.Token.Place, write.ScaleFrom = q.unscaled(t), q.scaleFrom(t)
		}
		b.Tokens = append(b.Tokens, write)
		b.Events = append(b.Events, store.EventSpec{Type: dengxu.EventMoved, Token: len(b.Tokens), Actor: by.Name})
	}
	if len(b.Tokens) == 0 {
		return b, errUnchanged
	}
	return b, nil
}

// judgedAnew is the record of a token as the present settings judge it.
func (q *queue) judgedAnew(t *store.Token) store.Token {
	next := *t
	judged := q.judgedIn(t)
	next.Group, _ = q.groupOf(t.Group)
	out := q.rejudge(&next, judged)
	next.Rules = out.Matched
	next.Factor, next.Clipped = q.factor(next.Group, out.Delta)
	if q.rules != nil {
		next.Judged = judged
	}
	bound := store.BoundClass(t.Lane)
	if bound == "" {
		next.Class = q.classAnew(t, judged.Class, out.Class)
	}
	next.Lane = q.lane(next.Class, next.Group, next.Factor)
	if bound != "" {
		next.Lane.Class = bound
	}
	return next
}

// classAnew is the class that a rule gives, else the one that a join with the
// class asked would get, else the one that the token has. A class that is gone
// becomes that of a join that asks for none: nobody may serve it any more.
func (q *queue) classAnew(t *store.Token, asked, given string) string {
	if _, declared := q.set.Classes[given]; declared {
		return given
	}
	if class, err := q.classOf(asked); err == nil {
		return class
	}
	if _, declared := q.set.Classes[t.Class]; !declared {
		if class, err := q.classOf(""); err == nil {
			return class
		}
	}
	return t.Class
}

// unscaled is the place of a token of an epoch queue as it was before the
// factor scaled it.
func (q *queue) unscaled(t *store.Token) int64 {
	switch {
	case t.Origin == 0 && t.Booked == 0: // where the join put it
		return t.JoinedAt - t.HeadStart
	case t.Origin == 0:
		return q.bookedPlace(t)
	default: // moved since; to a millisecond or so
		from := q.scaleFrom(t)
		return from + (t.Place-from)*1000/max(1, int64(t.Factor))
	}
}

// lanesOf are the lanes of a line while tokens change theirs.
type lanesOf struct {
	q      *queue
	open   []store.LaneView
	opened int // of open, by this commit
}

// enter finds the lane of a token that changes it: its own, or in ordering
// aging the nearest of its class when that would be one too many.
func (l *lanesOf) enter(t *store.Token, b *store.Batch) {
	if l.q.order.Discipline != order.Aging || store.BoundClass(t.Lane) != "" {
		return
	}
	var nearest []int
	for _, o := range l.open {
		if o.Lane == t.Lane {
			return
		}
		if o.Lane.Class == t.Lane.Class {
			nearest = append(nearest, o.Lane.K)
		}
	}
	if k, ok := order.NearestLane(t.Lane.K, nearest); ok && len(l.open) >= maxLanes {
		t.Lane.K, t.Factor, t.Clipped = k, order.FactorOf(k), true
		return
	}
	// A class without a lane always gets one.
	b.Expect = append(b.Expect, store.LaneOpen{Line: t.Line(), Lane: t.Lane, Max: max(maxLanes, len(l.open)+1) - l.opened})
	l.open = append(l.open, store.LaneView{Lane: t.Lane, Len: 1})
	l.opened++
}
