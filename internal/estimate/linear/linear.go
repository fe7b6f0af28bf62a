// Package linear fits a line that predicts a quantile: linear quantile
// regression, by the interior point method of Portnoy and Koenker (Statistical
// Science 12, 1997), with Mehrotra's corrector. It owns the fit and refuses to
// know what is predicted; it reads no clock and no file.
package linear

import (
	"errors"
	"fmt"
	"math"
)

// Rows are what is fitted. NaN in a column means missing, which counts as the
// column's mean.
type Rows struct {
	Columns [][]float64 // by feature, then by row
	Target  []float64
	Weight  []float64 // above 0; nil means 1 each
}

// Model is a fitted line. A feature outside of what was seen in the fit counts
// as the nearest value seen, so that no prediction runs away.
type Model struct {
	Quantile  float64   `json:"quantile"`
	Intercept float64   `json:"intercept"` // where every feature is its mean
	Features  []Feature `json:"features"`
}

// Feature is what a line makes of one feature.
type Feature struct {
	Slope float64 `json:"slope"` // for one standard deviation
	Mean  float64 `json:"mean"`
	Sd    float64 `json:"sd"` // 1 for a feature that never changes
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
}

// Predict says the quantile for one row of features, in their order in the fit.
// A row that is too short panics: that is a programmer's error.
func (m *Model) Predict(x []float64) float64 {
	y := m.Intercept
	x = x[:len(m.Features)]
	for i, v := range x {
		f := &m.Features[i]
		y += f.Slope * f.standard(v)
	}
	return y
}

// Check refuses a model that no fit could have made.
func (m *Model) Check() error {
	if !(m.Quantile > 0 && m.Quantile < 1) || math.IsNaN(m.Intercept) || math.IsInf(m.Intercept, 0) {
		return errors.New("the line has no quantile or no intercept")
	}
	for i, f := range m.Features {
		for _, v := range []float64{f.Slope, f.Mean, f.Sd, f.Min, f.Max} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("feature %d of the line is not a number", i)
			}
		}
		if f.Sd <= 0 || f.Min > f.Max {
			return fmt.Errorf("feature %d of the line has no spread", i)
		}
	}
	return nil
}

func (f *Feature) standard(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return (min(max(v, f.Min), f.Max) - f.Mean) / f.Sd
}

func newFeature(column []float64) Feature {
	f := Feature{Sd: 1}
	n, sum := 0.0, 0.0
	f.Min, f.Max = math.Inf(1), math.Inf(-1)
	for _, v := range column {
		if !math.IsNaN(v) {
			n++
			sum += v
			f.Min, f.Max = min(f.Min, v), max(f.Max, v)
		}
	}
	if n == 0 {
		return Feature{Sd: 1}
	}
	f.Mean = sum / n
	squares := 0.0
	for _, v := range column {
		if !math.IsNaN(v) {
			squares += (v - f.Mean) * (v - f.Mean)
		}
	}
	if sd := math.Sqrt(squares / n); sd > 0 {
		f.Sd = sd
	}
	return f
}

// Fit finds the line with the least pinball loss. It refuses rows that do not
// fit each other, and fewer rows than features.
func Fit(rows Rows, quantile float64) (*Model, error) {
	n, p := len(rows.Target), len(rows.Columns)+1
	switch {
	case !(quantile > 0 && quantile < 1):
		return nil, fmt.Errorf("quantile %g does not lie between 0 and 1", quantile)
	case n < p:
		return nil, fmt.Errorf("%d rows for %d features", n, p-1)
	case rows.Weight != nil && len(rows.Weight) != n:
		return nil, fmt.Errorf("%d weights for %d rows", len(rows.Weight), n)
	}
	m := &Model{Quantile: quantile}
	// Pinball loss is proportional to its error, so a weight multiplies the row.
	scale := 0.0
	for i, y := range rows.Target {
		if math.IsNaN(y) || math.IsInf(y, 0) || rows.Weight != nil && !(rows.Weight[i] > 0 && rows.Weight[i] < math.MaxFloat64) {
			return nil, fmt.Errorf("target or weight of row %d cannot be used", i)
		}
		scale = max(scale, math.Abs(y)*weight(rows, i))
	}
	if scale == 0 {
		scale = 1
	}
	x, y := make([]float64, n*p), make([]float64, n)
	for f, c := range rows.Columns {
		if len(c) != n {
			return nil, fmt.Errorf("%d values of feature %d for %d rows", len(c), f, n)
		}
		feature := newFeature(c)
		for i, v := range c {
			x[i*p+f+1] = feature.standard(v) * weight(rows, i)
		}
		m.Features = append(m.Features, feature)
	}
	for i := range y {
		x[i*p] = weight(rows, i)
		y[i] = rows.Target[i] * weight(rows, i) / scale
	}
	b, err := newSolver(x, y, p, quantile).solve()
	if err != nil {
		return nil, err
	}
	m.Intercept = b[0] * scale
	for f := range m.Features {
		m.Features[f].Slope = b[f+1] * scale
	}
	return m, m.Check()
}

func weight(rows Rows, i int) float64 {
	if rows.Weight == nil {
		return 1
	}
	return rows.Weight[i]
}
