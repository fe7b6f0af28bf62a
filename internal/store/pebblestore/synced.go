package pebblestore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/dengxu/dengxu/internal/store"
)

// syncedFile remembers, beside the database, the number of the last group that
// was synced, so that a database that lost its end is noticed: pebble takes a
// log whose tail is unreadable for one that was torn by a crash. It has two
// slots that are written in turn, after the sync and before anybody is
// answered. It is not synced itself: what it says is always true, and after
// power loss it may be behind.
type syncedFile struct {
	file vfs.File
	buf  [slotSize]byte
}

// A slot is a group number and a checksum; the second slot begins a disk
// sector of its own, so that a torn write hurts one.
const (
	slotSize   = 12
	slotStride = 4096
)

// readSynced answers the number of the last synced group, and whether there is
// a file that says it.
func (f *folder) readSynced() (last uint64, found bool, err error) {
	name := f.path(fileSynced)
	text, err := readFile(f.fs, name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("read %s: %w", name, err)
	}
	if last, err = lastSynced(text); err != nil {
		return 0, false, fmt.Errorf("%s: %w; if the database is the newest you have, delete this file to go on with what it holds", name, err)
	}
	return last, true, nil
}

// openSynced opens the file for writing, and makes it when there is none.
func (f *folder) openSynced(found bool) (*syncedFile, error) {
	name := f.path(fileSynced)
	if !found {
		blank := make([]byte, slotStride+slotSize)
		fillSlot(blank, 0)
		fillSlot(blank[slotStride:], 0)
		if err := f.install(fileSynced, blank); err != nil {
			return nil, err
		}
	}
	file, err := f.fs.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	return &syncedFile{file: file}, nil
}

// lastSynced is the larger number of the slots that are whole.
func lastSynced(text string) (last uint64, err error) {
	whole := 0
	for at := 0; at+slotSize <= len(text); at += slotStride {
		slot := []byte(text[at : at+slotSize])
		if binary.LittleEndian.Uint32(slot[8:]) == crc32.ChecksumIEEE(slot[:8]) {
			last = max(last, binary.LittleEndian.Uint64(slot))
			whole++
		}
	}
	if whole == 0 {
		return 0, fmt.Errorf("no slot is readable: %w", store.ErrDamaged)
	}
	return last, nil
}

func fillSlot(slot []byte, group uint64) {
	binary.LittleEndian.PutUint64(slot, group)
	binary.LittleEndian.PutUint32(slot[8:], crc32.ChecksumIEEE(slot[:8]))
}

// write remembers that a group was synced.
func (s *syncedFile) write(group uint64) error {
	fillSlot(s.buf[:], group)
	n, err := s.file.WriteAt(s.buf[:], int64(group%2)*slotStride)
	if err == nil && n < slotSize {
		err = io.ErrShortWrite
	}
	return err
}

// close syncs the file: after a clean end it is exact.
func (s *syncedFile) close() error { return errors.Join(s.file.Sync(), s.file.Close()) }
