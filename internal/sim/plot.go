package sim

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Plots are drawn as SVG by report.html: this file works out where the lines go.

// The size of a plot, and of the frame inside that is drawn into, in units of SVG.
const (
	plotWidth, plotHeight = 640, 300
	plotLeft, plotRight   = 56, 16
	plotTop, plotBottom   = 32, 40 // above the frame is the label of the upright axis
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

// curve is one line of a plot.
type curve struct {
	Name   string
	Number int // of the colour
	Points string
}

// point of a curve, in its own units.
type point struct{ x, y float64 }

// newPlot draws curves into one frame.
func newPlot(title string, across, up axis, names []string, lines [][]point) plot {
	p := plot{
		Title: title, Width: plotWidth, Height: plotHeight, XLabel: across.label, YLabel: up.label,
		Left: plotLeft, Right: plotWidth - plotRight, Top: plotTop, Bottom: plotHeight - plotBottom,
	}
	p.XTicks, p.YTicks = across.ticks(p.Left, p.Right), up.ticks(p.Bottom, p.Top)
	for i, line := range lines {
		var points []string
		for _, v := range line {
			points = append(points, fmt.Sprintf("%.1f,%.1f", across.at(v.x, p.Left, p.Right), up.at(v.y, p.Bottom, p.Top)))
		}
		p.Curves = append(p.Curves, curve{Name: names[i], Number: i % colours, Points: strings.Join(points, " ")})
	}
	return p
}

// colours is how many there are in report.html.
const colours = 8

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
		most := 0.0
		for i := range r.Policies {
			line := distribution(r.Policies[i].Lines[n+skipped].waits)
			lines, most = append(lines, line), max(most, line[len(line)-1].x)
		}
		title := "Share of people who waited at most so long: " + r.label(&shown[n])
		all = append(all, newPlot(title, waits("wait", most), numbers("%", 100), names, lines))
	}
	if r.Policies[0].Length == nil {
		return all
	}
	var lines [][]point
	var days [][]float64
	most := 0.0
	for i := range r.Policies {
		days, most = append(days, r.Policies[i].Length), max(most, slices.Max(r.Policies[i].Length))
	}
	across := hours("o'clock", days)
	for _, day := range days {
		var line []point
		for quarter, n := range day {
			// Each mean stands in the middle of its quarter.
			if hour := (float64(quarter) + 0.5) / 4; across.from < hour && hour < across.to {
				line = append(line, point{hour, n})
			}
		}
		lines = append(lines, line)
	}
	return append(all, newPlot("People in line, by the hour of the day", across, numbers("people", most), names, lines))
}

// shownShare is up to which share a distribution is drawn: the last ones of a
// hundred would take most of the paper.
const shownShare = 0.995

// distribution is the curve of sorted waits: seconds, and per cent of the people.
func distribution(ms []int64) []point {
	if len(ms) == 0 {
		return []point{{0, 0}}
	}
	line := []point{{0, 0}}
	const points = 200
	for i := range points + 1 {
		q := shownShare * float64(i) / points
		line = append(line, point{seconds(quantile(ms, q)), 100 * q})
	}
	return line
}

// barWidth is how long the axis of bars is, in units of SVG.
const barWidth = 384

// bars compares the quantiles of one kind of people.
type bars struct {
	Title string
	Rows  []bar
	Ticks []tick
}

// bar is one policy: how long its bars of P50, P90 and P99 are, in units of SVG.
type bar struct {
	Name          string
	Number        int
	P50, P90, P99 float64
	Text          string
}

// bars are the quantiles by kind of people and policy.
func (r *Report) bars() []bars {
	var all []bars
	shown := r.Policies[0].shown()
	skipped := len(r.Policies[0].Lines) - len(shown)
	for n := range shown {
		b := bars{Title: r.label(&shown[n])}
		longest := 0.0
		for i := range r.Policies {
			longest = max(longest, r.Policies[i].Lines[n+skipped].Wait.P99)
		}
		axis := waits("wait", longest)
		b.Ticks = axis.ticks(0, barWidth)
		long := func(v float64) float64 { return math.Round(10*axis.at(v, 0, barWidth)) / 10 }
		for i := range r.Policies {
			w := r.Policies[i].Lines[n+skipped].Wait
			b.Rows = append(b.Rows, bar{
				Name: r.Policies[i].Name, Number: i % colours, P50: long(w.P50), P90: long(w.P90), P99: long(w.P99),
				Text: fmt.Sprintf("%s · %s · %s", clock(w.P50), clock(w.P90), clock(w.P99)),
			})
		}
		all = append(all, b)
	}
	return all
}
