package sim

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// names are the columns that tell lines apart: those in which they differ.
func (r *Report) names() (queue, class, group bool) {
	first := r.Policies[0].Lines[0]
	for _, l := range r.Policies[0].Lines {
		if l.All {
			continue
		}
		queue = queue || l.Queue != first.Queue
		class = class || l.Class != first.Class
		group = group || l.Group != first.Group
	}
	return queue, class, group
}

// label names a line in a table.
func (r *Report) label(l *Line) string {
	if l.All {
		return "all"
	}
	queue, class, group := r.names()
	var parts []string
	for _, p := range []struct {
		shown bool
		text  string
	}{{queue, l.Queue}, {class, l.Class}, {group, l.Group}} {
		if p.shown && p.text != "" {
			parts = append(parts, p.text)
		}
	}
	if len(parts) == 0 {
		return l.Group
	}
	return strings.Join(parts, " ")
}

// shown are the lines of a policy that are worth a row: with one line, everybody
// is the same.
func (p *PolicyReport) shown() []Line {
	if len(p.Lines) == 2 {
		return p.Lines[1:]
	}
	return p.Lines
}

// answers are what a search found, one line for each policy.
func (r *Report) answers() []string {
	var all []string
	for _, f := range r.Fewest {
		head := "fewest: "
		if len(r.Fewest) > 1 {
			head = "fewest under " + f.Policy + ": "
		}
		all = append(all, head+f.String())
	}
	return all
}

// Print writes the report as tables for people, after what a search tried and
// found. Waits are in seconds.
func (r *Report) Print(w io.Writer) error {
	for _, t := range r.Tries {
		fmt.Fprintln(w, t)
	}
	for _, answer := range r.answers() {
		fmt.Fprintln(w, answer)
	}
	if len(r.Fewest) > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s\n\n", r.Heading())
	for i := range r.Policies {
		for _, text := range r.Policies[i].Warnings {
			fmt.Fprintf(w, "warning, policy %s: %s\n", r.Policies[i].Name, text)
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "policy\twho\tpeople\tserved\twait mean\t±\tP50\tP90\tP99\tlongest\tgave up\tmissed\tpassed\tmost\tby\t")
	for i := range r.Policies {
		p := &r.Policies[i]
		for _, l := range p.shown() {
			fmt.Fprintf(t, "%s\t%s\t%s\t\n", p.Name, r.label(&l), strings.Join(l.cells(plainSeconds), "\t"))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for i := range r.Policies {
		if note := r.Policies[i].note(); note != "" {
			fmt.Fprintf(w, "%s: %s\n", r.Policies[i].Name, note)
		}
	}
	if _, err := io.WriteString(w, r.explained("Waits in seconds")); err != nil {
		return err
	}
	return r.printEstimates(w)
}

// Heading says what was played.
func (r *Report) Heading() string {
	name := r.Name
	if name != "" {
		name += ": "
	}
	first, last := r.Runs[0], r.Runs[len(r.Runs)-1]
	switch {
	case first.Date != "" && len(r.Runs) == 1:
		return name + "the recorded day " + first.Date
	case first.Date != "":
		return fmt.Sprintf("%s%d recorded days, %s to %s", name, len(r.Runs), first.Date, last.Date)
	case len(r.Runs) == 1:
		return fmt.Sprintf("%s1 run, seed %d", name, first.Seed)
	}
	return fmt.Sprintf("%s%d runs, seeds %d to %d", name, len(r.Runs), first.Seed, last.Seed)
}

// plainSeconds is a time in a table that says that times are seconds.
func plainSeconds(v float64) string { return fmt.Sprintf("%.1f", v) }

// cells are the figures of a line, as tables show them, with times as sec says.
func (l *Line) cells(sec func(float64) string) []string {
	return []string{
		fmt.Sprint(l.People), fmt.Sprint(l.Served), sec(l.Wait.Mean), sec(l.Wait.StandardError),
		sec(l.Wait.P50), sec(l.Wait.P90), sec(l.Wait.P99), sec(l.Wait.Longest),
		percent(share(l.GaveUp, l.People)), percent(l.MissedRate), percent(l.PassedRate), fmt.Sprint(l.MostPassed), sec(l.OvertakenBySeconds),
	}
}

func percent(v float64) string { return fmt.Sprintf("%.1f%%", 100*v) }

// note says what the table has no column for.
func (p *PolicyReport) note() string {
	var parts []string
	if p.Counters > 0 {
		parts = append(parts, counted(p.Counters, ""))
	}
	if p.Utilisation > 0 {
		parts = append(parts, "counters busy "+percent(p.Utilisation)+" of their time")
	}
	all := p.Lines[len(p.Lines)-1]
	for _, n := range []struct {
		count int
		text  string
	}{
		{all.TurnedAway, "were given no number"},
		{all.NeverCame, "were called and never came"},
		{all.LeftOver, "still waited at the end"},
	} {
		if n.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.count, n.text))
		}
	}
	return strings.Join(parts, ", ")
}

// explained says what the columns mean, beginning with what unit waits are in.
func (r *Report) explained(waits string) string {
	of := "runs"
	switch {
	case r.Runs[0].Date != "":
		of = "days"
	case len(r.Runs) == 1:
		of = "20 batches"
	}
	return waits + ", from the join to the first call; ± is the standard error of the mean, from the means of the " + of + ".\n" +
		"missed: of the calls. passed: people before whom one was called who came later; most: by how many one person\n" +
		"was passed; by: how much later the latest of them had come.\n"
}

// WriteJSON writes the report for scripts.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}
