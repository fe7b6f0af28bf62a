package evaluate

import (
	"encoding/csv"
	"errors"
	"io"
	"math"
	"strconv"

	"github.com/dengxu/dengxu/internal/estimate"
)

// WriteRows writes what was learned from and what was scored, for who would
// learn from the same with something else: part (train or test), base and wait
// in seconds, the features, and for the test what trees and line say of 0.5 and
// 0.9, in seconds. A missing feature is empty.
func (r *Report) WriteRows(w io.Writer) error {
	if r.model == nil {
		return errors.New("nothing was learned, so there are no features to write")
	}
	out := csv.NewWriter(w)
	header := append([]string{"part", "base", "wait"}, r.model.Features...)
	if err := out.Write(append(header, "trees50", "trees90", "linear50", "linear90")); err != nil {
		return err
	}
	trees, line := r.model.As(estimate.MethodTrees), r.model.As(estimate.MethodLinear)
	write := func(part string, rows []estimate.Resolved) error {
		for i := range rows {
			s := &rows[i].Sample
			record := []string{part, text(s.Base()), text(rows[i].Wait)}
			for _, v := range r.model.Row(s) {
				record = append(record, text(v))
			}
			t, l := trees.Quantiles(s), line.Quantiles(s)
			if err := out.Write(append(record, text(t[1]), text(t[2]), text(l[1]), text(l[2]))); err != nil {
				return err
			}
		}
		return nil
	}
	err := errors.Join(write("train", r.rows), write("test", r.tests))
	out.Flush()
	return errors.Join(err, out.Error())
}

func text(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
