package sim

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/dengxu/dengxu"
)

// person is somebody who comes, with everything that chance decides about them.
// It is drawn before anything is played, so that every policy has the same
// people. Times are ms since the beginning of the run.
type person struct {
	at       int64
	service  int64
	patience int64  // forever when nobody gives up
	luck     uint64 // decides whether they come, call by call
	stream   int32
}

// forever is later than everything.
const forever = math.MaxInt64

// comes reports whether they come when they are called for the n-th time, from 1.
func (p *person) comes(n int, share float64) bool {
	if share == 0 {
		return true
	}
	return rand.New(rand.NewPCG(p.luck, uint64(n))).Float64() >= share //nolint:gosec // a draw that can be repeated is what is wanted
}

// source draws the people of one stream.
type source struct {
	arrivals Arrivals
	moments  []int64 // of a column; sorted
	service  draw
	patience draw // nil = none
}

func newSource(st *Stream, folder string) (src source, err error) {
	src.arrivals = st.Arrivals
	if src.service, err = st.Service.draw(folder); err != nil {
		return src, err
	}
	if st.Patience != nil {
		if src.patience, err = st.Patience.draw(folder); err != nil {
			return src, err
		}
	}
	if st.Arrivals.Column.named() {
		if src.moments, err = st.Arrivals.Column.read(folder); err != nil {
			return src, err
		}
		slices.Sort(src.moments)
	}
	return src, nil
}

// What is drawn for a stream, each from a generator of its own, so that another
// law of one of them leaves the others as they were.
const (
	ofArrivals = iota
	ofServices
	ofPatience
	ofLuck
	drawn
)

func generator(seed uint64, stream, what int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(stream*drawn+what))) //nolint:gosec // a draw that can be repeated is what is wanted
}

// crowd draws everybody who comes in a run, in the order in which they come.
func (p *plan) crowd(seed uint64) []person {
	var all []person
	for i := range p.sources {
		src := &p.sources[i]
		moments := p.moments(src, generator(seed, i, ofArrivals))
		services, patience, luck := generator(seed, i, ofServices), generator(seed, i, ofPatience), generator(seed, i, ofLuck)
		n := 0
		for at := range moments {
			who := person{at: at, stream: int32(i), service: src.service(services), patience: forever, luck: luck.Uint64()}
			if src.patience != nil {
				who.patience = src.patience(patience)
			}
			all = append(all, who)
			if n++; n == p.customers {
				break // no stream has more than all together
			}
		}
	}
	slices.SortStableFunc(all, func(a, b person) int { return cmp.Compare(a.at, b.at) })
	if p.customers > 0 && len(all) > p.customers {
		all = all[:p.customers]
	}
	return all
}

// moments yields when the people of a stream come.
func (p *plan) moments(src *source, r *rand.Rand) func(yield func(int64) bool) {
	switch {
	case src.moments != nil:
		return func(yield func(int64) bool) {
			for _, at := range src.moments {
				if p.days > 0 && at >= p.horizon || !yield(at) {
					return
				}
			}
		}
	case src.arrivals.PerHour > 0 || len(src.arrivals.ByHour) == 0:
		return func(yield func(int64) bool) {
			mean := 3_600_000 / src.arrivals.PerHour
			for t := mean * r.ExpFloat64(); t < float64(p.horizon); t += mean * r.ExpFloat64() {
				if !yield(int64(math.Round(t))) {
					return
				}
			}
		}
	default:
		return func(yield func(int64) bool) { p.byHour(src.arrivals.ByHour, r, yield) }
	}
}

// rate is people a ms between two moments.
type rate struct {
	from, to int64
	perMS    float64
}

// byHour yields a Poisson process whose rate changes: unit exponentials are
// spent on the area under the rates, which is exact.
func (p *plan) byHour(rates map[string]float64, r *rand.Rand, yield func(int64) bool) {
	left := r.ExpFloat64()
	for day := 0; ; day++ {
		if p.days > 0 && day >= p.days || p.midnight(day) >= p.horizon {
			return
		}
		for _, piece := range p.rates(rates, day) {
			at := float64(piece.from)
			for {
				room := (float64(piece.to) - at) * piece.perMS
				if left > room {
					left -= room
					break
				}
				at += left / piece.perMS
				left = r.ExpFloat64()
				if !yield(int64(math.Round(at))) {
					return
				}
			}
		}
	}
}

// rates are the pieces of one day, in order.
func (p *plan) rates(rates map[string]float64, day int) []rate {
	var pieces []rate
	for span, perHour := range rates {
		if perHour == 0 {
			continue
		}
		from, to := p.span(span, day)
		pieces = append(pieces, rate{from, to, perHour / 3_600_000})
	}
	slices.SortFunc(pieces, func(a, b rate) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.perMS, b.perMS)) })
	return pieces
}

// midnight is when a day begins, in ms of the run.
func (p *plan) midnight(day int) int64 { return p.clock(day, 0) }

// clock is a time of a day by the wall clock.
func (p *plan) clock(day, minute int) int64 {
	y, m, d := p.start.Date()
	return time.Date(y, m, d+day, 0, minute, 0, 0, p.start.Location()).UnixMilli() - p.start.UnixMilli()
}

// span is a checked span of a day.
func (p *plan) span(text string, day int) (from, to int64) {
	first, last, err := dengxu.ParseHours(text)
	if err != nil {
		panic(err) // the scenario was checked
	}
	return p.clock(day, first), p.clock(day, last)
}

// dayOf is the day of the run, from 0, in which a moment lies by the wall clock.
func (p *plan) dayOf(ms int64) int {
	day := int(ms / 86_400_000)
	for p.midnight(day+1) <= ms {
		day++
	}
	for day > 0 && p.midnight(day) > ms {
		day--
	}
	return day
}
