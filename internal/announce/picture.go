package announce

import (
	"slices"

	"github.com/dengxu/dengxu/internal/estimate"
	"github.com/dengxu/dengxu/internal/order"
)

// Picture is a queue at a moment, from which everyone in it and everyone who
// joins is told their wait. It is made once for many: forecasts that are asked
// for again are not worked out again. Its fields are not changed once it is
// asked.
type Picture struct {
	At      int64
	Hour    float64 // of the site's day, from 0 to 24
	Weekday int     // from 0, Sunday
	// Rule and Debts are those of the line, DayStart from where epoch scales.
	Rule     order.Rule
	Debts    order.Debts
	DayStart int64
	// Fronts are how the lanes begin, of other queues of the same counters too:
	// what keeps their classes apart is up to whoever makes the picture.
	Fronts []estimate.Front
	// Flows are who will come into the lanes of the other queues.
	Flows []estimate.Flow
	// Desks are the open counters that serve the queue.
	Desks []Desk
	// Covariates are what the site tells beside.
	Covariates map[string]float64
	// Closed is how long nobody serves, in seconds.
	Closed float64
	// Unknown says why nothing can be said; "" when something can.
	Unknown string
	// Method is MethodWindow or MethodErlang where a setting wants it.
	Method string

	index *estimate.Fronts
	own   []string // classes of the queue itself that somebody stands in
	flows []estimate.Flow
	said  map[question]*Answer
}

// mostRolled is how many services a line is rolled forward: about as many as a
// picture names members.
const mostRolled = 600

// Desk is an open counter as its queue sees it.
type Desk struct {
	ID      string
	Classes []string // that it serves; nil = all that are not bound to a counter
	Bound   string   // class of those bound to it
	Slots   int      // how many it serves at a time
	// Since is when each of those that it serves came to it.
	Since []int64
	// Share is the part of its time that this queue has; 0 = all.
	Share float64
}

// question is what tells forecasts of one picture apart.
type question struct {
	lane         order.Lane
	class, group string
	rank         int
	inLine       bool
}

// Asked is somebody whose wait is asked for.
type Asked struct {
	At     int64 // when it is asked
	Member order.Member
	Class  string
	Group  string
	Rank   int // how many are ahead now
	// Classes are those that Rank counts; nil = all of its queue.
	Classes []string
	// InLine says that the member stands in the line already.
	InLine bool
	// Prior is the expected service by the settings, in seconds; 0 = none.
	Prior float64
}

// Forecast says how long the wait will be. Ranks that are about the same have
// the same answer.
func (q *Queue) Forecast(p *Picture, a *Asked) *Answer {
	q.mu.Lock()
	defer q.mu.Unlock()
	about := roughly(a.Rank)
	ask := question{lane: a.Member.Lane, class: a.Class, group: a.Group, rank: about, inLine: a.InLine}
	// Others of their rank are unlike those only whose place is still to come.
	// Who came since the picture was taken is taken to have come with it.
	future := a.Member.Key.Place > max(a.At, p.At)
	if !future && a.Member.Key.Place > p.At {
		behind := *a
		behind.Member.Key.Place = p.At
		a = &behind
	}
	if f := p.said[ask]; f != nil && !future {
		return f
	}
	f := answer(q.forecast(p, a), p.At)
	if !future {
		if p.said == nil {
			p.said = make(map[question]*Answer)
		}
		p.said[ask] = f
	}
	return f
}

// roughly is a rank to within 4 %, so that a long line has few answers: even with
// a rate that is known exactly a wait behind 50 differs by 14 % from the next.
func roughly(rank int) int {
	step := 1
	for rank/step >= 50 {
		step *= 2
	}
	return rank / step * step
}

