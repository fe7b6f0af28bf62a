package estimate

import "testing"

// BenchmarkForecast is what one ticket is told by a model.
func BenchmarkForecast(b *testing.B) {
	rows := made(4000, 1)
	learned, err := Learn(rows)
	if err != nil {
		b.Fatal(err)
	}
	e := served(100, "a", "b", "c")
	e.Adopt(learned)
	s := State{Now: 1_000_000, Position: 7.5, Length: 9, Class: "loans", Counters: busy("a", "b", "c")}
	b.ReportAllocs()
	for b.Loop() {
		e.Forecast(s)
	}
}

// BenchmarkLearn is a nightly training on a month.
func BenchmarkLearn(b *testing.B) {
	rows := made(14_000, 1)
	for b.Loop() {
		if _, err := Learn(rows); err != nil {
			b.Fatal(err)
		}
	}
}
