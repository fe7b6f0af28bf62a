package storetest

import (
	"context"
	"errors"

	"github.com/dengxu/dengxu/internal/store"
)

// What holds for the store as a whole.
var storeExamples = []example{
	{"it describes itself", storeAbout},
	{"a cancelled context does nothing", storeCancelled},
	{"an unknown partition is an error", storePartition},
	{"partitions are apart", storePartitions},
	{"after Close every call fails", storeClosed},
}

func storeAbout(k *kit) {
	a := k.s.About()
	if a.Kind == "" || a.Text == "" || a.Partitions < 1 || a.Durability == "" {
		k.t.Errorf("about: %+v", a)
	}
}

// everything calls each method that may fail.
func (k *kit) everything(ctx context.Context, p store.Partition) map[string]error {
	errs := make(map[string]error)
	_, errs["commit"] = k.s.Commit(ctx, store.Batch{Partition: p, Site: site})
	_, errs["view"] = k.s.View(ctx, store.Ask{Partition: p})
	_, errs["list"] = k.s.List(ctx, store.ListAsk{Partition: p, Limit: 1})
	_, errs["due"] = k.s.Due(ctx, p, 1)
	_, errs["events"] = k.s.Events(ctx, store.Cursor{Partition: p}, 1)
	return errs
}

func storeCancelled(k *kit) {
	ctx, cancel := context.WithCancel(k.t.Context())
	cancel()
	errs := k.everything(ctx, 0)
	_, errs["docs"] = k.s.Docs(ctx)
	_, errs["audit"] = k.s.Audit(ctx)
	for call, err := range errs {
		if !errors.Is(err, context.Canceled) {
			k.t.Errorf("%s: %v, want %v", call, err, context.Canceled)
		}
	}
	if _, err := k.s.Commit(ctx, writing(fresh("a"))); !errors.Is(err, context.Canceled) {
		k.t.Errorf("commit: %v", err)
	}
	if got := k.list(store.ListAsk{Limit: 1}); len(got) != 0 {
		k.t.Errorf("a cancelled commit wrote %q", ids(got))
	}
}

func storePartition(k *kit) {
	for call, err := range k.everything(k.t.Context(), store.Partition(k.s.About().Partitions)) {
		if err == nil {
			k.t.Errorf("%s answers for a partition that does not exist", call)
		}
	}
}

func storePartitions(k *kit) {
	for p := range k.s.About().Partitions {
		b := writing(fresh("same"))
		b.Partition = store.Partition(p)
		if t := k.commit(b).Tokens[0]; t.Arrival != 1 {
			k.t.Errorf("partition %d begins with arrival number %d", p, t.Arrival)
		}
	}
}

func storeClosed(k *kit) {
	k.join("a")
	k.close()
	errs := k.everything(k.t.Context(), 0)
	_, errs["docs"] = k.s.Docs(k.t.Context())
	_, errs["audit"] = k.s.Audit(k.t.Context())
	for call, err := range errs {
		if !errors.Is(err, store.ErrClosed) {
			k.t.Errorf("%s: %v, want %v", call, err, store.ErrClosed)
		}
	}
}
