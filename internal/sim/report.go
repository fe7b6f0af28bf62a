package sim

import (
	"math"
	"slices"
)

// Report is what a scenario came to. Times are seconds. Its JSON is what
// `dengxu sim --json` prints.
type Report struct {
	Name     string         `json:"name,omitempty"`
	Runs     []runName      `json:"runs"`
	Policies []PolicyReport `json:"policies"`
	Fewest   []Fewest       `json:"fewest,omitempty"` // of a search for counters, by policy
	Tries    []Try          `json:"tries,omitempty"`  // of it, by policy and count
}

// PolicyReport is what one policy came to.
type PolicyReport struct {
	Name     string `json:"name"`
	Counters int    `json:"counters,omitempty"` // that a search found
	// Utilisation is the share of open time in which counters had somebody; 0 in
	// a recording, where nobody knows when they were open.
	Utilisation float64 `json:"utilisation,omitempty"`
	Lines       []Line  `json:"lines"` // by queue, class and group; the last is everybody
	// Length is how many waited on average by quarters of an hour of the day;
	// only when whole days were played.
	Length   []float64 `json:"length_by_quarter_hour,omitempty"`
	Warnings []string  `json:"warnings,omitempty"` // of the server, about the settings
	// Estimates are what people were told, in a scenario with estimates.
	Estimates *Estimates `json:"estimates,omitempty"`
}

// Line is what came of people of one kind.
type Line struct {
	Queue string `json:"queue,omitempty"`
	Class string `json:"class,omitempty"`
	Group string `json:"group,omitempty"`
	All   bool   `json:"all,omitempty"`

	People int `json:"people"`
	// Served and the next four are how the stays ended; together they are People.
	Served     int `json:"served"`
	GaveUp     int `json:"gave_up"`
	NeverCame  int `json:"never_came"`
	TurnedAway int `json:"turned_away"`
	LeftOver   int `json:"left_over"` // still waited when the day or the run was over
	// MissedRate is the share of calls to which nobody came.
	MissedRate float64 `json:"missed_rate"`

	// Wait is from the join to the first call, of those who were called and had
	// not gone.
	Wait Wait `json:"wait"`
	// PassedRate is the share of people before whom somebody was called who came
	// later, MostPassed by how many of them one person was passed at most, and
	// OvertakenBySeconds how much later the latest of them had come.
	PassedRate         float64 `json:"passed_rate"`
	MostPassed         int     `json:"most_passed"`
	OvertakenBySeconds float64 `json:"overtaken_by_seconds"`

	waits []int64 // ms, sorted
}

// Wait sums waits up.
type Wait struct {
	Calls int     `json:"calls"` // how many waits
	Mean  float64 `json:"mean_seconds"`
	// StandardError is that of Mean, from the means of the runs, or of 20 batches
	// of one run without hours; 0 when there is nothing to take it from.
	StandardError float64 `json:"standard_error_seconds"`
	P50           float64 `json:"p50_seconds"`
	P90           float64 `json:"p90_seconds"`
	P99           float64 `json:"p99_seconds"`
	Longest       float64 `json:"longest_seconds"`
}

// report sums up the measures, by policy and run. What was recorded comes first.
func (p *plan) report(results [][]*measures) *Report {
	out := &Report{Name: p.Name, Runs: p.runs}
	if p.recorded != nil {
		var days []*measures
		for run := range p.runs {
			days = append(days, p.asRecorded(run))
		}
		out.Policies = append(out.Policies, p.policyReport(policyRecorded, days))
	}
	for i, runs := range results {
		out.Policies = append(out.Policies, p.policyReport(p.Policies[i].Name, runs))
	}
	return out
}

