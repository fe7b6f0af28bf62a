package redisstore

import (
	"context"
	"errors"

	"github.com/redis/rueidis"

	"github.com/dengxu/dengxu/internal/store"
)

// Recheck is what happens every minute.
func (s *Store) Recheck(ctx context.Context) error { return s.assess(ctx) }

// Sweep sweeps a partition, as happens every minute.
func (s *Store) Sweep(ctx context.Context, p store.Partition) error { return s.parts[p].sweep(ctx) }

// Client tells clients apart.
func (s *Store) Client() any { return s.link.Load() }

// Break makes one call that ends in a panic of the client.
func (s *Store) Break(ctx context.Context) error {
	_, err := s.parts[0].call(ctx, soon(), func(context.Context, rueidis.Client) ([]byte, error) {
		panic(errors.New("protocol bug"))
	})
	return err
}

// Crowd takes all places of calls under way, until release.
func (s *Store) Crowd() (release func()) {
	for range cap(s.gate) {
		s.gate <- struct{}{}
	}
	return func() {
		for range cap(s.gate) {
			<-s.gate
		}
	}
}

// Process is how the store is enrolled.
func (s *Store) Process() string { return s.process }

// LastEvent is the highest event of partition 0 that the process knows of.
func (s *Store) LastEvent() uint64 { return uint64(s.parts[0].marks.lastEvent()) }
