package estimate

import (
	"math"
	"slices"
)

// Window is the brief's own formula, kept for who relies on it: (ahead + in
// service) × mean service / open counters, over the last services of the queue.
// It counts all who are in service as if they had to be served from the start,
// and one after the other, and says (c−1)/c of a mean service too much: with
// five counters and one ahead it says three times the wait. It is 0 without
// counters.
func Window(ahead, inService, meanService float64, counters int) float64 {
	if counters == 0 {
		return 0
	}
	return (ahead + inService) * meanService / float64(counters)
}

var (
	openFeature = slices.Index(FeatureNames, "open")
	busyFeature = slices.Index(FeatureNames, "busy_share")
)

// Window is the brief's formula for a sample, with the mean service of the
// counters that were open. It is 0 of a sample that does not say who was busy.
func (s *Sample) Window() float64 {
	if len(s.Features) <= max(openFeature, busyFeature) || s.PerSecond <= 0 {
		return 0
	}
	open, busy := s.Features[openFeature], s.Features[busyFeature]
	if math.IsNaN(open) || math.IsNaN(busy) {
		return 0
	}
	return Window(max(0, s.Position-1), busy*open, open/s.PerSecond, int(open))
}
