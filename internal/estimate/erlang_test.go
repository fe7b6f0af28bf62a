package estimate

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// below is P(wait ≤ t) by its series, 1 − Σ e^{−x} x^i/i!, in 200 bits: another
// way than the code's.
func below(k int, x float64) float64 {
	const bits = 200
	term := big.NewFloat(1).SetPrec(bits)
	sum, all := big.NewFloat(0).SetPrec(bits), big.NewFloat(0).SetPrec(bits)
	at := big.NewFloat(x).SetPrec(bits)
	for i := range 4000 {
		if i < k {
			sum.Add(sum, term)
		}
		all.Add(all, term)
		if small, _ := new(big.Float).Quo(term, all).Float64(); i > k && small < 1e-40 {
			break
		}
		term.Mul(term, at).Quo(term, big.NewFloat(float64(i+1)).SetPrec(bits))
	}
	share, _ := sum.Quo(sum, all).Float64()
	return 1 - share
}

func TestErlangAgainstItsSeries(t *testing.T) {
	t.Parallel()
	for _, k := range []int{1, 2, 3, 5, 10, 20, 36, 50, 100, 300} {
		for _, p := range []float64{0.1, 0.5, 0.9} {
			x := Quantile(p, float64(k), 1)
			if got := below(k, x); math.Abs(got-p) > 1e-9 {
				t.Errorf("k %d: P(%g) = %.12f, want %g", k, x, got, p)
			}
			// The quantile itself to 1e-6: the series is below p on one side of
			// it and above on the other.
			if below(k, x-1e-6) >= p || below(k, x+1e-6) <= p {
				t.Errorf("k %d, P%g: %.9f is more than 1e-6 off", k, 100*p, x)
			}
		}
	}
}

func TestErlangTable(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ k, p10, median, p90 float64 }{
		{1, .105, .693, 2.303},
		{2, .266, .839, 1.945},
		{3, .367, .891, 1.774},
		{5, .487, .934, 1.599},
		{10, .622, .967, 1.421},
		{20, .726, .983, 1.295},
		{36, .793, .991, 1.219},
		{50, .824, .993, 1.185},
		{100, .874, .997, 1.130},
	} {
		for p, want := range map[float64]float64{0.1: row.p10, 0.5: row.median, 0.9: row.p90} {
			if got := Quantile(p, row.k, row.k); math.Abs(got-want) > 0.00051 {
				t.Errorf("k %g, P%g: %.4f of the mean, want %.3f", row.k, 100*p, got, want)
			}
		}
	}
}

func TestQuantileAndWithinAreInverse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		position := rapid.Float64Range(0.05, 100_000).Draw(t, "position")
		rate := rapid.Float64Range(1e-4, 10).Draw(t, "rate")
		p := rapid.Float64Range(0.001, 0.999).Draw(t, "p")
		x := Quantile(p, position, rate)
		if got := Within(x, position, rate); math.Abs(got-p) > 1e-8 {
			t.Fatalf("P(%g) = %g, want %g", x, got, p)
		}
		if more := Quantile(p, position+1, rate); more <= x {
			t.Fatalf("one more ahead: %g after %g", more, x)
		}
		// Scaling time scales waits.
		if twice := Quantile(p, position, rate/2); math.Abs(twice-2*x) > 1e-9*x {
			t.Fatalf("half the rate: %g, want %g", twice, 2*x)
		}
	})
}

func TestQuantilesAtTheEdges(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	for _, row := range []struct{ p, position, rate, want float64 }{
		{0.5, 0, 1, 0},
		{0.5, -1, 1, 0},
		{0.5, 1, 0, inf},
		{0, 3, 1, 0},
		{1, 3, 1, inf},
		{0.5, 0, 0, 0},
	} {
		if got := Quantile(row.p, row.position, row.rate); got != row.want {
			t.Errorf("%+v: %g", row, got)
		}
	}
	for _, row := range []struct{ t, position, rate, want float64 }{{5, 0, 1, 1}, {0, 1, 1, 0}, {5, 1, 0, 0}, {1e9, 2, 1, 1}} {
		if got := Within(row.t, row.position, row.rate); got != row.want {
			t.Errorf("%+v: %g", row, got)
		}
	}
}
