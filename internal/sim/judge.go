package sim

import (
	"fmt"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// key is where a token stands by what was promised to it: its arrival less its
// head start, as long as nothing moved it. In ordering epoch that is scaled, and
// the record's place is taken as it is.
func (r *run) key(t *store.Token) order.Key {
	place := t.Place
	moved := t.Origin != 0 || t.Defers > 0
	if !moved && r.hall.ruleOf(t.Queue).Discipline != order.Epoch {
		place = max(t.JoinedAt-t.HeadStart, 0)
	}
	return order.Key{Place: place, Seq: t.Seq}
}

func (h *hall) ruleOf(id dengxu.QueueID) order.Rule {
	for i := range h.queues {
		if h.queues[i].id == id {
			return h.queues[i].rule
		}
	}
	return order.Rule{}
}

// judge holds a call against what the ordering promises to those who wait, and
// counts whom it passes. It sees the line as it was before the call. The first of
// each lane stands for the lane: who is behind it has waited less, by the same
// measure.
func (r *run) judge(who int32, t *store.Token, now int64) {
	s := &r.stays[who]
	d := &r.desks[r.byCounter[t.Counter]]
	own := r.parts[s.part]
	a := contender{queue: own.queue, rule: &r.hall.queues[own.queue].rule, lane: t.Lane, key: r.key(t)}
	waits := func(h head) bool { return r.stays[h.who].version == h.version }
	for i, p := range r.parts {
		if p.size == 0 || !d.sees[i] {
			continue
		}
		for _, l := range p.lanes {
			if l.size == 0 {
				continue
			}
			h, ok := l.top(waits)
			if !ok || h.who == who {
				continue
			}
			b := contender{queue: p.queue, rule: &r.hall.queues[p.queue].rule, lane: l.name, key: h.key}
			if promised := breach(now, &a, &b); promised != "" && r.broken == nil {
				r.broken = fmt.Errorf("the engine called %s, who had waited %.3f s with %v, and not %s, who had waited %.3f s with %v: %s",
					t.Label(), seconds(now-a.key.Place), a.lane, r.stays[h.who].id.Mask(), seconds(now-b.key.Place), b.lane, promised)
			}
		}
		if s.first == 0 {
			r.passes(p, t)
		}
	}
}

// passes counts whom a first call passes in a part of the line.
func (r *run) passes(p *part, t *store.Token) {
	who, seq, ok := p.calls.oldest()
	if !ok || seq >= t.Seq {
		return
	}
	p.calls.passedBy(t.Seq)
	r.m.overtook(&r.people[who], t.JoinedAt-r.stays[who].joinedAt)
}

// contender is one side of a comparison.
type contender struct {
	queue int
	rule  *order.Rule
	lane  order.Lane
	key   order.Key
}

// breach says in words what the call of a, while b waited, broke; "" when it was
// right. Written anew from what is promised, not from how the engine picks: with
// w the wait, h the head start, f and g the factors of a and b,
//
//	aging: w_b + h_b < (g/f)·(w_a + h_a) where b has the earlier seq, else ≤;
//	       of places in the future, the earlier one first, and after all others
//	epoch: (place, seq)
//
// Between queues only aging promises anything.
func breach(now int64, a, b *contender) string {
	if a.queue != b.queue && (a.rule.Discipline != order.Aging || b.rule.Discipline != order.Aging) {
		return ""
	}
	switch a.rule.Discipline { //nolint:exhaustive // the others have tiers and debts
	case order.Epoch:
		if b.key.Less(a.key) {
			return "places go first come, first served"
		}
		return ""
	case order.Aging:
		return agingBreach(now, a, b)
	}
	return ""
}

func agingBreach(now int64, a, b *contender) string {
	wa, wb := now-a.key.Place, now-b.key.Place
	switch {
	case wa < 0 && wb >= 0:
		return "a place in the future is behind all others"
	case wa < 0:
		if b.key.Less(a.key) {
			return "of places in the future the earlier one is first"
		}
		return ""
	case wb < 0:
		return ""
	}
	// w_b·f against w_a·g, so that nothing is rounded.
	left, right := wb*int64(max(a.lane.K, 1)), wa*int64(max(b.lane.K, 1))
	if left > right || left == right && b.key.Seq < a.key.Seq {
		return fmt.Sprintf("nobody of factor %g is passed after waiting %g times as long", float64(b.lane.K)/order.Ordinary, float64(b.lane.K)/float64(a.lane.K))
	}
	return ""
}
