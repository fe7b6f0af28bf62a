package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/dengxu/dengxu/bench/internal/rig"
)

// percent writes a share so that one failure among many is not rounded away.
func percent(share float64) string {
	if share == 1 {
		return "100 %"
	}
	return fmt.Sprintf("%.2f %%", min(share*100, 99.99))
}

// cores writes how much of the machine each had.
func (f figures) cores(s *system) string {
	text := []string{fmt.Sprintf("generator %.2f", f.cpu[0])}
	for i, p := range s.parts {
		text = append(text, fmt.Sprintf("%s %.2f", p.name, f.cpu[i+1]))
	}
	return strings.Join(text, ", ")
}

// why writes what became of those that failed.
func (f figures) why() string {
	var text strings.Builder
	for _, reason := range slices.Sorted(maps.Keys(f.failures)) {
		fmt.Fprintf(&text, "; %s: %d", reason, f.failures[reason])
	}
	return text.String()
}

// report prints the three tables of the story.
func report(out io.Writer, p plan, accounts []*account) {
	fmt.Fprintf(out, "\n%d requests a second, half joins, half calls, over %d connections for %s, from the moment each was due:\n\n", p.rate, p.conns, p.lasts)
	t := rig.NewTable("system", "P50", "P99", "P99.9", "joins P99", "calls P99", "success", "cores")
	for _, a := range accounts {
		f := a.story
		t.Add(a.name, rig.Short(f.p(0.5)), rig.Short(f.p(0.99)), rig.Short(f.p(0.999)),
			rig.Short(rig.Percentile(f.joins, 0.99)), rig.Short(rig.Percentile(f.calls, 0.99)), percent(f.share()), f.cores(a.system))
	}
	t.Print(out)

	fmt.Fprintf(out, "The highest rate that holds: P99 below %s, success at least %s:\n\n", rig.Short(heldP99), percent(heldShare))
	t = rig.NewTable("system", "holds, a second", "does not hold any more")
	for _, a := range accounts {
		t.Add(a.name, shown(a.held), shown(a.broke))
	}
	t.Print(out)
	reportBreak(out, p, accounts)
}

func shown(rate int) string {
	if rate == 0 {
		return "none that was tried"
	}
	return fmt.Sprint(rate)
}

// reportBreak tells of the rate at which the table broke.
func reportBreak(out io.Writer, p plan, accounts []*account) {
	first := accounts[0]
	if first.key != "table" {
		return // not in this run
	}
	if first.broke == 0 {
		fmt.Fprintf(out, "The table did not break at any rate up to %d a second.\n", p.highest)
		return
	}
	fmt.Fprintf(out, "At %d a second, where the table breaks, for %s:\n\n", first.broke, p.lasts)
	t := rig.NewTable("system", "P50", "P99", "success", "the table's P99 to this", "goal", "met")
	for _, a := range accounts {
		f := a.there
		cells := []string{a.name, rig.Short(f.p(0.5)), rig.Short(f.p(0.99)), percent(f.share())}
		if a != first {
			times := float64(first.there.p(0.99)) / float64(f.p(0.99))
			cells = append(cells, fmt.Sprintf("%.0f", times), fmt.Sprintf("≥ %d, success 100 %%", goal),
				string(rig.Met(times >= goal && f.share() == 1)))
		}
		t.Add(cells...)
	}
	t.Print(out)
}
