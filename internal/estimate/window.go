package estimate

// Window is the brief's own formula, kept for who relies on it: (position + in
// service) × mean service / open counters, over the last services of the queue.
// It counts those in service although their counters will have served them
// meanwhile, and says (c−1)/c of a mean service too much: with five counters
// and a position of one it says three times the wait. It is 0 without counters.
func Window(position, inService, meanService float64, counters int) float64 {
	if counters == 0 {
		return 0
	}
	return (position + inService) * meanService / float64(counters)
}
