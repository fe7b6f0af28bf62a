package sim

import (
	"math"
	"slices"
)

// The formulas that simulated means are held against, and the recursions whose
// means are known. Times are in mean services, which are 100 s in the engine.

// unit is the mean service in ms.
const unit = 100_000

// erlangC is the chance of having to wait in M/M/c with a = λ/μ, from Erlang's
// loss formula by its recursion over the servers.
func erlangC(c int, a float64) float64 {
	loss := 1.0
	for n := 1; n <= c; n++ {
		loss = a * loss / (float64(n) + a*loss)
	}
	rho := a / float64(c)
	return loss / (1 - rho*(1-loss))
}

// erlangWait is the mean wait in M/M/c with mean service 1.
func erlangWait(c int, a float64) float64 { return erlangC(c, a) / (float64(c) - a) }

// linear are the mean waits of M/G/1 where the priority of class p grows with
// slope b[p], rising in p (Kleinrock 1964): lambda and the first two moments of
// the services by class.
func linear(lambda, m1, m2, b []float64) []float64 {
	w0, rho := 0.0, 0.0
	for i := range lambda {
		w0 += lambda[i] * m2[i] / 2
		rho += lambda[i] * m1[i]
	}
	w := make([]float64, len(lambda))
	for p := range w {
		above, below := w0/(1-rho), 1.0
		for i := range p {
			above -= lambda[i] * m1[i] * w[i] * (1 - b[i]/b[p])
		}
		for i := p + 1; i < len(w); i++ {
			below -= lambda[i] * m1[i] * (1 - b[p]/b[i])
		}
		w[p] = above / below
	}
	return w
}

// linearMMC are the same of M/M/c with mean service 1: a busy period orders people
// as M/M/1 of c times the speed does.
func linearMMC(c int, lambda, b []float64) []float64 {
	a, n := 0.0, float64(c)
	m1, m2 := make([]float64, len(lambda)), make([]float64, len(lambda))
	for i := range lambda {
		a += lambda[i]
		m1[i], m2[i] = 1/n, 2/n/n
	}
	w := linear(lambda, m1, m2, b)
	for i := range w {
		w[i] *= erlangC(c, a) / (a / n)
	}
	return w
}

// headStart are the mean waits of M/M/c of two groups of one slope of which the
// second has a head start h: E[min(τ, h)] is the integral over t < h of the
// chance that the line found is not empty after t if only the second group comes,
// a birth-death chain that is stepped through in uniformised time.
func headStart(c int, low, high, h float64) (float64, float64) {
	n := float64(c)
	a := low + high
	rho, wait := a/n, erlangWait(c, a)
	const states = 400
	alive := make([]float64, states) // alive[k]: k are left to be served
	for k := 1; k < states; k++ {
		alive[k] = erlangC(c, a) * (1 - rho) * math.Pow(rho, float64(k-1))
	}
	total := high + n
	up, down := high/total, n/total
	// The j-th step of a Poisson process of rate total has passed by t with the
	// tail of Poisson(total·t); its integral over [0, h] is what a state before
	// step j+1 counts.
	step, sum := math.Exp(-total*h), 0.0
	tail := 1 - step // at least one step by h
	for j := 1; tail > 1e-13 && j < 10_000; j++ {
		left := 0.0
		for _, v := range alive[1:] {
			left += v
		}
		sum += left * tail / total
		next := make([]float64, states)
		for k := 1; k < states-1; k++ {
			next[k+1] += alive[k] * up
			if k > 1 {
				next[k-1] += alive[k] * down
			}
		}
		alive = next
		step *= total * h / float64(j)
		tail -= step
	}
	return wait + high/n*sum, wait - low/n*sum
}

// fifo are the waits of everybody under first come, first served at c servers, by
// the recursion of Kiefer and Wolfowitz, in ms. Services count speed times as
// fast.
func fifo(people []person, c int, speed float64) []int64 {
	free := make([]int64, c)
	waits := make([]int64, len(people))
	for i := range people {
		p := &people[i]
		first := 0
		for k := range free {
			if free[k] < free[first] {
				first = k
			}
		}
		waits[i] = max(0, free[first]-p.at)
		free[first] = p.at + waits[i] + int64(math.Round(float64(p.service)/speed))
	}
	return waits
}

// found is how many others each finds there who comes, under first come, first
// served at one server.
func found(people []person) []int64 {
	waits := fifo(people, 1, 1)
	n := make([]int64, len(people))
	gone := 0
	for i := range people {
		for gone < i && people[gone].at+waits[gone]+people[gone].service <= people[i].at {
			gone++
		}
		n[i] = int64(i - gone)
	}
	return n
}

// regressed is the mean of y, one value a run, corrected by controls whose true
// means are 0 (x[i] are those of run i): the intercept of the least squares fit,
// and its standard error.
func regressed(y []float64, x [][]float64) (mean, se float64) {
	n, q := len(y), 1
	if len(x) > 0 {
		q += len(x[0])
	}
	row := func(i int) []float64 {
		if len(x) == 0 {
			return []float64{1}
		}
		return append([]float64{1}, x[i]...)
	}
	// Normal equations beside the unit matrix, by Gauss and Jordan.
	m := make([][]float64, q)
	right := make([]float64, q)
	for a := range m {
		m[a] = make([]float64, 2*q)
		m[a][q+a] = 1
	}
	for i := range n {
		v := row(i)
		for a := range q {
			right[a] += v[a] * y[i]
			for b := range q {
				m[a][b] += v[a] * v[b]
			}
		}
	}
	invert(m)
	fit := make([]float64, q)
	for a := range q {
		for b := range q {
			fit[a] += m[a][q+b] * right[b]
		}
	}
	squares := 0.0
	for i := range n {
		e := y[i]
		for a, v := range row(i) {
			e -= fit[a] * v
		}
		squares += e * e
	}
	return fit[0], math.Sqrt(squares / float64(n-q) * m[0][q])
}

// invert brings the left half of m to the unit matrix, and so the right half to
// the inverse.
func invert(m [][]float64) {
	q := len(m)
	for a := range q {
		best := a
		for b := a + 1; b < q; b++ {
			if math.Abs(m[b][a]) > math.Abs(m[best][a]) {
				best = b
			}
		}
		m[a], m[best] = m[best], m[a]
		by := m[a][a]
		for k := range m[a] {
			m[a][k] /= by
		}
		for b := range q {
			if b == a {
				continue
			}
			by := m[b][a]
			for k := range m[b] {
				m[b][k] -= by * m[a][k]
			}
		}
	}
}

// mean is the mean of values from the first-th on.
func mean(values []int64, first int) float64 { return meanOf(slices.Clone(values[first:])) }
