package pebblestore

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/dengxu/dengxu/internal/store"
)

// AuditDir checks the folder of a store that is not running, and changes
// nothing in it: that it is whole, that indexes built from the records agree
// with each other, and what the engine promises of records, counts and log. rules
// are the hooks of the audit; the zero value will do. An error means that the
// folder cannot be read; one that wraps store.ErrDamaged, that it is damaged.
func AuditDir(o Options, rules store.Auditor) (found []store.Finding, err error) {
	o = o.withDefaults()
	if _, err := o.FS.Stat(o.FS.PathJoin(o.Dir, fileFormat)); err != nil {
		return nil, fmt.Errorf("%s is not a data folder of dengxu: %w", o.Dir, err)
	}
	folder, err := openFolder(o.FS, o.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.lock.Close()) }()
	last, _, err := folder.readSynced()
	if err != nil {
		return nil, err
	}
	s := newStore(o, folder)
	cache := pebble.NewCache(blockBytes)
	defer cache.Unref()
	db, err := s.openForReading(folder.path(fileDB), cache)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := s.read(db, last); err != nil {
		return nil, err
	}
	rules.Engine = true
	if err := errors.Join(s.compare(db, &rules), auditRules(db, &s.meta, &rules)); err != nil {
		return nil, s.unreadable(err)
	}
	return rules.Findings(), nil
}
