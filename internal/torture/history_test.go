package torture

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/dengxu/dengxu"
)

// The size of a history: what porcupine judges in reasonable time.
const (
	historyQueues   = 2
	historyClients  = 8
	historyOps      = 50 // a client and queue
	historyCounters = 3  // a queue
	historyPeople   = 6  // business ids a queue
)

// maxAttempts is how often one operation is repeated at most.
const maxAttempts = 6

func historyQueue(q int) dengxu.QueueID { return dengxu.QueueID(fmt.Sprintf("q%d", q)) }

func historyCounter(q, c int) dengxu.CounterID {
	return dengxu.CounterID(fmt.Sprintf("q%d-c%d", q, c))
}

// history records what concurrent clients did to the queues.
type history struct {
	began time.Time
	seed  uint64

	mu     sync.Mutex // guards everything below
	killed []int64    // when the server was dead
	ops    []porcupine.Operation
	known  [historyQueues]map[int]dengxu.TokenID // by number
	last   [historyQueues][]int                  // numbers in the order in which they were learned

	// lost counts attempts whose outcome nobody knows, and down those that
	// surely did nothing.
	lost, down int
}

func newHistory(seed uint64) *history {
	h := &history{began: time.Now(), seed: seed}
	for q := range h.known {
		h.known[q] = make(map[int]dengxu.TokenID)
	}
	return h
}

func (h *history) now() int64 { return int64(time.Since(h.began)) }

// unsettled is when an attempt returns that may still happen.
const unsettled = 1 << 62

// add records an attempt and learns the token that it named. One of unknown
// outcome was done by the time that its answer was lost, or never, but if late:
// then it may happen until the server is killed, or the history ends.
func (h *history) add(client int, a attempt, called int64, got answered) {
	returned := h.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case got.out.Unknown && a.in.Verb == verbPosition:
		return // nothing can have come of it
	case got.out.Code == dengxu.Unavailable:
		h.down++ // surely nothing was done: as if it had never been asked
		return
	case got.out.Unknown:
		h.lost++
		if i := len(h.killed) - 1; i >= 0 && h.killed[i] >= called {
			returned = h.killed[i]
		} else if got.late {
			returned = unsettled
		}
	}
	h.ops = append(h.ops, porcupine.Operation{
		ClientId: client, Input: a.in, Call: called, Output: got.out, Return: returned,
	})
	if got.token == "" {
		return
	}
	if _, known := h.known[a.in.Queue][got.out.Number]; !known {
		h.known[a.in.Queue][got.out.Number] = got.token
		h.last[a.in.Queue] = append(h.last[a.in.Queue], got.out.Number)
	}
}

// over notes that the server is dead, or has come to rest: what was not done
// yet never will be.
func (h *history) over() {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	h.killed = append(h.killed, now)
	for i := range h.ops {
		if h.ops[i].Return == unsettled {
			h.ops[i].Return = now
		}
	}
}

// someone picks a known token, mostly one of the last; 0 when there is none.
func (h *history) someone(rng *rand.Rand, q int) (int, dengxu.TokenID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.last[q]
	if len(known) == 0 {
		return 0, ""
	}
	i := rng.IntN(len(known))
	if rng.IntN(4) > 0 {
		i = max(len(known)-12, 0) + rng.IntN(min(len(known), 12))
	}
	return known[i], h.known[q][known[i]]
}

// verbsOnTokens are what clients do to tokens, by weight.
var verbsOnTokens = []dengxu.Verb{
	dengxu.VerbComplete, dengxu.VerbComplete, dengxu.VerbComplete, dengxu.VerbStart, dengxu.VerbMiss,
	dengxu.VerbReinstate, dengxu.VerbRequeue, dengxu.VerbHold, dengxu.VerbResume, dengxu.VerbCancel,
	verbPosition, verbPosition, verbPosition,
}

// choose draws an operation.
func (h *history) choose(rng *rand.Rand, q int) attempt {
	a := attempt{in: input{Queue: q}, queue: historyQueue(q)}
	n, id := h.someone(rng, q)
	switch roll := rng.IntN(100); {
	case n == 0 || roll < 30:
		a.in.Verb = dengxu.VerbJoin
		if rng.IntN(2) == 0 {
			a.in.Business = 1 + rng.IntN(historyPeople)
		}
	case roll < 55:
		a.in.Verb, a.in.Counter = dengxu.VerbCall, 1+rng.IntN(historyCounters)
		a.counter = historyCounter(q, a.in.Counter)
		if rng.IntN(3) > 0 {
			a.in.Current = []dengxu.Verb{dengxu.VerbComplete, dengxu.VerbMiss, dengxu.VerbRequeue}[rng.IntN(3)]
			if rng.IntN(3) == 0 {
				a.in.Number, a.token = n, id
			}
		}
	default:
		a.in.Verb, a.in.Number, a.token = verbsOnTokens[rng.IntN(len(verbsOnTokens))], n, id
		if a.in.Verb != verbPosition && rng.IntN(4) == 0 {
			a.in.Version = uint64(1 + rng.IntN(4))
		}
	}
	return a
}

// client makes its operations on one queue. An operation of which it has no
// answer is repeated with its key half of the time, else given up; an answered
// one is sometimes repeated too.
func (h *history) client(ctx context.Context, who, q int, c caller, cancels bool) {
	rng := dice(h.seed, uint64(100*q+who+1))
	for i := range historyOps {
		a := h.choose(rng, q)
		if a.in.Verb != verbPosition {
			a.in.Key = 1 + who*historyOps + i
			a.key = fmt.Sprintf("%s/%d", a.queue, a.in.Key)
		}
		for n := range maxAttempts {
			got, called := h.try(ctx, rng, c, a, cancels)
			if n > 0 {
				got.out.Rank = noRank // a repeat may be told another one
			}
			h.add(who, a, called, got)
			again := rng.IntN(12) == 0
			if got.out.Unknown || got.out.Code == dengxu.Unavailable {
				again = rng.IntN(2) == 0
			}
			if a.key == "" || !again {
				break
			}
		}
	}
}

