package estimate

import (
	"maps"
	"slices"

	"github.com/dengxu/dengxu/internal/order"
)

// What a history keeps. Fewer services than a hundred make rates that cost 3 to
// 11 % of accuracy; a counter's own are forgotten slowly, and stand beside
// twenty of the queue's, so that one odd service moves nothing.
const (
	recentServices = 100
	recentWaits    = 10
	speedServices  = 20
	forget         = 0.99
	ownBeside      = 20
	// forgetPatience looks back on some 500 who waited: giving up is rare.
	forgetPatience = 0.998
	// minStayed is how many have to have waited and been called until those who
	// gave up count in full. Before that they may be staff who try the kiosk and
	// give their numbers back at once, and would let a line vanish.
	minStayed = 100
	// minPriorServices is how many services replace the prior altogether.
	minPriorServices = 20
	// maxLanes is how many lanes a queue has at most, and those of counters.
	maxLanes = 64
)

// mostServices is how many mean services one counts as at most, once the mean is
// known: whoever was forgotten at a counter over night was not served for so
// long, and would make every wait of the next hundred services several times
// as long.
const mostServices = 20

// History is what a queue has seen: services, calls and arrivals. It is carried
// over night and can be saved as JSON; its zero value has seen nothing. It is
// for one goroutine at a time.
type History struct {
	Services []float64        `json:"services"` // seconds, the oldest first
	Counters map[string]Usual `json:"counters"`
	Waits    []float64        `json:"waits"` // seconds, of those who had to wait, the oldest first
	Calls    Tally            `json:"calls"`
	Joins    Tally            `json:"joins"`
	Lanes    []Arrivals       `json:"lanes"`
	// Patience is what waiting came to: Seconds of it, and in Weight how many
	// gave up meanwhile.
	Patience Usual `json:"patience"`
	// Stayed is how many who had to wait were called, as far as they are
	// remembered.
	Stayed float64 `json:"stayed"`
	// LastEnd is when a service last ended; 0 for never.
	LastEnd int64 `json:"last_end"`
}

// Clone is a copy that shares nothing with the history.
func (h *History) Clone() History {
	c := *h
	c.Services, c.Waits, c.Lanes = slices.Clone(h.Services), slices.Clone(h.Waits), slices.Clone(h.Lanes)
	c.Counters = maps.Clone(h.Counters)
	return c
}

// Usual is what services of one counter come to, recent ones more.
type Usual struct {
	Seconds float64 `json:"seconds"`
	Weight  float64 `json:"weight"` // services, as far as they are remembered
}

// Joined tells that somebody joined a lane, with a head start in ms. Moments do
// not run backwards.
func (h *History) Joined(at int64, lane order.Lane, headStart int64) {
	h.Joins.Add(at)
	i := slices.IndexFunc(h.Lanes, func(l Arrivals) bool { return l.Lane == lane })
	if i < 0 {
		if len(h.Lanes) >= maxLanes {
			h.Lanes = slices.DeleteFunc(h.Lanes, func(l Arrivals) bool { return l.Joins.Within(at, flowSeconds) == 0 })
		}
		i = len(h.Lanes)
		h.Lanes = append(h.Lanes, Arrivals{Lane: lane})
	}
	a := &h.Lanes[i]
	a.Joins.Add(at)
	a.HeadStart = Usual{Seconds: a.HeadStart.Seconds*forget + float64(headStart)/1000, Weight: a.HeadStart.Weight*forget + 1}
}

// Arrivals are those into one lane.
type Arrivals struct {
	Lane      order.Lane `json:"lane"`
	Joins     Tally      `json:"joins"`
	HeadStart Usual      `json:"head_start"` // seconds, and how many had one or none
}

// flowSeconds is how far back one looks for who will come.
const flowSeconds = 1800

// Flows are who will come, if it goes on as in the last half hour.
func (h *History) Flows(now int64) []Flow {
	var flows []Flow
	for i := range h.Lanes {
		a := &h.Lanes[i]
		if n := a.Joins.Within(now, flowSeconds); n > 0 {
			flows = append(flows, Flow{
				Lane: a.Lane, PerSecond: float64(n) / flowSeconds,
				HeadStart: int64(1000 * a.HeadStart.Seconds / a.HeadStart.Weight),
			})
		}
	}
	return flows
}

// Called tells that somebody was called first after waiting so many seconds; 0
// for one who did not have to wait, which is not counted among the waits: they
// would make the moving average a third too low.
func (h *History) Called(at int64, waited float64) {
	h.Calls.Add(at)
	if waited > 0 {
		h.Waits = keep(h.Waits, waited, recentWaits)
		h.waited(waited, 0)
	}
}

