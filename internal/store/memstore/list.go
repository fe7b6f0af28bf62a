package memstore

import (
	"context"
	"fmt"

	"github.com/dengxu/dengxu/internal/store"
)

// List answers one page of live tokens.
func (s *part) List(ctx context.Context, a store.ListAsk) (store.Page, error) {
	if a.Limit < 1 {
		return store.Page{}, fmt.Errorf("memstore: list of %d tokens", a.Limit)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(ctx); err != nil {
		return store.Page{}, err
	}
	page := store.Page{Now: s.tick()}
	run := s.run(&a)
	for i := range len(run) {
		if i == store.MaxExamined || len(page.Tokens) == a.Limit {
			page.Next = pageOrder(&a, run, i-1).number
			break
		}
		if t := s.tokens[pageOrder(&a, run, i).id]; a.Match(t) {
			page.Tokens = append(page.Tokens, t.Clone())
		}
	}
	return page, nil
}

// run is the part of all live tokens that the page begins in.
func (s *part) run(a *store.ListAsk) []arrival {
	all := s.index.arrivals.items
	if !a.Newest {
		i, _ := s.index.arrivals.find(arrival{number: a.After + 1})
		return all[i:]
	}
	if a.Before == 0 {
		return all
	}
	i, _ := s.index.arrivals.find(arrival{number: a.Before})
	return all[:i]
}

// pageOrder is the i-th of a run in the order of the page.
func pageOrder(a *store.ListAsk, run []arrival, i int) arrival {
	if a.Newest {
		return run[len(run)-1-i]
	}
	return run[i]
}
