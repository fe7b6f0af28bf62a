package linear

import (
	"errors"
	"math"
)

// The solver stops when the gap between primal and dual is this share of the
// sum of targets, and never does more than so many steps.
const (
	enough = 1e-9
	// nearEnough is the share with which an answer is still given.
	nearEnough = 1e-5
	maxSteps   = 100
	// stay keeps an iterate this share of the way inside its bounds.
	stay = 0.9995
	// ridge is the share of the largest diagonal that keeps a matrix of equal
	// columns solvable.
	ridge = 1e-12
)

// solver finds b with the least Σ ρ(y − X·b). Its linear program in bounded
// form: least c·a with Xᵀa = rhs and 0 ≤ a ≤ 1, c = −y, rhs = (1−τ)·Xᵀ1; b is
// less its dual. s = 1 − a; z and w are the multipliers of the bounds.
type solver struct {
	x                    []float64 // n rows of p
	y                    []float64
	p                    int
	rhs                  []float64
	a, s, z, w           []float64
	da, ds, dz, dw, q, r []float64
	v                    []float64 // dual: −b
	dv                   []float64
	m                    []float64 // Xᵀ diag(q) X, then its factor
}

func newSolver(x, y []float64, p int, tau float64) *solver {
	n := len(y)
	f := &solver{x: x, y: y, p: p, rhs: make([]float64, p), v: make([]float64, p), dv: make([]float64, p), m: make([]float64, p*p)}
	for _, v := range []*[]float64{&f.a, &f.s, &f.z, &f.w, &f.da, &f.ds, &f.dz, &f.dw, &f.q, &f.r} {
		*v = make([]float64, n)
	}
	for i := range n {
		f.a[i], f.s[i] = 1-tau, tau
		for k, v := range f.row(i) {
			f.rhs[k] += (1 - tau) * v
		}
	}
	return f
}

func (f *solver) row(i int) []float64 { return f.x[i*f.p : (i+1)*f.p] }

// solve steps until the gap is closed.
func (f *solver) solve() ([]float64, error) {
	if err := f.begin(); err != nil {
		return nil, err
	}
	total := 1.0
	for _, y := range f.y {
		total += math.Abs(y)
	}
	gap, b := math.Inf(1), make([]float64, f.p)
	for range maxSteps {
		// Close to the end rounding may spoil a step: the best so far counts.
		if now := math.Abs(f.gap()); now < gap {
			gap = now
			for k := range b {
				b[k] = -f.v[k]
			}
		}
		if gap < enough*total || f.step() != nil {
			break
		}
	}
	if !(gap < nearEnough*total) {
		return nil, errors.New("the line was not found")
	}
	return b, nil
}

// begin starts at the least squares fit.
func (f *solver) begin() error {
	for i := range f.q {
		f.q[i], f.r[i] = 1, -f.y[i]
	}
	f.normal()
	if err := f.factor(); err != nil {
		return err
	}
	f.project(f.r, f.v)
	f.back(f.v)
	for i := range f.y {
		left := -f.y[i] - dot(f.row(i), f.v)
		f.z[i], f.w[i] = max(left, 0)+1e-3, max(-left, 0)+1e-3
	}
	return nil
}

func (f *solver) gap() float64 {
	g := -dot(f.rhs, f.v)
	for i := range f.y {
		g += f.w[i] - f.y[i]*f.a[i]
	}
	return g
}

// step is a predictor, and a corrector when the predictor could not go all the
// way.
func (f *solver) step() error {
	for i := range f.q {
		f.q[i] = 1 / (f.z[i]/f.a[i] + f.w[i]/f.s[i])
		f.r[i] = f.z[i] - f.w[i]
	}
	f.normal()
	if err := f.factor(); err != nil {
		return err
	}
	f.project(f.r, f.dv)
	f.back(f.dv)
	for i := range f.q {
		f.da[i] = f.q[i] * (dot(f.row(i), f.dv) - f.r[i])
		f.ds[i] = -f.da[i]
		f.dz[i] = -f.z[i] * (1 + f.da[i]/f.a[i])
		f.dw[i] = -f.w[i] * (1 + f.ds[i]/f.s[i])
	}
	primal, dual := f.lengths()
	if min(primal, dual) < 1 {
		f.correct(primal, dual)
		primal, dual = f.lengths()
	}
	for i := range f.q {
		f.a[i] += primal * f.da[i]
		f.s[i] += primal * f.ds[i]
		f.z[i] += dual * f.dz[i]
		f.w[i] += dual * f.dw[i]
	}
	for k := range f.v {
		f.v[k] += dual * f.dv[k]
	}
	return nil
}

