// Package gbdt grows gradient boosted trees that predict a quantile: histogram
// splits, best leaf first, pinball loss, and leaves renewed to the quantile of
// what is left in them. It owns the learner and its format, and refuses to know
// what is predicted; it reads no clock and no file.
//
// A training is decided by its rows and parameters alone, to the last bit: sums
// are of whole numbers, so the order of rows does not matter.
package gbdt

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Rows are what is learned from. NaN in a column means missing.
type Rows struct {
	Columns [][]float64 // by feature, then by row
	Target  []float64
	Weight  []float64 // above 0; nil means 1 each
	// Start is what another model says of each row: the trees learn what is
	// left, and predict that. Nil means that they learn everything.
	Start []float64
}

// Params are how trees are grown. Zero fields take the values of Default.
type Params struct {
	Quantile float64 // above 0, below 1; has no default
	Trees    int
	Leaves   int     // of a tree, at most
	Rate     float64 // how much of what is left a tree learns, at most 1
	Bins     int     // of a feature, at most; from 2 to 255
	// MinWeight is the least weight in a leaf.
	MinWeight float64
	// Sample is the share of rows that a tree is grown from, at most 1. Its
	// leaves are still renewed from all rows.
	Sample float64
	Seed   uint64 // of the sample
}

// Default is a small forest that is close to the best one for waits: larger
// ones gain less than half a per cent.
func Default(quantile float64) Params {
	return Params{Quantile: quantile, Trees: 100, Leaves: 8, Rate: 0.06, Bins: 63, MinWeight: 60, Sample: 1}
}

func (p Params) withDefaults() Params {
	d := Default(p.Quantile)
	if p.Trees == 0 {
		p.Trees = d.Trees
	}
	if p.Leaves == 0 {
		p.Leaves = d.Leaves
	}
	if p.Rate == 0 {
		p.Rate = d.Rate
	}
	if p.Bins == 0 {
		p.Bins = d.Bins
	}
	if p.MinWeight == 0 {
		p.MinWeight = d.MinWeight
	}
	if p.Sample == 0 {
		p.Sample = d.Sample
	}
	return p
}

func (p Params) check() error {
	within := func(v, least, most float64) bool { return v >= least && v <= most } // false for NaN
	switch {
	case !within(p.Quantile, math.SmallestNonzeroFloat64, math.Nextafter(1, 0)):
		return fmt.Errorf("quantile %g does not lie between 0 and 1", p.Quantile)
	case !within(float64(p.Trees), 1, maxTrees):
		return fmt.Errorf("%d trees: from 1 to %d", p.Trees, maxTrees)
	case !within(float64(p.Leaves), 2, maxLeaves):
		return fmt.Errorf("%d leaves: from 2 to %d", p.Leaves, maxLeaves)
	case !within(p.Rate, math.SmallestNonzeroFloat64, 1):
		return fmt.Errorf("rate %g does not lie above 0 and up to 1", p.Rate)
	case !within(float64(p.Bins), 2, maxBins):
		return fmt.Errorf("%d bins: from 2 to %d", p.Bins, maxBins)
	case !within(p.MinWeight, 0, math.MaxFloat64):
		return fmt.Errorf("least weight %g is negative", p.MinWeight)
	case !within(p.Sample, math.SmallestNonzeroFloat64, 1):
		return fmt.Errorf("sample %g does not lie above 0 and up to 1", p.Sample)
	}
	return nil
}

