package app

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/store"
)

// keeper knows of which partitions this process runs the loops. Where no other
// process can use the store these are all, and nothing is leased.
type keeper struct {
	engine  *engine.Engine
	process string // who leases; "" = nobody else is there
	// changed is told of every partition that may be this process's from now
	// on.
	changed func(store.Partition)
	log     *slog.Logger

	mu    sync.Mutex // guards what follows
	owned []bool     // by partition
	until time.Time  // when the leases are over
	alone bool       // they are over, and could not be renewed
}

func newKeeper(e *engine.Engine, about store.About, changed func(store.Partition), log *slog.Logger) *keeper {
	k := &keeper{engine: e, changed: changed, log: log, owned: make([]bool, about.Partitions)}
	if about.Shared {
		k.process = rand.Text()[:10]
	}
	return k
}

// owns reports whether a partition's loops are this process's to run. A process
// that cannot renew its leases runs all: leases save work and guard nothing, so
// that timers everywhere must not wait for the partition that they stand in.
func (k *keeper) owns(p store.Partition) bool {
	if k.process == "" {
		return true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.owned[p] || k.alone
}

// run renews the leases until ctx ends.
func (k *keeper) run(ctx context.Context) {
	if k.process == "" {
		return
	}
	for {
		pause := time.NewTimer(jittered(engine.LeaseEvery))
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-pause.C:
			k.renew(ctx)
		}
	}
}

// renew asks for the leases once.
func (k *keeper) renew(ctx context.Context) {
	if k.process == "" {
		return
	}
	began := time.Now()
	lease, err := k.engine.Lease(ctx, k.process)
	if ctx.Err() != nil {
		return
	}
	k.mu.Lock()
	gained := make([]bool, len(k.owned))
	if err == nil {
		for p, mine := range lease.Partitions {
			gained[p] = mine && !k.owned[p] && !k.alone
		}
		k.owned, k.until = lease.Partitions, began.Add(lease.For)
	}
	was := k.alone
	k.alone = err != nil && !time.Now().Before(k.until)
	if k.alone && !was {
		for p, mine := range k.owned {
			gained[p] = !mine
		}
	}
	now := k.alone
	k.mu.Unlock()
	switch {
	case now && !was:
		k.log.ErrorContext(ctx, "leases cannot be renewed; this process runs the timers of all partitions", "error", err)
	case was && !now:
		k.log.WarnContext(ctx, "leases are renewed again") // seen by whoever saw that they were not
	}
	for p, is := range gained {
		if is {
			k.changed(store.Partition(p))
		}
	}
}

// end gives the leases up.
func (k *keeper) end(ctx context.Context) error {
	if k.process == "" {
		return nil
	}
	return k.engine.EndLease(ctx, k.process)
}
