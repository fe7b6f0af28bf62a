package torture

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dengxu/dengxu/internal/redistest"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

func TestMain(m *testing.M) {
	if data := os.Getenv(childData); data != "" {
		os.Exit(serveAsChild(data))
	}
	goleak.VerifyTestMain(redistest.Main(m))
}

// rounds is how much of a test to do: a share of it, or all when the
// environment asks for it.
func rounds(share, all int) int {
	if storetest.Torture() {
		return all
	}
	return share
}

// stored is rounds over a store: one over a network has a quarter of the share.
func stored(name string, share, all int) int {
	if name == "redisstore" {
		share = max(1, share/4)
	}
	return rounds(share, all)
}

// seeds runs a test once for each of n seeds. The seed stands in the subtest's
// name, so that `-run 'Test/seed=7$'` repeats it.
func seeds(t *testing.T, n int, run func(t *testing.T, seed uint64)) {
	t.Helper()
	for seed := range uint64(n) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			run(t, seed)
		})
	}
}

// dice returns the random numbers of one part of a seeded run.
func dice(seed, part uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, part)) }

// noon is the time zone in which it is about noon now, so that no business day
// ends while a test runs by the machine's clock.
func noon() string {
	west := time.Now().UTC().Hour() - 12 // the names count hours west of Greenwich
	if west < 0 {
		return fmt.Sprintf("Etc/GMT%d", west)
	}
	return fmt.Sprintf("Etc/GMT+%d", west)
}