// forecast works one answer out. The caller holds mu.
func (q *Queue) forecast(p *Picture, a *Asked) estimate.Forecast {
	h := &q.estimator.History
	if p.index == nil {
		p.index = estimate.NewFronts(p.At, p.Fronts)
		p.own = []string{}
		for _, f := range p.Fronts {
			if !f.Foreign && !f.Lane.Bound() && !slices.Contains(p.own, f.Lane.Class) {
				p.own = append(p.own, f.Lane.Class)
			}
		}
		p.flows = slices.Concat(h.Flows(p.At), p.Flows)
	}
	state := estimate.State{
		Now: p.At, Hour: p.Hour, Weekday: p.Weekday, Class: a.Class, Group: a.Group,
		Prior: a.Prior, Closed: p.Closed, Covariates: p.Covariates, Unknown: p.Unknown,
	}
	line := estimate.Line{
		Now: p.At, Order: order.Line{Rule: p.Rule, Debts: p.Debts, Index: p.index},
		Flows: p.flows, GiveUp: h.GiveUpPerSecond(), DayStart: p.DayStart, Most: mostRolled,
	}
	line.Came = a.Rank - p.rank(a)
	idle := p.desks(a, h, &state, &line)
	place, known := line.Place(a.Member)
	if !known { // nobody serves, or it is not known how fast
		place.Ahead = a.Rank
	}
	// Whoever is free calls at once, and so takes as many of those ahead.
	if state.Position = max(1, place.Services-float64(idle)); place.Ahead < idle {
		state.Position = 1
	} else {
		for i := range state.Counters {
			state.Counters[i].Idle = false
		}
	}
	state.Length, state.Oldest = p.length(a)
	q.estimator.Window = p.Method == estimate.MethodWindow
	if p.Method == estimate.MethodErlang {
		return q.estimator.Without(state)
	}
	return q.estimator.Forecast(state)
}

// rank is how many of the picture are ahead: as the store counts it, who came
// since then left out.
func (p *Picture) rank(a *Asked) int {
	classes := a.Classes
	if classes == nil {
		classes = p.own
	}
	line := order.Line{Rule: p.Rule, Debts: p.Debts, Index: p.index, Classes: classes}
	if a.Member.Lane.Bound() {
		line.Bound = a.Member.Lane.Class
	}
	return order.Rank(p.At, a.Member, line)
}

// desks puts the open counters into a state and a line, and counts how many of
// those that serve the one who asks are free.
func (p *Picture) desks(a *Asked, h *estimate.History, s *estimate.State, l *estimate.Line) (idle int) {
	for i := range p.Desks {
		d := &p.Desks[i]
		slots, share := max(1, d.Slots), d.Share
		if share <= 0 {
			share = 1
		}
		perSecond := h.PerSecond(d.ID, a.Prior) * share * float64(slots)
		l.Crews = joinCrew(l.Crews, estimate.Crew{PerSecond: perSecond, Classes: d.Classes, Bound: p.bound(d)})
		if !(order.Line{Classes: d.Classes, Bound: d.Bound}).Sees(a.Member.Lane) {
			continue
		}
		for slot := range slots {
			c := estimate.Counter{ID: d.ID, Share: share}
			if slot < len(d.Since) {
				c.Busy, c.Since = true, d.Since[slot]
			} else {
				c.Idle = true
				idle++
			}
			s.Counters = append(s.Counters, c)
		}
	}
	return idle
}

// bound is the class of those bound to a desk, if anybody is.
func (p *Picture) bound(d *Desk) string {
	if slices.ContainsFunc(p.Fronts, func(f estimate.Front) bool { return f.Lane.Class == d.Bound }) {
		return d.Bound
	}
	return ""
}

// joinCrew adds counters that serve the same to one crew.
func joinCrew(crews []estimate.Crew, c estimate.Crew) []estimate.Crew {
	for i := range crews {
		if crews[i].Bound == c.Bound && (crews[i].Classes == nil) == (c.Classes == nil) && slices.Equal(crews[i].Classes, c.Classes) {
			crews[i].PerSecond += c.PerSecond
			return crews
		}
	}
	return append(crews, c)
}

// length is how many others wait for the same counters, and how long the first
// of them has, in seconds.
func (p *Picture) length(a *Asked) (others int, oldest float64) {
	first := p.At
	for _, f := range p.Fronts {
		if f.Len == 0 || !p.shares(a.Member.Lane, f.Lane) {
			continue
		}
		others += f.Len
		if len(f.Keys) > 0 {
			first = min(first, f.Keys[0].Place)
		}
	}
	if a.InLine {
		others = max(0, others-1)
	}
	return others, float64(p.At-first) / 1000
}

// shares reports whether some counter serves both lanes.
func (p *Picture) shares(a, b order.Lane) bool {
	return slices.ContainsFunc(p.Desks, func(d Desk) bool {
		seen := order.Line{Classes: d.Classes, Bound: d.Bound}
		return seen.Sees(a) && seen.Sees(b)
	})
}
