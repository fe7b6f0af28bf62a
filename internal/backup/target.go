package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/store"
)

// marker is the document of this import in one partition.
type marker struct {
	version uint64
	rec     engine.ImportRecord
}

func (im *importer) markKey() store.DocKey {
	return store.DocKey{Kind: store.DocImport, ID: im.plan.header.ID}
}

// read reads documents of a partition.
func (im *importer) read(ctx context.Context, p store.Partition, keys ...store.DocKey) ([]*store.Doc, error) {
	v, err := im.s.View(ctx, store.Ask{Partition: p, Docs: keys})
	return v.Docs, coded(err)
}

// check finds out whether the store takes the file.
func (im *importer) check(ctx context.Context) error {
	im.keep = make(map[store.DocKey]bool)
	for home := range im.plan.homes {
		if err := im.readMark(ctx, home); err != nil {
			return err
		}
	}
	for i := range im.plan.docs {
		if err := im.checkDoc(ctx, &im.plan.docs[i]); err != nil {
			return err
		}
	}
	return im.checkNames(ctx)
}

func (im *importer) readMark(ctx context.Context, home store.Partition) error {
	docs, err := im.read(ctx, home, im.markKey())
	if err != nil {
		return err
	}
	m := &marker{}
	im.marks[home] = m
	if docs[0] != nil {
		m.version = docs[0].Version
		if err := json.Unmarshal(docs[0].Body, &m.rec); err != nil {
			return fmt.Errorf("record of the import: %w", err)
		}
		im.did.Resumed = im.did.Resumed || !m.rec.Done
	}
	if m.rec.Ranges == nil {
		m.rec.Ranges = make(map[string]engine.ImportRange)
	}
	m.rec.Named = slices.Sorted(maps.Keys(im.plan.named[home]))
	return nil
}

// checkDoc refuses a document that is there and does not come from an import of
// this file that was interrupted.
func (im *importer) checkDoc(ctx context.Context, d *store.Doc) error {
	home := engine.Home(d.Site, im.parts)
	docs, err := im.read(ctx, home, d.Key)
	if err != nil || docs[0] == nil {
		return err
	}
	if d.Key.Kind == store.DocAPIKey {
		im.keep[d.Key] = true
		if string(docs[0].Body) != string(d.Body) {
			im.did.KeptKeys = append(im.did.KeptKeys, d.Key.ID)
		}
		return nil
	}
	m := im.marks[home]
	if m.version > 0 && !m.rec.Done && docs[0].Site == d.Site {
		return nil // what differs is refused by the store
	}
	if docs[0].Site == d.Site {
		return dengxu.Fieldf(dengxu.Exists, "site",
			"site %s exists already, and nothing was imported: an import never changes a site. Take an empty store: another folder, another Redis, or another ?prefix= in its URL", d.Site)
	}
	return dengxu.Fieldf(dengxu.Exists, "site", "%s %s exists already, in site %s", d.Key.Kind, d.Key.ID, docs[0].Site)
}

// names are the ids that are unique over all partitions.
func (im *importer) names(each func(d *store.Doc) error) error {
	if im.parts == 1 {
		return nil
	}
	for i := range im.plan.docs {
		d := &im.plan.docs[i]
		if d.Key.Kind != store.DocQueue && d.Key.Kind != store.DocCounter {
			continue
		}
		if err := each(d); err != nil {
			return err
		}
	}
	return nil
}

// named reads who has an id, and the document to be written for a new owner.
func (im *importer) named(ctx context.Context, d *store.Doc) (by dengxu.SiteID, write store.DocWrite, err error) {
	doc, err := engine.NameOf(d.Key, d.Site)
	if err != nil {
		return "", write, err
	}
	docs, err := im.read(ctx, 0, doc.Key)
	if err != nil {
		return "", write, err
	}
	write = store.DocWrite{Doc: doc}
	if docs[0] != nil {
		write.Expect = docs[0].Version
		by, err = engine.NamedSite(docs[0])
	}
	return by, write, err
}

func (im *importer) checkNames(ctx context.Context) error {
	return im.names(func(d *store.Doc) error {
		by, _, err := im.named(ctx, d)
		if err == nil && by != "" && by != d.Site {
			err = dengxu.Fieldf(dengxu.Exists, string(d.Key.Kind), "%s %s exists already, in site %s", d.Key.Kind, d.Key.ID, by)
		}
		return err
	})
}

// takeNames takes the ids of queues and counters.
func (im *importer) takeNames(ctx context.Context) error {
	return im.names(func(d *store.Doc) error {
		by, write, err := im.named(ctx, d)
		if err != nil || by == d.Site {
			return err
		}
		return im.commit(ctx, store.Batch{Docs: []store.DocWrite{write}})
	})
}

func (im *importer) commit(ctx context.Context, b store.Batch) error {
	_, err := im.s.Commit(ctx, b)
	if _, refused := errors.AsType[*store.Refused](err); refused {
		return dengxu.Errorf(dengxu.Conflict, "somebody else changes the store at the same time")
	}
	return coded(err)
}

// mark writes the document of the import in a partition.
func (im *importer) mark(ctx context.Context, home store.Partition) error {
	m := im.marks[home]
	body, err := json.Marshal(m.rec)
	if err != nil {
		return err
	}
	err = im.commit(ctx, store.Batch{Partition: home, Docs: []store.DocWrite{{
		Doc: store.Doc{Key: im.markKey(), Body: body}, Expect: m.version,
	}}})
	if err == nil {
		m.version++
	}
	return err
}

// setAside sets aside the arrival numbers of a partition of the file in a
// partition of the store, once, and returns by how much they are shifted. An
// empty partition keeps them.
func (im *importer) setAside(ctx context.Context, from int, home store.Partition) (uint64, error) {
	m, name := im.marks[home], strconv.Itoa(from)
	if r := m.rec.Ranges[name]; r.Taken {
		return r.After, nil
	}
	n := im.plan.numbers[from]
	for range 8 {
		last, err := im.lastArrival(ctx, home)
		if err != nil {
			return 0, err
		}
		r, begun := m.rec.Ranges[name]
		if !begun || last != r.After+n.Arrival { // else they were, and it was not written down
			r = engine.ImportRange{After: last}
			m.rec.Ranges[name] = r
			if err := im.mark(ctx, home); err != nil {
				return 0, err
			}
			err = im.s.Load(ctx, home, []store.Row{{Kind: store.RowNumbers, Numbers: &store.Numbers{
				Now: n.Now, Arrival: last + n.Arrival, Call: n.Call, After: &last,
			}}})
			if errors.Is(err, store.ErrExists) {
				continue // others take numbers too
			}
			if err != nil {
				return 0, coded(err)
			}
		}
		r.Taken = true
		m.rec.Ranges[name] = r
		return r.After, im.mark(ctx, home)
	}
	return 0, dengxu.Errorf(dengxu.Unavailable, "too much goes on in the store to set numbers aside")
}

var errEnough = errors.New("enough")

// lastArrival reads the last arrival number that a partition gave.
func (im *importer) lastArrival(ctx context.Context, home store.Partition) (uint64, error) {
	var last uint64
	_, err := im.s.Dump(ctx, home, func(r store.Row) error {
		last = r.Numbers.Arrival
		return errEnough
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return last, coded(err)
}

// finish leaves in each partition only what lookups by id need.
func (im *importer) finish(ctx context.Context) error {
	for _, home := range slices.Sorted(maps.Keys(im.marks)) {
		m := im.marks[home]
		m.rec.Ranges, m.rec.Done = nil, true
		if err := im.mark(ctx, home); err != nil {
			return err
		}
	}
	return nil
}
