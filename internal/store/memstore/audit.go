package memstore

import (
	"context"
	"maps"
	"slices"

	"github.com/dengxu/dengxu/internal/store"
)

// Audit builds all indexes anew from the records and compares, then has the
// records, counts and log compared.
func (s *part) Audit(ctx context.Context) ([]store.Finding, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	fresh := newIndex()
	for _, t := range s.tokens {
		fresh.add(t)
	}
	for _, d := range s.docs {
		fresh.addDoc(d)
	}
	return append(compare(s.index.entries(), fresh.entries()), s.auditRest()...), nil
}

// compare names the entries that only one of two indexes has.
func compare(have, want map[string][]string) []store.Finding {
	var found []store.Finding
	kinds := maps.Clone(want)
	maps.Copy(kinds, have)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		diff := make(map[string]int)
		for _, entry := range want[kind] {
			diff[entry]--
		}
		for _, entry := range have[kind] {
			diff[entry]++
		}
		for _, entry := range slices.Sorted(maps.Keys(diff)) {
			if n := diff[entry]; n > 0 {
				found = append(found, store.Finding{Kind: kind, Text: "no record for " + entry})
			} else if n < 0 {
				found = append(found, store.Finding{Kind: kind, Text: "missing " + entry})
			}
		}
	}
	return found
}

// auditRest compares records, counts and log, as every store does.
func (s *part) auditRest() []store.Finding {
	var a store.Auditor
	for _, t := range s.tokens {
		a.Token(t, false)
	}
	for _, t := range s.archive {
		a.Token(t, true)
	}
	for i := range s.events {
		a.Event(&s.events[i])
	}
	for k, d := range s.series {
		a.SeriesCount(k.Site, k.Name, d.Day, d.N)
	}
	for name, d := range s.tallies {
		a.TallyCount(name, d.N)
	}
	a.Numbers(s.meta.Arrival, s.meta.Event)
	return a.Findings()
}
