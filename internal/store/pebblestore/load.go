package pebblestore

import (
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// Memory that pebble may use: four memtables at most, so that a flush seldom
// holds writes up, and a cache of blocks. The log is as long as the memtables,
// which bounds the time of an open.
const (
	memtableBytes = 32 << 20
	memtables     = 4
	blockBytes    = 64 << 20
)

// flushed is how many overlapping flushes are merged into the level below at
// once, and flushedMost at how many pebble lets writers wait. Operations have
// random keys, so that each merging writes all of that level anew; with pebble's
// own 4 and 12 that was a fifteenth of all processor time under load. What has
// to be looked for in more files is filtered.
const (
	flushed     = 8
	flushedMost = 24
)

func (s *Store) pebbleOptions(cache *pebble.Cache) *pebble.Options {
	log := pebbleLog{s}
	o := &pebble.Options{
		FS: manifestFS{s.opts.FS}, Cache: cache, MemTableSize: s.opts.memtable,
		MemTableStopWritesThreshold: memtables,
		L0CompactionThreshold:       flushed, L0StopWritesThreshold: flushedMost,
		FormatMajorVersion: pebble.FormatNewest,
		Logger:             log, EventListener: log.listener(),
	}
	for i := range o.Levels {
		// Looking for an operation that was never seen is what every join does.
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	return o
}

// load opens the database and builds the indexes. A folder that has been
// written to is first opened for reading only and checked as a whole: what
// pebble repairs when it opens for writing, it repairs by dropping what it
// cannot read.
func (s *Store) load() (err error) {
	last, known, err := s.folder.readSynced()
	if err != nil {
		return err
	}
	cache := pebble.NewCache(blockBytes)
	defer cache.Unref()
	dir := s.folder.path(fileDB)
	if err := s.checkOld(dir, cache, last); err != nil {
		return err
	}
	if s.synced, err = s.folder.openSynced(known); err != nil {
		return err
	}
	if s.db, err = pebble.Open(dir, s.pebbleOptions(cache)); err != nil {
		return s.unreadable(err)
	}
	return s.begun(known)
}

// checkOld checks a database that is there already.
func (s *Store) checkOld(dir string, cache *pebble.Cache, last uint64) error {
	if s.folder.exists(fileDB) {
		desc, err := pebble.Peek(dir, s.opts.FS)
		if err != nil {
			return s.unreadable(err)
		}
		if desc.Exists {
			return s.check(dir, cache, last)
		}
	}
	if last > 0 {
		return fmt.Errorf("data folder %s has no database but once had %d groups of commits; restore a backup: %w", s.folder.dir, last, store.ErrDamaged)
	}
	return nil
}

// begun continues the clock, and writes the first group of a new store. A
// folder whose record of the last group is gone may have lost the end of its
// log, so that cursors must not fit any more.
func (s *Store) begun(known bool) error {
	s.clock = store.ClockFrom(s.meta.Clock)
	s.written = s.meta.Group
	if s.meta.Epoch != 0 && (known || s.meta.Group == 0) {
		return nil
	}
	if s.meta.Epoch != 0 {
		s.opts.Logger.Warn("the record of the last acknowledged commit is gone; readers of the log begin anew", "file", s.folder.path(fileSynced))
	}
	s.meta.Epoch = max(s.meta.Epoch+1, uint64(max(1, s.opts.Wall().UnixNano())))
	s.meta.First = max(s.meta.First, 1)
	g := newGroup(s.meta.Group + 1)
	s.begin(g)
	if err := errors.Join(s.finish(g), s.encode(g)); err != nil {
		return err
	}
	if err := errors.Join(g.batch.Commit(pebble.Sync), g.batch.Close()); err != nil {
		return fmt.Errorf("write the first group: %w", err)
	}
	s.last, s.pending = newGroup(g.number), nil
	return s.synced.write(g.number)
}

// unreadable explains an error of pebble at open.
func (s *Store) unreadable(err error) error {
	if isOurFault(err) {
		return fmt.Errorf("open database in %s: %w", s.folder.dir, err)
	}
	return fmt.Errorf("database in %s cannot be read and was left as it is; restore a backup: %w", s.folder.dir, damaged(err))
}

// check opens the database for reading only, builds the indexes and compares
// what was read with what the last group said of it.
func (s *Store) check(dir string, cache *pebble.Cache, last uint64) (err error) {
	db, err := s.openForReading(dir, cache)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return s.read(db, last)
}

func (s *Store) openForReading(dir string, cache *pebble.Cache) (*pebble.DB, error) {
	o := s.pebbleOptions(cache)
	o.ReadOnly = true
	db, err := pebble.Open(dir, o)
	if err != nil {
		return nil, s.unreadable(err)
	}
	return db, nil
}

func (s *Store) read(db *pebble.DB, last uint64) error {
	if err := s.readMeta(db); err != nil {
		return s.unreadable(err)
	}
	if s.meta.Group < last {
		return fmt.Errorf("database in %s ends at group %d of commits, but group %d was acknowledged: its end is lost and it was left as it is; restore a backup, or delete %s to go on without: %w",
			s.folder.dir, s.meta.Group, last, s.folder.path(fileSynced), store.ErrDamaged)
	}
	if err := s.readAll(db); err != nil {
		return s.unreadable(err)
	}
	return nil
}

func (s *Store) readMeta(db *pebble.DB) error {
	found := false
	err := readKey(db, metaKey, func(value []byte) (err error) {
		found = true
		s.meta, err = decodeMeta(value)
		return err
	})
	if err != nil || found {
		return err
	}
	// A process that died while it made the folder leaves an empty database.
	it, err := db.NewIter(nil)
	if err != nil {
		return err
	}
	if it.First() {
		err = fmt.Errorf("database without its numbers: %w", store.ErrDamaged)
	}
	return errors.Join(err, it.Error(), it.Close())
}

// readAll builds the indexes and checks the state sum and the log.
func (s *Store) readAll(db *pebble.DB) error {
	// The log and the operations need nothing of the rest, nor it of them.
	walked := make(chan error, 1)
	go func() { walked <- errors.Join(s.walkEvents(db), s.readOps(db)) }()
	sum, err := s.readState(db)
	err = errors.Join(err, <-walked)
	if err != nil {
		return err
	}
	if sum != s.meta.Sum {
		return fmt.Errorf("what is stored has the sum %016x, not %016x: %w", sum, s.meta.Sum, store.ErrDamaged)
	}
	return nil
}

func (s *Store) readState(db *pebble.DB) (sum uint64, err error) {
	if err := s.readTokens(db, &sum); err != nil {
		return 0, err
	}
	err = errors.Join(
		scanSum(db, prefixDoc, &sum, s.readDoc),
		scanSum(db, prefixTally, &sum, s.readTally),
		scanSum(db, prefixSeries, &sum, s.readSeries),
		scanSum(db, prefixMark, &sum, func(_, value []byte, _ uint64) error {
			_, err := decodeMark(value)
			return err
		}),
	)
	return sum, err
}

// readTokens reads the records, and enters them in the indexes beside that.
func (s *Store) readTokens(db *pebble.DB, sum *uint64) error {
	s.index.tokens = make(map[dengxu.TokenID]*entry, min(s.meta.Live, mostRoom))
	s.index.persons = make(map[string]*entry, min(s.meta.Persons, mostRoom))
	read := make(chan []loaded, 4) // a little ahead of the slower side
	built := make(chan struct{})
	go func() {
		defer close(built)
		for some := range read {
			for _, l := range some {
				s.index.add(l.entry, l.token)
			}
		}
	}()
	some := make([]loaded, 0, loadTokens)
	err := scanSum(db, prefixToken, sum, func(key, value []byte, hash uint64) error {
		t, err := store.DecodeToken(dengxu.TokenID(key[1:]), value)
		if err != nil {
			return err
		}
		if _, known := stateCodes[t.State]; !known {
			return fmt.Errorf("state %q: %w", t.State, store.ErrDamaged)
		}
		en := &entry{id: t.ID, hash: hash, record: keptRecord(t, value)}
		if some = append(some, loaded{t, en}); len(some) == loadTokens {
			read <- some
			some = make([]loaded, 0, loadTokens)
		}
		return nil
	})
	read <- some
	close(read)
	<-built
	if n := uint64(len(s.index.tokens)); err == nil && n != s.meta.Live {
		err = fmt.Errorf("%d records are stored, not %d: %w", n, s.meta.Live, store.ErrDamaged)
	}
	return err
}

// loaded is a record on its way into the indexes.
type loaded struct {
	token *store.Token
	entry *entry
}

const (
	// loadTokens is how many records go there together.
	loadTokens = 512
	// mostRoom bounds the room that is made before anything was read.
	mostRoom = 1 << 24
)

// scanSum is scan with the hash of each key, which it adds to sum.
func scanSum(r pebble.Reader, prefix byte, sum *uint64, one func(key, value []byte, hash uint64) error) error {
	return scan(r, prefix, func(key, value []byte) error {
		hash := hashOf(key, value)
		*sum += hash
		if err := one(key, value, hash); err != nil {
			return fmt.Errorf("key %q: %w", key[:min(len(key), 8)], err)
		}
		return nil
	})
}

// scan calls each with every key of a prefix; key and value are lent.
func scan(r pebble.Reader, prefix byte, each func(key, value []byte) error) (err error) {
	lower, upper := bounds(prefix)
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return damaged(err)
	}
	defer func() { err = errors.Join(err, damaged(it.Close())) }()
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return damaged(err)
		}
		if err := each(it.Key(), value); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) readDoc(key, value []byte, hash uint64) error {
	kind, id, err := splitPair(key)
	if err != nil {
		return err
	}
	d, err := store.DecodeDoc(store.DocKey{Kind: store.DocKind(kind), ID: id}, value)
	if err != nil {
		return err
	}
	s.index.putDoc(*d, hash)
	return nil
}

