package linear

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func made(seed uint64, n, features int) Rows {
	r := rand.New(rand.NewPCG(seed, 1))
	rows := Rows{Target: make([]float64, n), Weight: make([]float64, n)}
	for f := range features {
		c := make([]float64, n)
		for i := range c {
			c[i] = r.NormFloat64()*float64(f+1) + float64(f)
		}
		rows.Columns = append(rows.Columns, c)
	}
	for i := range n {
		for f, c := range rows.Columns {
			rows.Target[i] += c[i] * float64(f-1)
		}
		rows.Target[i] += r.ExpFloat64() * 3
		rows.Weight[i] = 0.5 + r.Float64()
	}
	return rows
}

func fit(t testing.TB, rows Rows, tau float64) *Model {
	t.Helper()
	m, err := Fit(rows, tau)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// loss is the weighted pinball loss of a line, on standardised features.
func loss(rows Rows, tau float64, m *Model, b []float64) float64 {
	sum := 0.0
	for i, y := range rows.Target {
		p := b[0]
		for f := range rows.Columns {
			p += b[f+1] * m.Features[f].standard(rows.Columns[f][i])
		}
		sum += weight(rows, i) * max(tau*(y-p), (tau-1)*(y-p))
	}
	return sum
}

func coefficients(m *Model) []float64 {
	b := []float64{m.Intercept}
	for _, f := range m.Features {
		b = append(b, f.Slope)
	}
	return b
}

// vertex is the best of all lines through as many rows as there are unknowns:
// one of them is a best line at all, which is what a simplex finds.
func vertex(rows Rows, tau float64, m *Model) (best []float64, least float64) {
	n, p := len(rows.Target), len(rows.Columns)+1
	least = math.Inf(1)
	pick := make([]int, p)
	var choose func(from, k int)
	choose = func(from, k int) {
		if k < p {
			for i := from; i < n; i++ {
				pick[k] = i
				choose(i+1, k+1)
			}
			return
		}
		if b := through(rows, m, pick); b != nil {
			if l := loss(rows, tau, m, b); l < least {
				best, least = b, l
			}
		}
	}
	choose(0, 0)
	return best, least
}

// through is the line through some rows, by Gauss.
func through(rows Rows, m *Model, pick []int) []float64 {
	p := len(pick)
	a := make([][]float64, p)
	for k, i := range pick {
		a[k] = []float64{1}
		for f := range rows.Columns {
			a[k] = append(a[k], m.Features[f].standard(rows.Columns[f][i]))
		}
		a[k] = append(a[k], rows.Target[i])
	}
	for c := range p {
		top := c
		for k := c; k < p; k++ {
			if math.Abs(a[k][c]) > math.Abs(a[top][c]) {
				top = k
			}
		}
		if a[c], a[top] = a[top], a[c]; math.Abs(a[c][c]) < 1e-9 {
			return nil
		}
		for k := range p {
			if k == c {
				continue
			}
			by := a[k][c] / a[c][c]
			for j := c; j <= p; j++ {
				a[k][j] -= by * a[c][j]
			}
		}
	}
	b := make([]float64, p)
	for k := range b {
		b[k] = a[k][p] / a[k][k]
	}
	return b
}

func TestTheLineIsTheBestOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := made(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(8, 25).Draw(t, "rows"), rapid.IntRange(1, 2).Draw(t, "features"))
		tau := rapid.SampledFrom([]float64{0.1, 0.5, 0.9}).Draw(t, "tau")
		m, err := Fit(rows, tau)
		if err != nil {
			t.Fatal(err)
		}
		want, least := vertex(rows, tau, m)
		got := coefficients(m)
		if l := loss(rows, tau, m, got); l > least*(1+1e-5)+1e-9 {
			t.Fatalf("loss %g, best %g", l, least)
		}
		// Equally good lines may lie apart; elsewhere it is the same one.
		for k := range got {
			if math.Abs(got[k]-want[k]) > 1e-3*max(1, math.Abs(want[k])) && loss(rows, tau, m, middle(got, want)) > least*(1+1e-5)+1e-9 {
				t.Fatalf("coefficients %v, want %v", got, want)
			}
		}
	})
}

func middle(a, b []float64) []float64 {
	m := make([]float64, len(a))
	for i := range m {
		m[i] = (a[i] + b[i]) / 2
	}
	return m
}

