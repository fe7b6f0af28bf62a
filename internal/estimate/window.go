package estimate

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
