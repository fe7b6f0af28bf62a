package estimate

import "math"

// Pinball is the loss of a quantile p that said one number of seconds where
// another came: its mean is least where p of the waits lie below.
func Pinball(p, wait, said float64) float64 {
	return max(p*(wait-said), (p-1)*(wait-said))
}

// Buckets are how positions are scored apart, by those ahead: a claim over all
// of them together says nothing, since the nearer the front, the less any
// method can know.
var Buckets = []string{"0", "1", "2", "3-4", "5-9", "10-19", "20+"}

// Bucket is the index in Buckets of a position.
func Bucket(position float64) int {
	ahead := int(math.Round(position)) - 1
	for i, most := range []int{0, 1, 2, 4, 9, 19} {
		if ahead <= most {
			return i
		}
	}
	return len(Buckets) - 1
}

// Score sums up forecasts whose wait is known. Its zero value has none; it can
// be saved as JSON and added to another.
type Score struct {
	N int `json:"n"`
	// Wait, Off and Deviation are sums in seconds: of waits, of what was
	// recommended less the wait, and of that without its sign.
	Wait      float64 `json:"wait"`
	Off       float64 `json:"off"`
	Deviation float64 `json:"deviation"`
	// Within counts waits up to low, recommended and high; Loss sums their
	// pinball loss.
	Within [3]int     `json:"within"`
	Loss   [3]float64 `json:"loss"`
	// Position sums where they stood; a Card adds it.
	Position float64 `json:"position,omitempty"`
}

// Add scores a forecast of low, recommended and high seconds.
func (s *Score) Add(wait float64, said [3]float64) {
	s.N++
	s.Wait += wait
	s.Off += said[1] - wait
	s.Deviation += math.Abs(said[1] - wait)
	for i, p := range quantiles {
		if wait <= said[i] {
			s.Within[i]++
		}
		s.Loss[i] += Pinball(p, wait, said[i])
	}
}

// Merge adds another score.
func (s *Score) Merge(o Score) {
	s.N += o.N
	s.Wait += o.Wait
	s.Off += o.Off
	s.Deviation += o.Deviation
	s.Position += o.Position
	for i := range quantiles {
		s.Within[i] += o.Within[i]
		s.Loss[i] += o.Loss[i]
	}
}

// Coverage is the share of waits up to low, recommended and high; 0 of none.
func (s *Score) Coverage() (c [3]float64) {
	for i := range c {
		c[i] = s.mean(float64(s.Within[i]))
	}
	return c
}

// Pinball is the mean pinball loss of the three quantiles, in seconds.
func (s *Score) Pinball() (p [3]float64) {
	for i := range p {
		p[i] = s.mean(s.Loss[i])
	}
	return p
}

// Bias is by how many seconds the recommended waits were too long in the mean.
func (s *Score) Bias() float64 { return s.mean(s.Off) }

// WAPE is the deviation of the recommended waits as a share of the waits.
func (s *Score) WAPE() float64 {
	if s.Wait == 0 {
		return 0
	}
	return s.Deviation / s.Wait
}

// Floor is the WAPE that would remain at the mean position if even the rate were
// known exactly and services were exponential: the least that anybody could
// reach. It is 0 where no positions were added.
func (s *Score) Floor() float64 { return Floor(s.mean(s.Position)) }

// Floor is the least WAPE of one number for the wait of position services that
// are exponential at a known rate: E|W − m| / E W of the Erlang distribution and
// its median m, which is 1 − 2·F(m) with F of one position more. A position of 0
// or less has none.
func Floor(position float64) float64 {
	if position <= 0 {
		return 0
	}
	return 1 - 2*Within(Quantile(0.5, position, 1), position+1, 1)
}

func (s *Score) mean(sum float64) float64 {
	if s.N == 0 {
		return 0
	}
	return sum / float64(s.N)
}

// Card is a score for each bucket of positions.
type Card [7]Score

// Add scores a forecast at its position.
func (c *Card) Add(position, wait float64, said [3]float64) {
	s := &c[Bucket(position)]
	s.Add(wait, said)
	s.Position += position
}

// All is the score over all buckets.
func (c *Card) All() (all Score) {
	for _, s := range c {
		all.Merge(s)
	}
	return all
}
