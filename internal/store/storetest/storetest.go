// Package storetest holds every store to the contract of package store. A
// store's own test opens it and calls Run, RunConcurrent, RunRandom and, when
// it is durable, RunReopen. Faulty is a store that fails on demand, for the
// tests of whoever uses stores.
//
// It owns what all stores must do alike, and refuses to know any of them but
// memstore, with which RunRandom compares.
package storetest

import (
	"os"
	"testing"

	"github.com/dengxu/dengxu/internal/store"
)

// Opener opens a fresh, empty store that reads the clock. It registers with t
// whatever cleaning up needs; closing is left to the suite.
type Opener func(t *testing.T, clock *Clock) store.Store

// Factory opens a durable store.
type Factory struct {
	Open Opener
	// Reopen opens the data of s again, which the suite has closed.
	Reopen func(t *testing.T, s store.Store, clock *Clock) store.Store
}

// Torture reports whether the environment asks for long runs
// (DENGXU_TORTURE=1).
func Torture() bool { return os.Getenv("DENGXU_TORTURE") == "1" }

// example is one subtest of a suite.
type example struct {
	name string
	run  func(k *kit)
}

// Run checks the semantics, one fresh store an example.
func Run(t *testing.T, open Opener) {
	t.Helper()
	suite := map[string][]example{
		"archive": archiveExamples, "batch": batchExamples, "call": callExamples, "clock": clockExamples,
		"counter": counterExamples, "doc": docExamples, "due": dueExamples, "dump": dumpExamples, "event": eventExamples,
		"expectation": expectationExamples, "front": frontExamples, "holder": holderExamples, "lane": laneExamples,
		"list": listExamples, "mark": markExamples, "op": opExamples, "place": placeExamples,
		"rank": rankExamples, "ratio": ratioExamples, "series": seriesExamples, "store": storeExamples,
		"strict": strictExamples, "tally": tallyExamples, "token": tokenExamples,
	}
	for noun, examples := range suite {
		t.Run(noun, func(t *testing.T) {
			t.Parallel()
			runExamples(t, open, examples)
		})
	}
}

func runExamples(t *testing.T, open Opener, examples []example) {
	t.Helper()
	for _, x := range examples {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, open)
			x.run(k)
			if !k.closed {
				k.sound()
				k.close()
			}
		})
	}
}
