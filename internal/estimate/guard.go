package estimate

import (
	"math"

	"github.com/dengxu/dengxu"
)

// The guard: what a median may be, from the line as it stands. Outside of it no
// model is believed.
const (
	guardSlack = 0.1
	guardZ     = 1.645 // of a normal distribution, 5 % on either side
)

// Guard is the band, in seconds, in which the recommended wait of position
// services at perSecond has to lie: the mean, less and more than the spread of
// a sum of services by 10 %. With 35 ahead and 35 served in an hour it is from
// 40 to 86 minutes: 20 minutes is impossible.
func Guard(position, perSecond float64) (low, high float64) {
	if position <= 0 {
		return 0, 0
	}
	base, spread := position/perSecond, guardZ/math.Sqrt(position)
	return (1 - guardSlack) * base * max(0, 1-spread), (1 + guardSlack) * base * (1 + spread)
}

// Steady compares a forecast with the one that the same token was told before.
// While its position falls, the recommended wait does not rise above the guard
// band of the earlier one, unless a counter left or services became that much
// slower; then Why says so. It returns now itself where nothing is to be changed.
func Steady(before, now *Forecast) *Forecast {
	if !before.Known || !now.Known || now.Position > before.Position {
		return now
	}
	if before.Sample.PerSecond <= 0 { // a counter was free: there was no line to make a band of
		if now.Recommended <= before.Recommended || now.Counters >= before.Counters {
			return now
		}
		steady := *now
		steady.Why = dengxu.RoseCounterLeft
		return &steady
	}
	_, most := Guard(before.Sample.Position, before.Sample.PerSecond)
	most += before.Closed
	left := now.Recommended > before.Recommended && now.Counters < before.Counters
	if !left && now.Recommended <= most {
		return now
	}
	steady := *now
	switch least, _ := Guard(now.Sample.Position, now.Sample.PerSecond); {
	case left:
		steady.Why = dengxu.RoseCounterLeft
	case least+now.Closed > most:
		steady.Why = dengxu.RoseSlowerService
	default:
		steady.Recommended, steady.Calibrated = most, true
		steady.Low = min(now.Low, most)
	}
	return &steady
}
