package engine

import (
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// Ended records of several sites leave the live set after their time, and stay
// readable by id.
func TestEndedRecordsAreArchived(t *testing.T) {
	t.Parallel()
	r := hall(t)
	r.site("far", `{"time_zone":"UTC"}`)
	r.queue("q", `{"site":"far"}`)
	var ids []dengxu.TokenID
	for _, q := range []dengxu.QueueID{"main", "q", "main"} {
		id := r.join(q, dengxu.JoinRequest{}).ID
		r.do(dengxu.VerbCancel, id, dengxu.VerbRequest{})
		ids = append(ids, id)
	}
	r.pass(48*time.Hour - time.Millisecond)
	if page, err := r.store.List(t.Context(), store.ListAsk{Limit: 10}); err != nil || len(page.Tokens) != 3 {
		t.Fatalf("%d live, %v", len(page.Tokens), err)
	}
	r.pass(time.Millisecond)
	if page, err := r.store.List(t.Context(), store.ListAsk{Limit: 10}); err != nil || len(page.Tokens) != 0 {
		t.Fatalf("%d live, %v", len(page.Tokens), err)
	}
	for _, id := range ids {
		r.state(id, dengxu.StateCancelled)
	}
	r.clean()
}

func TestNothingIsDoneToAnArchivedRecord(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.site("hall", `{"time_zone":"UTC"}`)
	r.queue("main", `{"site":"hall","retain_seconds":0}`)
	r.counter("1", `{"site":"hall","queues":["main"]}`)
	a := r.join("main", dengxu.JoinRequest{})
	r.mustCall("1", "A001")
	r.do(dengxu.VerbComplete, a.ID, dengxu.VerbRequest{})
	r.pass(0)
	r.refuse(dengxu.VerbRate, a.ID, dengxu.VerbRequest{Stars: 5}, dengxu.Conflict, "state")
	r.refuse(dengxu.VerbUndo, a.ID, dengxu.VerbRequest{}, dengxu.Conflict, "state")
	r.state(a.ID, dengxu.StateCompleted)
}
