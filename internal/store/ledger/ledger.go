// Package ledger judges a batch against tables and works out its effects. It
// is the one place where the Go stores read a Batch: they bring the tables and
// carry out the effects. It owns the meaning of expectations, symbols, series
// and picks, and refuses storage, locking and clocks.
package ledger

import (
	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// Tables is the state of one partition that a batch is judged against. A
// method with an error may touch disk; its error ends the batch unjudged.
type Tables interface {
	Token(dengxu.TokenID) (*store.Token, error) // nil = unknown; the caller does not change it
	Doc(store.DocKey) *store.Doc                // nil = absent
	Holder(store.HolderKey) dengxu.TokenID      // "" = free
	Mark(dengxu.QueueID, string) (int64, error) // 0 = none
	Tally(name string) Daily
	Series(site dengxu.SiteID, name string) Daily // N = the last number given
	Count(store.LineKey, dengxu.State) int
	Busy(dengxu.CounterID) int
	Index(store.LineKey) order.Index // never nil
	TokenAt(store.LineKey, order.Member) dengxu.TokenID
	Op(scope, key string) (*OpRecord, error) // nil = never seen or expired
}

// Daily is a count that belongs to a business day.
type Daily struct {
	Day int
	N   int64
}

// OpRecord is a remembered operation.
type OpRecord struct {
	Hash    [16]byte
	Expires int64
	Note    string
	Tokens  []dengxu.TokenID
}

// Meta is the partition's own numbers.
type Meta struct {
	Epoch   uint64
	Arrival uint64 // last given
	CallNo  uint64
	Event   uint64
}

// SeriesKey names a series of a site.
type SeriesKey struct {
	Site dengxu.SiteID
	Name string
}

// TokenChange is a record before and after.
type TokenChange struct {
	Before   *store.Token // nil = new
	After    store.Token
	Archived bool
}

// Effects is what a batch does. A store carries all of it out, or none.
type Effects struct {
	Meta    Meta
	Tokens  []TokenChange
	Picked  int
	Docs    []store.Doc // as they are after; deleted ones with Version 0
	Tallies map[string]Daily
	Series  map[SeriesKey]Daily
	Marks   []store.MarkWrite
	OpKey   store.Op  // what to remember, "" = nothing
	Op      *OpRecord // nil = nothing to remember
	Events  []store.Event
	Empty   bool // nothing to write
	// Replay is set when Op was seen before: answer these, write nothing.
	Replay *OpRecord
}
