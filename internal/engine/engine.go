// Package engine is the only place where a rule about waiting lines is
// applied. One use case a file; what it decides from what was read stands in
// pure functions; what it writes is one store.Batch. It owns settings and
// their defaults in force, the cache of them, doors, days and timers' effects,
// and refuses HTTP, loops and concrete stores.
package engine

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// Options are what an engine is made of.
type Options struct {
	Store  store.Store // required
	Logger *slog.Logger
	// TicketURL makes the address of a holder's page; nil leaves it empty.
	TicketURL func(dengxu.TokenID) string
	// Loopback reports whether the server listens on loopback only, where the
	// public join setting "loopback" holds.
	Loopback bool
	// NoEstimates says that nobody is told how long the wait will be, and that
	// nothing of it is learned: for whoever plays with an engine and asks other
	// questions, since an estimate costs as much as the join itself.
	NoEstimates bool
}

// Engine answers commands and questions over one store. It is safe for
// concurrent use and keeps nothing that the store does not have.
type Engine struct {
	store    store.Store
	log      *slog.Logger
	url      func(dengxu.TokenID) string
	loopback bool
	silent   bool // Options.NoEstimates
	parts    int
	shared   bool // other processes may be using the store too

	latest   atomic.Int64   // ms: see now
	clocks   []atomic.Int64 // by partition: see nowIn
	world    atomic.Pointer[world]
	loads    []loading     // by partition
	swap     sync.Mutex    // guards the replacement of world; taken inside a loading's lock
	behind   []atomic.Bool // by partition: its settings could not be read when they had changed
	misses   misses
	imported imported
	calls    calls
	desks    sync.Map // CounterID → *atomic.Pointer[store.Token]: the last one seen there, a guess
	outlooks outlooks
	lookups  []lookups // by partition
}

// Open loads all settings from the store. It returns Unavailable when the
// store cannot be read.
func Open(ctx context.Context, o Options) (*Engine, error) {
	about := o.Store.About()
	e := &Engine{
		store: o.Store, log: o.Logger, url: o.TicketURL, loopback: o.Loopback, silent: o.NoEstimates,
		parts: about.Partitions, shared: about.Shared, loads: make([]loading, about.Partitions),
		behind: make([]atomic.Bool, about.Partitions), clocks: make([]atomic.Int64, about.Partitions),
		lookups:  make([]lookups, about.Partitions),
		imported: imported{named: make([]atomic.Pointer[[]int], about.Partitions)},
	}
	e.world.Store(&world{})
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	if e.url == nil {
		e.url = func(dengxu.TokenID) string { return "" }
	}
	if err := e.refresh(ctx); err != nil {
		return nil, err
	}
	return e, nil
}

// Kind of caller, for what a holder may do and for the log.
type Kind uint8

// The kinds of caller.
const (
	Timer    Kind = iota // the engine's own timers
	Holder               // the token id is the credential
	Public               // a join without a key
	Operator             // anyone with a key that may act on tokens
	Admin                // a key that may do everything, or the server itself
)

// By is who asks, and under which idempotency key.
type By struct {
	Kind  Kind
	Name  string   // stands in events as actor, such as "key:front" or "holder"
	Pick  bool     // may call a given token
	Move  bool     // may place a token by hand
	Scope string   // idempotency scope: the caller
	Key   string   // Idempotency-Key; "" = none
	Hash  [16]byte // of the request, for Key
	// Check, when not nil, says whether a join is still allowed by the settings
	// that it is decided on, which may be newer than those that whoever asks
	// was judged by.
	Check func() error

	due bool // the timer's verb, which the settings that it is decided on must call for too
}

// check is Check, if there is one.
func (b By) check() error {
	if b.Check == nil {
		return nil
	}
	return b.Check()
}

// Done is the answer of a command.
type Done[T any] struct {
	Value    T
	Replayed bool // the key was used before: Value is that effect, as it is now
}

// keepOps is how long operations are remembered, in ms.
const keepOps = msDay

// op is the store's operation of a request; note tells outcomes apart.
func (b By) op(note string) store.Op {
	if b.Key == "" {
		return store.Op{}
	}
	return store.Op{Scope: b.Scope, Key: b.Key, Hash: b.Hash, Keep: keepOps, Note: note}
}
