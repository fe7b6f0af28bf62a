package estimate

import (
	"math"
	"testing"
)

func TestScore(t *testing.T) {
	t.Parallel()
	var a, b Score
	a.Add(100, [3]float64{50, 80, 120})
	b.Add(200, [3]float64{210, 230, 300})
	a.Merge(b)
	if a.N != 2 || a.Bias() != (80-100+230-200)/2.0 || a.WAPE() != 50.0/300 {
		t.Errorf("%+v: bias %g, WAPE %g", a, a.Bias(), a.WAPE())
	}
	if c := a.Coverage(); c != [3]float64{0.5, 0.5, 1} {
		t.Errorf("coverage %v", c)
	}
	want := [3]float64{(0.1*50 + 0.9*10) / 2, (0.5*20 + 0.5*30) / 2, (0.1*20 + 0.1*100) / 2}
	for i, got := range a.Pinball() {
		if math.Abs(got-want[i]) > 1e-9 {
			t.Errorf("pinball %d: %g, want %g", i, got, want[i])
		}
	}
	var none Score
	if none.WAPE() != 0 || none.Bias() != 0 || none.Coverage() != [3]float64{} || none.Pinball() != [3]float64{} {
		t.Error("a score of nothing")
	}
}

func TestBuckets(t *testing.T) {
	t.Parallel()
	for position, want := range map[float64]string{
		0: "0", 1: "0", 1.4: "0", 1.6: "1", 2: "1", 3: "2", 4: "3-4", 5: "3-4", 6: "5-9", 10: "5-9", 11: "10-19", 20: "10-19", 21: "20+", 500: "20+",
	} {
		if got := Buckets[Bucket(position)]; got != want {
			t.Errorf("%g: %s, want %s", position, got, want)
		}
	}
	var c Card
	c.Add(1, 10, [3]float64{1, 2, 3})
	c.Add(30, 10, [3]float64{1, 2, 3})
	if all := c.All(); all.N != 2 || c[0].N != 1 || c[6].N != 1 {
		t.Errorf("%+v", c)
	}
	c.Add(60, 10, [3]float64{1, 2, 3})
	if got, want := c[6].Floor(), Floor(45); got != want || got == 0 {
		t.Errorf("the floor is %g, want %g, that of the mean position", got, want)
	}
	if Floor(0) != 0 || new(Score).Floor() != 0 {
		t.Error("a floor of nobody")
	}
}

// TestTheFloor holds scores of the true distribution against what is known of
// it: no method can do better.
func TestTheFloor(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ k, wape, pin50, pin90 float64 }{
		{1, .693, .3466, .2303},
		{2, .526, .2629, .1547},
		{5, .347, .1735, .0918},
		{20, .177, .0886, .0428},
		{36, .132, .0662, .0313},
	} {
		said := [3]float64{Quantile(.1, row.k, row.k), Quantile(.5, row.k, row.k), Quantile(.9, row.k, row.k)}
		var s Score
		const n = 20_000
		for i := range n {
			s.Add(Quantile((float64(i)+.5)/n, row.k, row.k), said)
		}
		if floor := Floor(row.k); math.Abs(floor-row.wape) > 0.0006 {
			t.Errorf("k %g: the floor is %.4f, want %.4f", row.k, floor, row.wape)
		}
		pin, cov := s.Pinball(), s.Coverage()
		for name, v := range map[string][2]float64{
			"WAPE": {s.WAPE(), row.wape}, "pin50": {pin[1], row.pin50}, "pin90": {pin[2], row.pin90},
			"cov10": {cov[0], .1}, "cov50": {cov[1], .5}, "cov90": {cov[2], .9},
		} {
			if math.Abs(v[0]-v[1]) > 0.0011 {
				t.Errorf("k %g, %s: %.4f, want %.4f", row.k, name, v[0], v[1])
			}
		}
	}
}
