package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/dengxu/dengxu/internal/store"
)

// decodeDoc reads a document as scripts keep it: version, due, the rest.
func decodeDoc(k store.DocKey, raw []byte) (*store.Doc, error) {
	r := &reader{buf: raw, ok: true}
	version, due := r.number(6), r.time()
	if !r.ok {
		return nil, fmt.Errorf("document %v is cut off: %w", k, store.ErrDamaged)
	}
	d, err := store.DecodeDoc(k, r.buf)
	if err == nil {
		d.Version, d.Due = version, due
	}
	return d, err
}

// Docs returns every document of a partition that is not bulky, by kind and id.
// They are not all of one moment.
func (s *Store) Docs(ctx context.Context, partition store.Partition) ([]store.Doc, error) {
	p, err := s.ready(ctx, partition)
	if err != nil {
		return nil, err
	}
	found := make(map[store.DocKey]store.Doc) // a scan may answer one twice
	err = p.scanMatch(ctx, keyDocs, plainDocs, func(field, value string) error {
		d, err := decodeDoc(unpackKey(field), []byte(value))
		if err == nil {
			found[d.Key] = *d
		}
		return err
	})
	return slices.SortedFunc(maps.Values(found), func(a, b store.Doc) int {
		return cmp.Or(cmp.Compare(a.Key.Kind, b.Key.Kind), cmp.Compare(a.Key.ID, b.Key.ID))
	}), err
}

// Due returns what is due, and when the next entry is.
func (s *Store) Due(ctx context.Context, partition store.Partition, limit int) (store.Due, error) {
	p, err := s.ready(ctx, partition)
	if err != nil {
		return store.Due{}, err
	}
	for {
		reply, err := p.read(ctx, s.scripts.due, strconv.Itoa(max(limit, 0)))
		if err != nil {
			return store.Due{}, err
		}
		u := &unpacker{buf: reply}
		u.array()
		u.text()
		now, again, err := p.stepped(u)
		if err != nil {
			return store.Due{}, err
		}
		if again {
			continue
		}
		return readDue(u, now)
	}
}

func readDue(u *unpacker, now int64) (store.Due, error) {
	d := store.Due{Now: now}
	for range u.array() {
		u.array()
		member, at := u.text(), u.int()
		entry := store.DueEntry{At: at}
		if member != "" && member[0] == 0 {
			entry.Doc = unpackKey(member[1:])
		} else {
			entry.Token = unpackID(member)
		}
		d.Entries = append(d.Entries, entry)
	}
	d.Next = u.int()
	slices.SortFunc(d.Entries, store.DueEntry.Compare)
	return d, u.err
}

// bucketsAtOnce is how many 64s of arrivals one script call reads.
const bucketsAtOnce = 8

// List answers one page of tokens.
func (s *Store) List(ctx context.Context, a store.ListAsk) (store.Page, error) {
	p, err := s.ready(ctx, a.Partition)
	if err != nil {
		return store.Page{}, err
	}
	if a.Limit < 1 {
		return store.Page{}, fmt.Errorf("redisstore: list of %d tokens", a.Limit)
	}
	l := listing{p: p, ask: &a, from: (int64(min(a.After, 1<<48)) + 1) / 64}
	if a.Newest {
		l.from = 1 << 48
		if a.Before != 0 {
			l.from = int64(min(a.Before, 1<<48)) / 64
		}
	}
	for l.from >= 0 {
		if err := l.more(ctx); err != nil {
			return store.Page{}, err
		}
		if l.full {
			break
		}
	}
	return l.page, nil
}

// listing is a page being filled.
type listing struct {
	p        *part
	ask      *store.ListAsk
	from     int64 // the next bucket, below 0 = none
	examined int
	last     uint64 // arrival number of the last one examined
	page     store.Page
	full     bool
}

// more takes in the next buckets.
func (l *listing) more(ctx context.Context) error {
	up := "1"
	if l.ask.Newest {
		up = "0"
	}
	reply, err := l.p.read(ctx, l.p.s.scripts.list, strconv.FormatInt(l.from, 10), up, strconv.Itoa(bucketsAtOnce))
	if err != nil {
		return err
	}
	u := &unpacker{buf: reply}
	u.array()
	u.text()
	now, again, err := l.p.stepped(u)
	if again || err != nil {
		return err
	}
	l.page.Now = now
	found, err := records(u)
	if err != nil {
		return err
	}
	l.from = u.int()
	inOrder(found, func(t *store.Token) uint64 { return t.Arrival })
	if l.ask.Newest {
		slices.Reverse(found)
	}
	for i := range found {
		if !l.take(&found[i]) {
			return u.err
		}
	}
	return u.err
}

// take examines one token, and reports false when the page ends before it.
func (l *listing) take(t *store.Token) bool {
	a := l.ask
	if !a.Newest && t.Arrival <= a.After || a.Newest && a.Before != 0 && t.Arrival >= a.Before {
		return true
	}
	if len(l.page.Tokens) == a.Limit || l.examined == store.MaxExamined {
		l.full, l.page.Next = true, l.last
		return false
	}
	l.examined++
	l.last = t.Arrival
	if a.Match(t) {
		l.page.Tokens = append(l.page.Tokens, *t)
	}
	return true
}
