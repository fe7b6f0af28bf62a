package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// ErrBroken is wrapped by the error of a run in which a call broke what the
// ordering promises to those who wait.
var ErrBroken = errors.New("the promise of the ordering is broken")

// The orderings, as settings name them.
const (
	aging  = "aging"
	epoch  = "epoch"
	strict = "strict"
	ratio  = "ratio"
)

// key is where a token stands by what was promised to it: its arrival less its
// head start, as long as nothing moved it. In ordering epoch that is scaled, and
// the record's place is taken as it is.
func (r *run) key(t *store.Token, q *queue) order.Key {
	place := t.Place
	moved := t.Origin != 0 || t.Defers > 0
	if !moved && q.ordering != epoch {
		place = max(t.JoinedAt-t.HeadStart, 0)
	}
	return order.Key{Place: place, Seq: t.Seq}
}

// judge holds a call against what the ordering promises to those who wait, and
// counts whom it passes. It sees the line as it was before the call. The first of
// each lane stands for the lane: who is behind it has waited less, by the same
// measure.
func (r *run) judge(who int32, t *store.Token, now int64) {
	s := &r.stays[who]
	d := &r.desks[r.byCounter[t.Counter]]
	own := r.parts[s.part]
	a := contender{queue: &r.hall.queues[own.queue], lane: t.Lane}
	a.key = r.key(t, a.queue)
	waits := func(h head) bool { return r.stays[h.who].version == h.version }
	for i, p := range r.parts {
		if p.size == 0 || !d.sees[i] {
			continue
		}
		if s.first == 0 {
			r.passes(p, t)
		}
		if p.queue != own.queue && d.set.Pick == "listed" {
			continue // whose queue is listed later is promised nothing
		}
		for _, l := range p.lanes {
			h, ok := l.top(waits)
			if !ok || h.who == who {
				continue
			}
			b := contender{queue: &r.hall.queues[p.queue], lane: l.name, key: h.key}
			if promised := breach(now, &a, &b); promised != "" {
				r.broke("%w: called was %s, who had waited %.3f s with %v, and not %s, who had waited %.3f s with %v: %s",
					ErrBroken, t.Label(), seconds(now-a.key.Place), a.lane, r.stays[h.who].id.Mask(), seconds(now-b.key.Place), b.lane, promised)
			}
		}
	}
	if a.queue.ordering == ratio && a.key.Place <= now {
		r.shares(own, &a, now, waits)
	}
}

// broke keeps the first breach.
func (r *run) broke(format string, args ...any) {
	if r.broken == nil {
		r.broken = fmt.Errorf(format, args...)
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
	queue *queue
	lane  order.Lane
	key   order.Key
}

// breach says in words what the call of a, while b waited, broke; "" when it was
// right. It is written anew from what is promised, not from how the engine picks.
// With w the wait, h the head start, f and g the factors of a and b:
//
//	aging:  w_b + h_b < (g/f)·(w_a + h_a) where b has the earlier seq, else ≤
//	strict: who has waited escalate_after_seconds before all, then the lesser
//	        rank; between equals (place, seq)
//	ratio:  within a group (place, seq); between groups see pair
//	epoch:  (place, seq)
//
// A place in the future is behind all others, and of two the earlier is first.
// Between queues only aging promises anything.
func breach(now int64, a, b *contender) string {
	q := a.queue
	if q != b.queue && (q.ordering != aging || b.queue.ordering != aging) {
		return ""
	}
	early := b.key.Less(a.key)
	later, sooner := a.key.Place > now, b.key.Place > now
	switch {
	case q.ordering == epoch:
		return in(early, "places go first come, first served")
	case later || sooner:
		return in(later && early, "places in the future are behind all others, the earlier one first")
	case q.ordering == aging:
		// w_b·f against w_a·g, so that nothing is rounded.
		f, g := int64(max(a.lane.K, 1)), int64(max(b.lane.K, 1))
		left, right := (now-b.key.Place)*f, (now-a.key.Place)*g
		return in(left > right || left == right && b.key.Seq < a.key.Seq,
			fmt.Sprintf("nobody is passed who has waited %g times as long, head starts included", float64(g)/float64(f)))
	case q.ordering == strict:
		tierA, tierB := q.tier(a, now), q.tier(b, now)
		return in(tierB < tierA || tierA == tierB && early, "ranks are served in their order, and first of all who has waited escalate_after_seconds")
	default:
		return in(a.lane == b.lane && early, "within a group it is first come, first served")
	}
}

func in(broken bool, words string) string {
	if broken {
		return words
	}
	return ""
}

// tier is where strict puts somebody: -1 when overdue, else the rank.
func (q *queue) tier(c *contender, now int64) int {
	if now-c.key.Place >= q.escalate {
		return -1
	}
	if g, ok := q.groups[c.lane.Group]; ok && g.Rank != nil {
		return *g.Rank
	}
	return math.MaxInt
}

// pair is two groups of ordering ratio that both wait. The calls of each, over
// its share, may not differ by more than 1/s_a + 1/s_b in any window: over the
// whole time, the difference may not range wider.
type pair struct {
	a, b        string
	diff        int // calls of a · share of b − calls of b · share of a
	least, most int
}

// shares counts a call of ordering ratio in every pair of groups that wait, and
// begins anew with those of which one does not.
func (r *run) shares(p *part, called *contender, now int64, waits func(head) bool) {
	var groups []string
	for _, l := range p.lanes {
		if h, ok := l.top(waits); ok && h.key.Place <= now {
			groups = append(groups, l.name.Group)
		}
	}
	kept := p.pairs[:0]
	for _, x := range p.pairs {
		if slices.Contains(groups, x.a) && slices.Contains(groups, x.b) {
			kept = append(kept, x)
		}
	}
	p.pairs = kept
	for i, a := range groups {
		for _, b := range groups[:i] {
			if !slices.ContainsFunc(p.pairs, func(x pair) bool { return x.a == a && x.b == b || x.a == b && x.b == a }) {
				p.pairs = append(p.pairs, pair{a: a, b: b})
			}
		}
	}
	for i := range p.pairs {
		x := &p.pairs[i]
		ofA, ofB := called.queue.share(x.a), called.queue.share(x.b)
		switch called.lane.Group {
		case x.a:
			x.diff += ofB
		case x.b:
			x.diff -= ofA
		}
		x.least, x.most = min(x.least, x.diff), max(x.most, x.diff)
		if x.most-x.least > ofA+ofB {
			r.broke("%w: of groups %s and %s, with shares %d and %d, one was called too often", ErrBroken, x.a, x.b, ofA, ofB)
		}
	}
}

func (q *queue) share(group string) int {
	if g, ok := q.groups[group]; ok && g.Share != nil {
		return *g.Share
	}
	return 1
}

// forgive begins all counts of ratio anew, as the engine does with its debts when
// a day begins.
func (r *run) forgive() {
	for _, p := range r.parts {
		p.pairs = nil
	}
}
