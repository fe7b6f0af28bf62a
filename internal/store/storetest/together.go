package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dengxu/dengxu/internal/store"
)

// Together is a store that can be made to judge batches in one go, in their
// order, as it does with those of callers that come at the same time.
type Together interface {
	store.Store
	Together(ctx context.Context, batches []store.Batch) ([]store.Result, []error)
}

// groupSizes are how many batches are judged in one go, by chance.
var groupSizes = []int{2, 3, 5, 8, 20, 40}

// unbound are classes of which nobody is bound to a counter.
var unbound = []string{"", "", "cash"}

// RunTogether gives seeded random batches to a store in groups and to memstore
// one by one, and expects the same answers: what a store keeps in hand for a
// group must not show.
func RunTogether(t *testing.T, open Opener, seeds, groups int) {
	t.Helper()
	if Torture() {
		seeds, groups = 20, 1_000
	}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			d := newDuel(t, Factory{Open: open})
			defer d.close()
			g := newGenerator(rand.New(rand.NewPCG(seed, 1)), true) //nolint:gosec // a test that can be repeated
			if seed%2 == 1 {
				g.classes = unbound // what a store keeps of lines may depend on it
			}
			g.calm = seed%4 >= 2
			for n := range groups {
				if !d.group(g, one(g, groupSizes)) {
					t.Fatalf("seed %d, group %d", seed, n)
				}
				g.step() // so that time and chance go on
			}
			for _, s := range []step{auditStep(), dumpStep(), eventStep(1 << 20)} {
				if _, diff := d.do(s); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// group has the model judge batches one by one, each made from what it said to
// those before, and then the store all at once.
func (d *duel) group(g *generator, size int) bool {
	d.t.Helper()
	batches, want := make([]store.Batch, size), make([]answer, size)
	for i := range batches {
		batches[i] = g.batch()
		r, err := d.model.s.Commit(d.t.Context(), batches[i])
		want[i] = answered(alone(r), err)
		g.learn(batches[i], answered(r, err))
		if broken := d.broken(batches[i], answered(r, err)); broken != "" {
			d.t.Error(broken)
			return false
		}
	}
	results, errs := d.subject.s.(Together).Together(d.t.Context(), batches)
	same := true
	for i := range batches {
		if diff := difference(want[i], answered(alone(results[i]), errs[i])); diff != "" && same {
			same = false
			for j := range i + 1 {
				d.t.Logf("%3d. %s", j+1, describe(batches[j]))
			}
			d.t.Errorf("the last of these, judged together, answers otherwise than memstore (-memstore +store):\n%s", diff)
		}
	}
	return same
}

// alone is a result without what belongs to its log alone, and without the
// tokens of a replay, which are as they are after the whole group.
func alone(r store.Result) store.Result {
	r.Last.Epoch = 0
	if r.Replayed {
		r.Tokens = nil
	}
	return r
}
