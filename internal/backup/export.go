package backup

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// ExportOptions say what to export.
type ExportOptions struct {
	Site     dengxu.SiteID // "" = all, and the keys
	Now      time.Time
	Progress func(partition, partitions int, t Totals) // may be nil; called for each row
}

// Export writes a file. Each partition is of one moment, commits go on. Codes:
// not_found for a site that is not there, unavailable when a store could not
// finish: then the file has no last line and no import takes it.
func Export(ctx context.Context, w io.Writer, s store.Store, o ExportOptions) (Totals, error) {
	x := &exporter{s: s, o: o, w: &lineWriter{w: w, sum: sha256.New()}}
	about := s.About()
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	header := &Header{
		Format: format, ID: hex.EncodeToString(id[:]), Made: o.Now.UTC().Truncate(time.Second),
		Store: about.Kind, Partitions: about.Partitions, Only: o.Site,
	}
	if err := x.w.put(&line{Row: store.Row{Kind: kindHeader}, Header: header}); err != nil {
		return x.totals, err
	}
	for p := range about.Partitions {
		x.partition = p
		if err := x.export(ctx, store.Partition(p)); err != nil {
			return x.totals, fmt.Errorf("partition %d: %w", p, coded(err))
		}
	}
	if o.Site != "" && x.totals.Sites == 0 {
		return x.totals, dengxu.Fieldf(dengxu.NotFound, "site", "there is no site %s", o.Site)
	}
	last := &line{Row: store.Row{Kind: kindEnd}, End: &end{Rows: x.totals.Rows, Checksum: hex.EncodeToString(x.w.sum.Sum(nil))}}
	err := x.w.put(last)
	x.totals.Bytes = x.w.n
	return x.totals, err
}

// exporter is an export on its way.
type exporter struct {
	s         store.Store
	o         ExportOptions
	w         *lineWriter
	totals    Totals
	partition int

	// Of the partition that is being exported.
	queues  map[dengxu.QueueID]dengxu.SiteID
	tokens  map[dengxu.TokenID]dengxu.SiteID
	waiting []store.Row // whose site is not known yet
	docs    []store.Row
	numbers *store.Row
}

func (x *exporter) export(ctx context.Context, p store.Partition) error {
	x.queues = make(map[dengxu.QueueID]dengxu.SiteID)
	x.tokens = make(map[dengxu.TokenID]dengxu.SiteID)
	x.waiting, x.docs, x.numbers = nil, nil, nil
	known, err := x.s.Docs(ctx, p)
	if err != nil {
		return err
	}
	for i := range known {
		x.learn(&known[i])
	}
	if _, err := x.s.Dump(ctx, p, x.row); err != nil {
		return err
	}
	for i := range x.waiting {
		x.siteOf(&x.waiting[i])
		if err := x.write(&x.waiting[i]); err != nil {
			return err
		}
	}
	slices.SortStableFunc(x.docs, func(a, b store.Row) int {
		return cmp.Or(cmp.Compare(docRank(a.Doc), docRank(b.Doc)), cmp.Compare(a.Key(), b.Key()))
	})
	for i := range x.docs {
		if err := x.write(&x.docs[i]); err != nil {
			return err
		}
	}
	return nil
}

// docRank puts sites last: until its site is there, nothing is served.
func docRank(d *store.Doc) int {
	if d.Key.Kind == store.DocSite {
		return 1
	}
	return 0
}

func (x *exporter) learn(d *store.Doc) {
	if d.Key.Kind == store.DocQueue {
		x.queues[dengxu.QueueID(d.Key.ID)] = d.Site
	}
}