// try makes one attempt; with cancels, the caller of a few gives up meanwhile.
func (h *history) try(ctx context.Context, rng *rand.Rand, c caller, a attempt, cancels bool) (answered, int64) {
	called := h.now()
	if !cancels || rng.IntN(50) > 0 {
		return c.attempt(ctx, a), called
	}
	ctx, cancel := context.WithCancel(ctx)
	defer time.AfterFunc(time.Duration(rng.IntN(300))*time.Microsecond, cancel).Stop()
	got := c.attempt(ctx, a)
	got.late = true
	return got, called
}

// run lets all clients work on all queues at the same time.
func (h *history) run(ctx context.Context, c caller, cancels bool) {
	var wg sync.WaitGroup
	for q := range historyQueues {
		for who := range historyClients {
			wg.Go(func() { h.client(ctx, who, q, c, cancels) })
		}
	}
	wg.Wait()
}

// ask reads every known token at the end, when no fault is left.
func (h *history) ask(ctx context.Context, c caller) {
	for q := range historyQueues {
		for n, id := range h.known[q] {
			a := attempt{in: input{Queue: q, Verb: verbPosition, Number: n}, queue: historyQueue(q), token: id}
			called := h.now()
			h.add(historyClients, a, called, c.attempt(ctx, a))
		}
	}
}

// judge fails the test unless some order explains every answer.
func (h *history) judge(t *testing.T) (decided bool) {
	t.Helper()
	ops := h.slim()
	result := porcupine.CheckOperationsTimeout(queueModel(), ops, patience)
	if result == porcupine.Ok {
		return true
	}
	_, info := porcupine.CheckOperationsVerbose(queueModel(), ops, patience/10)
	name := fmt.Sprintf("%s/history-seed-%d.html", t.ArtifactDir(), h.seed)
	if err := porcupine.VisualizePath(queueModel(), info, name); err != nil {
		t.Errorf("draw the history: %v", err)
	}
	h.write(t, ops, name+".txt")
	t.Logf("seed %d: %s: no order of %d attempts (%d of unknown outcome) was found; drawn in %s",
		h.seed, result, len(ops), h.lost, name)
	for _, op := range h.tail(info) {
		t.Log(op)
	}
	if result == porcupine.Illegal {
		t.Fail()
	}
	return result != porcupine.Unknown
}

// verdicts counts the histories of a test for which the checker ran out of
// patience. Where the machine is busy a few do, since more attempts overlap;
// when many do, the test has shown nothing.
type verdicts struct{ all, undecided atomic.Int64 }

func newVerdicts(t *testing.T) *verdicts {
	t.Helper()
	v := &verdicts{}
	t.Cleanup(func() {
		all, undecided := v.all.Load(), v.undecided.Load()
		if undecided > max(1, all/10) {
			t.Errorf("%d of %d histories are undecided", undecided, all)
		} else if undecided > 0 {
			t.Logf("%d of %d histories are undecided", undecided, all)
		}
	})
	return v
}

func (v *verdicts) add(decided bool) {
	v.all.Add(1)
	if !decided {
		v.undecided.Add(1)
	}
}

// write writes the attempts in the order of their beginnings, one a line.
func (h *history) write(t *testing.T, ops []porcupine.Operation, name string) {
	t.Helper()
	ops = slices.Clone(ops)
	slices.SortFunc(ops, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	var text bytes.Buffer
	for _, op := range ops {
		fmt.Fprintf(&text, "%9.3f %9.3f ms  client %d  %s\n", float64(op.Call)/1e6, float64(op.Return)/1e6, op.ClientId, describe(op.Input.(input), op.Output.(output)))
	}
	if err := os.WriteFile(name, text.Bytes(), 0o600); err != nil {
		t.Errorf("write the history: %v", err)
	}
}

// patience is how long the checker may look for an order. Usually it needs
// less than a second.
const patience = 2 * time.Minute

// slim returns the history without keys that came only once, and numbers the
// others anew: the model then has little to remember.
func (h *history) slim() []porcupine.Operation {
	type key struct{ queue, key int }
	times, names := make(map[key]int), make(map[key]int)
	for _, op := range h.ops {
		in := op.Input.(input)
		times[key{in.Queue, in.Key}]++
	}
	ops := slices.Clone(h.ops)
	for i := range ops {
		in := ops[i].Input.(input)
		k := key{in.Queue, in.Key}
		switch {
		case in.Key == 0:
		case times[k] == 1:
			in.Key = 0
		case names[k] == 0:
			names[k] = len(names) + 1
			fallthrough
		default:
			in.Key = names[k]
		}
		ops[i].Input = in
	}
	return ops
}

// tail is what the checker could not place: the attempts that are in none of
// its longest orders, first come first.
func (h *history) tail(info porcupine.LinearizationInfo) []string {
	var out []string
	for _, partial := range info.PartialLinearizationsOperations() {
		longest := 0
		for _, order := range partial {
			longest = max(longest, len(order))
		}
		for _, order := range partial {
			if len(order) < longest {
				continue
			}
			for _, op := range order[max(0, len(order)-8):] {
				out = append(out, describe(op.Input.(input), op.Output.(output)))
			}
			out = append(out, "— nothing fits after this —")
			break
		}
	}
	return out
}
