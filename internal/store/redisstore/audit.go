package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/rueidis"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// confirmAfter is how long after a finding everything is read again, and
// confirmations how often: a live store changes while it is read, so only what
// is wrong each time counts. A token that joins behind one reading and leaves the
// live ones within the next is missed by both.
const (
	confirmAfter  = time.Second
	confirmations = 3
)

// Audit compares the indexes with the records of each partition, and the log
// with both. It reads in pages, while commits go on; a finding is confirmed by
// reading everything again, three times, a second apart.
func (s *Store) Audit(ctx context.Context) ([]store.Finding, error) {
	return s.AuditWith(ctx, store.Auditor{})
}

// AuditURL checks a store, whether or not processes use it, and changes nothing
// in it but that it opens it. rules are the hooks of the audit, which also holds
// records, counts and log to what the engine promises.
func AuditURL(ctx context.Context, o Options, rules store.Auditor) (found []store.Finding, err error) {
	s, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer s.Close() //nolint:errcheck,contextcheck // it never fails, and says good-bye although ctx has ended
	rules.Engine = true
	return s.AuditWith(ctx, rules)
}

// AuditWith is Audit with rules: hooks, as of an Auditor that was fed nothing.
func (s *Store) AuditWith(ctx context.Context, rules store.Auditor) ([]store.Finding, error) {
	var all []store.Finding
	for i := range s.parts {
		p, err := s.ready(ctx, store.Partition(i))
		if err != nil {
			return nil, err
		}
		found, err := p.audit(ctx, rules)
		if err != nil {
			return nil, fmt.Errorf("audit of partition %d: %w", i, err)
		}
		all = append(all, found...)
	}
	return all, nil
}

// audit reads a partition, and again where something is wrong.
func (p *part) audit(ctx context.Context, rules store.Auditor) ([]store.Finding, error) {
	last := newComparison(p, rules)
	if err := last.read(ctx); err != nil {
		return nil, err
	}
	if last.clean() {
		return nil, nil
	}
	var found []store.Finding
	for range confirmations {
		select {
		case <-time.After(confirmAfter):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		again := newComparison(p, rules)
		again.suspect = last.diff
		if err := again.read(ctx); err != nil {
			return nil, err
		}
		if found = again.confirmed(last); len(found) == 0 {
			return nil, nil
		}
		last = again
	}
	return p.absent(ctx, found), nil
}

// absent leaves out the findings that a record is missing which is there: one that
// is completed and taken back again and again may be away from each page that is
// read just then. Looked for by itself it is found wherever it is.
func (p *part) absent(ctx context.Context, found []store.Finding) []store.Finding {
	var left []store.Finding
	for _, f := range found {
		if f.Missing {
			v, err := p.s.View(ctx, store.Ask{Partition: p.id, Tokens: []dengxu.TokenID{f.Token}})
			if err == nil && v.Tokens[0] != nil {
				continue
			}
		}
		left = append(left, f)
	}
	return left
}

// eachEvent calls each for the events of the log.
func (p *part) eachEvent(ctx context.Context, each func(ev *store.Event) error) error {
	const page = 1000
	begin := "-"
	for {
		var entries []rueidis.XRangeEntry
		_, err := p.call(ctx, soon(), func(ctx context.Context, c rueidis.Client) (_ []byte, err error) {
			cmd := c.B().Xrange().Key(p.key(keyLog)).Start(begin).End("+").Count(page).Build()
			entries, err = c.Do(ctx, cmd).AsXRange()
			return nil, err
		})
		if err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
		for i := range entries {
			begin = "(" + entries[i].ID
			entry := entries[i].FieldValues["e"]
			if entry == "" {
				continue // keeps the key existing
			}
			events, err := decodeEntry(p.id, []byte(entry))
			if err != nil {
				return err
			}
			for i := range events {
				if err := each(&events[i]); err != nil {
					return err
				}
			}
		}
		if len(entries) < page {
			return nil
		}
	}
}

// confirmed are the findings that both readings have.
func (c *comparison) confirmed(first *comparison) []store.Finding {
	found := c.named(first)
	before := first.rules.Findings()
	for _, f := range c.rules.Findings() {
		if slices.Contains(before, f) {
			found = append(found, f)
		}
	}
	slices.SortFunc(found, func(a, b store.Finding) int {
		return cmp.Compare(a.Kind+"\x00"+a.Text, b.Kind+"\x00"+b.Text)
	})
	return found
}