// policyReport sums up the runs of one policy.
func (p *plan) policyReport(name string, runs []*measures) PolicyReport {
	out := PolicyReport{Name: name, Length: p.length(runs), Warnings: runs[0].warnings, Estimates: p.estimates(runs)}
	every := make([]int, len(p.lines))
	for n, who := range p.lines {
		every[n] = n
		l := sumUp(runs, []int{n}, p.days == 0)
		l.Queue, l.Class, l.Group = string(who.Queue), who.Class, who.Group
		out.Lines = append(out.Lines, l)
	}
	all := sumUp(runs, every, p.days == 0)
	all.All = true
	out.Lines = append(out.Lines, all)
	var busy, open int64
	for _, m := range runs {
		busy, open = busy+m.busyMS, open+m.openMS
	}
	if open > 0 {
		out.Utilisation = float64(busy) / float64(open)
	}
	return out
}

// length is the mean line by the time of the day.
func (p *plan) length(runs []*measures) []float64 {
	if p.days == 0 {
		return nil
	}
	mean := make([]float64, dayBins)
	for _, m := range runs {
		for i, area := range m.length.bins {
			mean[i] += area / (86_400_000 / dayBins) / float64(p.days*len(runs))
		}
	}
	return mean
}

// sumUp makes a line of the tallies of several, over all runs.
func sumUp(runs []*measures, lines []int, steady bool) Line {
	var out Line
	var means, batches []float64
	calls, missed, passed, overtaken := 0, 0, 0, int64(0)
	for _, m := range runs {
		var waits []int64
		for _, n := range lines {
			t := &m.lines[n]
			waits = append(waits, t.waits...)
			out.People += t.came
			out.Served += t.outcomes[served]
			out.GaveUp += t.outcomes[gaveUp]
			out.NeverCame += t.outcomes[neverCame]
			out.TurnedAway += t.outcomes[turnedAway]
			out.LeftOver += t.outcomes[leftOver]
			calls, missed, passed = calls+t.calls, missed+t.missed, passed+t.passed
			out.MostPassed, overtaken = max(out.MostPassed, t.mostPassed), max(overtaken, t.overtaken)
		}
		if len(waits) > 0 {
			means = append(means, meanOf(waits))
		}
		if len(runs) == 1 && len(lines) == 1 && steady {
			batches = batchMeans(waits)
		}
		out.waits = append(out.waits, waits...)
	}
	out.OvertakenBySeconds = seconds(overtaken)
	out.MissedRate, out.PassedRate = share(missed, calls), share(passed, out.People)
	slices.Sort(out.waits)
	out.Wait = waitOf(out.waits)
	if len(runs) == 1 {
		means = batches
	}
	out.Wait.StandardError = standardError(means) / 1000
	return out
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// waitOf sums sorted waits up.
func waitOf(ms []int64) Wait {
	if len(ms) == 0 {
		return Wait{}
	}
	return Wait{
		Calls: len(ms), Mean: meanOf(ms) / 1000,
		P50: seconds(quantile(ms, 0.5)), P90: seconds(quantile(ms, 0.9)), P99: seconds(quantile(ms, 0.99)),
		Longest: seconds(ms[len(ms)-1]),
	}
}

// quantile is the smallest of sorted values that at least the share q does not
// exceed.
func quantile(sorted []int64, q float64) int64 {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

// meanOf is the mean in the unit of the values.
func meanOf(values []int64) float64 {
	sum := int64(0) // ms: enough for 29,000 years of a million people
	for _, v := range values {
		sum += v
	}
	return float64(sum) / float64(len(values))
}

// batchesOfOne is how many batches one run is cut into for its standard error.
const batchesOfOne = 20

// batchMeans cuts the waits of one long run into batches, which are long enough
// to be nearly independent when the run is.
func batchMeans(waits []int64) []float64 {
	size := len(waits) / batchesOfOne
	if size == 0 {
		return nil
	}
	var means []float64
	for i := range batchesOfOne {
		means = append(means, meanOf(waits[i*size:(i+1)*size]))
	}
	return means
}

// standardError is that of the mean of independent means.
func standardError(means []float64) float64 {
	n := float64(len(means))
	if n < 2 {
		return 0
	}
	mean, squares := 0.0, 0.0
	for _, v := range means {
		mean += v / n
	}
	for _, v := range means {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / (n - 1) / n)
}
