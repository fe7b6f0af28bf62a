package replay

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/dengxu/dengxu/internal/recording"
)

// Tally is how many people of a kind were served and gave up, and how long the
// served ones waited altogether, in recorded seconds.
type Tally struct {
	Served, Abandoned int
	Wait              float64
}

// Mean is the mean wait of those served.
func (t Tally) Mean() float64 {
	if t.Served == 0 {
		return 0
	}
	return t.Wait / float64(t.Served)
}

// The lines of a result: the priorities, then sums.
const (
	others    = 3 // priorities 0 and 1
	everybody = 4
	lines     = 5
)

var lineNames = [lines]string{"0", "1", "2", "0 and 1", "all"}

// Result is a replay beside its recording.
type Result struct {
	Site     string        // where it was played
	Early    int           // called before they gave up in the recording
	MostLate time.Duration // the largest delay behind the schedule
	recorded [lines]Tally
	played   [lines]Tally
}

func newResult(rows []recording.Row, site string) *Result {
	r := &Result{Site: site}
	for _, row := range rows {
		if row.Served {
			count(&r.recorded, row.Priority, func(t *Tally) { t.Served++; t.Wait += float64(row.Start - row.Join) })
		} else {
			count(&r.recorded, row.Priority, func(t *Tally) { t.Abandoned++ })
		}
	}
	return r
}

// count adds to a priority's line and to the sums that it belongs to.
func count(tallies *[lines]Tally, priority int, add func(*Tally)) {
	add(&tallies[priority])
	add(&tallies[everybody])
	if priority < 2 {
		add(&tallies[others])
	}
}

func (r *Result) called(priority int, wait float64) {
	count(&r.played, priority, func(t *Tally) { t.Served++; t.Wait += wait })
}

func (r *Result) left(priority int) {
	count(&r.played, priority, func(t *Tally) { t.Abandoned++ })
}

// Recorded is what the recording says of everybody.
func (r *Result) Recorded() Tally { return r.recorded[everybody] }

// Played is what came of everybody.
func (r *Result) Played() Tally { return r.played[everybody] }

// Same reports whether as many were served and gave up as in the recording, in
// every priority.
func (r *Result) Same() bool {
	for i := range r.played {
		if r.played[i].Served != r.recorded[i].Served || r.played[i].Abandoned != r.recorded[i].Abandoned {
			return false
		}
	}
	return true
}

// Print writes the comparison as a table.
func (r *Result) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "priority\tserved\tfile\tmean wait\tfile\tdifference\tgave up\tfile\t")
	for i, name := range lineNames {
		p, f := r.played[i], r.recorded[i]
		fmt.Fprintf(t, "%s\t%d\t%d\t%.1f s\t%.1f s\t%+.1f s\t%d\t%d\t\n", name, p.Served, f.Served, p.Mean(), f.Mean(), p.Mean()-f.Mean(), p.Abandoned, f.Abandoned)
	}
	return t.Flush()
}
