package gbdt

import "testing"

// BenchmarkTrain is one month of a bank: 14,000 waits, two quantiles.
func BenchmarkTrain(b *testing.B) {
	rows := made(20, 14_000, 22)
	b.ReportAllocs()
	for b.Loop() {
		for _, tau := range []float64{0.5, 0.9} {
			train(b, rows, Params{Quantile: tau})
		}
	}
}

// BenchmarkPredict is one quantile of one person.
func BenchmarkPredict(b *testing.B) {
	rows := made(20, 14_000, 22)
	m := train(b, rows, Params{Quantile: 0.9})
	x := make([][]float64, 512)
	for i := range x {
		x[i] = rows.row(i * 27)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		m.Predict(x[i%len(x)])
		i++
	}
}
