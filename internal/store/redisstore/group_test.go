package redisstore_test

import (
	"slices"
	"testing"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/redistest"
	"github.com/dengxu/dengxu/internal/store"
)

// stands is a join that expects what joins of aging queues do, of somebody who
// has waited for some seconds. A class that is given is asked for the rank.
func stands(name string, k int, seconds int64, classes ...string) store.Batch {
	b := joinBatch(0, "clinic", dengxu.TokenID(name+"-stands-in-this-line"), false)
	t := &b.Tokens[0].Token
	t.Lane.K, t.Place, t.Business, t.Unique = k, store.Now-1000*seconds, "", false
	b.Op = store.Op{}
	b.Expect = []store.Expectation{store.LaneOpen{Line: t.Line(), Lane: t.Lane, Max: 32}}
	if len(classes) > 0 {
		b.Ranks = []store.RankOf{{Token: 1, Classes: classes}}
	}
	return b
}

// TestLaneEmptiesInGroup: a lane that somebody leaves and somebody enters while a
// group is judged counts for those who come later, whatever the group has learned
// of the line's lanes.
func TestLaneEmptiesInGroup(t *testing.T) {
	t.Parallel()
	s := openAt(t, redistest.Shared(t).URL(), redistest.Prefix(t))
	const ordinary, slow = order.Ordinary, 2 * order.Ordinary
	var left store.Token
	for _, b := range []store.Batch{stands("a", ordinary, 50), stands("left", slow, 0)} {
		res, err := s.Commit(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		left = res.Tokens[0]
	}
	batches := []store.Batch{
		stands("b", ordinary, 40),            // finds both lanes
		completeBatch(0, left),               // empties one of them
		stands("c", ordinary, 30, "", "new"), // goes by those that were found
		stands("d", ordinary+1, 0),           // opens a third, so that they are found anew
		stands("e", ordinary, 20, ""),        // finds two
		callBatch(0, "clinic", "desk-1"),     // and so does this
		stands("f", slow, 95),
		stands("g", slow, 90),
		callBatch(0, "clinic", "desk-2"),
		stands("h", ordinary, 0, ""),
	}
	results, errs := s.Together(t.Context(), batches)
	var called []dengxu.TokenID
	for i, err := range errs {
		if err != nil {
			t.Fatalf("batch %d: %v", i, err)
		}
		if batches[i].Pick != nil {
			called = append(called, results[i].Tokens[0].ID[:1])
		}
	}
	if want := []dengxu.TokenID{"a", "f"}; !slices.Equal(called, want) {
		t.Errorf("%v were called, want %v", called, want)
	}
	if got := results[len(results)-1].Ranks; !slices.Equal(got, []int{5}) {
		t.Errorf("behind g, b, c, e and d the rank is %v", got)
	}
}
