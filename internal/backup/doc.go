// Package backup writes what a store keeps of one site or of all into a file of
// JSON lines, and brings such a file into another store, of whatever kind. It
// owns the format, what becomes of numbers and ids on the way, and when an import
// is refused. It refuses to export events, leases and positions in the log, which
// mean nothing elsewhere, and to write over anything.
package backup

import (
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// format is the version of the format.
const format = 1

// The kinds of lines beside those of rows.
const (
	kindHeader store.RowKind = "header"
	kindEnd    store.RowKind = "end"
)

// line is one line of a file: a row, or the first or last of all. Its rows come
// partition by partition, numbers first and settings last, of which the last are
// those of sites.
type line struct {
	store.Row
	Partition *int    `json:"partition,omitempty"` // with numbers: whose, and of all rows up to the next
	Header    *Header `json:"header,omitzero"`
	End       *end    `json:"end,omitzero"`
}

// Header is the first line of a file.
type Header struct {
	Format     int           `json:"format"`
	ID         string        `json:"id"` // of this file and no other
	Made       time.Time     `json:"made"`
	Store      string        `json:"store"` // kind
	Partitions int           `json:"partitions"`
	Only       dengxu.SiteID `json:"only,omitzero"` // the site that it is of; "" = all
}

// end is the last line of a file.
type end struct {
	Rows     int    `json:"rows"`
	Checksum string `json:"checksum"` // SHA-256 of all lines before, in hexadecimal
}

// Totals are what a file has.
type Totals struct {
	Sites, Queues, Counters, Keys int
	Live, Archived                int
	Others                        int // counts, marks, operations
	Rows                          int
	Bytes                         int64
}

func (t *Totals) count(r *store.Row) {
	t.Rows++
	switch r.Kind {
	case store.RowToken:
		t.Live++
	case store.RowArchived:
		t.Archived++
	case store.RowTally, store.RowSeries, store.RowMark, store.RowOp:
		t.Others++
	case store.RowDoc:
		switch r.Doc.Key.Kind { //nolint:exhaustive // states and what is bulky are not counted
		case store.DocSite:
			t.Sites++
		case store.DocQueue:
			t.Queues++
		case store.DocCounter:
			t.Counters++
		case store.DocAPIKey:
			t.Keys++
		}
	case store.RowNumbers:
	}
}
