package redisstore_test

import (
	"testing"

	"github.com/dengxu/dengxu/internal/redistest"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/redisstore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

// openCluster opens a store in a cluster of three masters, of so few
// partitions that each master has one.
func openCluster(t *testing.T, clock *storetest.Clock) store.Store {
	t.Helper()
	s, err := redisstore.Open(t.Context(), redisstore.Options{
		URL: redistest.SharedCluster(t).URL(), Prefix: redistest.Prefix(t), Partitions: 4,
		Wall: clock.Wall, Mono: clock.Mono,
	})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return s
}

func TestClusterStore(t *testing.T) { t.Parallel(); storetest.Run(t, openCluster) }

func TestClusterConcurrent(t *testing.T) { t.Parallel(); storetest.RunConcurrent(t, openCluster) }

func TestClusterRandom(t *testing.T) { t.Parallel(); storetest.RunRandom(t, openCluster, 1, 300) }
