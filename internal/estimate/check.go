package estimate

import (
	"errors"
	"fmt"
	"math"
)

// absurd is more than any sum of seconds that is kept: thirty thousand years.
const absurd = 1e12

// Check refuses what no estimator could have come to: it was damaged where it
// was kept, and would make waits that are negative or without end of it.
func (e *Estimator) Check() error {
	if err := e.History.check(); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	for i := range quantiles {
		if !sane(e.Plain[i].Ratios...) || !sane(e.Learned[i].Ratios...) {
			return fmt.Errorf("calibration of %g: a ratio is out of bounds", quantiles[i])
		}
	}
	return nil
}

func (h *History) check() error {
	if !sane(h.Services...) || !sane(h.Waits...) {
		return errors.New("a service or a wait is out of bounds")
	}
	if !sane(h.Patience.Seconds, h.Patience.Weight, h.Stayed, float64(h.LastEnd)/1000) {
		return errors.New("patience is out of bounds")
	}
	for id, u := range h.Counters {
		if !sane(u.Seconds, u.Weight) {
			return fmt.Errorf("counter %s is out of bounds", id)
		}
	}
	if h.Joins.Last < 0 || h.Calls.Last < 0 {
		return errors.New("a tally is of before 1970")
	}
	for _, l := range h.Lanes {
		if u := l.HeadStart; l.Joins.Last < 0 || u.Weight < 1 || !sane(math.Abs(u.Seconds), u.Weight) {
			return fmt.Errorf("lane %v is out of bounds", l.Lane)
		}
	}
	return nil
}

// sane reports whether all values are from 0 to what is absurd.
func sane(values ...float64) bool {
	for _, v := range values {
		if !(v >= 0 && v <= absurd) {
			return false
		}
	}
	return true
}
