package pebblestore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/dengxu/dengxu/internal/store"
)

// The files of a data folder. Pebble's own are in fileDB, so that a folder of
// another program that uses pebble is never mistaken for ours.
const (
	fileFormat = "FORMAT" // what the folder is: formatText, then the number
	fileLock   = "LOCK"   // held while a process has the folder open
	fileSynced = "SYNCED" // number of the last acknowledged group: see syncedFile
	fileDB     = "db"

	// unfinished ends the name of a file that is being made.
	unfinished = ".new"
)

// The format of the folder. A change that an older build would misread raises
// the number.
const (
	formatText   = "dengxu pebble store, format "
	formatNumber = 1
)

// folder is a data folder that this process holds.
type folder struct {
	fs   vfs.FS
	dir  string
	lock io.Closer
}

// openFolder takes the folder for this process and makes it if need be. It
// touches nothing in a folder that is not ours.
func openFolder(fsys vfs.FS, dir string) (*folder, error) {
	if fsys == vfs.Default {
		// Locks are by path within a process, so that one folder needs one name.
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("data folder %s: %w", dir, err)
		}
		if target, err := filepath.EvalSymlinks(abs); err == nil {
			abs = target
		}
		dir = abs
	}
	f := &folder{fs: fsys, dir: dir}
	if err := f.check(); err != nil {
		return nil, err
	}
	if err := f.make(); err != nil {
		return nil, err
	}
	lock, err := fsys.Lock(f.path(fileLock))
	if err != nil {
		// A file that cannot be opened for the lock is another matter: its folder
		// may be read-only.
		_, unopened := errors.AsType[*fs.PathError](err)
		taken := !unopened && (errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES))
		if taken || strings.Contains(err.Error(), "lock held by current process") {
			return nil, fmt.Errorf("data folder %s is in use by another dengxu: %w", dir, store.ErrUnavailable)
		}
		return nil, fmt.Errorf("lock data folder %s: %w", dir, err)
	}
	f.lock = lock
	// Another process may have made the folder since the first look.
	if err := errors.Join(f.check(), f.writeFormat()); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return f, nil
}

func (f *folder) path(name string) string { return f.fs.PathJoin(f.dir, name) }

func (f *folder) exists(name string) bool {
	_, err := f.fs.Stat(f.path(name))
	return err == nil
}

// check refuses a folder that holds something else, or a newer format.
func (f *folder) check() error {
	names, err := f.fs.List(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("data folder %s: %w", f.dir, err)
	}
	if !slices.Contains(names, fileFormat) {
		for _, name := range names {
			if name != fileLock && name != fileFormat+unfinished && name != "lost+found" {
				return fmt.Errorf("folder %s holds %s but no %s file: it is not a data folder of dengxu, or is damaged: %w",
					f.dir, name, fileFormat, store.ErrDamaged)
			}
		}
		return nil
	}
	text, err := readFile(f.fs, f.path(fileFormat))
	if err != nil {
		return err
	}
	var n int
	if _, err := fmt.Sscanf(text, formatText+"%d\n", &n); err != nil || text != formatLine(n) || n < 1 {
		return fmt.Errorf("%s does not say that this is a data folder of dengxu: %w", f.path(fileFormat), store.ErrDamaged)
	}
	if n > formatNumber {
		return fmt.Errorf("data folder %s has format %d, written by a newer dengxu; this one knows formats up to %d", f.dir, n, formatNumber)
	}
	return nil
}

func formatLine(n int) string { return fmt.Sprintf("%s%d\n", formatText, n) }

// make makes the folder, so that it survives power loss: each new folder is
// synced into the one that holds it.
func (f *folder) make() error {
	var parents []string
	for dir := f.dir; ; {
		if _, err := f.fs.Stat(dir); err == nil {
			break
		}
		parent := f.fs.PathDir(dir)
		parents = append(parents, parent)
		if parent == dir {
			break
		}
		dir = parent
	}
	if err := f.fs.MkdirAll(f.dir, 0o700); err != nil {
		return fmt.Errorf("make data folder: %w", err)
	}
	for _, parent := range slices.Backward(parents) {
		if err := f.sync(parent); err != nil {
			return err
		}
	}
	return nil
}

func (f *folder) sync(dir string) error { return syncFolder(f.fs, dir) }

func syncFolder(fsys vfs.FS, dir string) error {
	d, err := fsys.OpenDir(dir)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}

// writeFormat says what the folder is, before anything else is in it.
func (f *folder) writeFormat() error {
	if f.exists(fileFormat) {
		return nil
	}
	return f.install(fileFormat, []byte(formatLine(formatNumber)))
}

// install makes a file that, after power loss, is there whole or not at all.
func (f *folder) install(name string, content []byte) error {
	fresh := f.path(name + unfinished)
	err := writeFile(f.fs, fresh, content)
	if err == nil {
		err = f.fs.Rename(fresh, f.path(name))
	}
	if err == nil {
		err = f.sync(f.dir)
	}
	if err != nil {
		return fmt.Errorf("make %s: %w", f.path(name), err)
	}
	return nil
}

// manifestFS is the file system as pebble sees it. Pebble makes a new manifest
// and then a marker that names it, and syncs their folder once after both: a
// power loss before that may keep the marker and not the manifest, on a file
// system that does not keep the order of such changes. So the folder is synced
// after a manifest was made, too.
type manifestFS struct{ vfs.FS }

// Create makes a file.
func (m manifestFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := m.FS.Create(name, category)
	if err != nil || !strings.HasPrefix(m.PathBase(name), "MANIFEST-") {
		return file, err
	}
	if err := syncFolder(m.FS, m.PathDir(name)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Unwrap is the file system below.
func (m manifestFS) Unwrap() vfs.FS { return m.FS }

func readFile(fsys vfs.FS, name string) (string, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(file, 1<<20))
	return string(b), errors.Join(err, file.Close())
}

func writeFile(fsys vfs.FS, name string, b []byte) error {
	file, err := fsys.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = file.Write(b)
	return errors.Join(err, file.Sync(), file.Close())
}

// isOurFault reports errors of the machine rather than of what is stored.
func isOurFault(err error) bool {
	if errors.Is(err, fs.ErrPermission) {
		return true
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno != syscall.ENOENT
	}
	return errors.Is(err, os.ErrClosed)
}
