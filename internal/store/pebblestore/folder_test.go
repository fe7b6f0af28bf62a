package pebblestore_test

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/pebblestore"
)

func TestFolderInUse(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	for name, o := range map[string]pebblestore.Options{
		"disk":   {Dir: dir},
		"memory": {Dir: "data", FS: vfs.NewMem()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := pebblestore.Open(o)
			if err != nil {
				t.Fatal(err)
			}
			again := o
			if o.FS == nil {
				// The same folder by another name.
				link := filepath.Join(t.TempDir(), "link")
				if err := os.Symlink(o.Dir, link); err != nil {
					t.Fatal(err)
				}
				again.Dir = link
			}
			_, err = pebblestore.Open(again)
			if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "is in use by another dengxu") {
				t.Errorf("second open: %v", err)
			}
			if _, err := pebblestore.AuditDir(again, store.Auditor{}); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("audit of a running store's folder: %v", err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s, err = pebblestore.Open(again)
			if err != nil {
				t.Fatalf("after it was closed: %v", err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// noLock is a disk on which the lock's file cannot be opened.
type noLock struct{ vfs.FS }

func (noLock) Lock(name string) (io.Closer, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EACCES}
}

// TestFolderWithoutRights is not taken for one that is in use.
func TestFolderWithoutRights(t *testing.T) {
	t.Parallel()
	_, err := pebblestore.Open(pebblestore.Options{Dir: "data", FS: noLock{vfs.NewMem()}})
	if !errors.Is(err, fs.ErrPermission) || errors.Is(err, store.ErrUnavailable) {
		t.Errorf("open: %v", err)
	}
}

func TestFolderOfOthers(t *testing.T) {
	t.Parallel()
	write := func(disk vfs.FS, path, text string) {
		t.Helper()
		if err := disk.MkdirAll(disk.PathDir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := disk.Create(path, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, x := range map[string]struct {
		make func(vfs.FS)
		want string
	}{
		"foreign pebble": {func(fs vfs.FS) {
			db, err := pebble.Open("data", &pebble.Options{FS: fs, Logger: quiet{}})
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}, "not a data folder of dengxu"},
		"foreign file": {func(fs vfs.FS) { write(fs, "data/thesis.doc", "…") }, "holds thesis.doc"},
		"newer format": {func(fs vfs.FS) { write(fs, "data/FORMAT", "dengxu pebble store, format 7\n") }, "format 7, written by a newer dengxu"},
		"no format":    {func(fs vfs.FS) { write(fs, "data/FORMAT", "") }, "does not say"},
		"only a mark": {func(fs vfs.FS) {
			s, err := pebblestore.Open(pebblestore.Options{Dir: "data", FS: fs})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(s.Close(), fs.RemoveAll("data/db")); err != nil {
				t.Fatal(err)
			}
		}, "has no database"},
		"foreign database inside": {func(fs vfs.FS) {
			write(fs, "data/FORMAT", "dengxu pebble store, format 1\n")
			db, err := pebble.Open("data/db", &pebble.Options{FS: fs, Logger: quiet{}})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(db.Set([]byte("t1"), nil, nil), db.Close()); err != nil {
				t.Fatal(err)
			}
		}, "without its numbers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := vfs.NewMem()
			x.make(fs)
			before := fs.String()
			_, err := pebblestore.Open(pebblestore.Options{Dir: "data", FS: fs})
			if err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("open: %v, want %q", err, x.want)
			}
			if after := fs.String(); !strings.HasPrefix(name, "only") && len(after) > len(before)+200 {
				t.Errorf("the folder was written to:\n%s\n%s", before, after)
			}
		})
	}
}

// TestWriteErrors: a log that cannot be written or synced stops the store;
// nothing is acknowledged after it, and what was before is there.
func TestWriteErrors(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		err  error
		kind []errorfs.OpKind
		file string
	}{
		"EIO on sync":            {syscall.EIO, []errorfs.OpKind{errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo, errorfs.OpFileFlush}, ".log"},
		"ENOSPC on write":        {syscall.ENOSPC, []errorfs.OpKind{errorfs.OpFileWrite}, ".log"},
		"EIO on the synced mark": {syscall.EIO, []errorfs.OpKind{errorfs.OpFileWriteAt}, "SYNCED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk := vfs.NewCrashableMem()
			var broken errorfs.Toggle
			broken.Injector = errorfs.InjectorFunc(func(op errorfs.Op) error {
				for _, kind := range x.kind {
					if op.Kind == kind && strings.HasSuffix(op.Path, x.file) {
						return x.err
					}
				}
				return nil
			})
			fatal := make(chan error, 10)
			s, err := pebblestore.Open(pebblestore.Options{
				Dir: "data", FS: errorfs.Wrap(disk, &broken), Fatal: func(err error) { fatal <- err },
			})
			if err != nil {
				t.Fatal(err)
			}
			a := newAcks()
			for n := range 20 {
				work(t, s, a, 0, n)
			}
			broken.On()
			failAll(t, s, fatal)
			if err := s.Close(); err == nil {
				t.Error("closed as if nothing had happened")
			}
			c := crashed{disk: disk.CrashClone(vfs.CrashCloneCfg{}), versions: a.versions, event: a.event, what: name}
			c.verify(t)
		})
	}
}

// failAll commits from many callers while the disk is broken.
func failAll(t *testing.T, s *pebblestore.Store, fatal chan error) {
	t.Helper()
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for n := range 3 {
				_, err := s.Commit(t.Context(), joinBatch(uint64(1000*w+n+500_000)))
				if !errors.Is(err, store.ErrUnknown) && !errors.Is(err, store.ErrUnavailable) {
					t.Errorf("commit on a broken disk: %v", err)
				}
			}
		})
	}
	wg.Wait()
	select {
	case err := <-fatal:
		t.Log(err)
	default:
		t.Error("Fatal was not called")
	}
	select {
	case err := <-fatal:
		t.Errorf("Fatal was called twice: %v", err)
	default:
	}
	if _, err := s.View(t.Context(), store.Ask{}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("view: %v", err)
	}
	if _, err := s.Commit(t.Context(), joinBatch(1)); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a later commit: %v", err)
	}
}

// TestQuietLog: pebble's chatter stays below the level of information.
func TestQuietLog(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	log := slog.New(slog.NewTextHandler(&lines, nil))
	s, err := pebblestore.Open(pebblestore.Options{Dir: "data", FS: vfs.NewMem(), Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 50 {
		if _, err := s.Commit(t.Context(), joinBatch(uint64(n))); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if lines.Len() > 0 {
		t.Errorf("logged:\n%s", lines.String())
	}
}
