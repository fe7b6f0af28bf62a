package redisstore_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/dengxu/dengxu/internal/redistest"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/redisstore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

// rueidis leaves a goroutine asleep for five seconds behind a closed cluster
// client; it does nothing then.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(redistest.Main(m), goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*clusterClient)._refresh.func2"))
}

func open(t *testing.T, clock *storetest.Clock) store.Store {
	t.Helper()
	s, err := redisstore.Open(t.Context(), redisstore.Options{
		URL: redistest.Shared(t).URL(), Prefix: redistest.Prefix(t),
		Wall: clock.Wall, Mono: clock.Mono,
	})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return s
}

func TestStore(t *testing.T) { t.Parallel(); storetest.Run(t, open) }

func TestConcurrent(t *testing.T) { t.Parallel(); storetest.RunConcurrent(t, open) }

func TestRandom(t *testing.T) { t.Parallel(); storetest.RunRandom(t, open, 3, 1000) }