func TestAnExactLineIsFound(t *testing.T) {
	t.Parallel()
	rows := made(3, 400, 3)
	for i := range rows.Target {
		rows.Target[i] = 5 + 2*rows.Columns[0][i] - 0.25*rows.Columns[2][i]
	}
	m := fit(t, rows, 0.9)
	for i := range 20 {
		x := []float64{rows.Columns[0][i], rows.Columns[1][i], rows.Columns[2][i]}
		if got := m.Predict(x); math.Abs(got-rows.Target[i]) > 1e-5 {
			t.Fatalf("%g, want %g", got, rows.Target[i])
		}
	}
}

func TestCoverageAndEqualColumns(t *testing.T) {
	t.Parallel()
	rows := made(4, 3000, 4)
	rows.Columns = append(rows.Columns, rows.Columns[0], make([]float64, 3000)) // one twice, one constant
	for _, tau := range []float64{0.1, 0.5, 0.9} {
		m := fit(t, rows, tau)
		within, all := 0.0, 0.0
		for i, y := range rows.Target {
			x := make([]float64, len(rows.Columns))
			for f, c := range rows.Columns {
				x[f] = c[i]
			}
			all += rows.Weight[i]
			if y <= m.Predict(x) {
				within += rows.Weight[i]
			}
		}
		if share := within / all; math.Abs(share-tau) > 0.01 {
			t.Errorf("quantile %g covers %g", tau, share)
		}
	}
}

func TestOutsideOfWhatWasSeenTheLineIsFlat(t *testing.T) {
	t.Parallel()
	rows := made(5, 300, 1)
	m := fit(t, rows, 0.5)
	if far, edge := m.Predict([]float64{1e9}), m.Predict([]float64{m.Features[0].Max}); far != edge {
		t.Errorf("%g and %g", far, edge)
	}
	if missing, mean := m.Predict([]float64{math.NaN()}), m.Predict([]float64{m.Features[0].Mean}); missing != mean {
		t.Errorf("missing %g, mean %g", missing, mean)
	}
}

func TestALineSurvivesJSON(t *testing.T) {
	t.Parallel()
	m := fit(t, made(6, 200, 2), 0.5)
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var loaded Model
	if err := json.Unmarshal(b, &loaded); err != nil || loaded.Check() != nil {
		t.Fatal(err, loaded.Check())
	}
	if diff := cmp.Diff(m, &loaded); diff != "" {
		t.Error(diff)
	}
	for _, change := range []func(*Model){
		func(m *Model) { m.Quantile = 1 },
		func(m *Model) { m.Intercept = math.NaN() },
		func(m *Model) { m.Features[1].Sd = 0 },
		func(m *Model) { m.Features[0].Slope = math.Inf(1) },
	} {
		loaded := *m
		loaded.Features = append([]Feature(nil), m.Features...)
		if change(&loaded); loaded.Check() == nil {
			t.Errorf("%+v was accepted", loaded)
		}
	}
}

func TestWhatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		rows Rows
		tau  float64
		want string
	}{
		{Rows{}, 0.5, "0 rows for 0 features"},
		{Rows{Columns: [][]float64{{1}}, Target: []float64{1}}, 0.5, "1 rows for 1 features"},
		{Rows{Target: []float64{1}}, 1, "quantile 1 does not lie between 0 and 1"},
		{Rows{Target: []float64{math.NaN()}}, 0.5, "target or weight of row 0 cannot be used"},
		{Rows{Target: []float64{1}, Weight: []float64{-1}}, 0.5, "target or weight of row 0 cannot be used"},
		{Rows{Target: []float64{1}, Weight: []float64{1, 2}}, 0.5, "2 weights for 1 rows"},
		{Rows{Target: []float64{1, 2}, Columns: [][]float64{{1}}}, 0.5, "1 values of feature 0 for 2 rows"},
	} {
		if _, err := Fit(row.rows, row.tau); fmt.Sprint(err) != row.want {
			t.Errorf("%v, want %s", err, row.want)
		}
	}
}

func BenchmarkFit(b *testing.B) {
	rows := made(20, 14_000, 22)
	for b.Loop() {
		fit(b, rows, 0.9)
	}
}
