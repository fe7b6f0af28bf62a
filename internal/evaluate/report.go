package evaluate

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/dengxu/dengxu/internal/estimate"
)

// Report is how forecasts did.
type Report struct {
	Train Part `json:"train"`
	Test  Part `json:"test"`
	// Method is what learning chose, or erlang when nothing beat it.
	Method string `json:"method"`
	// Chosen is how each did on the newest days of training, on which it chose.
	Chosen []estimate.Verdict `json:"chosen"`
	// Clipped is how many forecasts of the test the guard changed.
	Clipped int    `json:"clipped"`
	Lines   []Line `json:"methods"`
	// Targets are there when they were checked.
	Targets []Target `json:"targets,omitempty"`

	cards [len(methods)]estimate.Card
	model *estimate.Model
	rows  []estimate.Resolved
	tests []estimate.Resolved
}

// Part is a run of days and how many forecasts were made on them.
type Part struct {
	Days string `json:"days"`
	N    int    `json:"n"`
}

// Line is how one method did on the days of the test; waits in seconds.
type Line struct {
	Method string  `json:"method"`
	What   string  `json:"what"`
	N      int     `json:"n"`
	Pin10  float64 `json:"pin10"`
	Pin50  float64 `json:"pin50"`
	Pin90  float64 `json:"pin90"`
	Cov10  float64 `json:"cov10"`
	Cov50  float64 `json:"cov50"`
	Cov90  float64 `json:"cov90"`
	Bias   float64 `json:"bias"`
	WAPE   float64 `json:"wape"`
	// ByPosition leaves out positions at which nobody stood.
	ByPosition []Bucket `json:"by_position"`
}

// Bucket is how a method did for those with so many ahead.
type Bucket struct {
	Ahead string  `json:"ahead"`
	N     int     `json:"n"`
	WAPE  float64 `json:"wape"`
	// Floor is the WAPE that a known rate and exponential services would leave.
	Floor float64 `json:"floor_wape"`
	Bias  float64 `json:"bias"`
	Cov50 float64 `json:"cov50"`
	Cov90 float64 `json:"cov90"`
}

// methods are what is compared, from the brief's formula to what is answered.
var methods = [...]struct{ name, what string }{
	{"window", "the brief's formula: (ahead + in service) × mean / counters"},
	{"mean", "no learning: position over rate"},
	{"erlang", "no learning: Erlang quantiles of position and rate"},
	{"erlang_calibrated", "the same, calibrated"},
	{"learned", "learned, before calibration"},
	{"linear", "linear quantile regression alone, before calibration"},
	{"trees", "boosted trees alone, before calibration"},
	{"full", "what is answered: learned, calibrated, guarded"},
}

func newReport(o Options) *Report {
	return &Report{Train: Part{Days: o.Train.String()}, Test: Part{Days: o.Test.String()}, Method: estimate.MethodErlang}
}

func (r *Report) learned(l *estimate.Learned, rows []estimate.Resolved) {
	r.Chosen, r.rows, r.model = l.Verdicts, rows, l.Model
	if l.Model != nil {
		r.Method = l.Model.Method
	}
}

// score adds one forecast of the test.
func (r *Report) score(t *told, wait float64) {
	f, s := &t.full, &t.full.Sample
	erlang := s.Erlang()
	mean := [3]float64{erlang[0], s.Base(), erlang[2]}
	for i, said := range [len(methods)][3]float64{
		{t.window, t.window, t.window},
		mean,
		erlang,
		{t.plain.Low, t.plain.Recommended, t.plain.High},
		f.Raw,
		r.alone(estimate.MethodLinear, t),
		r.alone(estimate.MethodTrees, t),
		{f.Low, f.Recommended, f.High},
	} {
		r.cards[i].Add(s.Position, wait, said)
	}
	if f.Calibrated {
		r.Clipped++
	}
	r.tests = append(r.tests, estimate.Resolved{Sample: f.Sample, Wait: wait})
}

// alone is what one part of the model says; what is said without, when there is
// none.
func (r *Report) alone(method string, t *told) [3]float64 {
	if r.model == nil {
		return t.full.Raw
	}
	return r.model.As(method).Quantiles(&t.full.Sample)
}

func (r *Report) finish() {
	for i, m := range methods {
		all := r.cards[i].All()
		pin, cov := all.Pinball(), all.Coverage()
		line := Line{
			Method: m.name, What: m.what, N: all.N,
			Pin10: pin[0], Pin50: pin[1], Pin90: pin[2], Cov10: cov[0], Cov50: cov[1], Cov90: cov[2],
			Bias: all.Bias(), WAPE: all.WAPE(),
		}
		for k := range r.cards[i] {
			if s := &r.cards[i][k]; s.N > 0 {
				cov := s.Coverage()
				line.ByPosition = append(line.ByPosition, Bucket{
					Ahead: estimate.Buckets[k], N: s.N, WAPE: s.WAPE(), Floor: s.Floor(), Bias: s.Bias(), Cov50: cov[1], Cov90: cov[2],
				})
			}
		}
		r.Lines = append(r.Lines, line)
	}
}

// Line returns how a method did; nil when there is none of that name.
func (r *Report) Line(method string) *Line {
	for i := range r.Lines {
		if r.Lines[i].Method == method {
			return &r.Lines[i]
		}
	}
	return nil
}

// WriteJSON writes the report for scripts.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// Print writes the report for people.
func (r *Report) Print(w io.Writer) error {
	fmt.Fprintf(w, "trained on days %s: n %d; scored on days %s: n %d; learned: %s; held back by the guard: %d\n\n",
		r.Train.Days, r.Train.N, r.Test.Days, r.Test.N, r.Method, r.Clipped)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "method\tpin50 s\tpin90 s\tcov10\tcov50\tcov90\tbias s\tWAPE\t")
	for _, l := range r.Lines {
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.3f\t%.3f\t%.3f\t%+.1f\t%.3f\t\n", l.Method, l.Pin50, l.Pin90, l.Cov10, l.Cov50, l.Cov90, l.Bias, l.WAPE)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nby how many are ahead, WAPE (and coverage of the P90 that is answered)")
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "ahead\tn\twindow\terlang\tfull\tfloor\tcov90\t")
	window, erlang, full := r.Line("window"), r.Line("erlang"), r.Line("full")
	for i, b := range full.ByPosition {
		fmt.Fprintf(t, "%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t\n", b.Ahead, b.N, window.ByPosition[i].WAPE, erlang.ByPosition[i].WAPE, b.WAPE, b.Floor, b.Cov90)
	}
	return t.Flush()
}
