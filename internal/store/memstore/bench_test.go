package memstore

import (
	"fmt"
	"testing"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// BenchmarkJoinCallComplete keeps a line of 10,000 and does one of each.
func BenchmarkJoinCallComplete(b *testing.B) {
	s := New(Options{})
	commit := func(batch store.Batch) store.Result {
		batch.Site = "north"
		r, err := s.Commit(b.Context(), batch)
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	n := 0
	join := func() {
		n++
		commit(store.Batch{
			Tokens: []store.TokenWrite{{Token: store.Token{
				ID: dengxu.TokenID(fmt.Sprint("t", n)), Site: "north", Queue: "clinic", State: dengxu.StateWaiting, Version: 1,
				Place: store.Now, Since: store.Now, JoinedAt: store.Now, Factor: 1000,
			}, Series: &store.Series{Name: "A", Day: 1, First: 1}}},
			Events: []store.EventSpec{{Type: dengxu.EventJoined, Token: 1}},
		})
	}
	for range 10_000 {
		join()
	}
	for b.Loop() {
		join()
		t := commit(store.Batch{Pick: &store.Pick{
			Lines: []store.PickLine{{Line: store.LineKey{Queue: "clinic"}}}, Max: 1, State: dengxu.StateCalling,
			Counter: "desk", Due: store.Now + 300_000, Event: dengxu.EventCalled,
		}}).Tokens[0]
		t.Version++
		t.State, t.Due = dengxu.StateCompleted, 0
		done := commit(store.Batch{Tokens: []store.TokenWrite{{Token: t}}}).Tokens[0]
		done.Version++
		commit(store.Batch{Tokens: []store.TokenWrite{{Token: done, Archive: true}}})
	}
}
