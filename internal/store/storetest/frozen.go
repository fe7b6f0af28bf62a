package storetest

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// A rank promises how many are called before a token if time stood still. A
// frozen line calls them.

// frozenAsk says which ranks are held against calls: those of all who wait in
// a line, and those at the places behind the N-th.
type frozenAsk struct {
	Line     store.LineKey
	Ordering store.Ordering
	Classes  []string // that compete; nil = all
	N        int
}

// frozenStep has the store tell ranks and places behind another, and calls the
// model's line one by one to see what they should be.
func frozenStep(a frozenAsk) step {
	return step{what: "call one by one", given: a, duel: func(d *duel, t *testing.T, s *side) answer {
		t.Helper()
		waiting, err := drain(&kit{t: t, s: d.model.s}, store.ListAsk{
			Queue: a.Line.Queue, Gen: &a.Line.Gen, States: []dengxu.State{dengxu.StateWaiting}, Limit: 1000,
		})
		if err != nil {
			return answered(nil, err)
		}
		v, err := s.s.View(t.Context(), a.questions(waiting))
		if err != nil || s != d.model {
			return answered(frozenAnswer{v.Now, v.Ranks, v.Afters}, err)
		}
		f := newFrozen(v.Now, &a, waiting, v.Tallies)
		promised := frozenAnswer{Now: v.Now, Afters: v.Afters}
		for i := range waiting {
			promised.Ranks = append(promised.Ranks, f.ranks(waiting[i].Lane.Class)[waiting[i].Seq])
			promised.Afters[i].Rank = f.rankAt(waiting[i].Member(), v.Afters[i].Place)
		}
		return answered(promised, nil)
	}}
}

type frozenAnswer struct {
	Now    int64
	Ranks  []int
	Afters []order.Placed
}

// questions asks for the ranks of tokens, the places behind another, and what
// is owed.
func (a *frozenAsk) questions(waiting []store.Token) store.Ask {
	var ask store.Ask
	for i := range waiting {
		m := waiting[i].Member()
		ask.Ranks = append(ask.Ranks, store.RankAsk{Line: a.Line, Ordering: a.Ordering, Classes: a.Classes, Member: m})
		ask.Afters = append(ask.Afters, store.AfterAsk{Line: a.Line, Ordering: a.Ordering, Member: m, N: (a.N + i) % 7})
		ask.Tallies = append(ask.Tallies, a.owed(m.Lane.Class)...)
	}
	return ask
}

// owed are what the groups of a class may owe.
func (a *frozenAsk) owed(class string) []store.TallyKey {
	if a.Ordering.Discipline != order.Ratio {
		return nil
	}
	var keys []store.TallyKey
	for _, group := range someGroups {
		keys = append(keys, store.TallyKey{Name: store.OwedTally(a.Line.Queue, class, group), Day: a.Ordering.Day})
	}
	return keys
}

// frozen is a line at a moment.
type frozen struct {
	now    int64
	ask    *frozenAsk
	stand  members
	debts  order.Debts
	called map[string]map[uint64]int // by class, then by seq: how many are called before
}

func newFrozen(now int64, a *frozenAsk, waiting []store.Token, owed []int64) *frozen {
	f := &frozen{now: now, ask: a, stand: make(members), debts: make(order.Debts), called: make(map[string]map[uint64]int)}
	for i := range waiting {
		m := waiting[i].Member()
		f.stand.enter(m)
		n := len(a.owed(m.Lane.Class))
		if n > 0 && f.debts[m.Lane.Class] == nil {
			debts := make(map[string]int64)
			for j, group := range someGroups {
				debts[group] = owed[j]
			}
			f.debts[m.Lane.Class] = debts
		}
		owed = owed[n:]
	}
	return f
}

// ranks are those of the members of a class, by seq: of all that compete with
// it one is called after another.
func (f *frozen) ranks(class string) map[uint64]int {
	if f.called[class] == nil {
		f.called[class] = f.callAll(f.stand.clone(), f.line(class))
	}
	return f.called[class]
}

// line is the line as a counter sees it that serves a class and those that
// compete with it.
func (f *frozen) line(class string) order.Line {
	l := order.Line{Rule: f.ask.Ordering.Rule, Classes: f.ask.Classes}
	if class != "" && class[0] == '@' {
		l.Bound = class
	} else if l.Classes != nil {
		l.Classes = append(slices.Clone(l.Classes), class)
	}
	return l
}

// rankAt is the rank in its own class of a member that left and stands at
// another place, behind all that are there already.
func (f *frozen) rankAt(m order.Member, place int64) int {
	stand := f.stand.clone()
	stand.leave(m)
	m.Key = order.Key{Place: place, Seq: math.MaxUint64}
	stand.enter(m)
	line := order.Line{Rule: f.ask.Ordering.Rule, Classes: []string{m.Lane.Class}, Bound: m.Lane.Class}
	return f.callAll(stand, line)[math.MaxUint64]
}

// callAll calls all that the line sees, each from the line without those
// before it, and counts.
func (f *frozen) callAll(stand members, line order.Line) map[uint64]int {
	line.Index, line.Debts = stand, maps.Clone(f.debts)
	called := make(map[uint64]int)
	for {
		choice := order.Pick(f.now, []order.Line{line}, order.Oldest, 1, 0)
		if len(choice) == 0 {
			return called
		}
		m := choice[0].Member
		called[m.Key.Seq] = len(called)
		stand.leave(m)
		if choice[0].Debts != nil {
			line.Debts[m.Lane.Class] = choice[0].Debts
		}
	}
}

// members is a line of its own, an order.Index.
type members map[order.Lane][]order.Key

func (m members) enter(x order.Member) {
	i, _ := slices.BinarySearchFunc(m[x.Lane], x.Key, order.Key.Compare)
	m[x.Lane] = slices.Insert(m[x.Lane], i, x.Key)
}

func (m members) leave(x order.Member) {
	i, found := slices.BinarySearchFunc(m[x.Lane], x.Key, order.Key.Compare)
	if !found {
		panic(fmt.Sprintf("storetest: %+v does not stand there", x))
	}
	if m[x.Lane] = slices.Delete(m[x.Lane], i, i+1); len(m[x.Lane]) == 0 {
		delete(m, x.Lane)
	}
}

func (m members) clone() members {
	c := make(members, len(m))
	for lane, keys := range m {
		c[lane] = slices.Clone(keys)
	}
	return c
}

// Lanes yields the lanes that have a member.
func (m members) Lanes() iter.Seq[order.Lane] {
	return func(yield func(order.Lane) bool) {
		for lane := range m {
			if !yield(lane) {
				return
			}
		}
	}
}

// Len is the number of members of a lane.
func (m members) Len(l order.Lane) int { return len(m[l]) }

// Below counts the members of a lane whose key is less than k.
func (m members) Below(l order.Lane, k order.Key) int {
	i, _ := slices.BinarySearchFunc(m[l], k, order.Key.Compare)
	return i
}

// At is the i-th member of a lane, from 0, in key order.
func (m members) At(l order.Lane, i int) (order.Key, bool) {
	if i < 0 || i >= len(m[l]) {
		return order.Key{}, false
	}
	return m[l][i], true
}
