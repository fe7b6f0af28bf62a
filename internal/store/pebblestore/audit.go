package pebblestore

import (
	"context"
	"github.com/dengxu/dengxu/internal/store"
)

// Audit x.
func (s *Store) Audit(ctx context.Context) ([]store.Finding, error) { return nil, nil }
