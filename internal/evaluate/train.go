package evaluate

import (
	"fmt"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/estimate"
)

// Train learns from the days of training as Run does. The answer has what can be
// loaded, unless nothing beat position and rate.
func Train(o Options) (dengxu.Model, error) {
	walk, err := newWalk(o)
	if err != nil {
		return dengxu.Model{}, err
	}
	var resolved []estimate.Resolved
	walk.made = func(day) {}
	walk.resolved = func(d day, t *told, wait float64) {
		if o.Train.has(d.number) {
			resolved = append(resolved, estimate.Resolved{Sample: t.full.Sample, Wait: wait})
		}
	}
	for _, d := range walk.days {
		if d.number <= o.Train.Last {
			walk.through(d)
		}
	}
	learned, err := estimate.Learn(resolved)
	if err != nil {
		return dengxu.Model{}, fmt.Errorf("train on days %s: %w", o.Train, err)
	}
	out := dengxu.Model{Method: estimate.MethodErlang, Lessons: len(resolved)}
	if m := learned.Model; m != nil {
		out.Method, out.Rows = m.Method, m.Rows
		out.From, out.To = time.UnixMilli(m.From).UTC(), time.UnixMilli(m.To).UTC()
		if out.Model, err = m.Save(); err != nil {
			return dengxu.Model{}, err
		}
	}
	for _, v := range learned.Verdicts {
		out.Verdicts = append(out.Verdicts, dengxu.ModelVerdict{
			Method: v.Method, N: v.N, Pinball: v.Pinball, Coverage: v.Coverage, Kept: v.Method == out.Method,
		})
	}
	return out, nil
}
