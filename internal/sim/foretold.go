package sim

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// What people were told, as tables and pictures show it.

// foretold reports whether people were told their waits.
func (r *Report) foretold() bool { return r.Policies[0].Estimates != nil }

// estimateHeads are the columns after policy and who.
var estimateHeads = []string{"told", "wait mean", "low", "recommended", "high", "bias", "WAPE"}

// estimatesExplained says what the columns mean.
const estimatesExplained = "Estimates at the join, of those who were called and had not found a free counter. low, recommended, high: the\n" +
	"share of waits that were at most so long; 10, 50 and 90 % are promised. bias: by how much recommended was too\n" +
	"long in the mean. WAPE: how far off it was, as a share of the waits.\n"

// estimateRow is one row of the table.
type estimateRow struct {
	policy, who string
	first       bool // of its policy
	cells       []string
}

func (k *Kept) cells(sec func(float64) string) []string {
	if k.People == 0 {
		return []string{"0", "", "", "", "", "", ""}
	}
	return []string{
		fmt.Sprint(k.People), sec(k.Wait), percent(k.Low), percent(k.Recommended), percent(k.High),
		signed(k.Bias, sec), percent(k.WAPE),
	}
}

// signed is a time that may be below 0.
func signed(v float64, sec func(float64) string) string {
	if v < 0 {
		return "−" + sec(-v)
	}
	return "+" + sec(v)
}

// estimateRows are by policy: kinds of people, how many were ahead, weeks, and
// everybody.
func (r *Report) estimateRows(sec func(float64) string) []estimateRow {
	var rows []estimateRow
	for i := range r.Policies {
		p := &r.Policies[i]
		e := p.Estimates
		if e == nil {
			continue // as recorded
		}
		first := true
		add := func(who string, k *Kept) {
			rows = append(rows, estimateRow{p.Name, who, first, k.cells(sec)})
			first = false
		}
		if len(e.Lines) > 1 {
			for n := range e.Lines {
				add(r.label(&p.Lines[n]), &e.Lines[n].Kept)
			}
		}
		for n := range e.Ahead {
			add(e.Ahead[n].Ahead+" ahead", &e.Ahead[n].Kept)
		}
		for n, k := range e.weeks() {
			add(fmt.Sprintf("week %d", n+1), &k)
		}
		add("all", &e.All)
	}
	return rows
}

// estimateNotes say what the table has no column for, by policy.
func (r *Report) estimateNotes() []string {
	var notes []string
	for i := range r.Policies {
		e := r.Policies[i].Estimates
		if e == nil {
			continue
		}
		var parts []string
		for _, method := range slices.Sorted(maps.Keys(e.Methods)) {
			parts = append(parts, fmt.Sprintf("%d by %s", e.Methods[method], method))
		}
		if e.Idle > 0 {
			parts = append(parts, fmt.Sprintf("%d found a free counter", e.Idle))
		}
		if e.IdleWaited > 0 {
			parts = append(parts, fmt.Sprintf("%d of these were not called at once", e.IdleWaited))
		}
		if e.Uncalled > 0 {
			parts = append(parts, fmt.Sprintf("%d were told and never called", e.Uncalled))
		}
		for _, reason := range slices.Sorted(maps.Keys(e.Unknown)) {
			parts = append(parts, fmt.Sprintf("%d could not be told anything: %s", e.Unknown[reason], reason))
		}
		notes = append(notes, r.Policies[i].Name+": "+strings.Join(parts, ", "))
	}
	return notes
}

// printEstimates writes the table of what people were told, if they were.
func (r *Report) printEstimates(w io.Writer) error {
	if !r.foretold() {
		return nil
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "policy\twho\t%s\t\n", strings.Join(estimateHeads, "\t"))
	for _, row := range r.estimateRows(plainSeconds) {
		fmt.Fprintf(t, "%s\t%s\t%s\t\n", row.policy, row.who, strings.Join(row.cells, "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, note := range r.estimateNotes() {
		fmt.Fprintln(w, note)
	}
	_, err := io.WriteString(w, estimatesExplained)
	return err
}

// estimatePlots are the pictures of what was told, two for each policy.
func (r *Report) estimatePlots() []plot {
	var all []plot
	for i := range r.Policies {
		e := r.Policies[i].Estimates
		if e == nil || e.All.People == 0 {
			continue
		}
		all = append(all, e.against(r.Policies[i].Name))
		if len(e.Days) > 1 {
			all = append(all, e.byDay(r.Policies[i].Name))
		}
	}
	return all
}

// crowds is how many groups of equally many people a curve of promises is made
// of.
const crowds = 25

// against is what was promised against what came: people in order of what was
// recommended to them, and of each crowd of them the means of the promises, and
// the quantiles of the waits that these promise.
func (e *Estimates) against(policy string) plot {
	sorted := slices.SortedStableFunc(slices.Values(e.kept), func(a, b kept) int {
		return cmp.Compare(a.said[1], b.said[1])
	})
	names := []string{"low told", "recommended told", "high told", "10 % waited at most", "50 %", "90 %"}
	lines := make([][]point, len(names))
	most, furthest := 0.0, 0.0
	for c := range crowds {
		crowd := sorted[c*len(sorted)/crowds : (c+1)*len(sorted)/crowds]
		if len(crowd) == 0 {
			continue
		}
		var told [3]float64
		var waits []int64
		for _, k := range crowd {
			for q := range told {
				told[q] += k.said[q] / float64(len(crowd))
			}
			waits = append(waits, int64(1000*k.wait))
		}
		slices.Sort(waits)
		furthest = max(furthest, told[1])
		for q, share := range []float64{0.1, 0.5, 0.9} {
			came := seconds(quantile(waits, share))
			lines[q] = append(lines[q], point{told[1], told[q]})
			lines[3+q] = append(lines[3+q], point{told[1], came})
			most = max(most, told[q], came)
		}
	}
	return newPlot("Told and came true, by what was recommended: "+policy, waits("recommended", furthest), waits("wait", most), names, lines)
}

// byDay is which share of the waits was at most as long as told, day by day.
func (e *Estimates) byDay(policy string) plot {
	lines := make([][]point, 3)
	for day, k := range e.Days {
		if k.People == 0 {
			continue
		}
		for q, covered := range []float64{k.Low, k.Recommended, k.High} {
			lines[q] = append(lines[q], point{float64(day + 1), 100 * covered})
		}
	}
	return newPlot("Share of waits that were at most as long as told, by day: "+policy, numbers("day", float64(len(e.Days))), numbers("%", 100),
		[]string{"low, 10 % promised", "recommended, 50 %", "high, 90 %"}, lines)
}
