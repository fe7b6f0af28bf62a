package sim

import (
	"fmt"
	"math"
	"strings"
)

// Plots are drawn as SVG by report.html: this file works out where the lines go.

// The size of a plot, and of the frame inside that is drawn into, in units of SVG.
const (
	plotWidth, plotHeight = 640, 300
	plotLeft, plotRight   = 56, 16
	plotTop, plotBottom   = 16, 40
)

// plot is one picture.
type plot struct {
	Title         string
	Width, Height int
	XTicks        []tick
	YTicks        []tick
	XLabel        string
	YLabel        string
	Curves        []curve
	Left, Right   float64 // of the frame
	Top, Bottom   float64
}

// tick is a mark on an axis.
type tick struct {
	At    float64
	Label string
}

// curve is one line of a plot.
type curve struct {
	Name   string
	Number int // of the colour
	Points string
	LabelY float64
}

// point of a curve, in its own units.
type point struct{ x, y float64 }

// newPlot draws curves into one frame from (0, 0) to the largest of each.
func newPlot(title, xLabel, yLabel string, names []string, lines [][]point) plot {
	maxX, maxY := 0.0, 0.0
	for _, line := range lines {
		for _, p := range line {
			maxX, maxY = max(maxX, p.x), max(maxY, p.y)
		}
	}
	xStep, yStep := step(maxX), step(maxY)
	maxX, maxY = upTo(maxX, xStep), upTo(maxY, yStep)
	p := plot{
		Title: title, Width: plotWidth, Height: plotHeight, XLabel: xLabel, YLabel: yLabel,
		Left: plotLeft, Right: plotWidth - plotRight, Top: plotTop, Bottom: plotHeight - plotBottom,
	}
	x := func(v float64) float64 { return p.Left + v/maxX*(p.Right-p.Left) }
	y := func(v float64) float64 { return p.Bottom - v/maxY*(p.Bottom-p.Top) }
	for v := 0.0; v <= maxX*1.0001; v += xStep {
		p.XTicks = append(p.XTicks, tick{x(v), fmt.Sprintf("%.4g", v)})
	}
	for v := 0.0; v <= maxY*1.0001; v += yStep {
		p.YTicks = append(p.YTicks, tick{y(v), fmt.Sprintf("%.4g", v)})
	}
	for i, line := range lines {
		var points []string
		for _, at := range line {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(at.x), y(at.y)))
		}
		p.Curves = append(p.Curves, curve{
			Name: names[i], Number: i % colours, Points: strings.Join(points, " "), LabelY: p.Top + 16 + 18*float64(i),
		})
	}
	return p
}

// colours is how many there are in report.html.
const colours = 8

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

// upTo is the first multiple of a step that is not below v.
func upTo(v, step float64) float64 { return max(1, math.Ceil(v/step-1e-9)) * step }

// plots are the pictures of a report: how many have waited at most so long, by
// kind of people, and how long the line was, by the time of the day.
func (r *Report) plots() []plot {
	var all []plot
	names := make([]string, len(r.Policies))
	for i := range r.Policies {
		names[i] = r.Policies[i].Name
	}
	shown := r.Policies[0].shown()
	skipped := len(r.Policies[0].Lines) - len(shown)
	for n := range shown {
		var lines [][]point
		for i := range r.Policies {
			lines = append(lines, distribution(r.Policies[i].Lines[n+skipped].waits))
		}
		all = append(all, newPlot("Share of people who waited at most so long: "+r.label(&shown[n]), "minutes", "%", names, lines))
	}
	if r.Policies[0].Length == nil {
		return all
	}
	var lines [][]point
	for i := range r.Policies {
		var line []point
		for quarter, n := range r.Policies[i].Length {
			line = append(line, point{float64(quarter) / 4, n})
		}
		lines = append(lines, line)
	}
	return append(all, newPlot("People in line, by the hour of the day", "o'clock", "people", names, lines))
}

// shownShare is up to which share a distribution is drawn: the last ones of a
// hundred would take most of the paper.
const shownShare = 0.995

// distribution is the curve of sorted waits: minutes, and per cent of the people.
func distribution(ms []int64) []point {
	if len(ms) == 0 {
		return []point{{0, 0}}
	}
	line := []point{{0, 0}}
	const points = 200
	for i := range points + 1 {
		q := shownShare * float64(i) / points
		line = append(line, point{seconds(quantile(ms, q)) / 60, 100 * q})
	}
	return line
}

// bars compares the quantiles of one kind of people.
type bars struct {
	Title string
	Rows  []bar
	Max   float64
}

// bar is one policy: P50, P90 and P99 as shares of the width.
type bar struct {
	Name          string
	Number        int
	P50, P90, P99 float64 // in per cent of the widest
	Text          string
}

// bars are the quantiles by kind of people and policy.
func (r *Report) bars() []bars {
	var all []bars
	shown := r.Policies[0].shown()
	skipped := len(r.Policies[0].Lines) - len(shown)
	for n := range shown {
		b := bars{Title: r.label(&shown[n])}
		widest := 0.0
		for i := range r.Policies {
			widest = max(widest, r.Policies[i].Lines[n+skipped].Wait.P99)
		}
		for i := range r.Policies {
			w := r.Policies[i].Lines[n+skipped].Wait
			part := func(v float64) float64 {
				if widest == 0 {
					return 0
				}
				return math.Round(1000*v/widest) / 10
			}
			b.Rows = append(b.Rows, bar{
				Name: r.Policies[i].Name, Number: i % colours, P50: part(w.P50), P90: part(w.P90), P99: part(w.P99),
				Text: fmt.Sprintf("%.1f · %.1f · %.1f s", w.P50, w.P90, w.P99),
			})
		}
		all = append(all, b)
	}
	return all
}
