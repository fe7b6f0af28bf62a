// Package rig is what the comparisons have in common: real servers that end
// with the program, latencies and processor time, and the table in which a run
// is told. It measures nothing itself.
package rig

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"
	"unicode/utf8"
)

// Percentile of sorted latencies, p in [0, 1]; 0 of none.
func Percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}

// Short writes a latency as milliseconds, with as many digits as it deserves.
func Short(d time.Duration) string {
	ms := float64(d) / 1e6
	switch {
	case ms >= 100:
		return fmt.Sprintf("%.0f ms", ms)
	case ms >= 1:
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.3f ms", ms)
}

// Verdict is whether a goal was met.
type Verdict string

// The verdicts; None is of what has no goal, or not in this run.
const (
	None Verdict = "–"
	Yes  Verdict = "yes"
	No   Verdict = "no"
)

// Met is the verdict of a condition.
func Met(ok bool) Verdict {
	if ok {
		return Yes
	}
	return No
}

// Table is rows of cells under a head, printed as Markdown whose columns stand
// below each other.
type Table struct {
	rows [][]string
}

// NewTable begins a table.
func NewTable(head ...string) *Table { return &Table{rows: [][]string{head}} }

// Add adds a row.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// Print writes the table and an empty line.
func (t *Table) Print(w io.Writer) {
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for n, row := range t.rows {
		var line strings.Builder
		for i, width := range widths {
			cell := ""
			if i < len(row) {
				cell = row[i]
			}
			line.WriteString("| " + cell + strings.Repeat(" ", width-utf8.RuneCountInString(cell)) + " ")
		}
		fmt.Fprintln(w, line.String()+"|")
		if n == 0 {
			fmt.Fprintln(w, "|"+strings.Repeat("---|", len(widths)))
		}
	}
	fmt.Fprintln(w)
}

// Crowded says in words that others use the machine, or "".
func Crowded() string {
	const quiet = 2 // a run by itself reaches that, little by little
	text, err := os.ReadFile("/proc/loadavg")
	var load float64
	if err == nil {
		_, err = fmt.Sscan(string(text), &load)
	}
	if err != nil || load < quiet {
		return ""
	}
	return fmt.Sprintf("others use this machine (load %.1f): what follows says little", load)
}

// Main runs a program of this module: flags first, until it is interrupted.
func Main(do func(ctx context.Context, out io.Writer) error) {
	flag.Parse()
	if warning := Crowded(); warning != "" {
		fmt.Fprintln(os.Stderr, warning)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := do(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
