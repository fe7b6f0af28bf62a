package memstore_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

func open(_ *testing.T, c *storetest.Clock) store.Store {
	return memstore.New(memstore.Options{Wall: c.Wall, Mono: c.Mono})
}

func openFour(_ *testing.T, c *storetest.Clock) store.Store {
	return memstore.New(memstore.Options{Wall: c.Wall, Mono: c.Mono, Partitions: 4, Shared: true})
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStore(t *testing.T) { t.Parallel(); storetest.Run(t, open) }

func TestConcurrent(t *testing.T) { t.Parallel(); storetest.RunConcurrent(t, open) }

func TestRandom(t *testing.T) { t.Parallel(); storetest.RunRandom(t, open, 2, 500) }

// TestStoreOfFour: more partitions beside it change nothing for the first.
func TestStoreOfFour(t *testing.T) { t.Parallel(); storetest.Run(t, openFour) }
