// Package memstore keeps everything in memory. It is the reference model
// that other stores are compared with, the store of tests, and of
// `--store memory:`. It owns nothing that outlives the process and refuses
// cleverness: sorted slices, scans and one lock a partition.
package memstore

import (
	"context"
	"fmt"
	"time"

	"github.com/dengxu/dengxu/internal/store"
)

// keptEvents is how many events a log reaches back: more than a busy day of
// one site, and some tens of megabytes.
const keptEvents = 100_000

// Options are the clocks that the store reads, nil means the machine's, and
// how it is divided.
type Options struct {
	Wall func() time.Time
	Mono func() time.Duration // since any fixed moment
	// Partitions is how many there are; 0 = 1.
	Partitions int
	// Shared is what About says: several engines use the store as if each were
	// a process of its own.
	Shared bool
}

// Store is a store in memory: partitions side by side that share nothing but
// the clocks. It is safe for concurrent use.
type Store struct {
	parts  []*part
	shared bool
}

// New returns an empty store.
func New(o Options) *Store {
	if o.Wall == nil {
		o.Wall = time.Now //nolint:forbidigo // the default of the store's own clock
	}
	if o.Mono == nil {
		start := time.Now()                                        //nolint:forbidigo // as above
		o.Mono = func() time.Duration { return time.Since(start) } //nolint:forbidigo // as above
	}
	s := &Store{shared: o.Shared}
	for p := range max(1, o.Partitions) {
		s.parts = append(s.parts, newPart(o, store.Partition(p)))
	}
	return s
}

// part finds a partition.
func (s *Store) part(p store.Partition) (*part, error) {
	if int(p) >= len(s.parts) {
		return nil, fmt.Errorf("memstore: there is no partition %d", p)
	}
	return s.parts[p], nil
}

// Commit checks and writes one batch.
func (s *Store) Commit(ctx context.Context, b store.Batch) (store.Result, error) {
	p, err := s.part(b.Partition)
	if err != nil {
		return store.Result{}, err
	}
	return p.Commit(ctx, b)
}

// View answers point reads from one snapshot.
func (s *Store) View(ctx context.Context, a store.Ask) (store.View, error) {
	p, err := s.part(a.Partition)
	if err != nil {
		return store.View{}, err
	}
	return p.View(ctx, a)
}

// List answers one page of live tokens.
func (s *Store) List(ctx context.Context, a store.ListAsk) (store.Page, error) {
	p, err := s.part(a.Partition)
	if err != nil {
		return store.Page{}, err
	}
	return p.List(ctx, a)
}

// Docs returns every document of a partition, by kind and id.
func (s *Store) Docs(ctx context.Context, p store.Partition) ([]store.Doc, error) {
	in, err := s.part(p)
	if err != nil {
		return nil, err
	}
	return in.Docs(ctx)
}

// Due returns what is due, and when the next one is.
func (s *Store) Due(ctx context.Context, p store.Partition, limit int) (store.Due, error) {
	in, err := s.part(p)
	if err != nil {
		return store.Due{}, err
	}
	return in.Due(ctx, limit)
}

// Events returns the events after a cursor.
func (s *Store) Events(ctx context.Context, after store.Cursor, limit int) (store.EventPage, error) {
	p, err := s.part(after.Partition)
	if err != nil {
		return store.EventPage{}, err
	}
	return p.Events(ctx, after, limit)
}

// Watch returns a channel that gets a value after events of p; of a partition
// that does not exist it never does.
func (s *Store) Watch(p store.Partition) (<-chan struct{}, func()) {
	in, err := s.part(p)
	if err != nil {
		return nil, func() {}
	}
	return in.Watch()
}

// About describes the store.
func (s *Store) About() store.About {
	return store.About{
		Kind: "memory", Partitions: len(s.parts), Shared: s.shared, Durability: store.D0Memory,
		Text: "Everything is in memory and gone when the process ends.",
	}
}

// Audit holds each partition against its own records.
func (s *Store) Audit(ctx context.Context) ([]store.Finding, error) {
	var all []store.Finding
	for _, p := range s.parts {
		found, err := p.Audit(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// Close makes every later call fail with store.ErrClosed.
func (s *Store) Close() error {
	for _, p := range s.parts {
		p.close()
	}
	return nil
}
