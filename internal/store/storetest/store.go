package storetest

import (
	"context"
	"errors"

	"github.com/dengxu/dengxu"
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
	_, errs["docs"] = k.s.Docs(ctx, p)
	_, errs["events"] = k.s.Events(ctx, store.Cursor{Partition: p}, 1)
	return errs
}

func storeCancelled(k *kit) {
	ctx, cancel := context.WithCancel(k.t.Context())
	cancel()
	errs := k.everything(ctx, 0)
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
		b.Docs = []store.DocWrite{{Doc: store.Doc{Key: clinicKey, Site: site, Body: []byte{byte(p)}}}}
		b.Events = []store.EventSpec{{Type: dengxu.EventJoined, Token: 1}}
		r := k.commit(b)
		if t := r.Tokens[0]; t.Arrival != 1 {
			k.t.Errorf("partition %d begins with arrival number %d", p, t.Arrival)
		}
		if r.Last.Partition != b.Partition || r.Last.Number != 1 {
			k.t.Errorf("the first event of partition %d is at %+v", p, r.Last)
		}
	}
	for p := range k.s.About().Partitions {
		docs, err := k.s.Docs(k.t.Context(), store.Partition(p))
		if err != nil || len(docs) != 1 || docs[0].Body[0] != byte(p) {
			k.t.Errorf("documents of partition %d: %+v, %v", p, docs, err)
		}
	}
}

func storeClosed(k *kit) {
	k.join("a")
	k.close()
	errs := k.everything(k.t.Context(), 0)
	_, errs["audit"] = k.s.Audit(k.t.Context())
	for call, err := range errs {
		if !errors.Is(err, store.ErrClosed) {
			k.t.Errorf("%s: %v, want %v", call, err, store.ErrClosed)
		}
	}
}