func (s *Store) readTally(key, value []byte, hash uint64) error {
	v, err := decodeDaily(value)
	s.index.tallies[string(key[1:])] = &daily{v, hash}
	return err
}

func (s *Store) readSeries(key, value []byte, hash uint64) error {
	site, name, err := splitPair(key)
	if err != nil {
		return err
	}
	v, err := decodeDaily(value)
	s.index.series[ledger.SeriesKey{Site: dengxu.SiteID(site), Name: name}] = &daily{v, hash}
	return err
}

// readOps fills the filter.
func (s *Store) readOps(db *pebble.DB) error {
	return scan(db, prefixOp, func(key, value []byte) error {
		expires, err := decodeExpires(value)
		if err == nil && expires > s.meta.Clock.Now/int64(time.Millisecond) {
			s.filter.add(key, expires)
		}
		return err
	})
}

// walkEvents checks that the log has no gap.
func (s *Store) walkEvents(db *pebble.DB) error {
	next := s.meta.First
	err := scan(db, prefixEvent, func(key, _ []byte) error {
		n, err := eventNumber(key)
		if err == nil && n != next {
			err = fmt.Errorf("event %d stands where %d should: %w", n, next, store.ErrDamaged)
		}
		next++
		return err
	})
	if err == nil && next != s.meta.Event+1 && s.meta.Epoch != 0 {
		err = fmt.Errorf("the log ends at event %d, not %d: %w", next-1, s.meta.Event, store.ErrDamaged)
	}
	return err
}
