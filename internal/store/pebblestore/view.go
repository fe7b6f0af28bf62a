package pebblestore

import (
	"cmp"
	"context"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// View answers point reads from one snapshot.
func (s *Store) View(ctx context.Context, a store.Ask) (v store.View, err error) {
	if err := s.enter(ctx, a.Partition); err != nil {
		return store.View{}, err
	}
	defer s.life.RUnlock()
	l := s.look()
	defer l.end(&err)
	tokens := each(a.Tokens, l.want)
	counters := each(a.Counters, func(c dengxu.CounterID) []*want { return l.wantAll(s.index.desk(c).all()) })
	persons := each(a.Persons, func(p store.Person) []*want { return l.wantAll(s.index.person(p)) })
	op, opTokens, err := l.op(a.Op)
	if err == nil {
		v, err = s.viewIndexes(&a, l.now)
	}
	l.leave()
	if err == nil {
		err = l.settle(ctx)
	}
	if err != nil {
		return store.View{}, err
	}
	v.Tokens = each(tokens, func(w *want) *store.Token { return w.token })
	v.Counters = each(counters, tokensOf)
	v.Persons = each(persons, func(wants []*want) []store.Token {
		tokens := tokensOf(wants)
		slices.SortFunc(tokens, func(a, b store.Token) int { return cmp.Compare(a.Arrival, b.Arrival) })
		return tokens
	})
	if op != nil {
		op.Tokens = tokensOf(opTokens)
	}
	v.Op = op
	return v, nil
}

// viewIndexes answers what needs no record.
func (s *Store) viewIndexes(a *store.Ask, now int64) (store.View, error) {
	v := store.View{Now: now}
	v.Docs = each(a.Docs, s.viewDoc)
	v.Holders = each(a.Holders, func(k store.HolderKey) dengxu.TokenID { return idOf(s.index.holder(k)) })
	v.Lines = each(a.Lines, func(k store.LineKey) store.LineView { return s.index.line(k).view() })
	v.Fronts = each(a.Fronts, func(f store.FrontAsk) store.FrontView { return ledger.Front(s.index.line(f.Line), f.Most) })
	v.Ranks = each(a.Ranks, func(r store.RankAsk) int { return ledger.Rank(now, tables{s, now}, &r) })
	v.Afters = each(a.Afters, func(r store.AfterAsk) order.Placed { return ledger.After(now, tables{s, now}, &r) })
	v.Tallies = each(a.Tallies, func(k store.TallyKey) int64 { return dailyOf(s.index.tallies[k.Name]).On(k.Day) })
	for _, k := range a.Marks {
		m, err := s.mark(k)
		if err != nil {
			return v, err
		}
		v.Marks = append(v.Marks, m.on(now))
	}
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

func tokensOf(wants []*want) []store.Token {
	var found []store.Token
	for _, w := range wants {
		if w.token != nil {
			found = append(found, *w.token)
		}
	}
	return found
}

// all are the tokens at a counter in the order of their calls.
func (d *desk) all() []*entry {
	all := make([]*entry, 0, d.tokens.Len())
	for _, e := range d.tokens.From(callKey{}) {
		all = append(all, e)
	}
	return all
}

func (s *Store) viewDoc(k store.DocKey) *store.Doc {
	d := s.index.docs[k]
	if d == nil {
		return nil
	}
	c := d.Doc
	c.Body = slices.Clone(d.Body)
	return &c
}

// op looks a remembered operation up, and asks for its tokens.
func (l *look) op(ask store.Op) (*store.OpView, []*want, error) {
	if ask.Key == "" {
		return nil, nil, nil
	}
	op, err := l.s.op(ask.Scope, ask.Key)
	switch {
	case err != nil:
		return nil, nil, err
	case op == nil || op.Expires <= l.now:
		return nil, nil, nil
	case op.Hash != ask.Hash:
		return &store.OpView{Reused: true}, nil, nil
	}
	return &store.OpView{Note: op.Note, Picked: op.Picked}, each(op.Tokens, l.want), nil
}

// Docs returns every document of a partition that is not bulky, by kind and id.
func (s *Store) Docs(ctx context.Context, p store.Partition) (all []store.Doc, err error) {
	if err := s.enter(ctx, p); err != nil {
		return nil, err
	}
	defer s.life.RUnlock()
	l := s.look()
	for k := range s.index.docs {
		if !k.Kind.Bulky() {
			all = append(all, *s.viewDoc(k))
		}
	}
	l.leave()
	if err := l.settle(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b store.Doc) int {
		return cmp.Or(cmp.Compare(a.Key.Kind, b.Key.Kind), cmp.Compare(a.Key.ID, b.Key.ID))
	})
	return all, nil
}

// Due returns what is due, and when the next one is.
func (s *Store) Due(ctx context.Context, p store.Partition, limit int) (store.Due, error) {
	if err := s.enter(ctx, p); err != nil {
		return store.Due{}, err
	}
	defer s.life.RUnlock()
	l := s.look()
	d := store.Due{Now: l.now}
	d.Entries, d.Next = s.index.dueBy(l.now, max(limit, 0))
	l.leave()
	if err := l.settle(ctx); err != nil {
		return store.Due{}, err
	}
	return d, nil
}
