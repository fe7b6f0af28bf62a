// Package announce owns what the holders of a queue are told about their wait,
// and what it came to: one Queue for each queue, with its estimator, what every
// holder was told, and how far that was kept. It is told what happens and how
// the line stands, and refuses to read a clock, a store or settings, and to
// decide anything about the line.
//
// Moments are milliseconds since the Unix epoch, durations are seconds.
package announce
