package order

import "math"

// Factors in thousandths: what people write, and what records keep.
const (
	factorStep = 50 // thousandths in a K
	minFactor  = factorStep
	maxFactor  = 400 * factorStep
)

// RoundFactor returns a factor in thousandths as lanes keep it: the next
// multiple of 50 upward, from 50 to 20,000. Upward, because a factor that
// became smaller would pass others by more than was promised to them.
func RoundFactor(factor int32) int32 {
	factor = min(max(factor, minFactor), maxFactor)
	return (factor + factorStep - 1) / factorStep * factorStep
}

// KOf returns the K, from 1 to 400, of a factor in thousandths.
func KOf(factor int32) int {
	return int(RoundFactor(factor) / factorStep)
}

// FactorOf returns the factor in thousandths of a K, which is held to 1..400.
func FactorOf(k int) int32 {
	return int32(min(max(k, 1), maxFactor/factorStep)) * factorStep
}

// ClampOvertake returns a factor in thousandths, rounded and clamped so that
// without head starts nobody passes another who has waited more than overtake
// times as long: to [largest/overtake, largest], the lower end rounded upward.
// largest is the largest factor of the queue's groups; overtake counts to
// three decimals, 0 or less means no limit, below 1 is as 1.
func ClampOvertake(factor, largest int32, overtake float64) int32 {
	factor, largest = RoundFactor(factor), RoundFactor(largest)
	// The small addend takes back what a decimal fraction loses in binary.
	times := math.Floor(overtake*1000 + 1e-6)
	if !(times > 0) { // also when not a number
		return factor
	}
	least := min(math.Ceil(float64(largest)*1000/times), float64(largest))
	return min(max(factor, RoundFactor(int32(least))), largest)
}

// NearestLane returns which of the open Ks of a class is nearest to k, for a
// join that may not open a lane of its own. Of two as near it is the larger,
// as with all rounding of factors. ok is false when none is open.
func NearestLane(k int, open []int) (nearest int, ok bool) {
	for _, o := range open {
		d, best := distance(o, k), distance(nearest, k)
		if !ok || d < best || d == best && o > nearest {
			nearest, ok = o, true
		}
	}
	return nearest, ok
}

func distance(a, b int) int { return max(a-b, b-a) }

// Scale returns the place of ordering epoch: dayStart +
// ⌊(place − dayStart)·factor/1000⌋, factor in thousandths. It rounds down also
// before the day start, where a head start may lead.
func Scale(place, dayStart int64, factor int32) int64 {
	scaled := (place - dayStart) * int64(factor)
	q := scaled / 1000
	if scaled%1000 < 0 {
		q--
	}
	return dayStart + q
}
