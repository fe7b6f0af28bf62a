package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/store"
)

// ImportOptions say how to import.
type ImportOptions struct {
	// DryRun checks the file and whether the store would take it, and writes
	// nothing.
	DryRun   bool
	Progress func(rows, all int) // may be nil; called as rows are loaded
}

// Imported is what an import did, or would do.
type Imported struct {
	Header Header
	Totals Totals // of the file
	Sites  []dengxu.SiteID
	// Resumed is set when an earlier import of the same file was interrupted
	// and this one went on.
	Resumed bool
	// Shifted is set when arrival numbers, and so refs, are others than in the
	// file: the store had given some already, or sites come together or apart.
	Shifted bool
	// KeptKeys are keys that were there already and were left as they are.
	KeptKeys []string
	// Dropped are rows that belong to no site: remembered requests that only
	// changed settings, and counts of deleted queues.
	Dropped int
}

// Import checks the whole file, and then brings it into a store in which none of
// its sites exists. It may be repeated after an interruption and then goes on.
// Codes: invalid for a file that is cut off, changed or no export; exists for a
// site, queue or counter that the store has; unavailable.
func Import(ctx context.Context, file io.ReadSeeker, s store.Store, o ImportOptions) (Imported, error) {
	plan, err := makePlan(file, s.About().Partitions)
	if err != nil {
		return Imported{}, err
	}
	im := &importer{s: s, o: o, plan: plan, parts: s.About().Partitions, marks: make(map[store.Partition]*marker)}
	im.did = Imported{Header: *plan.header, Totals: plan.totals, Sites: slices.Sorted(maps.Keys(plan.sites))}
	if err := im.check(ctx); err != nil {
		return im.did, err
	}
	if o.DryRun {
		return im.did, nil
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return im.did, err
	}
	if err := im.load(ctx, file); err != nil {
		return im.did, fmt.Errorf("not complete, repeat it: %w", err)
	}
	return im.did, nil
}

// plan is what a first reading of a file finds.
type plan struct {
	parts   int // of the store that it goes into
	header  *Header
	totals  Totals
	sites   map[dengxu.SiteID]bool
	docs    []store.Doc
	numbers map[int]store.Numbers            // by partition of the file
	named   map[store.Partition]map[int]bool // by home: partitions that ids name
	homes   map[store.Partition]bool         // that get anything
}

