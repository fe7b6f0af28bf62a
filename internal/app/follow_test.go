package app

import (
	"log/slog"
	"testing"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/store/memstore"
)

// TestAFollowerMissesNothingFromItsStart calls somebody before the follower
// looks for the first time: it begins where the log ended at the start.
func TestAFollowerMissesNothingFromItsStart(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Options{})
	defer s.Close()
	e, err := engine.Open(t.Context(), engine.Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	by := engine.By{Kind: engine.Admin, Name: "key:test"}
	if _, err := e.PutSite(t.Context(), by, "hall", dengxu.Site{TimeZone: "UTC", OtherTokens: "hold"}, 0); err != nil {
		t.Fatal(err)
	}
	for _, id := range []dengxu.QueueID{"a", "b"} {
		if _, err := e.PutQueue(t.Context(), by, id, dengxu.Queue{Site: "hall"}, 0); err != nil {
			t.Fatal(err)
		}
	}
	counter := dengxu.Counter{Site: "hall", Queues: []dengxu.CounterQueue{{ID: "a"}}}
	if _, err := e.PutCounter(t.Context(), by, "1", counter, 0); err != nil {
		t.Fatal(err)
	}
	f := &follower{engine: e, store: s, log: slog.New(slog.DiscardHandler)}
	if err := f.locate(t.Context()); err != nil {
		t.Fatal(err)
	}

	both := dengxu.SiteJoinRequest{JoinRequest: dengxu.JoinRequest{BusinessID: "7"}, Queues: []dengxu.QueueID{"a", "b"}}
	tickets, err := e.JoinSite(t.Context(), by, "hall", both)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.CallNext(t.Context(), by, "1", "", dengxu.CallRequest{}); err != nil {
		t.Fatal(err)
	}
	if err := f.drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	other, err := e.Token(t.Context(), tickets.Value[1].ID)
	if err != nil || other.State != dengxu.StateScheduled {
		t.Errorf("the other token is %s, %v; want it scheduled", other.State, err)
	}
}
