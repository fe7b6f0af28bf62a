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
	// Token returns a live record; an archived one is unknown to a batch, for
	// nothing changes it any more. nil = unknown. The caller does not change it.
	Token(dengxu.TokenID) (*store.Token, error)
	Doc(store.DocKey) *store.Doc           // nil = absent
	Holder(store.HolderKey) dengxu.TokenID // "" = free
	Mark(store.MarkKey) (int64, error)     // 0 = none
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

// On is the count as seen on a day: a count of another day reads as 0.
func (d Daily) On(day int) int64 {
	if d.Day != day {
		return 0
	}
	return d.N
}

// Add returns the count after n more on a day. A later day begins at 0; what
// belongs to an earlier day is dropped, since that day is over.
func (d Daily) Add(day int, n int64) Daily {
	if day < d.Day {
		return d
	}
	return Daily{Day: day, N: d.On(day) + n}
}

// Counts are what daily counts are after a batch, each once: a list, for nearly
// every batch has at most one.
type Counts[K comparable] []Count[K]

// Count is one of them.
type Count[K comparable] struct {
	Key K
	Daily
}

func (c Counts[K]) get(key K) (Daily, bool) {
	for i := range c {
		if c[i].Key == key {
			return c[i].Daily, true
		}
	}
	return Daily{}, false
}

func (c *Counts[K]) set(key K, to Daily) {
	for i := range *c {
		if (*c)[i].Key == key {
			(*c)[i].Daily = to
			return
		}
	}
	*c = append(*c, Count[K]{key, to})
}

// OpRecord is a remembered operation.
type OpRecord struct {
	Hash    [16]byte
	Expires int64
	Note    string
	Tokens  []dengxu.TokenID // written, then picked
	Picked  int              // how many of Tokens, at the end, were picked
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

// Change is what one record was before, and whether it leaves the live set.
type Change struct {
	Before   *store.Token // nil = new
	Archived bool
}

// Effects is what a batch does. A store carries all of it out, or none.
type Effects struct {
	Meta    Meta
	Tokens  []store.Token // as they are after: written, then picked
	Changes []Change      // for each of Tokens
	Picked  int
	Ranks   []int       // answers to the batch's Ranks
	Docs    []store.Doc // as they are after; deleted ones with Version 0 and no body
	Tallies Counts[string]
	Series  Counts[SeriesKey]
	Marks   []store.MarkWrite // with their times resolved
	OpKey   store.Op          // under which scope and key Op is remembered
	Op      *OpRecord         // nil = nothing to remember
	Events  []store.Event
	Empty   bool // nothing to write
	// Replay is set when Op was seen before: answer these, write nothing (Empty
	// is set too).
	Replay *OpRecord
}

// Result is what Commit answers for effects that a store has carried out in
// partition p, of which it shares the records and documents. Tokens of a replay
// are left to the store, which reads them as they are now.
func (e *Effects) Result(p store.Partition, now int64) store.Result {
	r := store.Result{
		Now: now, Tokens: e.Tokens, Docs: e.Docs, Picked: e.Picked, Ranks: e.Ranks,
		Last: store.Cursor{Partition: p, Epoch: e.Meta.Epoch, Number: e.Meta.Event},
	}
	if e.Replay != nil {
		r.Replayed, r.Note, r.Picked = true, e.Replay.Note, e.Replay.Picked
	}
	return r
}
