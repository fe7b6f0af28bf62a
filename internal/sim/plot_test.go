package sim

import (
	"math"
	"strings"
	"testing"
)

// TestTheDayIsWholeHours: the axis is that of the hours in which somebody waited,
// with marks at whole ones, and the whole day when nobody did.
func TestTheDayIsWholeHours(t *testing.T) {
	t.Parallel()
	day := func(from, to int) []float64 {
		all := make([]float64, dayBins)
		for i := from; i < to; i++ {
			all[i] = 1
		}
		return all
	}
	for _, row := range []struct {
		days [][]float64
		want string
	}{
		{[][]float64{day(0, 0)}, "0 4 8 12 16 20 24"},
		{[][]float64{day(0, dayBins)}, "0 4 8 12 16 20 24"},
		{[][]float64{day(31, 47), day(33, 50)}, "7 8 9 10 11 12 13"},
		{[][]float64{day(29, 73)}, "6 8 10 12 14 16 18 20"},
		{[][]float64{day(95, 96)}, "23 24"},
	} {
		across := hours("o'clock", row.days)
		var labels []string
		for _, mark := range across.ticks(0, 100) {
			labels = append(labels, mark.Label)
		}
		if got := strings.Join(labels, " "); got != row.want {
			t.Errorf("%s, want %s", got, row.want)
		}
		if across.at(across.from, 0, 100) != 0 || across.at(across.to, 0, 100) != 100 {
			t.Errorf("%s does not fill the frame", row.want)
		}
	}
}

// TestWaitsReadLikeAClock above a minute, and marks stand where a clock has them.
func TestWaitsReadLikeAClock(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[float64]string{
		0: "0 s", 5: "5 s", 12.34: "12.3 s", 60: "60 s", 60.2: "1:00", 451.4: "7:31", 3599.6: "1:00:00", 3723: "1:02:03",
	} {
		if got := clock(seconds); got != want {
			t.Errorf("%g: %s, want %s", seconds, got, want)
		}
	}
	for most, want := range map[float64]string{
		0: "0 s 1 s", 3: "0 s 0.5 s 1 s 1.5 s 2 s 2.5 s 3 s", 50: "0 s 10 s 20 s 30 s 40 s 50 s",
		200: "0 s 30 s 60 s 1:30 2:00 2:30 3:00 3:30", 1700: "0 s 5:00 10:00 15:00 20:00 25:00 30:00",
		9000: "0 s 30:00 1:00:00 1:30:00 2:00:00 2:30:00",
	} {
		along, labels := waits("wait", most), []string{}
		for _, mark := range along.ticks(0, 100) {
			labels = append(labels, mark.Label)
		}
		if got := strings.Join(labels, " "); got != want {
			t.Errorf("to %g s: %s, want %s", most, got, want)
		}
	}
}

// TestPicturesAreLabelled: bars have an axis and a legend, a bar ends where its
// axis says, and the label of the upright axis is above its highest mark.
func TestPicturesAreLabelled(t *testing.T) {
	t.Parallel()
	r := two(t)
	for n, b := range r.bars() {
		last := b.Ticks[len(b.Ticks)-1]
		if b.Ticks[0].At != 0 || last.At != barWidth || len(b.Ticks) < 4 {
			t.Errorf("%s: marks %v", b.Title, b.Ticks)
		}
		for i, row := range b.Rows {
			w := r.Policies[i].Lines[n].Wait
			scale := waits("", max(r.Policies[0].Lines[n].Wait.P99, r.Policies[1].Lines[n].Wait.P99)).to
			if math.Abs(row.P90/barWidth*scale-w.P90) > scale/1000 || row.P99 > barWidth {
				t.Errorf("%s: %+v, want %+v to %g s", b.Title, row, w, scale)
			}
		}
	}
	const labelBottom, halfADigit = 12 + 3, 8 // where report.html puts the label
	for _, p := range r.plots() {
		if top := p.YTicks[len(p.YTicks)-1]; top.At-halfADigit < labelBottom {
			t.Errorf("%s: the mark %s at %g lies under the label", p.Title, top.Label, top.At)
		}
	}
	var page strings.Builder
	if err := r.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"P50: half", "P90: nine of ten", "P99: all but one", "P50 · P90 · P99", "m:ss", ">o&#39;clock</text>"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q on the page", want)
		}
	}
}

func TestStepsOfAnAxis(t *testing.T) {
	t.Parallel()
	for _, most := range []float64{0.003, 0.7, 1, 4.2, 7, 10, 99, 100, 12345} {
		s := step(most)
		if n := upTo(most, s) / s; n < 4 || n > 10 {
			t.Errorf("up to %g in steps of %g: %g of them", most, s, n)
		}
		if upTo(most, s) < most-1e-9 {
			t.Errorf("%g is not on the axis", most)
		}
	}
	if step(0) != 1 || upTo(0, 1) != 1 {
		t.Error("an empty axis")
	}
}
