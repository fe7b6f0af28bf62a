package sim

import (
	"fmt"
	"math"
	"strings"
)

// tick is a mark on an axis.
type tick struct {
	At    float64
	Label string
}

// axis is what stands along one side of a plot.
type axis struct {
	label          string
	from, to, step float64
	text           func(float64) string
}

// numbers is an axis of plain numbers, from 0 to the first mark that is not below most.
func numbers(label string, most float64) axis {
	by := step(most)
	return axis{label, 0, upTo(most, by), by, func(v float64) string { return fmt.Sprintf("%.4g", v) }}
}

// waits is an axis of seconds, with marks where a clock has them.
func waits(label string, most float64) axis {
	by := clockStep(most)
	return axis{label, 0, upTo(most, by), by, clock}
}

// hours is an axis of the hours in which somebody waited, of quarters of an hour
// of the day; of the whole day when they are most of it.
func hours(label string, days [][]float64) axis {
	first, last := dayBins, 0
	for _, day := range days {
		for quarter, n := range day {
			if n > 0 {
				first, last = min(first, quarter), max(last, quarter+1)
			}
		}
	}
	from, to, by := first/4, (last+3)/4, 1
	switch {
	case from >= to || to-from > 16:
		from, to, by = 0, 24, 4
	case to-from > 8:
		from, to, by = from/2*2, (to+1)/2*2, 2
	}
	return axis{label, float64(from), float64(to), float64(by), func(v float64) string { return fmt.Sprintf("%.0f", v) }}
}

// at places a value of the axis between two ends of the paper.
func (a *axis) at(v, first, last float64) float64 {
	return first + (v-a.from)/(a.to-a.from)*(last-first)
}

// ticks are the marks between two ends of the paper.
func (a *axis) ticks(first, last float64) []tick {
	var all []tick
	for i := range int(math.Round((a.to-a.from)/a.step)) + 1 {
		v := a.from + float64(i)*a.step
		all = append(all, tick{a.at(v, first, last), a.text(v)})
	}
	return all
}

// step is a round distance between marks, so that there are four to ten.
func step(most float64) float64 {
	if !(most > 0) || math.IsInf(most, 1) {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(most)))
	for _, part := range []float64{5, 2, 1, 0.5} {
		if n := most / (unit * part); n >= 4 {
			return unit * part
		}
	}
	return unit * 0.2
}

// clockSteps are distances between marks of seconds, each of whole minutes or
// hours, or of a round part of a minute.
var clockSteps = []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400}

// clockStep is the first of them with which there are at most eight; below
// seconds and above days, a round one.
func clockStep(most float64) float64 {
	for _, by := range clockSteps {
		if most > 4 && most <= 8*by {
			return by
		}
	}
	return step(most)
}

// clock is a wait for people: seconds, and above 60 of them minutes and seconds,
// m:ss, or hours, h:mm:ss.
func clock(seconds float64) string {
	if seconds <= 60 {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", seconds), ".0") + " s"
	}
	whole := int(math.Round(seconds))
	if whole < 3600 {
		return fmt.Sprintf("%d:%02d", whole/60, whole%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", whole/3600, whole/60%60, whole%60)
}

// upTo is the first multiple of a step that is not below v.
func upTo(v, step float64) float64 { return max(1, math.Ceil(v/step-1e-9)) * step }
