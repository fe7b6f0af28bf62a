package estimate

import (
	"cmp"
	"math"
	"slices"

	"github.com/dengxu/dengxu/internal/order"
)

// Line is a waiting line that is rolled forward: who is called before a token,
// whoever comes meanwhile, under the line's own ordering.
type Line struct {
	Now int64
	// Order is the rule, the debts and the index. Its classes are not looked
	// at: Crews say who serves what.
	Order order.Line
	Flows []Flow
	Crews []Crew
	// GiveUp is how many of one who waits give up in a second:
	// History.GiveUpPerSecond. Those ahead who do need not be waited for.
	GiveUp float64
	// DayStart is from where places are scaled (epoch).
	DayStart int64
	// Came is how many more are ahead of me now than the index says: who came
	// since it was read, less who left, and what it does not reach.
	Came int
	// Most is how many are taken from the line one by one; 0 is 4,000. Behind that
	// the rank of now stands for what a roll would find.
	Most int
}

// Flow is who will come into a lane.
type Flow struct {
	Lane      order.Lane
	PerSecond float64
	// HeadStart is what they get, in ms.
	HeadStart int64
	// Factor is in thousandths, for epoch, whose lanes have none; 0 is 1000.
	Factor int32
}

// Crew is the open counters that serve the same classes.
type Crew struct {
	PerSecond float64
	Classes   []string // nil: all that are not bound to a counter
	Bound     string   // class of what is bound to the counter, "" for none
}

func (c *Crew) serves(lane order.Lane) bool {
	return order.Line{Classes: c.Classes, Bound: c.Bound}.Sees(lane)
}

// Place is where a token stands when the line is rolled forward.
type Place struct {
	// Services until and with the own, of the counters that serve it: what
	// State.Position asks for. It is seldom whole, since who comes meanwhile
	// is an expectation.
	Services float64
	// Ahead is how many of those in line now are called before.
	Ahead int
	// Seconds is the expected wait.
	Seconds float64
}

// Bounds of a roll.
const (
	// maxRolled is Line.Most where it is not given.
	maxRolled = 4000
	// maxSolved is how often an expected wait is put in again. It converges
	// like the load of who may overtake, which is held below maxLoad.
	maxSolved = 60
	maxLoad   = 0.95
	// summedUp is how many terms of a sum are added one by one.
	summedUp = 32
)

// Place rolls the line forward until me is called: me may stand in the index,
// or be who would join now. It is false when no crew serves me.
//
// A crew's m-th service from now ends at m over its rate. Who comes in a later
// and is then ahead is counted as an expectation: in aging, one with head start h
// who comes a seconds from now is ahead of me at w when
// (w − a + h)·K_me > (w + age)·K. Ratio follows from the debts alone.
func (l *Line) Place(me order.Member) (Place, bool) {
	r := newRoll(l, me)
	switch {
	case r.rate <= 0:
		return Place{}, false
	case l.Order.Rule.Discipline == order.Ratio:
		return r.ratio(), true
	case r.alone():
		return r.lone(), true
	}
	return r.forward(), true
}

// alone reports whether everyone in line who competes with me is in my lane and
// is served by nobody else than I: then my place in the lane says all.
func (r *roll) alone() bool {
	for i := range r.crews {
		if c := &r.crews[i]; !c.mine && c.serves(r.me.Lane) {
			return false
		}
	}
	for lane := range r.Order.Index.Lanes() {
		if lane != r.me.Lane && r.shares(lane) {
			return false
		}
	}
	return true
}

// roll is one token on its way to the front.
type roll struct {
	*Line
	me      order.Member
	rate    float64 // of the crews that serve me
	flows   []Flow  // that may overtake me
	lanes   []ahead
	crews   []crew
	overdue int64 // strict: how long me still is not overdue, in ms
}

// ahead is a lane whose first members were taken.
type ahead struct {
	lane order.Lane
	next int
	head order.Member
	done bool
}

