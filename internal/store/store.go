// Package store is the contract between the engine and whatever keeps its
// state. The engine decides; a store is mechanism: it checks the expectations
// of a batch, fills in the values that only it knows (its clock, arrival
// numbers, series, the head of a line), writes all or nothing, and answers
// reads from one snapshot. It owns the shapes of what is stored and their
// encoding, and refuses any rule about people.
//
// # Guarantees every store gives
//
//   - Commit is atomic, isolated and, when it returns nil, as durable as About
//     says. Batches of one partition are serial.
//   - Reads are linearizable with commits: they show every commit that was
//     answered before they began, and nothing that a crash could still take
//     back.
//   - Time never runs backwards in a partition (Clock).
//   - Event numbers of a partition are gapless and in commit order.
//
// Times are milliseconds since the Unix epoch.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/dengxu/dengxu"
)

// Store keeps the state of all partitions. storetest.Run holds every
// implementation to this contract.
type Store interface {
	// Commit checks and writes one batch. A broken expectation returns
	// *Refused and changes nothing. ErrUnavailable means surely nothing was
	// done, ErrUnknown that the batch may or may not have been (repeat it with
	// the same Op). Once a batch was handed to the store, a cancelled ctx
	// returns ErrUnknown; before, ctx.Err().
	Commit(ctx context.Context, b Batch) (Result, error)
	// View answers point reads from one snapshot of a partition.
	View(ctx context.Context, a Ask) (View, error)
	// List answers one page of tokens in arrival order. It examines a bounded
	// number of tokens, so a page may be short and still have a Next.
	List(ctx context.Context, a ListAsk) (Page, error)
	// Docs returns every document of a partition that is not bulky by kind and
	// id, for the engine's cache: each as it stood at a moment of the call, which
	// in a shared store need not be one for all. Bulky ones are read by View.
	Docs(ctx context.Context, p Partition) ([]Doc, error)
	// Due returns at most limit entries that are due, oldest first, and when
	// the next one after them is.
	Due(ctx context.Context, p Partition, limit int) (Due, error)
	// Events returns at most limit events after a cursor.
	Events(ctx context.Context, after Cursor, limit int) (EventPage, error)
	// Watch returns a channel that gets a value soon after events were
	// committed in p. It is a hint: values may be merged or lost. stop ends it.
	Watch(p Partition) (hint <-chan struct{}, stop func())
	// About describes the store.
	About() About
	// Audit compares the indexes with the records under one snapshot; a shared
	// store, which has none, reports what is wrong in several readings.
	Audit(ctx context.Context) ([]Finding, error)
	// Dump calls yield with every row of a partition, the numbers first, as of
	// one moment: when the log ended at the cursor that it returns. What was
	// over by then is left out, as are events. An error of yield ends the dump
	// and is returned; whatever the error, the rows before it are void. Commits
	// go on meanwhile. Where stores make one dump of a partition at a time,
	// another is ErrUnavailable.
	Dump(ctx context.Context, p Partition, yield func(Row) error) (Cursor, error)
	// Load puts rows into a partition as they are, at most MaxRows, all or
	// none of them, without events. Numbers are raised and never lowered, and
	// arrival and call numbers must have been before records that have them.
	// What is there already and equal is left; ErrExists when it differs. So
	// it may be repeated, also after ErrUnknown.
	Load(ctx context.Context, p Partition, rows []Row) error
	// Close waits for what is being written and releases the store.
	Close() error
}

// What a store may fail with besides *Refused and the context's errors.
var (
	ErrUnavailable = errors.New("store unavailable: nothing was done")
	ErrUnknown     = errors.New("store outcome unknown")
	ErrClosed      = errors.New("store closed")
	ErrDamaged     = errors.New("store damaged")
)

// Partition is a part of the store with its own clock, arrival numbers and log.
type Partition uint8

// Durability is what an acknowledged commit survives.
type Durability string

// The classes, weakest first.
const (
	D0Memory   Durability = "D0" // nothing
	D1Interval Durability = "D1" // loses at most an interval at power loss
	D2Commit   Durability = "D2" // kill and power loss
	D3Replica  Durability = "D3" // also the loss of a machine
)

// About describes a store in data and in words.
type About struct {
	Kind       string // "memory", "pebble"
	Partitions int    // sites are spread over 0..Partitions-1
	Shared     bool   // other processes may be using it too: caches need looking after, loops need leases
	Durability Durability
	Text       string // one sentence for people
}

// Finding is one thing that an audit found wrong.
type Finding struct {
	Kind  string // which rule is broken, such as "lane_index"
	Text  string
	Token dengxu.TokenID // that it is about, "" = none or many; to tell findings apart, and nobody's to see
	// Missing says that the token's record was not met. Whoever reads in pages, while
	// records move between them, may look for it by itself.
	Missing bool
}

// Now stands for the partition's time at the commit in the time fields of a
// batch: Now + 30_000 is half a minute later. Resolve replaces it.
const Now int64 = 1 << 60

// Symbolic reports whether v stands for a time relative to the commit's. Half
// of Now is far from every real time and from every Δ.
func Symbolic(v int64) bool { return v >= Now/2 }

// Resolve returns the time that v stands for when the commit happens at now.
func Resolve(v, now int64) int64 {
	if Symbolic(v) {
		return v - Now + now
	}
	return v
}

// DocKind is a kind of document.
type DocKind string

// The kinds of documents. Settings and running state are documents of their
// own, so that a door that moves does not break an If-Match on settings.
const (
	DocSite         DocKind = "site"
	DocSiteState    DocKind = "site_state"
	DocQueue        DocKind = "queue"
	DocQueueState   DocKind = "queue_state"
	DocCounter      DocKind = "counter"
	DocCounterState DocKind = "counter_state"
	DocAPIKey       DocKind = "key"
	DocConsumer     DocKind = "consumer" // how far a consumer of the log has come
	DocName         DocKind = "name"     // which site has an id that is unique over all sites
	DocLease        DocKind = "lease"    // which process runs which partition's loops, and until when
	DocImport       DocKind = "import"   // which partitions' ids were brought into this one
	DocOutlook      DocKind = "~outlook" // what a queue's estimates go by: history and calibration
	DocModel        DocKind = "~model"   // what a queue's estimates have learned
	DocLesson       DocKind = "~lesson"  // resolved waits to learn from, in parts
	DocPromise      DocKind = "~promise" // what a queue's holders were told on a day, and what it came to
)

// Bulky reports whether documents of a kind are large and no settings, so that
// nobody has them all read: Docs leaves them out.
func (k DocKind) Bulky() bool { return strings.HasPrefix(string(k), "~") }

// MaxBody is the most bytes of a document's body. A line of an export has room
// for it, and a script of Redis reads it well within an attempt.
const MaxBody = 4 << 20

// DocKey names a document.
type DocKey struct {
	Kind DocKind `json:"kind,omitzero"`
	ID   string  `json:"id,omitzero"`
}

// Doc is a versioned document whose body the store does not read: small, unless
// it is bulky.
type Doc struct {
	Key     DocKey          `json:"key,omitzero"`
	Site    dengxu.SiteID   `json:"site,omitzero"`    // "" for what belongs to none, such as keys
	Version uint64          `json:"version,omitzero"` // rises by one at each write; 0 = does not exist
	Due     int64           `json:"due,omitzero"`     // when the timer loop should look at it; 0 = never
	Body    json.RawMessage `json:"body,omitempty"`   // at most MaxBody bytes
}