func (r Rows) check() error {
	n := len(r.Target)
	switch {
	case n == 0:
		return errors.New("there are no rows")
	case len(r.Columns) == 0 || len(r.Columns) > maxFeatures:
		return fmt.Errorf("%d features: from 1 to %d", len(r.Columns), maxFeatures)
	case r.Weight != nil && len(r.Weight) != n:
		return fmt.Errorf("%d weights for %d rows", len(r.Weight), n)
	case r.Start != nil && len(r.Start) != n:
		return fmt.Errorf("%d starts for %d rows", len(r.Start), n)
	}
	for f, c := range r.Columns {
		if len(c) != n {
			return fmt.Errorf("%d values of feature %d for %d rows", len(c), f, n)
		}
	}
	for i := range n {
		if !finite(r.Target[i]) || r.Start != nil && !finite(r.Start[i]) {
			return fmt.Errorf("the target of row %d is not a number", i)
		}
		if r.Weight != nil && (!finite(r.Weight[i]) || r.Weight[i] <= 0) {
			return fmt.Errorf("weight %g of row %d is not above 0", r.Weight[i], i)
		}
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Model is a forest. Its zero value predicts 0; it may be used by several at
// once.
type Model struct {
	quantile float64
	features int
	base     float64
	trees    [][]node
}

// node is a split or, with feature below 0, a leaf. Children stand behind their
// parent, so that no walk goes round.
type node struct {
	value       float64 // of a leaf; of a split: what is at most this goes left
	feature     int16
	missingLeft bool
	left, right uint16
}

const leaf = -1

// Quantile is what the model was trained to predict.
func (m *Model) Quantile() float64 { return m.quantile }

// Features is how many features a prediction takes.
func (m *Model) Features() int { return m.features }

// Trees is how many trees were grown.
func (m *Model) Trees() int { return len(m.trees) }

// Predict says the quantile for one row of features, in their order in
// training. A row that is too short panics: that is a programmer's error.
func (m *Model) Predict(x []float64) float64 {
	sum := m.base
	for _, tree := range m.trees {
		n := &tree[0]
		for n.feature != leaf {
			v := x[n.feature]
			if v <= n.value || v != v && n.missingLeft {
				n = &tree[n.left]
			} else {
				n = &tree[n.right]
			}
		}
		sum += n.value
	}
	return sum
}

// Train grows a forest. It refuses rows that do not fit each other and
// parameters out of their bounds.
//
// With renewed leaves and all rows, the pinball loss over the rows never rises
// with the number of trees: the loss in a leaf is convex, and moving toward its
// least point lowers it.
func Train(rows Rows, params Params) (*Model, error) {
	params = params.withDefaults()
	if err := params.check(); err != nil {
		return nil, err
	}
	if err := rows.check(); err != nil {
		return nil, err
	}
	g := newGrower(rows, params)
	m := &Model{quantile: params.Quantile, features: len(rows.Columns)}
	if rows.Start == nil {
		m.base = g.quantile(g.all)
		for i := range g.rest {
			g.rest[i] -= m.base
		}
	}
	random := rand.New(rand.NewPCG(params.Seed, 0)) //nolint:gosec // a seed that repeats is what is wanted
	for range params.Trees {
		tree := g.tree(random)
		if tree != nil {
			m.trees = append(m.trees, tree)
		} else if params.Sample == 1 {
			break // no split gained anything and nothing changed, so none will
		}
	}
	return m, nil
}

// newGrower bins the rows and makes their weights whole.
func newGrower(rows Rows, params Params) *grower {
	n := len(rows.Target)
	g := &grower{
		params: params,
		rest:   slices.Clone(rows.Target),
		weight: make([]int64, n),
		below:  make([]bool, n),
		all:    make([]int32, n),
	}
	for i := range g.all {
		g.all[i] = int32(i)
		if rows.Start != nil {
			g.rest[i] -= rows.Start[i]
		}
	}
	unit := 1.0
	if rows.Weight != nil {
		unit = slices.Max(rows.Weight)
	}
	for i := range g.weight {
		w := 1.0
		if rows.Weight != nil {
			w = rows.Weight[i] / unit
		}
		g.weight[i] = max(1, int64(math.Round(w*weightOne)))
	}
	g.minWeight = int64(params.MinWeight / unit * weightOne)
	for _, c := range rows.Columns {
		g.features = append(g.features, bin(c, g.weight, params.Bins))
	}
	return g
}