// crew is a Crew with the number of its services so far.
type crew struct {
	*Crew
	served int
	mine   bool
}

func newRoll(l *Line, me order.Member) *roll {
	r := &roll{Line: l, me: me, overdue: l.Order.Rule.Escalate - (l.Now - me.Key.Place)}
	for i := range l.Crews {
		if c := &l.Crews[i]; c.PerSecond > 0 {
			mine := c.serves(me.Lane)
			r.crews = append(r.crews, crew{Crew: c, mine: mine})
			if mine {
				r.rate += c.PerSecond
			}
		}
	}
	load := 0.0
	for _, f := range l.Flows {
		if f.PerSecond > 0 && r.shares(f.Lane) {
			r.flows = append(r.flows, f)
			load += f.PerSecond
		}
	}
	// More than can be served would be waited for without end.
	if most := maxLoad * r.rate; load > most {
		for i := range r.flows {
			r.flows[i].PerSecond *= most / load
		}
	}
	return r
}

// shares reports whether a lane competes with me for some crew.
func (r *roll) shares(lane order.Lane) bool {
	return slices.ContainsFunc(r.crews, func(c crew) bool { return c.mine && c.serves(lane) })
}

// forward takes the line apart, service by service.
func (r *roll) forward() Place {
	for lane := range r.Order.Index.Lanes() {
		a := ahead{lane: lane, next: -1}
		r.step(&a)
		r.lanes = append(r.lanes, a)
	}
	taken, wait := 0, 0.0
	came := float64(r.Came) / r.rate // as long as those take, whoever they are
	for steps := 0; ; steps++ {
		if steps >= cmp.Or(r.Most, maxRolled) {
			return r.far()
		}
		c := r.soonest()
		c.served++
		if c.mine {
			wait = r.solve(max(1/r.rate, float64(c.served)/c.PerSecond+came), wait)
		}
		now := r.Now + int64(1000*max(wait, float64(c.served)/c.PerSecond))
		best := r.best(now, c)
		if c.mine && (best == nil || order.Before(now, r.me, best.head, r.Order.Rule)) {
			return Place{Services: wait * r.rate, Ahead: max(0, taken+r.Came), Seconds: wait}
		}
		if best == nil {
			continue
		}
		if r.shares(best.lane) {
			taken++
		}
		r.step(best)
	}
}

// soonest is the crew whose next service ends first; of equals one of mine.
func (r *roll) soonest() *crew {
	return &r.crews[slices.Index(r.crews, slices.MinFunc(r.crews, func(a, b crew) int {
		return cmp.Compare(float64(a.served+1)/a.PerSecond, float64(b.served+1)/b.PerSecond)
	}))]
}

// best is the lane whose head a crew would call, me left out; nil for nobody.
func (r *roll) best(now int64, c *crew) *ahead {
	var best *ahead
	for i := range r.lanes {
		a := &r.lanes[i]
		if !a.done && c.serves(a.lane) && (best == nil || order.Before(now, a.head, best.head, r.Order.Rule)) {
			best = a
		}
	}
	return best
}

// step goes to the next member of a lane that is not me.
func (r *roll) step(a *ahead) {
	for {
		a.next++
		key, ok := r.Order.Index.At(a.lane, a.next)
		a.head, a.done = order.Member{Lane: a.lane, Key: key}, !ok
		if !ok || key.Seq != r.me.Key.Seq || a.lane != r.me.Lane {
			return
		}
	}
}

// lone is the answer where all who compete with me stand in my lane.
func (r *roll) lone() Place {
	ahead := max(0, r.Order.Index.Below(r.me.Lane, r.me.Key)+r.Came)
	wait := r.solve(float64(ahead+1)/r.rate, 0)
	return Place{Services: wait * r.rate, Ahead: ahead, Seconds: wait}
}

