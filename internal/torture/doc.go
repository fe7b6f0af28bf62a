// Package torture tries to break the whole: concurrent callers whose answers
// are lost, processes that are killed, clocks that jump, and long random runs,
// each judged by a reference of its own. It owns no product code; all of it is
// tests. Every failure prints the seed that led to it.
//
// A plain `go test` takes a small share of the seeds and rounds;
// DENGXU_TORTURE=1 takes all of them.
package torture
