package storetest

import (
	"testing"

	"github.com/dengxu/dengxu/internal/store"
)

// lasting is a store that closing does not end, as a durable one looks from
// outside.
type lasting struct{ store.Store }

func (lasting) Close() error { return nil }

// TestReopenSuite holds the suite itself to what it asks of a store that
// forgets nothing.
func TestReopenSuite(t *testing.T) {
	t.Parallel()
	RunReopen(t, Factory{
		Open:   func(t *testing.T, c *Clock) store.Store { return lasting{openModel(t, c)} },
		Reopen: func(_ *testing.T, s store.Store, _ *Clock) store.Store { return s },
	})
}

// TestReopenFindsLoss: the random part notices a store that comes back empty.
func TestReopenFindsLoss(t *testing.T) {
	t.Parallel()
	f := Factory{
		Open:   openModel,
		Reopen: func(t *testing.T, _ store.Store, c *Clock) store.Store { return openModel(t, c) },
	}
	if _, diff := explore(t, f, 1, 1000); diff == "" {
		t.Error("1000 steps did not notice that everything was lost")
	}
}
