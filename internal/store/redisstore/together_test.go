package redisstore

import (
	"context"
	"errors"

	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// Together commits batches of partition 0 as one group, in their order.
func (s *Store) Together(ctx context.Context, batches []store.Batch) ([]store.Result, []error) {
	p := s.parts[0]
	results, errs := make([]store.Result, len(batches)), make([]error, len(batches))
	var group []*commitCall
	var places []int
	for i, b := range batches {
		if errs[i] = errors.Join(ledger.Check(b.Partition, &b), checkOp(b.Op)); errs[i] == nil {
			group = append(group, &commitCall{batch: b, until: soon(), done: make(chan struct{})})
			places = append(places, i)
		}
	}
	if len(group) > 0 {
		at := <-p.slots
		p.send(at, group)
		p.slots <- at
	}
	for i, c := range group {
		if c.err == nil && c.res.Replayed {
			c.res.Tokens, c.err = p.known(ctx, c.replay)
		}
		results[places[i]], errs[places[i]] = c.res, c.err
	}
	return results, errs
}
