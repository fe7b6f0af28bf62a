package sim

import (
	_ "embed" // the page
	"html/template"
	"io"
	"strings"
)

//go:embed report.html
var reportPage string

// page has no functions, no scripts and no addresses: a report is one file that
// can be mailed.
var page = template.Must(template.New("report").Parse(reportPage))

// WriteHTML writes the report as one page with pictures, which needs nothing
// else.
func (r *Report) WriteHTML(w io.Writer) error {
	type row struct {
		Policy, Who string
		Cells       []string
		First       bool // of its policy
	}
	type policy struct {
		Name, Note string
		Warnings   []string
	}
	data := struct {
		Title    string
		Heads    []string
		Rows     []row
		Policies []policy
		Text     string
		Plots    []plot
		Bars     []bars
		Tries    []string
		Answers  []string

		EstimateHeads []string
		Estimates     []row
		EstimateNotes []string
		EstimateText  string
		EstimatePlots []plot
	}{
		Title: r.Heading(), Text: strings.ReplaceAll(r.explained("Waits in seconds (s) or, above 60 s, as m:ss or h:mm:ss"), "\n", " "),
		Plots: r.plots(), Bars: r.bars(), Answers: r.answers(),
		Heads: []string{"people", "served", "wait mean", "±", "P50", "P90", "P99", "longest", "gave up", "missed", "passed", "most", "by"},
	}
	for i := range r.Policies {
		p := &r.Policies[i]
		data.Policies = append(data.Policies, policy{p.Name, p.note(), p.Warnings})
		for n, l := range p.shown() {
			data.Rows = append(data.Rows, row{p.Name, r.label(&l), l.cells(clock), n == 0})
		}
	}
	for _, t := range r.Tries {
		data.Tries = append(data.Tries, t.String())
	}
	if r.foretold() {
		data.EstimateHeads, data.EstimateText = estimateHeads, strings.ReplaceAll(estimatesExplained, "\n", " ")
		data.EstimateNotes, data.EstimatePlots = r.estimateNotes(), r.estimatePlots()
		for _, t := range r.estimateRows(clock) {
			data.Estimates = append(data.Estimates, row{t.policy, t.who, t.cells, t.first})
		}
	}
	return page.Execute(w, data)
}
