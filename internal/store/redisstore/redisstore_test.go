package redisstore_test

import (
	"sync"
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

func TestRandom(t *testing.T) { t.Parallel(); storetest.RunRandom(t, open, 2, 500) }

func TestReopen(t *testing.T) {
	t.Parallel()
	prefixes := &sync.Map{} // of stores
	at := func(t *testing.T, prefix string, clock *storetest.Clock) store.Store {
		t.Helper()
		s, err := redisstore.Open(t.Context(), redisstore.Options{
			URL: redistest.Shared(t).URL(), Prefix: prefix, Wall: clock.Wall, Mono: clock.Mono,
		})
		if err != nil {
			t.Fatalf("open: %v", err)
		}
		prefixes.Store(s, prefix)
		return s
	}
	storetest.RunReopen(t, storetest.Factory{
		Open: func(t *testing.T, clock *storetest.Clock) store.Store {
			t.Helper()
			return at(t, redistest.Prefix(t), clock)
		},
		Reopen: func(t *testing.T, s store.Store, clock *storetest.Clock) store.Store {
			t.Helper()
			prefix, _ := prefixes.Load(s)
			return at(t, prefix.(string), clock)
		},
	})
}

func TestTogether(t *testing.T) { t.Parallel(); storetest.RunTogether(t, open, 4, 60) }