// correct bends the direction toward the middle of the bounds, by as much as
// the predictor left undone.
func (f *solver) correct(primal, dual float64) {
	before, after := 0.0, 0.0
	for i := range f.q {
		before += f.z[i]*f.a[i] + f.w[i]*f.s[i]
		after += (f.z[i]+dual*f.dz[i])*(f.a[i]+primal*f.da[i]) + (f.w[i]+dual*f.dw[i])*(f.s[i]+primal*f.ds[i])
	}
	mu := before * math.Pow(after/before, 3) / float64(2*len(f.q))
	for i := range f.q {
		dz, dw := f.da[i]*f.dz[i], f.ds[i]*f.dw[i]
		f.dz[i], f.dw[i] = (mu-dz)/f.a[i], (mu-dw)/f.s[i] // what the corrector adds to −z and −w
		f.r[i] -= f.dz[i] - f.dw[i]
	}
	f.project(f.r, f.dv)
	f.back(f.dv)
	for i := range f.q {
		f.da[i] = f.q[i] * (dot(f.row(i), f.dv) - f.r[i])
		f.ds[i] = -f.da[i]
		f.dz[i] += -f.z[i] - f.z[i]*f.da[i]/f.a[i]
		f.dw[i] += -f.w[i] - f.w[i]*f.ds[i]/f.s[i]
	}
}

// lengths are how far primal and dual may go and stay inside.
func (f *solver) lengths() (primal, dual float64) {
	primal, dual = 1/stay, 1/stay
	for i := range f.q {
		primal = min(primal, room(f.a[i], f.da[i]), room(f.s[i], f.ds[i]))
		dual = min(dual, room(f.z[i], f.dz[i]), room(f.w[i], f.dw[i]))
	}
	return stay * primal, stay * dual
}

func room(v, d float64) float64 {
	if d >= 0 {
		return math.Inf(1)
	}
	return -v / d
}

// normal makes Xᵀ diag(q) X, its lower half.
func (f *solver) normal() {
	clear(f.m)
	for i, q := range f.q {
		row := f.row(i)
		for j, v := range row {
			qv := q * v
			into := f.m[j*f.p : j*f.p+j+1]
			for k := range into {
				into[k] += qv * row[k]
			}
		}
	}
}

// project makes Xᵀ (q∘r).
func (f *solver) project(r, into []float64) {
	clear(into)
	for i, q := range f.q {
		qr := q * r[i]
		for k, v := range f.row(i) {
			into[k] += qr * v
		}
	}
}

// factor makes m its Cholesky factor.
func (f *solver) factor() error {
	largest := 0.0
	for j := range f.p {
		largest = max(largest, f.m[j*f.p+j])
	}
	for j := range f.p {
		row := f.m[j*f.p : (j+1)*f.p]
		for k := range j {
			other := f.m[k*f.p : (k+1)*f.p]
			row[k] = (row[k] - dot(row[:k], other[:k])) / other[k]
		}
		d := row[j] + ridge*largest - dot(row[:j], row[:j])
		if !(d > 0) {
			if d < -1e-6*largest || math.IsNaN(d) {
				return errors.New("the features cannot be told apart")
			}
			d = largest // a column that is made of the others gets no slope of its own
		}
		row[j] = math.Sqrt(d)
	}
	return nil
}

// back solves m·x = b in place.
func (f *solver) back(b []float64) {
	for j := range f.p {
		b[j] = (b[j] - dot(f.m[j*f.p:j*f.p+j], b[:j])) / f.m[j*f.p+j]
	}
	for j := f.p - 1; j >= 0; j-- {
		for k := j + 1; k < f.p; k++ {
			b[j] -= f.m[k*f.p+j] * b[k]
		}
		b[j] /= f.m[j*f.p+j]
	}
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}
