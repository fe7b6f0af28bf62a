package pebblestore_test

import (
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/pebblestore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// disks are the file systems of the suite's stores, to open them again.
var disks sync.Map

func openOn(t *testing.T, disk vfs.FS, c *storetest.Clock) store.Store {
	t.Helper()
	s, err := pebblestore.Open(pebblestore.Options{Dir: "data", FS: disk, Wall: c.Wall, Mono: c.Mono})
	if err != nil {
		t.Fatal(err)
	}
	disks.Store(s, disk)
	return s
}

func open(t *testing.T, c *storetest.Clock) store.Store {
	t.Helper()
	return openOn(t, vfs.NewMem(), c)
}

func reopen(t *testing.T, s store.Store, c *storetest.Clock) store.Store {
	t.Helper()
	disk, _ := disks.LoadAndDelete(s)
	return openOn(t, disk.(vfs.FS), c)
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, open)
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	storetest.RunConcurrent(t, open)
}

func TestRandom(t *testing.T) {
	t.Parallel()
	storetest.RunRandom(t, open, 2, 500)
}

func TestReopen(t *testing.T) {
	t.Parallel()
	storetest.RunReopen(t, storetest.Factory{Open: open, Reopen: reopen})
}
