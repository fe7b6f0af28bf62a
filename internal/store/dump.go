package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/dengxu/dengxu"
)

// A dump is everything that a partition keeps but its log, as rows. Rows know
// nothing of the store that they come from, so that another one can load them.
// Their JSON names are part of the format of backups: none is ever used again
// for something else. Decision 0012 tells how it all fits together.

// RowKind says what a row is.
type RowKind string

// The kinds of rows.
const (
	RowNumbers  RowKind = "numbers"  // the partition's own, the first row of a dump
	RowToken    RowKind = "token"    // a live record
	RowArchived RowKind = "archived" // a record that left the live set
	RowTally    RowKind = "tally"    // a daily count
	RowSeries   RowKind = "series"   // the last number of a series
	RowMark     RowKind = "mark"     // when something last happened to a business id
	RowOp       RowKind = "op"       // a remembered operation
	RowDoc      RowKind = "doc"
)

// Row is one thing that a partition keeps. Of the pointers the one of its kind
// is set: Token for both kinds of records, Count for tallies and series.
type Row struct {
	Kind RowKind `json:"kind"`
	// Site is the site that it belongs to, as far as the store knows it: not
	// for tallies and marks, which name queues, nor for operations.
	Site    dengxu.SiteID `json:"site,omitzero"`
	Numbers *Numbers      `json:"numbers,omitzero"`
	Token   *Token        `json:"token,omitzero"`
	Count   *Count        `json:"count,omitzero"`
	Mark    *Mark         `json:"mark,omitzero"`
	Op      *Memory       `json:"op,omitzero"`
	Doc     *Doc          `json:"doc,omitzero"`
}

// Numbers are the last ones that a partition gave, and its time. Load raises
// them and never lowers one; Event is only told.
type Numbers struct {
	Now     int64  `json:"now"`
	Arrival uint64 `json:"arrival"`
	Call    uint64 `json:"call"`
	Event   uint64 `json:"event"`
	// After, when not nil, makes Load refuse with ErrExists unless the last
	// arrival number is this one: so numbers are reserved.
	After *uint64 `json:"-"`
}

// Count is a daily count. Load keeps the later day, and of one day the higher
// count.
type Count struct {
	Name string `json:"name"`
	Day  int    `json:"day"`
	N    int64  `json:"n"`
}

// Mark is when something last happened to a business id in a queue, and when
// that is forgotten. Load keeps the later one.
type Mark struct {
	MarkKey
	At    int64 `json:"at"`
	Until int64 `json:"until"`
}

// Memory is a remembered operation.
type Memory struct {
	Name    string           `json:"name"` // see OpName
	Hash    string           `json:"hash"` // 16 bytes in hexadecimal
	Expires int64            `json:"expires"`
	Note    string           `json:"note,omitzero"`
	Tokens  []dengxu.TokenID `json:"tokens,omitzero"` // written, then picked
	Picked  int              `json:"picked,omitzero"`
}

// OpName names an operation in 32 hexadecimal digits, whatever its scope and
// key are: some stores keep no more of them.
func OpName(scope, key string) string {
	h := sha256.New()
	h.Write([]byte(scope))
	h.Write([]byte{0})
	h.Write([]byte(key))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// MaxRows is the most rows of one Load.
const MaxRows = 500

// ErrExists is what Load answers when something else has the name, number or
// mark of a row. Nothing was loaded.
var ErrExists = errors.New("store has something else there")

// Key names what the row is about within its partition: no two rows of a dump
// have the same.
func (r *Row) Key() string {
	switch r.Kind {
	case RowToken, RowArchived:
		return "t" + string(r.Token.ID)
	case RowTally:
		return "y" + r.Count.Name
	case RowSeries:
		return "s" + string(r.Site) + "\x00" + r.Count.Name
	case RowMark:
		return "k" + string(r.Mark.Queue) + "\x00" + r.Mark.Name()
	case RowOp:
		return "o" + r.Op.Name
	case RowDoc:
		return "d" + string(r.Doc.Key.Kind) + "\x00" + r.Doc.Key.ID
	case RowNumbers:
	}
	return "n"
}

// Check refuses a row that is wrong in itself.
func (r *Row) Check() error {
	var wrong bool
	switch r.Kind {
	case RowNumbers:
		wrong = r.Numbers == nil
	case RowToken, RowArchived:
		return r.checkToken()
	case RowTally, RowSeries:
		wrong = r.Count == nil || r.Count.Name == "" || r.Count.N < 0
	case RowMark:
		wrong = r.Mark == nil || r.Mark.Queue == "" || r.Mark.Business == ""
	case RowOp:
		wrong = r.Op == nil || !sixteen(r.Op.Name) || !sixteen(r.Op.Hash) || r.Op.Picked < 0 || r.Op.Picked > len(r.Op.Tokens)
	case RowDoc:
		wrong = r.Doc == nil || r.Doc.Key.Kind == "" || r.Doc.Key.ID == "" || r.Doc.Version == 0 || r.Doc.Site != r.Site || Symbolic(r.Doc.Due) ||
			len(r.Doc.Body) > MaxBody
	default:
		return fmt.Errorf("row of the unknown kind %q", r.Kind)
	}
	if wrong {
		return fmt.Errorf("row of kind %s is wrong", r.Kind)
	}
	return nil
}

func (r *Row) checkToken() error {
	t := r.Token
	switch {
	case t == nil || t.ID == "":
		return fmt.Errorf("row of kind %s has no token", r.Kind)
	case t.Version == 0 || !t.State.Valid() || t.Arrival == 0 || t.Seq == 0 || t.Queue == "" || t.Site != r.Site,
		r.Kind == RowArchived && !t.State.Ended(), Symbolic(t.Place), Symbolic(t.JoinedAt), Symbolic(t.Due):
		return fmt.Errorf("row of token %s is wrong", t.ID.Mask())
	}
	return nil
}

func sixteen(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 16
}
