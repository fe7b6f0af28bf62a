package evaluate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/estimate"
)

// RunLessons forecasts what a queue has learned from, in the order in which
// people joined: the older share of it is learned from, as far as it was resolved
// when the first of the rest joined, and the rest is scored, calibrated by what
// was resolved by then. It fails where there is too little of either.
func RunLessons(lessons []dengxu.Lesson, share float64) (*Report, error) {
	if !(share > 0 && share < 1) {
		return nil, errors.New("the share to learn from is above 0 and below 1")
	}
	r := newRerun(lessons)
	cut := int(share * float64(len(r.rows)))
	if cut == len(r.rows) {
		return nil, errors.New("there are no resolved tokens to score")
	}
	report := &Report{
		Train: Part{Days: r.days(0, cut), N: cut}, Test: Part{Days: r.days(cut, len(r.rows)), N: len(r.rows) - cut},
		Method: estimate.MethodErlang,
	}
	var resolved []estimate.Resolved
	r.resolved = func(row int) {
		if row < cut {
			resolved = append(resolved, r.rows[row])
		} else {
			report.score(r.told[row], r.rows[row].Wait)
		}
	}
	for i := range r.rows {
		r.until(r.rows[i].At)
		if i == cut {
			learned, err := estimate.Learn(resolved)
			if err != nil {
				return nil, fmt.Errorf("learn from the older %g: %w", share, err)
			}
			r.estimator.Adopt(learned)
			report.learned(learned, resolved)
		}
		s := r.rows[i].Sample
		r.told[i] = &told{full: r.estimator.Again(s), plain: r.estimator.AgainWithout(s), window: s.Window()}
	}
	r.until(math.MaxInt64)
	report.finish()
	return report, nil
}

// rerun goes through lessons again: each is forecast when it joined and known
// when it was called.
type rerun struct {
	rows      []estimate.Resolved // by when they joined
	ends      []int               // rows by when they were called
	over      int                 // how many of ends are resolved
	told      []*told
	estimator *estimate.Estimator
	resolved  func(row int)
}

func newRerun(lessons []dengxu.Lesson) *rerun {
	r := &rerun{estimator: new(estimate.Estimator), told: make([]*told, len(lessons))}
	for i := range lessons {
		r.rows = append(r.rows, resolvedOf(&lessons[i]))
		r.ends = append(r.ends, i)
	}
	slices.SortStableFunc(r.rows, func(a, b estimate.Resolved) int { return cmp.Compare(a.At, b.At) })
	slices.SortStableFunc(r.ends, func(a, b int) int { return cmp.Compare(r.end(a), r.end(b)) })
	return r
}

// end is when a row was called, in ms.
func (r *rerun) end(row int) int64 { return r.rows[row].At + int64(1000*r.rows[row].Wait) }

// until resolves what was told and is known at a moment.
func (r *rerun) until(at int64) {
	for ; r.over < len(r.ends); r.over++ {
		row := r.ends[r.over]
		if r.told[row] == nil || r.end(row) > at {
			return
		}
		r.resolved(row)
		r.estimator.Resolve(r.told[row].full, r.rows[row].Wait)
	}
}

// days says from when to when some rows joined.
func (r *rerun) days(first, behind int) string {
	if first == behind {
		return "none"
	}
	day := func(row int) string { return time.UnixMilli(r.rows[row].At).UTC().Format(time.DateOnly) }
	if day(first) == day(behind-1) {
		return day(first)
	}
	return day(first) + " to " + day(behind-1)
}

func resolvedOf(l *dengxu.Lesson) estimate.Resolved {
	r := estimate.Resolved{Wait: l.Wait, Sample: estimate.Sample{
		At: l.At, Position: l.Position, PerSecond: l.PerSecond, Class: l.Class, Group: l.Group, Covariates: l.Covariates,
	}}
	for _, v := range l.Features {
		if v == nil {
			v = new(math.NaN())
		}
		r.Features = append(r.Features, *v)
	}
	return r
}
