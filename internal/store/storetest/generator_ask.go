package storetest

import (
	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// token is the id of a token, mostly live.
func (g *generator) token() dengxu.TokenID {
	switch {
	case len(g.ids) > 0 && g.chance(90):
		return one(g, g.ids)
	case len(g.gone) > 0:
		return one(g, g.gone)
	}
	return "unknown"
}

func (g *generator) line() store.LineKey {
	gen := today
	if g.chance(10) {
		gen++
	}
	return store.LineKey{Queue: one(g, someQueues), Gen: gen}
}

func (g *generator) states() []dengxu.State {
	return []dengxu.State{dengxu.StateWaiting, one(g, dengxu.States()[1:])}
}

// expectation makes one that holds about as often as not.
func (g *generator) expectation() store.Expectation {
	line := g.line()
	switch g.rnd.IntN(10) {
	case 0:
		key := g.docKey()
		return store.DocAt{Key: key, Version: g.docs[key] + uint64(g.rnd.IntN(2))}
	case 1:
		id := g.token()
		return store.TokenAt{ID: id, Version: g.live[id].Version + uint64(g.rnd.IntN(2))}
	case 2:
		return store.HolderFree{Holder: store.HolderKey{Line: line, Business: one(g, someHolders)}, Not: g.token()}
	case 3:
		return store.MarkOlder{MarkKey: g.markKey(), At: store.Now - 3*g.ms()}
	case 4:
		return store.CountBelow{Line: line, States: g.states(), Max: g.rnd.IntN(20)}
	case 5:
		return store.TallyBelow{Key: g.count(), Max: g.rnd.Int64N(20)}
	case 6:
		return store.RoomAt{Counter: one(g, someCounters), Max: 1 + g.rnd.IntN(4), Freed: g.rnd.IntN(2)}
	case 7:
		return store.LaneOpen{Line: line, Lane: g.lane(line.Queue, one(g, g.classes)), Max: 1 + g.rnd.IntN(8)}
	case 8:
		key := g.markKey()
		return store.MarkAt{MarkKey: key, At: g.marks[key] * int64(g.rnd.IntN(2))}
	}
	if at := g.now + g.ms() - 2_000; g.chance(50) {
		return store.Before{At: at}
	}
	return store.NotBefore{At: g.now + g.ms() - 2_000}
}

// ask makes a View with one to three questions of each kind.
func (g *generator) ask() store.Ask {
	var a store.Ask
	for range 1 + g.rnd.IntN(3) {
		line := g.line()
		token := g.live[g.token()]
		member := token.Member()
		if line.Queue != token.Queue {
			member.Lane = g.lane(line.Queue, token.Class)
		}
		if token.ID != "" && g.chance(80) {
			line, member = token.Line(), token.Member()
		}
		a.Tokens = append(a.Tokens, g.token())
		a.Docs = append(a.Docs, g.docKey())
		a.Holders = append(a.Holders, store.HolderKey{Line: line, Business: one(g, someHolders)})
		a.Counters = append(a.Counters, one(g, someCounters))
		a.Persons = append(a.Persons, store.Person{Site: site, Business: one(g, someHolders)})
		a.Lines = append(a.Lines, line)
		a.Fronts = append(a.Fronts, store.FrontAsk{Line: line, Most: g.rnd.IntN(7) - 1})
		a.Ranks = append(a.Ranks, store.RankAsk{
			Line: line, Ordering: g.ordering(line.Queue), Classes: g.competing(), Member: member,
		})
		a.Afters = append(a.Afters, store.AfterAsk{
			Line: line, Ordering: g.ordering(line.Queue), Member: member, N: g.rnd.IntN(5),
			DayStart: g.now - 3_600_000, Factor: 700,
		})
		a.Tallies = append(a.Tallies, g.count())
		a.Marks = append(a.Marks, g.markKey())
	}
	if len(g.ops) > 0 {
		a.Op = one(g, g.ops[max(0, len(g.ops)-20):]).Op
	}
	return a
}

// frozen asks for all ranks of a line in which some wait.
func (g *generator) frozen() frozenAsk {
	line := store.LineKey{Queue: one(g, someQueues), Gen: today}
	return frozenAsk{Line: line, Ordering: g.ordering(line.Queue), Classes: g.competing(), N: g.rnd.IntN(7)}
}

func (g *generator) markKey() store.MarkKey {
	// Few, so that they meet.
	return store.MarkKey{Queue: one(g, someQueues[:2]), Business: one(g, someHolders[:3]), Kind: one(g, allMarks)}
}

// count names a tally, added to or owed.
func (g *generator) count() store.TallyKey {
	if g.chance(40) {
		return store.TallyKey{Name: g.owed(), Day: g.ordering("ratio").Day}
	}
	return g.tally()
}

func (g *generator) listAsk() store.ListAsk {
	a := store.ListAsk{Limit: 1 + g.rnd.IntN(30), Newest: g.chance(50)}
	if g.chance(40) {
		a.Queue = one(g, someQueues)
	}
	if g.chance(20) {
		a.Gen = new(g.line().Gen)
	}
	if g.chance(40) {
		a.States = g.states()
	}
	if g.chance(20) {
		a.Counter = one(g, someCounters)
	}
	if g.chance(20) {
		a.Text = one(g, []string{"A00", "vip", "ANN", "t1"})
	}
	return a
}
