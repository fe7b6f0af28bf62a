package estimate

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dengxu/dengxu/internal/order"
)

// lanes is a line that people join and are called from.
type lanes struct{ order.Sorted }

func (l lanes) add(m order.Member) {
	at := l.Below(m.Lane, m.Key)
	l.Sorted[m.Lane] = slices.Insert(l.Sorted[m.Lane], at, m.Key)
}

func (l lanes) len() (n int) {
	for _, keys := range l.Sorted {
		n += len(keys)
	}
	return n
}

// take removes who is called first.
func (l lanes) take(now int64, rule order.Rule) (order.Member, bool) {
	picked := order.Pick(now, []order.Line{{Rule: rule, Index: l}}, order.Oldest, 1, 0)
	if len(picked) == 0 {
		return order.Member{}, false
	}
	m := picked[0].Member
	l.remove(m)
	return m, true
}

func (l lanes) remove(m order.Member) {
	at := l.Below(m.Lane, m.Key)
	if l.Sorted[m.Lane] = slices.Delete(l.Sorted[m.Lane], at, at+1); len(l.Sorted[m.Lane]) == 0 {
		delete(l.Sorted, m.Lane)
	}
}

func lineOf(members ...order.Member) lanes {
	return lanes{order.NewSorted(slices.Values(members))}
}

// hall is a simulated line: Poisson arrivals, and counters that call at once.
type hall struct {
	rule     order.Rule
	flows    []Flow
	counters int
	service  func(*rand.Rand) float64 // seconds
	// joins is asked for everyone who has to wait, before they stand in line;
	// called tells how long the wait was, in seconds; served how long a service.
	joins func(now int64, line lanes, me order.Member, counters []Counter)
	// atOnce tells of those who do not have to wait.
	atOnce func(now int64, me order.Member)
	called func(now int64, me order.Member, wait float64)
	served func(now int64, counter int, seconds float64)

	// day, when it is given, says by how much more come at a second of the
	// simulation, and how many of the counters are open.
	day func(at float64) (factor float64, open int)
	// patience, when it is given, is after how many seconds people give up;
	// gaveUp tells it.
	patience func(*rand.Rand) float64
	gaveUp   func(now int64, wait float64)

	random  *rand.Rand
	open    int
	line    lanes
	joined  map[uint64]int64
	desks   []Counter
	running services
}

// service is one that runs at a desk, or the end of somebody's patience.
type service struct {
	ends, seconds float64
	desk          int
	who           order.Member // whose patience ends; of no seq for a service
}

// services is a heap of them, the next to end first.
type services []service

func (s services) Len() int           { return len(s) }
func (s services) Less(i, j int) bool { return s[i].ends < s[j].ends }
func (s services) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *services) Push(v any)        { *s = append(*s, v.(service)) }
func (s *services) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}

// run lets so many people come.
func (h *hall) run(seed uint64, people int) {
	h.random = rand.New(rand.NewPCG(seed, 77))
	h.line, h.joined, h.running = lineOf(), map[uint64]int64{}, nil
	h.desks = make([]Counter, h.counters)
	for i := range h.desks {
		h.desks[i].ID = string(rune('a' + i))
	}
	load := 0.0
	for _, f := range h.flows {
		load += f.PerSecond
	}
	now := 1e6
	for seq := range people {
		factor := 1.0
		if h.open = h.counters; h.day != nil {
			factor, h.open = h.day(now)
		}
		now += h.random.ExpFloat64() / (load * factor)
		for len(h.running) > 0 && h.running[0].ends <= now {
			h.end()
		}
		h.join(now, uint64(seq)+1, h.flow(load))
	}
}

func (h *hall) flow(load float64) Flow {
	at := h.random.Float64() * load
	for _, f := range h.flows {
		if at -= f.PerSecond; at < 0 {
			return f
		}
	}
	return h.flows[len(h.flows)-1]
}

func (h *hall) join(now float64, seq uint64, f Flow) {
	ms := int64(math.Round(now * 1000))
	me := order.Member{Lane: f.Lane, Key: order.Key{Place: ms - f.HeadStart, Seq: seq}}
	if i := h.free(); i >= 0 && len(h.line.Sorted) == 0 {
		if h.atOnce != nil {
			h.atOnce(ms, me)
		}
		h.start(i, now)
		return
	}
	if h.joins != nil {
		h.joins(ms, h.line, me, h.staffed())
	}
	h.joined[seq] = ms
	h.line.add(me)
	if h.patience != nil {
		heap.Push(&h.running, service{ends: now + h.patience(h.random), who: me})
	}
	h.fill(now)
}

// free is a desk that is open and idle, or -1.
func (h *hall) free() int {
	return slices.IndexFunc(h.desks[:h.open], func(c Counter) bool { return !c.Busy })
}

// staffed are the desks that are open.
func (h *hall) staffed() []Counter { return h.desks[:h.open] }

// fill lets open desks call.
func (h *hall) fill(now float64) {
	ms := int64(math.Round(now * 1000))
	for i := h.free(); i >= 0; i = h.free() {
		m, ok := h.line.take(ms, h.rule)
		if !ok {
			return
		}
		if h.called != nil {
			h.called(ms, m, float64(ms-h.joined[m.Key.Seq])/1000)
		}
		delete(h.joined, m.Key.Seq)
		h.start(i, now)
	}
}

func (h *hall) start(desk int, now float64) {
	seconds := h.service(h.random)
	h.desks[desk].Busy, h.desks[desk].Since = true, int64(math.Round(now*1000))
	heap.Push(&h.running, service{ends: now + seconds, seconds: seconds, desk: desk})
}

func (h *hall) end() {
	s := heap.Pop(&h.running).(service)
	ms := int64(math.Round(s.ends * 1000))
	if s.who.Key.Seq > 0 {
		h.giveUp(ms, s.who)
		return
	}
	h.desks[s.desk].Busy = false
	if h.served != nil {
		h.served(ms, s.desk, s.seconds)
	}
	h.fill(s.ends)
}

func (h *hall) giveUp(ms int64, who order.Member) {
	joined, waits := h.joined[who.Key.Seq]
	if !waits {
		return
	}
	h.line.remove(who)
	delete(h.joined, who.Key.Seq)
	if h.gaveUp != nil {
		h.gaveUp(ms, float64(ms-joined)/1000)
	}
}

// exponential services of a mean.
func exponential(mean float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return r.ExpFloat64() * mean }
}

// lognormal services of a mean and a coefficient of variation.
func lognormal(mean, cv float64) func(*rand.Rand) float64 {
	sigma := math.Sqrt(math.Log(1 + cv*cv))
	mu := math.Log(mean) - sigma*sigma/2
	return func(r *rand.Rand) float64 { return math.Exp(mu + sigma*r.NormFloat64()) }
}
