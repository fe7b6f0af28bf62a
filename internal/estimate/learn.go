package estimate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dengxu/dengxu/internal/estimate/gbdt"
	"github.com/dengxu/dengxu/internal/estimate/linear"
)

// Resolved is a sample whose wait is known, in seconds.
type Resolved struct {
	Sample
	Wait float64 `json:"wait"`
}

// Limits of learning.
const (
	// MinToLearn is how many resolved tokens it takes.
	MinToLearn = 1000
	// MaxToLearn is how many of the newest are used, so that a training costs
	// less than two seconds.
	MaxToLearn = 20_000
	// heldBack is the newest share on which a model has to beat the base.
	heldBack = 0.2
	// maxNames is how many classes, and groups, get a column of their own.
	maxNames = 8
	// leafShare is the least share of the weight in a leaf, and minLeaf the
	// least number of mean rows.
	leafShare = 0.004
	minLeaf   = 40
	// treeSample is the share of rows that a tree looks for splits in: trees
	// that differ agree better, and cost half.
	treeSample = 0.5
)

// Verdict is how one method did on what was held back: the mean pinball loss of
// the three quantiles, in seconds, and the shares of the waits up to them before
// calibration.
type Verdict struct {
	Method   string     `json:"method"`
	N        int        `json:"n"`
	Pinball  [3]float64 `json:"pinball"`
	Coverage [3]float64 `json:"coverage"`
}

func (v Verdict) total() float64 { return v.Pinball[0] + v.Pinball[1] + v.Pinball[2] }

// Learned is what a training came to.
type Learned struct {
	// Model is nil when nothing beat the base on the newest fifth.
	Model *Model
	// Verdicts are those of the newest fifth, the base first.
	Verdicts []Verdict
	// Calibrations start with what the model, learned without it, said of the
	// newest fifth.
	Calibrations [3]Calibration
}

// Learn trains on resolved tokens: on the older four fifths, judged on the
// newest one, and once more on all when something beats the base. The order of
// what is given does not matter, its moments do. The answer is decided by what
// is given alone. It fails with fewer than MinToLearn.
func Learn(resolved []Resolved) (*Learned, error) {
	if n := len(resolved); n < MinToLearn {
		return nil, fmt.Errorf("it takes %d resolved tokens to learn, and there are %d", MinToLearn, n)
	}
	sorted := slices.SortedStableFunc(slices.Values(resolved), func(a, b Resolved) int { return cmp.Compare(a.At, b.At) })
	sorted = sorted[max(0, len(sorted)-MaxToLearn):]
	cut := len(sorted) - int(heldBack*float64(len(sorted)))
	older, newest := sorted[:cut], sorted[cut:]
	trial, err := train(older)
	if err != nil {
		return nil, err
	}
	learned := &Learned{Verdicts: []Verdict{judge(nil, newest)}}
	best := learned.Verdicts[0]
	for _, method := range []string{MethodTrees, MethodLinear, MethodBlend} {
		trial.Method = method
		v := judge(trial, newest)
		learned.Verdicts = append(learned.Verdicts, v)
		if v.total() < best.total() {
			best = v
		}
	}
	if best.Method == MethodErlang {
		return learned, nil
	}
	trial.Method = best.Method
	for i := range newest {
		said := trial.Quantiles(&newest[i].Sample)
		for k := range quantiles {
			learned.Calibrations[k].Add(newest[i].Wait, said[k])
		}
	}
	if learned.Model, err = train(sorted); err != nil {
		return nil, err
	}
	learned.Model = learned.Model.As(best.Method)
	return learned, nil
}

// judge scores a model, or the base without one.
func judge(m *Model, resolved []Resolved) Verdict {
	v := Verdict{Method: MethodErlang}
	if m != nil {
		v.Method = m.Method
	}
	var s Score
	for i := range resolved {
		s.Add(resolved[i].Wait, raw(m, &resolved[i].Sample))
	}
	v.N, v.Pinball, v.Coverage = s.N, s.Pinball(), s.Coverage()
	return v
}

// train fits lines and trees for all quantiles on the ratio of wait to base.
// The base is the weight, so that the loss is in seconds.
func train(resolved []Resolved) (*Model, error) {
	m := shape(resolved)
	n := len(resolved)
	columns := make([][]float64, len(m.Features))
	for f := range columns {
		columns[f] = make([]float64, n)
	}
	target, weight := make([]float64, n), make([]float64, n)
	total := 0.0
	for i := range resolved {
		s := &resolved[i]
		base := max(leastSaid, s.Base())
		if math.IsNaN(base) || math.IsInf(base, 0) || math.IsNaN(s.Wait) || s.Wait < 0 {
			return nil, fmt.Errorf("a token that joined at %d has no base or no wait", s.At)
		}
		target[i], weight[i] = s.Wait/base, base
		total += base
		for f, v := range m.Row(&s.Sample) {
			columns[f][i] = v
		}
	}
	for k, p := range quantiles {
		var err error
		if m.Lines[k], err = linear.Fit(linear.Rows{Columns: columns, Target: target, Weight: weight}, p); err != nil {
			return nil, err
		}
		params := gbdt.Default(p)
		params.Sample, params.Seed = treeSample, 1
		params.MinWeight = total * max(leafShare, minLeaf/float64(n))
		trees, err := gbdt.Train(gbdt.Rows{Columns: columns, Target: target, Weight: weight}, params)
		if err != nil {
			return nil, err
		}
		m.Trees[k] = &Forest{*trees}
	}
	return m, nil
}

// shape is a model without its learning: the columns.
func shape(resolved []Resolved) *Model {
	m := &Model{Version: modelVersion, Method: MethodBlend, Rows: len(resolved)}
	m.From, m.To = resolved[0].At, resolved[len(resolved)-1].At
	classes, groups, covariates := make(map[string]int), make(map[string]int), make(map[string]int)
	for i := range resolved {
		s := &resolved[i].Sample
		classes[s.Class]++
		groups[s.Group]++
		for name := range s.Covariates {
			covariates[name]++
		}
	}
	m.Classes, m.Groups = several(classes), several(groups)
	m.Covariates = commonest(covariates)
	m.Features = m.names()
	return m
}

// several are the names that get a column; none where there is but one, which
// tells nobody apart.
func several(counts map[string]int) []string {
	if len(counts) < 2 {
		return nil
	}
	return commonest(counts)
}

// commonest are the names that are met most, in order.
func commonest(counts map[string]int) []string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	names = names[:min(len(names), maxNames)]
	slices.Sort(names)
	return names
}
