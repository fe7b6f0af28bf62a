package pebblestore

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// look is one consistent sight of the store. While it is begun, the lock is
// held shared and the indexes are read; after it was settled, records are read
// from a snapshot, and nothing is answered before what was seen is on disk.
type look struct {
	s     *Store
	now   int64
	group *group // the last one whose changes were seen
	wants []*want
	snap  *pebble.Snapshot
}

// want is a record that is to be read, and its place in the answer.
type want struct {
	id    dengxu.TokenID
	live  bool
	known *store.Token // never changed; nil = on disk, if anywhere
	token *store.Token // the answer: a copy, nil = unknown
}

// look begins. The caller ends it with settle, and with done in any case.
func (s *Store) look() *look {
	s.mu.RLock()
	return &look{s: s, now: s.tick(), group: s.last}
}

// want asks for a record, live or archived.
func (l *look) want(id dengxu.TokenID) *want {
	en := l.s.index.tokens[id]
	w := &want{id: id, live: en != nil}
	if c, ok := l.s.cache.get(id); ok {
		w.known = c.token
	} else {
		w.known = en.token()
	}
	l.wants = append(l.wants, w)
	return w
}

func (l *look) wantAll(entries []*entry) []*want {
	wants := make([]*want, len(entries))
	for i, e := range entries {
		wants[i] = l.want(e.id)
	}
	return wants
}

// leave ends the sight of the indexes: what is read later is read as it was
// seen.
func (l *look) leave() {
	for _, w := range l.wants {
		if w.known == nil {
			// Groups that are not in the database yet are in the cache.
			l.snap = l.s.db.NewSnapshot()
			break
		}
	}
	l.s.mu.RUnlock()
}

// read reads one record.
func (l *look) read(w *want) error {
	t := w.known
	if t == nil {
		prefix := byte(prefixArchive)
		if w.live {
			prefix = prefixToken
		}
		var err error
		if t, err = readToken(l.snap, prefix, w.id); err != nil {
			return err
		}
	}
	if t == nil && w.live {
		return missing(w.id)
	}
	if t != nil {
		w.token = new(t.Clone())
	}
	return nil
}

// settle reads what is wanted and waits until all that was seen is on disk.
func (l *look) settle(ctx context.Context) error {
	for _, w := range l.wants {
		if err := l.read(w); err != nil {
			return err
		}
	}
	return l.s.onDisk(ctx, l.group)
}

// done gives the snapshot back.
func (l *look) done() error {
	if l.snap == nil {
		return nil
	}
	return l.snap.Close()
}

// end is done for a defer.
func (l *look) end(err *error) {
	if e := l.done(); e != nil {
		*err = errors.Join(*err, e)
	}
}

func missing(id dengxu.TokenID) error {
	return fmt.Errorf("token %s is in the indexes but not on disk: %w", id.Mask(), store.ErrDamaged)
}

// onDisk waits until a group is on disk.
func (s *Store) onDisk(ctx context.Context, g *group) error {
	select {
	case <-g.done:
		return nil
	default:
	}
	select {
	case <-g.done:
		return nil
	case <-s.failed:
		return s.unavailable()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// known are the records of ids as they are now, for the committer.
func (s *Store) known(ids []dengxu.TokenID) ([]store.Token, error) {
	var found []store.Token
	for _, id := range ids {
		t, err := s.token(id)
		if err == nil && t == nil {
			t, err = s.archived(id)
		}
		if err != nil {
			return nil, err
		}
		if t != nil {
			found = append(found, t.Clone())
		}
	}
	return found, nil
}

func (s *Store) archived(id dengxu.TokenID) (*store.Token, error) {
	if c, ok := s.cache.get(id); ok {
		return c.token, nil
	}
	return readToken(s.db, prefixArchive, id)
}
