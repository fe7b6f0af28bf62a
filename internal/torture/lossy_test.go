package torture

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/dengxu/dengxu/internal/store"
)

// lossy is a store of which a share of the commits is answered as unknown,
// half of them done and half not, and which now and then surely does nothing.
// It lets others go first between reads and commits, where races are.
type lossy struct {
	store.Store

	mu  sync.Mutex // guards rng and off
	rng *rand.Rand
	off bool

	unknown, down float64 // shares of the commits
	blind         float64 // share of the reads that fail
}

func (l *lossy) roll() (chance float64, turns int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.off {
		return 1, 0
	}
	return l.rng.Float64(), l.rng.IntN(3)
}

// calm ends the faults.
func (l *lossy) calm() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.off = true
}

func yieldTo(turns int) {
	for range turns {
		runtime.Gosched()
	}
}

// beside is the store as another process has it: where that opens it by
// itself, with dice of its own.
func (l *lossy) beside(t *testing.T, rng *rand.Rand) *lossy {
	t.Helper()
	if r, ok := l.Store.(onRedis); ok {
		return &lossy{Store: r.open(t), rng: rng, off: true}
	}
	return l
}

// Commit is the store's, unless the dice say otherwise.
func (l *lossy) Commit(ctx context.Context, b store.Batch) (store.Result, error) {
	chance, turns := l.roll()
	yieldTo(turns)
	switch {
	case chance < l.unknown/2:
		return store.Result{}, store.ErrUnknown
	case chance < l.unknown:
		_, _ = l.Store.Commit(ctx, b)
		return store.Result{}, store.ErrUnknown
	case chance < l.unknown+l.down:
		return store.Result{}, store.ErrUnavailable
	}
	return l.Store.Commit(ctx, b)
}

// View is the store's, unless the dice say otherwise.
func (l *lossy) View(ctx context.Context, a store.Ask) (store.View, error) {
	chance, turns := l.roll()
	if chance < l.blind {
		return store.View{}, store.ErrUnavailable
	}
	v, err := l.Store.View(ctx, a)
	yieldTo(turns)
	return v, err
}