// row takes in a row of a dump.
func (x *exporter) row(r store.Row) error {
	switch r.Kind {
	case store.RowNumbers:
		x.numbers = &r // written before the first row that there is
		return nil
	case store.RowDoc:
		if r.Doc.Key.Kind.Bulky() {
			return x.bulky(&r)
		}
		x.learn(r.Doc)
		if goesAlong(r.Doc.Key.Kind) {
			x.docs = append(x.docs, r)
		}
		return nil
	case store.RowToken, store.RowArchived:
		x.tokens[r.Token.ID] = r.Site
	case store.RowTally, store.RowMark, store.RowOp:
		if !x.siteOf(&r) {
			x.waiting = append(x.waiting, r)
			return nil
		}
	case store.RowSeries:
	}
	return x.write(&r)
}

// bulky writes a bulky document at once, for all of them may be more than memory
// has room for. One of a queue that is no more, or in another site, is left out.
func (x *exporter) bulky(r *store.Row) error {
	queue, _, _ := strings.Cut(r.Doc.Key.ID, "/")
	if !goesAlong(r.Doc.Key.Kind) || r.Site == "" || x.queues[dengxu.QueueID(queue)] != r.Site {
		return nil
	}
	return x.write(r)
}

// goesAlong reports whether documents of a kind mean something elsewhere.
func goesAlong(k store.DocKind) bool {
	switch k {
	case store.DocSite, store.DocSiteState, store.DocQueue, store.DocQueueState, store.DocCounter, store.DocCounterState, store.DocAPIKey,
		store.DocOutlook, store.DocModel, store.DocLesson, store.DocPromise:
		return true
	case store.DocConsumer, store.DocName, store.DocLease, store.DocImport:
	}
	return false
}

// siteOf finds the site of a row that does not say it, and reports whether it
// is known.
func (x *exporter) siteOf(r *store.Row) bool {
	switch r.Kind { //nolint:exhaustive // the others say it
	case store.RowTally:
		if queue, ok := store.TallyQueue(r.Count.Name); ok {
			r.Site = x.queues[queue]
		}
	case store.RowMark:
		r.Site = x.queues[r.Mark.Queue]
	case store.RowOp:
		for _, id := range r.Op.Tokens {
			r.Site = cmp.Or(r.Site, x.tokens[id])
		}
	}
	return r.Site != ""
}

// write writes a row that is wanted. A partition without such rows is left out.
func (x *exporter) write(r *store.Row) error {
	if x.o.Site != "" && r.Site != x.o.Site {
		return nil
	}
	if x.numbers != nil {
		n := x.numbers
		x.numbers = nil
		if err := x.put(&line{Row: *n, Partition: &x.partition}); err != nil {
			return err
		}
	}
	return x.put(&line{Row: *r})
}

func (x *exporter) put(l *line) error {
	if err := x.w.put(l); err != nil {
		return err
	}
	x.totals.count(&l.Row)
	x.totals.Bytes = x.w.n
	if x.o.Progress != nil {
		x.o.Progress(x.partition, x.s.About().Partitions, x.totals)
	}
	return nil
}

// lineWriter writes lines and sums them up.
type lineWriter struct {
	w   io.Writer
	sum hash.Hash
	n   int64
	buf bytes.Buffer
}

func (w *lineWriter) put(l *line) error {
	w.buf.Reset()
	e := json.NewEncoder(&w.buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(l); err != nil {
		return fmt.Errorf("write a row of kind %s: %w", l.Kind, err)
	}
	if err := faithful(l, w.buf.Bytes()); err != nil {
		return err
	}
	w.sum.Write(w.buf.Bytes())
	n, err := w.w.Write(w.buf.Bytes())
	w.n += int64(n)
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

var errNotText = errors.New("a text is not UTF-8 and would be lost in JSON")

// faithful refuses what JSON has changed: it puts U+FFFD, as an escape, where a
// text was no UTF-8.
func faithful(l *line, text []byte) error {
	if !bytes.Contains(text, []byte(`\ufffd`)) {
		return nil
	}
	back, err := parse(text)
	if err == nil && !reflect.DeepEqual(back, l) {
		err = errNotText
	}
	if err != nil {
		return fmt.Errorf("row of kind %s: %w", l.Kind, err)
	}
	return nil
}
