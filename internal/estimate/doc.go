// Package estimate says how long a wait will be: a range that is right as often
// as it says, from what a queue has seen and from the line as it stands. It owns
// the methods, from a prior to what was learned, their calibration and their
// score, and is pure: it reads no clock, no store and no settings, and decides
// nothing about the line.
//
// Moments are milliseconds since the Unix epoch, durations are seconds, rates
// are services in a second. A position counts the services until and with one's
// own start: 1 is next.
//
// The way of a forecast: Line.Place finds the position under the queue's own
// ordering, History.PerSecond the rate of the counters that serve it. Position
// over rate is the base, on which the Erlang distribution stands. A Model, when
// there is one, says by what the base is to be multiplied. A Calibration brings
// each quantile to the share that it promises, and the guard holds all of it to
// what the line itself says.
package estimate
