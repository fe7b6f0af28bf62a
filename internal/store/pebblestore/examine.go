package pebblestore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/dengxu/dengxu/internal/store"
)

// Examined is what is found in a data folder without reading its database.
type Examined struct {
	Exists bool
	Format int  // 0 = there is none yet
	InUse  bool // by a process that serves it
	Bytes  int64
	Files  int
	Open   bool   // others than its owner may read it
	Synced uint64 // number of the last acknowledged group of commits
}

// Examine looks at a data folder and changes nothing in it. It returns an error
// when the folder is not one of dengxu's, is of a newer format, or cannot be
// read.
func Examine(dir string) (e Examined, err error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return e, fmt.Errorf("data folder %s: %w", dir, err)
	}
	e.Exists, e.Open = true, info.Mode().Perm()&0o077 != 0
	f := &folder{fs: vfs.Default, dir: dir}
	if err := f.check(); err != nil {
		return e, err
	}
	if e.Bytes, e.Files, err = measure(dir); err != nil {
		return e, err
	}
	if !f.exists(fileFormat) {
		return e, nil
	}
	text, err := readFile(f.fs, f.path(fileFormat))
	if err != nil {
		return e, err
	}
	if _, err := fmt.Sscanf(text, formatText+"%d\n", &e.Format); err != nil {
		return e, fmt.Errorf("%s: %w", f.path(fileFormat), err)
	}
	held, err := openFolder(f.fs, dir)
	if errors.Is(err, store.ErrUnavailable) {
		e.InUse = true
		return e, nil
	}
	if err != nil {
		return e, err
	}
	e.Synced, _, err = held.readSynced()
	return e, errors.Join(err, held.lock.Close())
}

// measure adds up a folder. What a server removes meanwhile does not count.
func measure(dir string) (bytes int64, files int, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return gone(err)
		}
		info, err := d.Info()
		if err == nil {
			bytes, files = bytes+info.Size(), files+1
		}
		return gone(err)
	})
	return bytes, files, err
}

func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
