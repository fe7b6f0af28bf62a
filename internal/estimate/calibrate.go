package estimate

import (
	"math"
	"slices"
)

// Calibration of a quantile: over the last 500 tokens whose wait is known the
// factor is used whole, below 90 it is drawn toward 1, below 10 it is 1, and it
// is never more than 2 or less than half.
const (
	calibrated   = 500
	calibratedBy = 90
	minToFactor  = 10
	leastFactor  = 0.5
	mostFactor   = 2
)

// Calibration brings one quantile to the share of waits that it promises: a
// rolling conformal factor (Romano, Patterson and Candès 2019, of ratios). It is
// no integrator: answers come as late as the wait itself, under which one would
// swing. Its zero value changes nothing; it can be saved as JSON.
type Calibration struct {
	// Ratios of the wait to what was forecast, the oldest first.
	Ratios []float64 `json:"ratios"`
	sorted []float64
}

// leastSaid is what a forecast counts as at least, in seconds, beside a wait.
const leastSaid = 1

// Add tells what a forecast, before calibration, came to.
func (c *Calibration) Add(wait, said float64) {
	c.sort()
	if len(c.Ratios) >= calibrated {
		at, _ := slices.BinarySearch(c.sorted, c.Ratios[0])
		c.sorted = slices.Delete(c.sorted, at, at+1)
	}
	ratio := wait / max(leastSaid, said)
	c.Ratios = keep(c.Ratios, ratio, calibrated)
	at, _ := slices.BinarySearch(c.sorted, ratio)
	c.sorted = slices.Insert(c.sorted, at, ratio)
}

// sort makes the order again after a calibration was loaded.
func (c *Calibration) sort() {
	if len(c.sorted) != len(c.Ratios) {
		c.sorted = slices.Sorted(slices.Values(c.Ratios))
	}
}

// Factor is by what a forecast of quantile p is to be multiplied: the
// ⌈(n+1)·p⌉-th of the n ratios.
func (c *Calibration) Factor(p float64) float64 {
	c.sort()
	n := len(c.sorted)
	if n < minToFactor {
		return 1
	}
	at := min(n, max(1, int(math.Ceil(float64(n+1)*p))))
	factor := math.Pow(c.sorted[at-1], min(1, float64(n)/calibratedBy))
	return min(max(factor, leastFactor), mostFactor)
}
