package engine

import (
	"context"
	"errors"

	"github.com/dengxu/dengxu/internal/store"
)

// Refresh loads all settings anew, for when events may have gone unseen. When
// a partition cannot be read, its settings stay as they are, it is logged, and
// CatchUp tries again.
func (e *Engine) Refresh(ctx context.Context) {
	for p := range e.parts {
		e.RefreshPartition(ctx, store.Partition(p))
	}
}

// RefreshPartition is Refresh for one partition.
func (e *Engine) RefreshPartition(ctx context.Context, p store.Partition) {
	if err := e.refreshPart(ctx, p); err != nil && !errors.Is(err, context.Canceled) {
		e.behind[p].Store(true)
		e.log.WarnContext(ctx, "settings could not be read anew", "partition", p, "err", err)
	}
}

// CatchUp loads the settings of the partitions that could not be read when they
// had changed. It costs nothing when there are none.
func (e *Engine) CatchUp(ctx context.Context) {
	for p := range e.behind {
		if e.behind[p].CompareAndSwap(true, false) {
			e.RefreshPartition(ctx, store.Partition(p))
		}
	}
}
