package engine

import (
	"testing"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store/memstore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

// TestNoEstimates: an engine that is to leave them out tells nobody a wait and
// keeps nothing of it, and otherwise does what every engine does.
func TestNoEstimates(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := memstore.New(memstore.Options{Wall: clock.Wall, Mono: clock.Mono})
	t.Cleanup(func() { _ = s.Close() })
	e, err := Open(t.Context(), Options{Store: s, NoEstimates: true})
	if err != nil {
		t.Fatal(err)
	}
	l := &lounge{rig: &rig{T: t, Engine: e, clock: clock}, store: s}
	l.site("hall", `{"time_zone":"UTC"}`)
	l.queue("main", `{"site":"hall","expected_service_seconds":300}`)
	l.counter("1", `{"site":"hall","queues":["main"]}`)
	l.open("1")
	ticket := l.join("main", dengxu.JoinRequest{})
	if ticket.Estimate.Known || ticket.Estimate.Reason != dengxu.UnknownNoData || ticket.Rank == nil || *ticket.Rank != 0 {
		t.Errorf("told %+v, rank %v", ticket.Estimate, ticket.Rank)
	}
	asked, err := e.Estimate(t.Context(), "main", "", "", 1)
	if err != nil || asked.Estimate.Known || asked.Rank != 1 {
		t.Errorf("told %+v, %v", asked, err)
	}
	if _, err := e.CallNext(t.Context(), staffer, "1", "", dengxu.CallRequest{}); err != nil {
		t.Fatal(err)
	}
	l.hear()
	if err := e.KeepEstimates(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if kept, _, _, err := e.readOutlook(t.Context(), e.world.Load().queues["main"]); err != nil || kept.Seen.Number != 0 {
		t.Errorf("kept %+v, %v", kept, err)
	}
}