func makePlan(file io.Reader, parts int) (*plan, error) {
	p := &plan{
		parts: parts, sites: make(map[dengxu.SiteID]bool), numbers: make(map[int]store.Numbers),
		named: make(map[store.Partition]map[int]bool), homes: make(map[store.Partition]bool),
	}
	var err error
	p.header, p.totals, err = readAll(file, func(from int, r *store.Row) error {
		p.learn(from, r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for id := range p.sites {
		if !slices.ContainsFunc(p.docs, func(d store.Doc) bool { return d.Key == store.DocKey{Kind: store.DocSite, ID: string(id)} }) {
			return nil, dengxu.Fieldf(dengxu.Invalid, "file", "it has something of site %s but not the site", id)
		}
	}
	return p, nil
}

func (p *plan) learn(from int, r *store.Row) {
	if r.Site != "" {
		p.sites[r.Site] = true
	}
	home, ok := p.home(from, r)
	if ok && r.Kind != store.RowNumbers {
		p.homes[home] = true
	}
	switch r.Kind { //nolint:exhaustive // the others need no plan
	case store.RowNumbers:
		p.numbers[from] = *r.Numbers
	case store.RowDoc:
		d := *r.Doc
		if d.Key.Kind.Bulky() {
			d.Body = nil // nobody asks for it, and there may be many
		}
		p.docs = append(p.docs, d)
	case store.RowToken, store.RowArchived:
		if by, ours := engine.NamedIn(r.Token.ID); ours && by != home {
			if p.named[home] == nil {
				p.named[home] = make(map[int]bool)
			}
			p.named[home][int(by)] = true
		}
	}
}

// home is where a row goes; false when it belongs to no site and there is no
// telling.
func (p *plan) home(from int, r *store.Row) (store.Partition, bool) {
	switch {
	case r.Site != "":
		return engine.Home(r.Site, p.parts), true
	case r.Kind == store.RowDoc || p.parts == 1:
		return 0, true
	}
	return store.Partition(from), p.header != nil && p.header.Partitions == p.parts
}

// importer is an import on its way.
type importer struct {
	s     store.Store
	o     ImportOptions
	plan  *plan
	parts int
	did   Imported
	marks map[store.Partition]*marker
	keep  map[store.DocKey]bool // documents that are left as they are

	rows   map[store.Partition][]store.Row // that wait to be loaded
	bytes  map[store.Partition]int         // of their documents
	loaded int
}

// atOnce is how many rows are loaded together, and bytesAtOnce how many bytes of
// documents: what a script of Redis puts in within some milliseconds.
const (
	atOnce      = 200
	bytesAtOnce = 1 << 20
)

func (im *importer) load(ctx context.Context, file io.Reader) error {
	if err := im.takeNames(ctx); err != nil {
		return err
	}
	im.rows, im.bytes = make(map[store.Partition][]store.Row), make(map[store.Partition]int)
	_, _, err := readAll(file, func(from int, r *store.Row) error { return im.row(ctx, from, r) })
	if err == nil {
		err = im.flush(ctx)
	}
	if err == nil {
		err = im.finish(ctx)
	}
	return err
}

// row takes in one row of the file.
func (im *importer) row(ctx context.Context, from int, r *store.Row) error {
	im.loaded++
	if r.Kind == store.RowNumbers {
		return nil // set aside for each home that gets something
	}
	home, ok := im.plan.home(from, r)
	if !ok {
		im.did.Dropped++
		return nil
	}
	if r.Kind == store.RowDoc && im.keep[r.Doc.Key] {
		return nil
	}
	shift, err := im.setAside(ctx, from, home)
	if err != nil {
		return err
	}
	if shift > 0 && r.Token != nil {
		shiftToken(r.Token, shift)
		im.did.Shifted = true
	}
	im.rows[home] = append(im.rows[home], *r)
	if r.Doc != nil {
		im.bytes[home] += len(r.Doc.Body)
	}
	if len(im.rows[home]) >= atOnce || im.bytes[home] >= bytesAtOnce {
		return im.put(ctx, home)
	}
	return nil
}

// shiftToken raises every arrival number in a record.
func shiftToken(t *store.Token, by uint64) {
	t.Arrival += by
	t.Seq += by
	if t.Undo != nil && t.Undo.Before.Seq != 0 {
		t.Undo.Before.Seq += by
	}
	for i := range t.Compared {
		t.Compared[i].Key.Seq += by
	}
}

func (im *importer) flush(ctx context.Context) error {
	for _, home := range slices.Sorted(maps.Keys(im.rows)) {
		if err := im.put(ctx, home); err != nil {
			return err
		}
	}
	return nil
}

// put loads what waits for a partition. What a store does not say is tried
// again: loading twice is loading once.
func (im *importer) put(ctx context.Context, home store.Partition) error {
	rows := im.rows[home]
	im.rows[home], im.bytes[home] = rows[:0], 0
	if len(rows) == 0 {
		return nil
	}
	err := im.s.Load(ctx, home, rows)
	for range 3 {
		if !errors.Is(err, store.ErrUnknown) && !errors.Is(err, store.ErrUnavailable) || ctx.Err() != nil {
			break
		}
		err = im.s.Load(ctx, home, rows)
	}
	if im.o.Progress != nil {
		im.o.Progress(im.loaded, im.plan.totals.Rows)
	}
	return coded(err)
}

// coded gives an error of a store a code.
func coded(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrExists):
		return dengxu.Errorf(dengxu.Exists, "%w", err)
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, store.ErrUnknown):
		return dengxu.Errorf(dengxu.Unavailable, "%w", err)
	}
	return err
}
