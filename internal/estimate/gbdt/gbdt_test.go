package gbdt

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// made are rows whose target depends on some features, with noise that grows.
func made(seed uint64, n, features int) Rows {
	r := rand.New(rand.NewPCG(seed, 1))
	rows := Rows{Target: make([]float64, n), Weight: make([]float64, n)}
	for f := range features {
		c := make([]float64, n)
		for i := range c {
			switch c[i] = r.NormFloat64(); {
			case f%3 == 1:
				c[i] = math.Round(c[i] * 2)
			case f%3 == 2 && r.Float64() < 0.1:
				c[i] = math.NaN()
			}
		}
		rows.Columns = append(rows.Columns, c)
	}
	for i := range n {
		x, z := rows.Columns[0][i], rows.Columns[1][i]
		rows.Target[i] = math.Exp(0.4*x+0.2*z) * (0.5 + r.ExpFloat64())
		rows.Weight[i] = 0.5 + r.Float64()
	}
	return rows
}

func train(t testing.TB, rows Rows, p Params) *Model {
	t.Helper()
	m, err := Train(rows, p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (r Rows) row(i int) []float64 {
	x := make([]float64, len(r.Columns))
	for f, c := range r.Columns {
		x[f] = c[i]
	}
	return x
}

func (r Rows) weight(i int) float64 {
	if r.Weight == nil {
		return 1
	}
	return r.Weight[i]
}

func predictions(m *Model, rows Rows) []float64 {
	p := make([]float64, len(rows.Target))
	for i := range p {
		p[i] = m.Predict(rows.row(i))
	}
	return p
}

func pinball(tau float64, rows Rows, p []float64) float64 {
	sum, weight := 0.0, 0.0
	for i, y := range rows.Target {
		sum += rows.weight(i) * max(tau*(y-p[i]), (tau-1)*(y-p[i]))
		weight += rows.weight(i)
	}
	return sum / weight
}

func TestAConstantIsPredicted(t *testing.T) {
	t.Parallel()
	rows := made(1, 100, 3)
	for i := range rows.Target {
		rows.Target[i] = 7.25
	}
	m := train(t, rows, Params{Quantile: 0.9, MinWeight: 1})
	for i, p := range predictions(m, rows) {
		if p != 7.25 {
			t.Fatalf("row %d: %g", i, p)
		}
	}
	if m.Trees() != 0 {
		t.Errorf("%d trees say nothing", m.Trees())
	}
}

func TestTwoGroupsGetTheirQuantiles(t *testing.T) {
	t.Parallel()
	rows := Rows{Columns: [][]float64{nil}}
	for i := range 101 {
		rows.Columns[0] = append(rows.Columns[0], 0, 1)
		rows.Target = append(rows.Target, float64(i), 1000+10*float64(i))
	}
	for _, row := range []struct{ tau, low, high float64 }{{0.5, 50, 1500}, {0.9, 90, 1900}, {0.1, 10, 1100}} {
		m := train(t, rows, Params{Quantile: row.tau, Trees: 1, Leaves: 2, Rate: 1, MinWeight: 1})
		if low, high := m.Predict([]float64{0}), m.Predict([]float64{1}); low != row.low || high != row.high {
			t.Errorf("quantile %g: %g and %g, want %g and %g", row.tau, low, high, row.low, row.high)
		}
	}
}

func TestTwoRows(t *testing.T) {
	t.Parallel()
	rows := Rows{Columns: [][]float64{{1, 2}}, Target: []float64{10, 30}}
	m := train(t, rows, Params{Quantile: 0.5, Trees: 3, Rate: 1, MinWeight: 1})
	if got := predictions(m, rows); !slices.Equal(got, []float64{10, 30}) {
		t.Errorf("apart: %v", got)
	}
	together := train(t, rows, Params{Quantile: 0.5, MinWeight: 2})
	if got := predictions(together, rows); !slices.Equal(got, []float64{20, 20}) {
		t.Errorf("in one leaf: %v", got)
	}
}

func TestAFeatureThatIsAlwaysMissingIsNotUsed(t *testing.T) {
	t.Parallel()
	rows := made(2, 500, 2)
	p := Params{Quantile: 0.9, MinWeight: 20}
	without := predictions(train(t, rows, p), rows)
	missing := make([]float64, 500)
	for i := range missing {
		missing[i] = math.NaN()
	}
	rows.Columns = append(rows.Columns, missing)
	if diff := cmp.Diff(without, predictions(train(t, rows, p), rows)); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsMissingHasItsOwnSide(t *testing.T) {
	t.Parallel()
	rows := Rows{Columns: [][]float64{nil}}
	for i := range 300 {
		x, y := float64(i), 10.0
		if i%3 == 0 {
			x, y = math.NaN(), 500
		} else if i > 150 {
			y = 500
		}
		rows.Columns[0], rows.Target = append(rows.Columns[0], x), append(rows.Target, y)
	}
	m := train(t, rows, Params{Quantile: 0.5, Trees: 1, Leaves: 2, Rate: 1, Bins: 255, MinWeight: 1})
	if got := predictions(m, rows); !slices.Equal(got, rows.Target) {
		t.Errorf("%v", got)
	}
	// Missing where training never saw it: with the many.
	m = train(t, Rows{Columns: [][]float64{{1, 2, 3}}, Target: []float64{5, 5, 9}}, Params{Quantile: 0.5, Trees: 1, Leaves: 2, Rate: 1, MinWeight: 1})
	if got := m.Predict([]float64{math.NaN()}); got != 5 {
		t.Errorf("never seen: %g", got)
	}
}

func TestARowTwiceIsWeightTwo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := made(rapid.Uint64().Draw(t, "seed"), 80, 3)
		twice := Rows{Columns: make([][]float64, 3)}
		for i := range rows.Target {
			times := rapid.IntRange(1, 3).Draw(t, "times")
			rows.Weight[i] = float64(times)
			for range times {
				for f := range rows.Columns {
					twice.Columns[f] = append(twice.Columns[f], rows.Columns[f][i])
				}
				twice.Target = append(twice.Target, rows.Target[i])
			}
		}
		rows.Weight[0] = 4 // a power of two is the largest, so that all become whole without rounding
		for range 4 - int(math.Round(count(twice, rows.Target[0]))) {
			for f := range rows.Columns {
				twice.Columns[f] = append(twice.Columns[f], rows.Columns[f][0])
			}
			twice.Target = append(twice.Target, rows.Target[0])
		}
		p := Params{Quantile: 0.7, Trees: 20, MinWeight: 5, Bins: 16}
		a, b := mustTrain(t, rows, p), mustTrain(t, twice, p)
		if diff := cmp.Diff(predictions(a, rows), predictions(b, rows)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func count(rows Rows, target float64) float64 {
	n := 0.0
	for _, y := range rows.Target {
		if y == target {
			n++
		}
	}
	return n
}

func mustTrain(t *rapid.T, rows Rows, p Params) *Model {
	m, err := Train(rows, p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTrainingPinballNeverRises(t *testing.T) {
	t.Parallel()
	rows := made(3, 2000, 5)
	for i, tau := range []float64{0.1, 0.5, 0.9} {
		last := math.Inf(1)
		// Leaves are renewed from all rows, also when splits are found from some.
		m := train(t, rows, Params{Quantile: tau, Rate: 0.3, Sample: []float64{1, 0.3, 0.5}[i]})
		whole := m.trees
		for n := range len(whole) + 1 {
			m.trees = whole[:n]
			loss := pinball(tau, rows, predictions(m, rows))
			if loss > last*(1+1e-12) {
				t.Fatalf("quantile %g, tree %d: %g after %g", tau, n, loss, last)
			}
			last = loss
		}
		if len(whole) < 50 {
			t.Errorf("quantile %g: %d trees", tau, len(whole))
		}
	}
}

func TestScalingTheTargetScalesThePrediction(t *testing.T) {
	t.Parallel()
	rows := made(4, 1000, 4)
	p := Params{Quantile: 0.9}
	want := predictions(train(t, rows, p), rows)
	for _, by := range []struct{ a, b float64 }{{8, 0}, {0.25, 0}, {3.7, 0}, {2, 100}} {
		scaled := rows
		scaled.Target = slices.Clone(rows.Target)
		for i := range scaled.Target {
			scaled.Target[i] = by.a*scaled.Target[i] + by.b
		}
		got := predictions(train(t, scaled, p), rows)
		for i := range got {
			if w := by.a*want[i] + by.b; math.Abs(got[i]-w) > 1e-9*w {
				t.Fatalf("%v, row %d: %g, want %g", by, i, got[i], w)
			}
		}
	}
}

func TestOrderOfRowsAndFeaturesChangesNothing(t *testing.T) {
	t.Parallel()
	rows := made(5, 1500, 5)
	p := Params{Quantile: 0.5}
	want := predictions(train(t, rows, p), rows)

	r := rand.New(rand.NewPCG(9, 9))
	order, features := r.Perm(1500), r.Perm(5)
	mixed := Rows{Target: make([]float64, 1500), Weight: make([]float64, 1500)}
	for _, f := range features {
		c := make([]float64, 1500)
		for to, from := range order {
			c[to] = rows.Columns[f][from]
		}
		mixed.Columns = append(mixed.Columns, c)
	}
	for to, from := range order {
		mixed.Target[to], mixed.Weight[to] = rows.Target[from], rows.Weight[from]
	}
	got := predictions(train(t, mixed, p), mixed)
	for to, from := range order {
		if got[to] != want[from] {
			t.Fatalf("row %d: %g, then %g", from, want[from], got[to])
		}
	}
}

func TestARisingTransformOfAFeatureChangesNothing(t *testing.T) {
	t.Parallel()
	rows := made(6, 1000, 4)
	p := Params{Quantile: 0.9}
	want := predictions(train(t, rows, p), rows)
	bent := rows
	bent.Columns = slices.Clone(rows.Columns)
	for f := range bent.Columns {
		bent.Columns[f] = slices.Clone(bent.Columns[f])
		for i, v := range bent.Columns[f] {
			bent.Columns[f][i] = math.Exp(v) * 3
		}
	}
	if diff := cmp.Diff(want, predictions(train(t, bent, p), bent)); diff != "" {
		t.Error(diff)
	}
}

func TestCoverageInTraining(t *testing.T) {
	t.Parallel()
	rows := made(7, 4000, 6)
	for _, tau := range []float64{0.1, 0.5, 0.9} {
		for _, sample := range []float64{1, 0.6} {
			m := train(t, rows, Params{Quantile: tau, Sample: sample, Seed: 3})
			within, all := 0.0, 0.0
			for i, p := range predictions(m, rows) {
				all += rows.Weight[i]
				if rows.Target[i] <= p {
					within += rows.Weight[i]
				}
			}
			if share := within / all; math.Abs(share-tau) > 0.02 {
				t.Errorf("quantile %g, sample %g: %g", tau, sample, share)
			}
		}
	}
}

func TestTheSameSeedIsTheSameModel(t *testing.T) {
	t.Parallel()
	rows := made(8, 800, 4)
	save := func(seed uint64) []byte {
		b, err := train(t, rows, Params{Quantile: 0.9, Sample: 0.5, Seed: seed}).MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if !bytes.Equal(save(1), save(1)) {
		t.Error("seed 1 twice is not the same")
	}
	if bytes.Equal(save(1), save(2)) {
		t.Error("seeds 1 and 2 are the same")
	}
}

func TestStartIsWhatTreesLearnTheRestOf(t *testing.T) {
	t.Parallel()
	rows := made(9, 1000, 4)
	left := rows
	left.Target = slices.Clone(rows.Target)
	left.Start = make([]float64, 1000)
	for i := range left.Start {
		left.Start[i] = 1000 * float64(i%7)
		left.Target[i] += left.Start[i]
	}
	m := train(t, left, Params{Quantile: 0.5})
	rows.Start = make([]float64, 1000)
	want := predictions(train(t, rows, Params{Quantile: 0.5}), rows)
	for i, p := range predictions(m, rows) {
		if math.Abs(p-want[i]) > 1e-9 {
			t.Fatalf("row %d: %g, want %g", i, p, want[i])
		}
	}
}

func TestSelectIsTheWeightedQuantile(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		values := make([]weighted, n)
		total := int64(0)
		for i := range values {
			values[i] = weighted{float64(r.IntN(20)), 1 + r.Int64N(4)}
			total += values[i].w
		}
		want := math.Round(float64(total) * rapid.SampledFrom([]float64{0.01, 0.1, 0.5, 0.9, 0.99}).Draw(t, "tau"))
		sorted := selectSorted(slices.Clone(values), 0, want)
		if got := selectWeighted(values, want); got != sorted {
			t.Fatalf("%g, want %g", got, sorted)
		}
	})
}
