// Package evaluate holds forecasts against recorded days: each is made with what
// was known when a person joined, and scored when the recording says how long
// the wait was. It owns the protocol and refuses to know how forecasts are made.
package evaluate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dengxu/dengxu/internal/estimate"
	"github.com/dengxu/dengxu/internal/recording"
)

// Span is a run of days of a month, both ends in it.
type Span struct{ First, Last int }

// ParseSpan reads "1-20" or "7".
func ParseSpan(text string) (Span, error) {
	first, last, run := strings.Cut(text, "-")
	if !run {
		last = first
	}
	f, errFirst := strconv.Atoi(first)
	l, errLast := strconv.Atoi(last)
	if errFirst != nil || errLast != nil || f < 1 || l < f {
		return Span{}, fmt.Errorf("%q is no run of days such as 1-20", text)
	}
	return Span{First: f, Last: l}, nil
}

func (s Span) has(day int) bool { return day >= s.First && day <= s.Last }

func (s Span) String() string { return fmt.Sprintf("%d-%d", s.First, s.Last) }

// Options are what is evaluated.
type Options struct {
	Days []recording.Day
	// Train are the days to learn from, Test those that are scored. Days are
	// those of the month; in a recording of several months, and where dates are
	// none, they are counted from the first.
	Train, Test Span
	// HeadStart is by how many seconds people of priority 2 are ahead of their
	// arrival.
	HeadStart float64
}

// The protocol, in seconds where nothing else is said.
const (
	// openFor is how long a server counts as open after its last service.
	openFor = 300
	// minEnded is how many services have to have ended on a day before it is
	// forecast.
	minEnded = 3
)

// Run walks through all days and scores the days of the test. It fails when the
// days of training do not hold enough to learn from, or those of the test hold
// nobody.
func Run(o Options) (*Report, error) {
	walk, err := newWalk(o)
	if err != nil {
		return nil, err
	}
	if o.Test.First <= o.Train.Last {
		return nil, fmt.Errorf("days %s do not come after days %s", o.Test, o.Train)
	}
	report := newReport(o)
	e := walk.estimator
	var resolved []estimate.Resolved
	walk.made = func(d day) {
		switch {
		case o.Train.has(d.number):
			report.Train.N++
		case o.Test.has(d.number):
			report.Test.N++
		}
	}
	walk.resolved = func(d day, t *told, wait float64) {
		if o.Train.has(d.number) {
			resolved = append(resolved, estimate.Resolved{Sample: t.full.Sample, Wait: wait})
		} else if o.Test.has(d.number) {
			report.score(t, wait)
		}
	}
	learned := false
	for _, d := range walk.days {
		if !learned && d.number > o.Train.Last {
			learned = true
			l, err := estimate.Learn(resolved)
			if err != nil {
				return nil, fmt.Errorf("train on days %s: %w", o.Train, err)
			}
			e.Adopt(l)
			report.learned(l, resolved)
		}
		walk.through(d)
	}
	if report.Test.N == 0 {
		return nil, fmt.Errorf("nobody had to wait on days %s", o.Test)
	}
	report.finish()
	return report, nil
}

// day is a recorded day with its number and its midnight, in ms.
type day struct {
	recording.Day
	number   int
	midnight int64
	weekday  int
}

// number reads the dates of days. Where one is no date, or months differ, days
// are counted from the first.
func number(days []recording.Day) []day {
	numbered := make([]day, len(days))
	month, counted := "", false
	for i, d := range days {
		at, err := time.Parse(time.DateOnly, d.Date)
		if err != nil || month != "" && month != at.Format("2006-01") {
			counted = true
			break
		}
		month = at.Format("2006-01")
		numbered[i] = day{Day: d, number: at.Day(), midnight: at.UnixMilli(), weekday: int(at.Weekday())}
	}
	if counted {
		const dayMs = 24 * 60 * 60 * 1000
		for i, d := range days {
			numbered[i] = day{Day: d, number: i + 1, midnight: int64(i+1) * dayMs, weekday: i % 7}
		}
	}
	slices.SortStableFunc(numbered, func(a, b day) int { return cmp.Compare(a.number, b.number) })
	return numbered
}
