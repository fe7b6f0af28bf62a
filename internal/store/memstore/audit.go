package memstore

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/dengxu/dengxu/internal/store"
)

// Audit builds all indexes anew from the records and compares, then checks
// that the log has no gap and knows no version that a record has not reached.
func (s *Store) Audit(ctx context.Context) ([]store.Finding, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(ctx, 0); err != nil {
		return nil, err
	}
	fresh := newIndex()
	for _, t := range s.tokens {
		fresh.add(t)
	}
	for _, d := range s.docs {
		fresh.addDoc(d)
	}
	return append(compare(s.index.entries(), fresh.entries()), s.auditLog()...), nil
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

func (s *Store) auditLog() []store.Finding {
	var found []store.Finding
	put := func(kind, format string, args ...any) {
		found = append(found, store.Finding{Kind: kind, Text: fmt.Sprintf(format, args...)})
	}
	next := s.meta.Event - uint64(len(s.events))
	for _, ev := range s.events {
		if next++; ev.Number != next {
			put("events", "event %d stands where %d should", ev.Number, next)
		}
		if ev.Token == "" {
			continue
		}
		if t := s.token(ev.Token); t == nil || t.Version < ev.Version {
			put("versions", "event %d tells version %d of %s, which its record has not reached", ev.Number, ev.Version, ev.Token.Mask())
		}
	}
	return found
}
