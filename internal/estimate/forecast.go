package estimate

import (
	"math"

	"github.com/dengxu/dengxu"
)

// The methods, as an answer names them.
const (
	MethodNone   = "none"   // nothing can be said
	MethodWindow = "window" // the brief's formula
	MethodErlang = "erlang" // position and rate, calibrated
	MethodLinear = "linear" // a line of features on the base
	MethodTrees  = "trees"  // boosted trees on the base
	MethodBlend  = "blend"  // the mean of both
	MethodIdle   = "idle"   // nobody ahead and a counter free
)

// The quantiles of a forecast: 1 of 10 waits less than low, 5 of 10 less than
// recommended, 9 of 10 less than high.
var quantiles = [3]float64{0.1, 0.5, 0.9}

// Forecast is how long a wait will be, in seconds.
type Forecast struct {
	Known                  bool
	Reason                 string // of an unknown one: the reasons of dengxu.Estimate
	Low, Recommended, High float64
	Method                 string
	// Position is that on which it rests: services until and with the own.
	Position float64
	// Counters that serve it.
	Counters int
	// Calibrated says that the guard, or Steady, changed it.
	Calibrated bool
	// Why it rose although the position fell; "" when it did not.
	Why string
	// Closed is the part in which nobody serves.
	Closed float64
	// Sample is what it was made from: kept with the token, it is learned from.
	Sample Sample
	// Raw are the quantiles before calibration, for Resolve.
	Raw [3]float64
}

// Estimator makes forecasts of one queue. Its zero value knows nothing yet and
// works from priors. It is for one goroutine at a time; everything it keeps can
// be saved as JSON.
type Estimator struct {
	History History `json:"history"`
	// Model is what was learned; nil for nothing.
	Model *Model `json:"model,omitempty"`
	// Learned and Plain calibrate forecasts with the model and without.
	Learned [3]Calibration `json:"learned"`
	Plain   [3]Calibration `json:"plain"`
	// Window says that the brief's formula is wanted.
	Window bool `json:"window,omitempty"`
}

// Forecast answers for a state. It is unknown, with a reason, when no counter is
// open or when there is neither a service nor a prior to go by.
func (e *Estimator) Forecast(s State) Forecast { return e.forecast(s, e.Model) }

// Without is the forecast that Forecast would make if nothing had been learned.
func (e *Estimator) Without(s State) Forecast { return e.forecast(s, nil) }

// Adopt takes over what a training came to: its model, or none, and the
// calibration that the training began.
func (e *Estimator) Adopt(l *Learned) {
	e.Model, e.Learned = l.Model, l.Calibrations
}

func (e *Estimator) forecast(s State, m *Model) Forecast {
	f := Forecast{Method: MethodNone, Position: s.Position, Counters: len(s.Counters), Closed: s.Closed}
	if f.Reason = s.Unknown; f.Reason != "" {
		return f
	}
	if len(s.Counters) == 0 {
		f.Reason = dengxu.UnknownNoCounter
		return f
	}
	if s.Position <= 1 && anyIdle(s.Counters) {
		f.Known, f.Method = true, MethodIdle
		return f.after(s.Closed)
	}
	rate := e.History.rate(&s)
	if rate <= 0 {
		f.Reason = dengxu.UnknownNoData
		return f
	}
	f.Known = true
	f.Sample = e.History.sample(&s, rate)
	if e.Window {
		return e.window(f, &s)
	}
	return e.learned(f, m).after(s.Closed)
}

// Again is what would be said now of a sample that was taken earlier: by the
// present model and calibrations.
func (e *Estimator) Again(s Sample) Forecast {
	return e.learned(Forecast{Known: true, Position: s.Position, Sample: s}, e.Model)
}

// AgainWithout is Again as if nothing had been learned.
func (e *Estimator) AgainWithout(s Sample) Forecast {
	return e.learned(Forecast{Known: true, Position: s.Position, Sample: s}, nil)
}

// learned puts in what a model, or the base without one, says of a forecast's
// sample, calibrated and guarded.
func (e *Estimator) learned(f Forecast, m *Model) Forecast {
	calibrations := &e.Plain
	if f.Method = MethodErlang; m != nil {
		f.Method, calibrations = m.Method, &e.Learned
	}
	f.Raw = raw(m, &f.Sample)
	said := f.Raw
	for i := range said {
		said[i] *= calibrations[i].Factor(quantiles[i])
	}
	return f.say(said).guard()
}

func anyIdle(counters []Counter) bool {
	for _, c := range counters {
		if c.Idle {
			return true
		}
	}
	return false
}

// raw are the quantiles before calibration.
func raw(m *Model, s *Sample) [3]float64 {
	if m != nil {
		return m.Quantiles(s)
	}
	return s.Erlang()
}

// say puts the quantiles in, in their order.
func (f Forecast) say(q [3]float64) Forecast {
	f.Recommended = q[1]
	f.Low, f.High = min(q[0], q[1]), max(q[1], q[2])
	return f
}

// guard holds the median to the line as it stands.
func (f Forecast) guard() Forecast {
	low, high := Guard(f.Sample.Position, f.Sample.PerSecond)
	if held := min(max(f.Recommended, low), high); held != f.Recommended {
		f.Recommended, f.Calibrated = held, true
		f.Low, f.High = min(f.Low, held), max(f.High, held)
	}
	return f
}

// after adds the time in which nobody serves.
func (f Forecast) after(closed float64) Forecast {
	f.Low += closed
	f.Recommended += closed
	f.High += closed
	return f
}

// window answers with the brief's formula, and the Erlang spread about it.
func (e *Estimator) window(f Forecast, s *State) Forecast {
	busy := 0.0
	for _, c := range s.Counters {
		if c.Busy {
			busy++
		}
	}
	f.Method = MethodWindow
	said := Window(max(0, s.Position-1), busy, e.History.Mean(s.Prior), len(s.Counters))
	spread, erlang := said/f.Sample.Base(), f.Sample.Erlang()
	f.Raw = [3]float64{spread * erlang[0], said, max(said, spread*erlang[2])}
	return f.say(f.Raw).after(s.Closed)
}

// Resolve tells what a forecast came to: the wait in seconds, until the first
// call, of one who was called. Who gave up tells nothing: the wait was cut off.
func (e *Estimator) Resolve(f Forecast, wait float64) {
	wait = max(0, wait-f.Closed)
	if !f.Known || f.Sample.PerSecond <= 0 || math.IsNaN(wait) {
		return
	}
	plain := raw(nil, &f.Sample)
	for i := range quantiles {
		e.Plain[i].Add(wait, plain[i])
		if f.Method != MethodErlang && f.Method != MethodWindow {
			e.Learned[i].Add(wait, f.Raw[i])
		}
	}
}
