package storetest_test

import (
	"errors"
	"testing"

	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

func TestFaulty(t *testing.T) {
	t.Parallel()
	f := storetest.NewFaulty(memstore.New(memstore.Options{}))
	defer f.Close()
	key := store.TallyKey{Name: "n", Day: 1}
	commit := func() error {
		_, err := f.Commit(t.Context(), store.Batch{Tallies: []store.TallyAdd{{Key: key, N: 1}}})
		return err
	}
	count := func() int64 {
		v, err := f.View(t.Context(), store.Ask{Tallies: []store.TallyKey{key}})
		if err != nil {
			t.Fatal(err)
		}
		return v.Tallies[0]
	}
	f.FailCommit(2)
	f.LoseCommit(3)
	for i, x := range []struct {
		err   error
		count int64
	}{{nil, 1}, {store.ErrUnavailable, 1}, {store.ErrUnknown, 2}, {nil, 3}} {
		if err := commit(); !errors.Is(err, x.err) || count() != x.count {
			t.Errorf("commit %d: %v, count %d; want %v, %d", i+1, err, count(), x.err, x.count)
		}
	}
	if f.Commits() != 4 {
		t.Errorf("counted %d commits, want 4", f.Commits())
	}
	f.FailRead(2)
	f.FailRead(4)
	_, errDocs := f.Docs(t.Context(), 0)
	_, errList := f.List(t.Context(), store.ListAsk{Limit: 1})
	_, errDue := f.Due(t.Context(), 0, 1)
	_, errEvents := f.Events(t.Context(), store.Cursor{}, 1)
	for i, err := range []error{errDocs, errList, errDue, errEvents} {
		if want := []error{nil, store.ErrUnavailable}[i%2]; !errors.Is(err, want) {
			t.Errorf("read %d: %v, want %v", i+1, err, want)
		}
	}
}