// far is the answer deep in a line: the rank of now, and of then, whichever is
// more, and who overtakes.
func (r *roll) far() Place {
	line := r.competing()
	rank := order.Rank(r.Now, r.me, line)
	wait := r.solve(float64(max(0, rank+r.Came)+1)/r.rate, 0)
	rank = max(0, max(rank, order.Rank(r.Now+int64(1000*wait), r.me, line))+r.Came)
	wait = r.solve(float64(rank+1)/r.rate, wait)
	return Place{Services: wait * r.rate, Ahead: rank, Seconds: wait}
}

// competing is the line as far as it competes with me.
func (r *roll) competing() order.Line {
	line := r.Order
	line.Classes, line.Bound = nil, ""
	if r.me.Lane.Bound() {
		line.Bound = r.me.Lane.Class
	}
	return line
}

// solve finds the wait that is due seconds and the services of those who
// overtake meanwhile. It never ends below from.
func (r *roll) solve(due, from float64) float64 {
	wait := max(r.thinned(due*r.rate), from)
	for range maxSolved {
		more := 0.0
		for i := range r.flows {
			more += r.overtaking(&r.flows[i], wait)
		}
		next := max(from, r.thinned(due*r.rate+more))
		if next-wait < 1e-6*next && wait-next < 1e-6*next {
			return next
		}
		wait = next
	}
	return wait
}

// thinned is how long services take when of those who are waited for some give
// up: Σ 1/(rate + i·GiveUp) over all but the own (Ibrahim and Whitt, M&SOM 11(3),
// 2009).
func (r *roll) thinned(services float64) float64 {
	if r.GiveUp <= 0 {
		return services / r.rate
	}
	sum, i := 0.0, 0.0
	for ; i+1 <= services && i < summedUp; i++ {
		sum += 1 / (r.rate + i*r.GiveUp)
	}
	if whole := math.Floor(services); whole > i {
		// Euler and Maclaurin's formula for the others.
		from, to := r.rate+i*r.GiveUp, r.rate+whole*r.GiveUp
		sum += math.Log(to/from)/r.GiveUp + (1/from-1/to)/2 + r.GiveUp*(1/(from*from)-1/(to*to))/12
		i = whole
	}
	return sum + (services-i)/(r.rate+i*r.GiveUp)
}

// overtaking is how many of a flow come and pass me in the next wait seconds.
func (r *roll) overtaking(f *Flow, wait float64) float64 {
	age := float64(r.Now-r.me.Key.Place) / 1000
	head := float64(f.HeadStart) / 1000
	until := 0.0 // who comes before that passes me
	switch r.Order.Rule.Discipline {
	case order.Aging:
		until = wait + head - (wait+age)*float64(pace(f.Lane))/float64(pace(r.me.Lane))
		if wait+age < 0 {
			until = wait // me is not due yet and behind everyone
		}
	case order.Epoch:
		factor := cmp.Or(float64(f.Factor), 1000)
		until = float64(r.DayStart-r.Now)/1000 + float64(r.me.Key.Place-r.DayStart)/factor + head
	case order.Strict:
		until = head - age
		switch mine, theirs := rankOf(&r.Order.Rule, r.me.Lane.Group), rankOf(&r.Order.Rule, f.Lane.Group); {
		case theirs < mine:
			until = max(until, float64(r.overdue)/1000)
		case theirs > mine:
			until = min(until, wait+head-float64(r.Order.Rule.Escalate)/1000)
		}
	case order.Ratio:
	}
	return f.PerSecond * min(max(until, 0), wait)
}

// pace is K of a lane; a lane without is ordinary.
func pace(l order.Lane) int {
	return cmp.Or(max(l.K, 0), order.Ordinary)
}

// rankOf is the rank of a group: one that is not declared has the last of those
// that are.
func rankOf(rule *order.Rule, group string) int {
	last := 0
	for _, g := range rule.Groups {
		if g.Name == group {
			return g.Rank
		}
		last = max(last, g.Rank)
	}
	return last
}