// GaveUp tells that somebody left the line unserved after waiting so many
// seconds.
func (h *History) GaveUp(waited float64) { h.waited(waited, 1) }

func (h *History) waited(seconds, gaveUp float64) {
	p := &h.Patience
	p.Seconds, p.Weight = p.Seconds*forgetPatience+seconds, p.Weight*forgetPatience+gaveUp
	h.Stayed = h.Stayed*forgetPatience + 1 - gaveUp
}

// GiveUpPerSecond is how many of one who waits give up in a second, as it was
// lately; 0 while nobody has waited, and less than it was while few were called.
func (h *History) GiveUpPerSecond() float64 {
	if h.Patience.Seconds <= 0 {
		return 0
	}
	known := min(1, h.Stayed/minStayed)
	return h.Patience.Weight / h.Patience.Seconds * known * known
}

// Served tells that a service ended at a counter; "" when it is not known at
// which. One that is far longer than any counts as mostServices of them.
func (h *History) Served(at int64, counter string, seconds float64) {
	h.LastEnd = max(h.LastEnd, at)
	if len(h.Services) >= minPriorServices {
		seconds = min(seconds, mostServices*h.Mean(0))
	}
	h.Services = keep(h.Services, seconds, recentServices)
	if counter == "" {
		return
	}
	if h.Counters == nil {
		h.Counters = make(map[string]Usual)
	}
	u := h.Counters[counter]
	h.Counters[counter] = Usual{Seconds: u.Seconds*forget + seconds, Weight: u.Weight*forget + 1}
}

// Forget drops a counter that is gone for good.
func (h *History) Forget(counter string) { delete(h.Counters, counter) }

// Mean is the mean of the last 100 services of the queue. While there are fewer
// than 20 the prior stands for the others; without services and prior it is 0.
func (h *History) Mean(prior float64) float64 {
	n := float64(len(h.Services))
	sum := 0.0
	for _, s := range h.Services {
		sum += s
	}
	if missing := minPriorServices - n; missing > 0 && prior > 0 {
		return (sum + missing*prior) / minPriorServices
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// minService is the shortest mean service in seconds, so that rates are finite
// where services are completed at the very moment they start.
const minService = 1

// PerSecond is the rate of one open counter: its own mean service, shrunk to
// the queue's. It is 0 when nothing is known.
func (h *History) PerSecond(counter string, prior float64) float64 {
	return perSecond(h.Counters[counter], h.Mean(prior))
}

func perSecond(u Usual, mean float64) float64 {
	if mean <= 0 && u.Weight == 0 {
		return 0
	}
	return 1 / max(minService, (u.Seconds+ownBeside*mean)/(u.Weight+ownBeside))
}

// speed is how the last 20 services compare with the last 100.
func (h *History) speed(mean float64) float64 {
	last := h.Services[max(0, len(h.Services)-speedServices):]
	if len(last) == 0 || mean <= 0 {
		return 1
	}
	sum := 0.0
	for _, s := range last {
		sum += s
	}
	return sum / float64(len(last)) / mean
}

// keep appends and drops what is too old.
func keep(values []float64, v float64, most int) []float64 {
	if len(values) >= most {
		values = slices.Delete(values, 0, len(values)-most+1)
	}
	return append(values, v)
}

// tallyStep is how fine a tally counts, in ms: half an hour in 180 counts.
const (
	tallyStep  = 10_000
	tallySteps = 180
)

// Tally counts what happened in the last half hour, whatever its number, in the
// same room.
type Tally struct {
	Last   int64              `json:"last"` // number of the newest step
	Counts [tallySteps]uint32 `json:"counts"`
}

// Add counts one at a moment. Moments that lie further back than half an hour
// from the newest are not counted.
func (t *Tally) Add(at int64) {
	step := at / tallyStep
	if step <= t.Last-tallySteps {
		return
	}
	if step-t.Last >= tallySteps {
		t.Counts = [tallySteps]uint32{}
		t.Last = step
	}
	for t.Last < step {
		t.Last++
		t.Counts[t.Last%tallySteps] = 0
	}
	t.Counts[step%tallySteps]++
}

// Within counts what happened in the seconds up to now, at most half an hour.
func (t *Tally) Within(now int64, seconds int) int {
	newest := now / tallyStep
	sum := 0
	for step := max(newest-int64(seconds*1000/tallyStep)+1, t.Last-tallySteps+1); step <= min(newest, t.Last); step++ {
		if step >= 0 {
			sum += int(t.Counts[step%tallySteps])
		}
	}
	return sum
}
