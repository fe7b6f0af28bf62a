package estimate

import "testing"

func TestRoundingForPeople(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		seconds     float64
		nearest, up int
	}{
		{0, 0, 0},
		{-5, 0, 0},
		{1, 1, 1},
		{89, 1, 2},
		{91, 2, 2},
		{4.4 * 60, 4, 5},
		{299, 5, 5},
		{7 * 60, 5, 10},
		{8 * 60, 10, 10},
		{29 * 60, 30, 30},
		{31 * 60, 30, 40},
		{36 * 60, 40, 40},
		{129 * 60, 130, 130},
	} {
		if n, up := Minutes(row.seconds), MinutesUp(row.seconds); n != row.nearest || up != row.up {
			t.Errorf("%g s: %d and %d min, want %d and %d", row.seconds, n, up, row.nearest, row.up)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		f               Forecast
		english, chines string
	}{
		{Forecast{}, "", ""},
		{Forecast{Known: true}, "now", "马上"},
		{Forecast{Known: true, Recommended: 1500, High: 2300}, "about 25 min, at most 40 min for 9 of 10 people", "约25分钟，十人中九人不超过40分钟"},
		{Forecast{Known: true, Recommended: 0, High: 30}, "about 1 min", "约1分钟"},
		{Forecast{Known: true, Recommended: 60 * 150, High: 60 * 180}, "about 2 h 30 min, at most 3 h for 9 of 10 people", "约2小时30分钟，十人中九人不超过3小时"},
		{Forecast{Known: true, Recommended: 60 * 180, High: 60 * 188}, "about 3 h, at most 3 h 10 min for 9 of 10 people", "约3小时，十人中九人不超过3小时10分钟"},
	} {
		if e, c := row.f.Text(English), row.f.Text(Chinese); e != row.english || c != row.chines {
			t.Errorf("%q and %q, want %q and %q", e, c, row.english, row.chines)
		}
	}
}
