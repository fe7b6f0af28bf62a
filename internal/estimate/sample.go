package estimate

import (
	"cmp"
	"encoding/json"
	"math"
)

// Sample is what a forecast was made from: enough to learn from it once the
// wait is known, and small enough to be kept with the token.
type Sample struct {
	At       int64   `json:"at"`
	Position float64 `json:"position"`
	// PerSecond is the rate of all counters together.
	PerSecond float64 `json:"per_second"`
	Class     string  `json:"class,omitempty"`
	Group     string  `json:"group,omitempty"`
	// Features are the numbers in the order of FeatureNames.
	Features Numbers `json:"features"`
	// Covariates are the numbers that the site told, by name.
	Covariates map[string]float64 `json:"covariates,omitempty"`
}

// Numbers are floats of which NaN, what is unknown, is null in JSON.
type Numbers []float64

// MarshalJSON writes unknown numbers as null.
func (n Numbers) MarshalJSON() ([]byte, error) {
	values := make([]*float64, len(n))
	for i := range n {
		if !math.IsNaN(n[i]) {
			values[i] = &n[i]
		}
	}
	return json.Marshal(values)
}

// UnmarshalJSON reads null as an unknown number.
func (n *Numbers) UnmarshalJSON(b []byte) error {
	var values []*float64
	if err := json.Unmarshal(b, &values); err != nil {
		return err
	}
	*n = make(Numbers, len(values))
	for i, v := range values {
		if (*n)[i] = math.NaN(); v != nil {
			(*n)[i] = *v
		}
	}
	return nil
}

// Base is the queue's own answer in seconds: position over rate. It is the mean
// of the Erlang distribution, and the best there is in mean squared error
// without learning.
func (s *Sample) Base() float64 { return s.Position / s.PerSecond }

// Erlang are the quantiles 0.1, 0.5 and 0.9 without learning, in seconds.
func (s *Sample) Erlang() (q [3]float64) {
	for i, p := range quantiles {
		q[i] = Quantile(p, s.Position, s.PerSecond)
	}
	return q
}

// rate sums what the counters of a state serve in a second.
func (h *History) rate(s *State) float64 {
	mean, sum := h.Mean(s.Prior), 0.0
	for _, c := range s.Counters {
		sum += perSecond(h.Counters[c.ID], mean) * cmp.Or(c.Share, 1)
	}
	return sum
}

// FeatureNames are the numbers that are learned from, before covariates,
// classes and groups. All but the hour and the weekday have no unit: waits and
// ages in bases and services, flows in what the counters could do. So a model
// holds where lines and services are longer than those it learned from.
var FeatureNames = []string{
	"position",       // services until and with the own
	"open",           // counters
	"busy_share",     // of the counters
	"behind",         // who stands in line without being ahead
	"calls_10m",      // of what the counters could do in ten minutes
	"calls_30m",      // the same in thirty
	"joins_10m",      // the same, of arrivals
	"last_wait",      // of the last one called who had to wait, in bases
	"oldest_wait",    // of those in line, in bases
	"mean_wait",      // of the last ten who had to wait, in bases
	"service_age",    // mean age of running services, in services
	"since_last_end", // in services that the counters could do meanwhile
	"speed",          // of the last 20 services beside the last 100
	"hour",
	"weekday",
}

// maxRatio bounds features that are divided by the base, which may be small.
const maxRatio = 20

// sample makes the numbers of a state. The rate is above 0.
func (h *History) sample(s *State, rate float64) Sample {
	base := s.Position / rate
	open := float64(len(s.Counters))
	busy, age := 0.0, 0.0
	for _, c := range s.Counters {
		if c.Busy {
			busy++
			age += float64(max(0, s.Now-c.Since)) / 1000
		}
	}
	service := open / rate
	flow := func(n, seconds int) float64 { return min(maxRatio, float64(n)/(rate*float64(seconds))) }
	inBases := func(seconds float64) float64 { return min(maxRatio, seconds/max(1, base)) }
	last, mean := math.NaN(), math.NaN()
	if n := len(h.Waits); n > 0 {
		sum := 0.0
		for _, w := range h.Waits {
			sum += w
		}
		last, mean = inBases(h.Waits[n-1]), inBases(sum/float64(n))
	}
	meanAge := math.NaN()
	if busy > 0 {
		meanAge = min(maxRatio, age/busy/service)
	}
	sinceEnd := math.NaN()
	if h.LastEnd > 0 {
		sinceEnd = min(maxRatio, float64(max(0, s.Now-h.LastEnd))/1000*rate)
	}
	return Sample{
		At: s.Now, Position: s.Position, PerSecond: rate, Class: s.Class, Group: s.Group, Covariates: s.Covariates,
		Features: Numbers{
			s.Position, open, busy / open, max(0, float64(s.Length)+1-s.Position),
			flow(h.Calls.Within(s.Now, 600), 600), flow(h.Calls.Within(s.Now, 1800), 1800), flow(h.Joins.Within(s.Now, 600), 600),
			last, inBases(s.Oldest), mean, meanAge, sinceEnd, h.speed(h.Mean(s.Prior)), s.Hour, float64(s.Weekday),
		},
	}
}
