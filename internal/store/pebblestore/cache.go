package pebblestore

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// cached is a record as it is now.
type cached struct {
	token    *store.Token // never changed
	archived bool
}

// recordCache keeps the records that were written last. It holds at least
// what the groups wrote that are not in the database yet, and so is part of
// the truth; beyond that it saves reading and decoding. It has two
// generations: when the young one is full, the old one goes.
type recordCache struct {
	young, old map[dengxu.TokenID]cached
	bytes      int    // of the young ones, about
	sealed     uint64 // the last group that wrote to the old ones
}

// How much a generation keeps. Records with large payloads fill it sooner.
const (
	cacheRecords = 4096
	cacheBytes   = 4 << 20
)

func newRecordCache() recordCache {
	return recordCache{young: make(map[dengxu.TokenID]cached), old: make(map[dengxu.TokenID]cached)}
}

func (c *recordCache) get(id dengxu.TokenID) (cached, bool) {
	if r, ok := c.young[id]; ok {
		return r, true
	}
	r, ok := c.old[id]
	return r, ok
}

func (c *recordCache) put(id dengxu.TokenID, r cached) {
	c.young[id] = r
	c.bytes += 1000 + len(r.token.Attrs) + len(r.token.Payload) + len(r.token.Note)
}

// rotate makes room, after group judged was the last to put something, when
// all that the old generation holds was written to the database.
func (c *recordCache) rotate(judged, written uint64) {
	if c.sealed <= written && (len(c.young) >= cacheRecords || c.bytes >= cacheBytes) {
		c.old, c.young, c.bytes = c.young, make(map[dengxu.TokenID]cached, len(c.young)), 0
		c.sealed = judged
	}
}

// readToken reads a record under one of the two prefixes, or nil.
func readToken(r pebble.Reader, prefix byte, id dengxu.TokenID) (*store.Token, error) {
	key := append([]byte{prefix}, id...)
	var t *store.Token
	err := readKey(r, key, func(value []byte) (err error) {
		t, err = store.DecodeToken(id, value)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read token %s: %w", id.Mask(), err)
	}
	return t, nil
}

// readKey calls found with the value at key, if there is one.
func readKey(r pebble.Reader, key []byte, found func(value []byte) error) error {
	value, closer, err := r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil
	}
	if err != nil {
		return damaged(err)
	}
	return errors.Join(found(value), closer.Close())
}

// damaged marks pebble's complaints about what it reads.
func damaged(err error) error {
	if err == nil || isOurFault(err) || errors.Is(err, store.ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w: %w", store.ErrDamaged, err)
}
