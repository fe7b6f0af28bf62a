package torture

import (
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

// TestLinearizable: whatever concurrent callers are answered, with answers
// lost, attempts given up and keys repeated, one order explains all of it.
func TestLinearizable(t *testing.T) {
	t.Parallel()
	for name, open := range among() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := newVerdicts(t)
			seeds(t, stored(name, 20, 200), func(t *testing.T, seed uint64) {
				clock := storetest.NewClock()
				faults := &lossy{Store: open(t, clock), rng: dice(seed, 0), off: true}
				d := direct{openEngine(t, faults)}
				historyHall().build(t, d)
				beside := faults
				h := newHistory(seed)
				var c caller = d
				if faults.About().Shared {
					beside = faults.beside(t, dice(seed, 1))
					c = &byTurns{callers: []caller{d, direct{openEngine(t, beside)}}}
				}
				for _, l := range []*lossy{faults, beside} {
					l.unknown, l.down, l.blind, l.off = 0.02, 0.01, 0.01, false
				}
				stop := ticking(clock)
				h.run(t.Context(), c, true)
				stop()
				faults.calm()
				beside.calm()
				h.ask(t.Context(), c)
				h.over()
				if h.lost == 0 || h.down == 0 {
					t.Errorf("seed %d: %d unknown outcomes and %d failures: the faults did not happen", seed, h.lost, h.down)
				}
				all.add(h.judge(t))
				sound(t, seed, faults)
			})
		})
	}
}

// ticking lets the clock go on in steps of a millisecond, so that some joins
// fall into one and others do not.
func ticking(clock *storetest.Clock) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	ticker := time.NewTicker(300 * time.Microsecond)
	go func() {
		defer close(ended)
		for {
			select {
			case <-end:
				return
			case <-ticker.C:
				clock.Advance(time.Millisecond)
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(end)
		<-ended
	}
}

// TestModelRefuses: the judge is not blind. Each history has one answer that
// no order explains.
func TestModelRefuses(t *testing.T) {
	t.Parallel()
	join := func(key, n, rank int) porcupine.Operation {
		return porcupine.Operation{
			Input:  input{Verb: dengxu.VerbJoin, Key: key},
			Output: output{Number: n, State: dengxu.StateWaiting, Version: 1, Rank: rank},
		}
	}
	call := func(key, counter, n int) porcupine.Operation {
		return porcupine.Operation{
			Input:  input{Verb: dengxu.VerbCall, Key: key, Counter: counter},
			Output: output{Number: n, State: dengxu.StateCalling, Version: 2, Rank: noRank},
		}
	}
	lost := func(op porcupine.Operation) porcupine.Operation {
		op.Output = output{Unknown: true}
		return op
	}
	for name, ops := range map[string][]porcupine.Operation{
		"a number twice":             {join(1, 1, 0), join(2, 1, 0)},
		"a number skipped":           {join(1, 1, 0), join(2, 3, 1)},
		"a wrong rank":               {join(1, 1, 0), join(2, 2, 0)},
		"called by two":              {join(1, 1, 0), call(2, 1, 1), call(3, 2, 1)},
		"called out of order":        {join(1, 1, 0), join(2, 2, 1), call(3, 1, 2)},
		"a key done twice":           {join(1, 1, 0), join(1, 2, 1)},
		"an unknown join done twice": {lost(join(1, 0, 0)), join(1, 2, 1)},
		"a join lost":                {join(1, 1, 0), {Input: input{Verb: dengxu.VerbCall, Key: 2, Counter: 1}, Output: output{Rank: noRank}}},
		"a full counter calls":       {join(1, 1, 0), join(2, 2, 1), call(3, 1, 1), call(4, 1, 2)},
	} {
		for i := range ops { // one after the other, but unknown ones may come at any time
			ops[i].Call, ops[i].Return = int64(10*i), int64(10*i+5)
			if ops[i].Output.(output).Unknown {
				ops[i].Return = unsettled
			}
		}
		if porcupine.CheckOperations(queueModel(), ops) {
			t.Errorf("%s passes for an order", name)
		}
	}
}
