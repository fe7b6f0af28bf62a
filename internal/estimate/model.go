package estimate

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dengxu/dengxu/internal/estimate/gbdt"
	"github.com/dengxu/dengxu/internal/estimate/linear"
)

// modelVersion is raised when features or their meaning change: an older model
// is then of no use.
const modelVersion = 1

// Model says by what the base of a sample is to be multiplied, for each
// quantile. It does not change once it is made and may be used by several at
// once.
type Model struct {
	Version int    `json:"version"`
	Method  string `json:"method"`
	// Features are the names of what it learned from, in order: FeatureNames,
	// then a column for each covariate, class and group.
	Features   []string `json:"features"`
	Covariates []string `json:"covariates,omitempty"`
	Classes    []string `json:"classes,omitempty"`
	Groups     []string `json:"groups,omitempty"`
	// Rows it learned from, and the moments of the first and the last one.
	Rows int   `json:"rows"`
	From int64 `json:"from"`
	To   int64 `json:"to"`

	Lines [3]*linear.Model `json:"lines"`
	Trees [3]*Forest       `json:"trees"`
}

// Forest is trees that are text in JSON: the bytes of gbdt, in base64.
type Forest struct{ gbdt.Model }

// MarshalJSON writes the bytes of the forest.
func (f *Forest) MarshalJSON() ([]byte, error) {
	b, err := f.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return json.Marshal(b)
}

// UnmarshalJSON reads what MarshalJSON wrote, and refuses what is damaged.
func (f *Forest) UnmarshalJSON(text []byte) error {
	var b []byte
	if err := json.Unmarshal(text, &b); err != nil {
		return err
	}
	return f.UnmarshalBinary(b)
}

// Save writes a model: JSON, the same bytes for the same model.
func (m *Model) Save() ([]byte, error) { return json.Marshal(m) }

// Load reads what Save wrote. It refuses a model of another version and one
// that does not hold together, and says what is wrong.
func Load(b []byte) (*Model, error) {
	m := new(Model)
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("this is no model: %w", err)
	}
	return m, m.Check()
}

// Check refuses a model that cannot be used.
func (m *Model) Check() error {
	if m.Version != modelVersion {
		return fmt.Errorf("the model is of version %d, and %d is known: train it again", m.Version, modelVersion)
	}
	if !slices.Equal(m.Features, m.names()) {
		return errors.New("the model was made from other features: train it again")
	}
	for i, p := range quantiles {
		l, t := m.Lines[i], m.Trees[i]
		if l == nil || l.Quantile != p || len(l.Features) != len(m.Features) || l.Check() != nil {
			return fmt.Errorf("the model has no line for quantile %g", p)
		}
		if t == nil || t.Quantile() != p || t.Model.Features() != len(m.Features) {
			return fmt.Errorf("the model has no trees for quantile %g", p)
		}
	}
	if !slices.Contains([]string{MethodTrees, MethodLinear, MethodBlend}, m.Method) {
		return fmt.Errorf("the model has no method %q", m.Method)
	}
	return nil
}

// As is the model that answers by another of its methods: MethodTrees,
// MethodLinear or MethodBlend.
func (m *Model) As(method string) *Model {
	other := *m
	other.Method = method
	return &other
}

// names are the features of the model's shape.
func (m *Model) names() []string {
	names := slices.Clone(FeatureNames)
	for _, c := range m.Covariates {
		names = append(names, "site="+c)
	}
	for _, c := range m.Classes {
		names = append(names, "class="+c)
	}
	for _, g := range m.Groups {
		names = append(names, "group="+g)
	}
	return names
}

// Row makes the columns of a sample, in the order of Features. What a sample
// does not have is missing.
func (m *Model) Row(s *Sample) []float64 {
	known := len(FeatureNames)
	x := make([]float64, 0, known+len(m.Covariates)+len(m.Classes)+len(m.Groups))
	x = append(x, s.Features[:min(known, len(s.Features))]...)
	for len(x) < known {
		x = append(x, math.NaN())
	}
	for _, c := range m.Covariates {
		v, told := s.Covariates[c]
		if !told {
			v = math.NaN()
		}
		x = append(x, v)
	}
	for _, c := range m.Classes {
		x = append(x, is(s.Class == c))
	}
	for _, g := range m.Groups {
		x = append(x, is(s.Group == g))
	}
	return x
}

func is(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// leastRatio and mostRatio bound what a model may say: a wait of a twentieth of
// the base, and of a hundred times the base, whatever was loaded.
const (
	leastRatio = 0.05
	mostRatio  = 100
)

// Quantiles says 0.1, 0.5 and 0.9 of the wait for a sample, in seconds, before
// calibration.
func (m *Model) Quantiles(s *Sample) [3]float64 {
	x := m.Row(s)
	var q [3]float64
	for i := range quantiles {
		ratio := m.ratio(i, x)
		if math.IsNaN(ratio) { // of slopes without bounds
			ratio = 1
		}
		q[i] = s.Base() * min(max(leastRatio, ratio), mostRatio)
	}
	return q
}

func (m *Model) ratio(i int, x []float64) float64 {
	switch m.Method {
	case MethodLinear:
		return m.Lines[i].Predict(x)
	case MethodTrees:
		return m.Trees[i].Predict(x)
	}
	return (m.Lines[i].Predict(x) + m.Trees[i].Predict(x)) / 2
}
