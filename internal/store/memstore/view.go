package memstore

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// View answers point reads from one snapshot.
func (s *part) View(ctx context.Context, a store.Ask) (store.View, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(ctx); err != nil {
		return store.View{}, err
	}
	now := s.tick()
	v := store.View{Now: now}
	v.Tokens = each(a.Tokens, s.viewToken)
	v.Docs = each(a.Docs, s.viewDoc)
	v.Holders = each(a.Holders, func(k store.HolderKey) dengxu.TokenID { return s.index.holders[k] })
	v.Counters = each(a.Counters, func(c dengxu.CounterID) []store.Token {
		return s.sorted(s.index.counters[c], func(t *store.Token) uint64 { return t.CallNo })
	})
	v.Persons = each(a.Persons, func(p store.Person) []store.Token {
		return s.sorted(s.index.persons[p], func(t *store.Token) uint64 { return t.Arrival })
	})
	v.Lines = each(a.Lines, s.viewLine)
	v.Fronts = each(a.Fronts, func(f store.FrontAsk) store.FrontView { return ledger.Front(s.index.line(f.Line), f.Most) })
	v.Ranks = each(a.Ranks, func(r store.RankAsk) int { return ledger.Rank(now, tables{s}, &r) })
	v.Afters = each(a.Afters, func(r store.AfterAsk) order.Placed { return ledger.After(now, tables{s}, &r) })
	v.Tallies = each(a.Tallies, func(k store.TallyKey) int64 { return s.tallies[k.Name].On(k.Day) })
	v.Marks = each(a.Marks, func(k store.MarkKey) int64 { return s.marks.get(k, now) })
	v.Op = s.viewOp(a.Op, now)
	return v, nil
}

// each answers every question of a list.
func each[Q, A any](questions []Q, answer func(Q) A) []A {
	if len(questions) == 0 {
		return nil
	}
	answers := make([]A, len(questions))
	for i, q := range questions {
		answers[i] = answer(q)
	}
	return answers
}

func (s *part) viewToken(id dengxu.TokenID) *store.Token {
	if t := s.token(id); t != nil {
		return new(t.Clone())
	}
	return nil
}

func (s *part) viewDoc(k store.DocKey) *store.Doc {
	if d := s.docs[k]; d != nil {
		c := *d
		c.Body = slices.Clone(d.Body)
		return &c
	}
	return nil
}

// sorted are copies of live records, by a number and then by arrival.
func (s *part) sorted(list []listed, by func(*store.Token) uint64) []store.Token {
	found := make([]*store.Token, len(list))
	for i, l := range list {
		found[i] = s.tokens[l.id]
	}
	slices.SortFunc(found, func(a, b *store.Token) int {
		return cmp.Or(cmp.Compare(by(a), by(b)), cmp.Compare(a.Arrival, b.Arrival))
	})
	var copies []store.Token
	for _, t := range found {
		copies = append(copies, t.Clone())
	}
	return copies
}

func (s *part) viewLine(k store.LineKey) store.LineView {
	l := s.index.line(k)
	v := store.LineView{Counts: maps.Clone(l.counts)}
	for at, in := range l.lanes {
		v.Lanes = append(v.Lanes, store.LaneView{Lane: at, Len: len(in.items), Head: in.items[0].key})
	}
	slices.SortFunc(v.Lanes, func(a, b store.LaneView) int { return a.Lane.Compare(b.Lane) })
	return v
}

func (s *part) viewOp(op store.Op, now int64) *store.OpView {
	rec := s.ops.get(store.OpName(op.Scope, op.Key), now)
	switch {
	case op.Key == "" || rec == nil:
		return nil
	case rec.Hash != op.Hash:
		return &store.OpView{Reused: true}
	}
	return &store.OpView{Note: rec.Note, Tokens: s.known(rec.Tokens), Picked: rec.Picked}
}

// Docs returns every document that is not bulky, by kind and id.
func (s *part) Docs(ctx context.Context) ([]store.Doc, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	var all []store.Doc
	for k := range s.docs {
		if !k.Kind.Bulky() {
			all = append(all, *s.viewDoc(k))
		}
	}
	slices.SortFunc(all, func(a, b store.Doc) int {
		return cmp.Or(cmp.Compare(a.Key.Kind, b.Key.Kind), cmp.Compare(a.Key.ID, b.Key.ID))
	})
	return all, nil
}

// Due returns what is due, and when the next one is.
func (s *part) Due(ctx context.Context, limit int) (store.Due, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(ctx); err != nil {
		return store.Due{}, err
	}
	d := store.Due{Now: s.tick()}
	for _, entry := range s.index.due.items {
		if entry.At > d.Now || len(d.Entries) >= limit {
			d.Next = entry.At
			break
		}
		d.Entries = append(d.Entries, entry)
	}
	return d, nil
}
