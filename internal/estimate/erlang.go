package estimate

import "math"

// Quantile is the time in seconds within which the wait for position services
// at perSecond ends with probability p, when services are exponential and all
// counters stay busy: the quantile of the Erlang distribution, or of the gamma
// distribution for a position between whole ones. It is exact to 1e-9 of itself
// for positions up to 100,000. A position of 0 or less waits 0, a rate of 0
// for ever.
func Quantile(p, position, perSecond float64) float64 {
	switch {
	case position <= 0 || p <= 0:
		return 0
	case perSecond <= 0 || p >= 1:
		return math.Inf(1)
	}
	return gammaQuantile(p, position) / perSecond
}

// Within is the probability that the wait of Quantile ends within t seconds.
func Within(t, position, perSecond float64) float64 {
	switch {
	case position <= 0:
		return 1
	case t <= 0 || perSecond <= 0:
		return 0
	}
	return gammaBelow(position, t*perSecond)
}

// gammaQuantile inverts gammaBelow by Newton's method inside a shrinking
// bracket, from Wilson and Hilferty's cube (PNAS 17, 1931).
func gammaQuantile(p, a float64) float64 {
	z := math.Sqrt2 * math.Erfinv(2*p-1)
	cube := 1 - 1/(9*a) + z/(3*math.Sqrt(a))
	x := a * cube * cube * cube
	if cube <= 0.1 {
		// Far left: there the distribution is x^a / Γ(a+1).
		logGamma, _ := math.Lgamma(a + 1)
		x = math.Exp((math.Log(p) + logGamma) / a)
	}
	low, high := 0.0, math.Inf(1)
	for range 100 {
		below := gammaBelow(a, x)
		if below < p {
			low = x
		} else {
			high = x
		}
		next := x - (below-p)/gammaDensity(a, x)
		if !(next > low && next < high) {
			if next = (low + high) / 2; math.IsInf(high, 1) {
				next = 2*x + 1
			}
		}
		if math.Abs(next-x) <= 1e-13*next {
			return next
		}
		x = next
	}
	return x
}

func gammaDensity(a, x float64) float64 {
	logGamma, _ := math.Lgamma(a)
	return math.Exp((a-1)*math.Log(x) - x - logGamma)
}

// gammaBelow is the regularised lower incomplete gamma function: a series below
// the mean, a continued fraction above it (Abramowitz and Stegun 6.5.29, 6.5.31).
func gammaBelow(a, x float64) float64 {
	if x <= 0 {
		return 0
	}
	logGamma, _ := math.Lgamma(a)
	front := math.Exp(a*math.Log(x) - x - logGamma)
	if x < a+1 {
		sum, term := 1/a, 1/a
		for n := a + 1; term > sum*1e-17; n++ {
			term *= x / n
			sum += term
		}
		return min(1, front*sum)
	}
	const tiny = 1e-300
	b := x + 1 - a
	c, d := 1/tiny, 1/b
	h := d
	for i := 1.0; i < 1e6; i++ {
		an := -i * (i - a)
		b += 2
		if d = an*d + b; math.Abs(d) < tiny {
			d = tiny
		}
		if c = b + an/c; math.Abs(c) < tiny {
			c = tiny
		}
		d = 1 / d
		by := d * c
		h *= by
		if math.Abs(by-1) < 1e-16 {
			break
		}
	}
	return max(0, 1-front*h)
}
