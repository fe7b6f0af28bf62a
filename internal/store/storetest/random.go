package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
)

// RunRandom applies seeded random batches and reads to a store and to
// memstore, and compares every answer. On a failure it prints the seed and the
// fewest steps found that still fail. DENGXU_TORTURE=1 makes it 20 seeds of
// 10,000 steps, DENGXU_SEED=n begins with seed n.
func RunRandom(t *testing.T, open Opener, seeds, ops int) {
	t.Helper()
	runRandom(t, Factory{Open: open}, seeds, ops)
}

func runRandom(t *testing.T, f Factory, seeds, ops int) {
	t.Helper()
	if Torture() {
		seeds, ops = 20, 10_000
	}
	first, err := strconv.ParseUint(os.Getenv("DENGXU_SEED"), 10, 64)
	if err != nil {
		first = 1
	}
	for seed := first; seed < first+uint64(seeds); seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			steps, diff := explore(t, f, seed, ops)
			if diff == "" {
				return
			}
			// Fewer steps may fail for another reason: the first one is told too.
			last := steps[len(steps)-1]
			t.Logf("seed %d fails at step %d, %s %s (-memstore +store):\n%s", seed, len(steps), last.what, describe(last.given), diff)
			steps, diff = shrink(t, f, steps, diff)
			for i, st := range steps {
				t.Logf("%3d. %s %s", i+1, st.what, describe(st.given))
			}
			t.Errorf("the last of these steps answers otherwise than memstore (-memstore +store):\n%s", diff)
		})
	}
}

// step is one thing done to both stores: time passes, the store is opened
// again, or a question is put to both; duel is a question that needs both.
type step struct {
	what   string
	given  any // what describes it, for print
	move   func(*Clock)
	reopen bool
	ask    func(*testing.T, *side) answer
	duel   func(*duel, *testing.T, *side) answer
}

// answer is what a store said.
type answer struct {
	Value   any
	Refused *store.Refused
	Failed  bool
}

func answered(value any, err error) answer {
	if err == nil {
		return answer{Value: value}
	}
	if r, ok := errors.AsType[*store.Refused](err); ok {
		return answer{Refused: r}
	}
	return answer{Failed: true}
}

// side is one of the two stores.
type side struct {
	s      store.Store
	cursor store.Cursor // where its log was read to
}

func newSide(t *testing.T, s store.Store) *side {
	t.Helper()
	p, err := s.Events(t.Context(), store.Cursor{}, 1)
	if err != nil {
		t.Fatalf("events: %v", err)
	}
	return &side{s: s, cursor: p.End}
}

// duel is a store beside the model.
type duel struct {
	t       *testing.T
	f       Factory
	clock   *Clock
	model   *side
	subject *side
	witness *witness // of what the model answers, and so both
}

func newDuel(t *testing.T, f Factory) *duel {
	t.Helper()
	c := NewClock()
	d := &duel{
		t: t, f: f, clock: c, witness: newWitness(),
		model:   newSide(t, memstore.New(memstore.Options{Wall: c.Wall, Mono: c.Mono})),
		subject: newSide(t, f.Open(t, c)),
	}
	d.readClocks()
	return d
}

// readClocks lets both stores see the clock after it was moved. A jump and the
// time after it, seen at once, are another thing than seen one by one.
func (d *duel) readClocks() {
	d.t.Helper()
	for _, s := range []*side{d.model, d.subject} {
		if _, err := s.s.View(d.t.Context(), store.Ask{}); err != nil {
			d.t.Fatalf("view: %v", err)
		}
	}
}

func (d *duel) close() {
	d.t.Helper()
	if err := d.subject.s.Close(); err != nil {
		d.t.Errorf("close: %v", err)
	}
}

// do takes a step and returns the model's answer and how the store's differs,
// or which promise both broke.
func (d *duel) do(st step) (answer, string) {
	switch {
	case st.move != nil:
		st.move(d.clock)
		d.readClocks()
		return answer{}, ""
	case st.reopen:
		d.close()
		d.subject.s = d.f.Reopen(d.t, d.subject.s, d.clock)
		return answer{}, ""
	}
	ask := st.ask
	if st.duel != nil {
		ask = func(t *testing.T, s *side) answer { return st.duel(d, t, s) }
	}
	want, got := ask(d.t, d.model), ask(d.t, d.subject)
	if diff := difference(want, got); diff != "" {
		return want, diff
	}
	return want, d.broken(st.given, want)
}

// broken tells which promise to those who wait a batch broke.
func (d *duel) broken(given any, a answer) string {
	b, committed := given.(store.Batch)
	r, done := a.Value.(store.Result)
	if !committed || !done {
		return ""
	}
	return d.witness.see(&b, &r)
}

// explore takes random steps until the answers differ, and returns the steps
// up to there.
func explore(t *testing.T, f Factory, seed uint64, ops int) ([]step, string) {
	t.Helper()
	d := newDuel(t, f)
	defer d.close()
	g := newGenerator(rand.New(rand.NewPCG(seed, 0)), f.Reopen != nil) //nolint:gosec // a test that can be repeated
	var steps []step
	for range ops {
		st := g.step()
		steps = append(steps, st)
		want, diff := d.do(st)
		if diff != "" {
			return steps, diff
		}
		g.learn(st.given, want)
	}
	for _, last := range []step{auditStep(), dumpStep(), {what: "load into others", duel: (*duel).reload}} {
		steps = append(steps, last)
		if _, diff := d.do(last); diff != "" {
			return steps, diff
		}
	}
	return steps, ""
}

// replay takes given steps and returns those up to the first difference.
func replay(t *testing.T, f Factory, steps []step) ([]step, string) {
	t.Helper()
	d := newDuel(t, f)
	defer d.close()
	for i, st := range steps {
		if _, diff := d.do(st); diff != "" {
			return steps[:i+1], diff
		}
	}
	return steps, ""
}

// shrinkFor is how long a failure may take to become short.
const shrinkFor = 20 * time.Second

// shrink leaves out runs of steps, ever shorter ones, while the rest still
// fails.
func shrink(t *testing.T, f Factory, steps []step, diff string) ([]step, string) {
	t.Helper()
	start := time.Now() //nolint:forbidigo // measures the test
	for run := len(steps) / 2; run > 0; run /= 2 {
		for i := 0; i+run < len(steps); { // the last step is the one that fails
			fewer := slices.Concat(steps[:i], steps[i+run:])
			if failing, d := replay(t, f, fewer); d != "" {
				steps, diff = failing, d
			} else {
				i += run
			}
			if time.Since(start) > shrinkFor { //nolint:forbidigo // measures the test
				return steps, diff
			}
		}
	}
	return steps, diff
}
