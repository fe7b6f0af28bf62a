package storetest

import (
	"strings"
	"testing"

	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// TestWitness: a witness that never objects is worth nothing.
func TestWitness(t *testing.T) {
	t.Parallel()
	const now = int64(1_000_000)
	at := func(age int64, seq uint64, lane order.Lane) store.Token {
		return store.Token{
			ID: "b", Queue: queue, Gen: today, State: "waiting", Lane: lane,
			JoinedAt: now - age, Place: now - age, Seq: seq,
		}
	}
	started := func(t store.Token, ms int64) store.Token { t.Place -= ms; return t }
	elsewhere := func(t store.Token) store.Token { t.Queue = other; return t }
	in := func(group string) order.Lane { return order.Lane{Group: group} }
	strict, ratio := byRank(), byShares()
	for what, x := range map[string]struct {
		ordering, beside store.Ordering // of the line, and of one listed after it
		a, b             store.Token    // called, waits
		mode             order.Mode
		broken           string // what is said, "" = nothing
	}{
		"waited less":                   {a: at(90, 1, ordinary), b: at(80, 2, ordinary)},
		"waited longer":                 {a: at(80, 2, ordinary), b: at(90, 1, ordinary), broken: "one lane"},
		"waited twice as long":          {a: at(50, 2, order.Lane{K: 10}), b: at(100, 1, ordinary), broken: "100"},
		"waited not quite twice":        {a: at(50, 2, order.Lane{K: 10}), b: at(99, 1, ordinary)},
		"twice as long and later":       {a: at(50, 2, order.Lane{K: 10}), b: at(100, 3, ordinary)},
		"twice as long by a head start": {a: at(50, 2, order.Lane{K: 10}), b: started(at(10, 3, ordinary), 91), broken: "101"},
		"is due":                        {a: at(-1, 1, order.Lane{K: 10}), b: at(0, 2, ordinary), broken: "not due"},
		"is due later":                  {a: at(-1, 1, order.Lane{K: 10}), b: at(-2, 2, ordinary)},
		"better rank":                   {ordering: strict, a: at(90, 1, in("vip")), b: at(80, 2, in("gold")), broken: "rank"},
		"worse rank":                    {ordering: strict, a: at(80, 2, in("vip")), b: at(90, 1, in("ordinary"))},
		"same rank and before":          {ordering: strict, a: at(80, 2, in("vip")), b: at(90, 1, in("staff")), broken: "rank"},
		"worse rank and overdue":        {ordering: strict, a: at(80, 2, in("vip")), b: at(60_000, 1, in("ordinary")), broken: "overdue"},
		"both overdue":                  {ordering: strict, a: at(60_000, 2, in("gold")), b: at(60_001, 1, in("ordinary")), broken: "overdue"},
		"overdue for less":              {ordering: strict, a: at(60_001, 1, in("ordinary")), b: at(60_000, 2, in("gold"))},
		"another group":                 {ordering: ratio, a: at(80, 2, in("vip")), b: at(90, 1, in("ordinary"))},
		"the same group":                {ordering: ratio, a: at(80, 2, in("vip")), b: at(90, 1, in("vip")), broken: "one lane"},
		"listed before":                 {mode: order.Listed, a: elsewhere(at(90, 1, ordinary)), b: at(80, 2, ordinary), broken: "listed"},
		"listed after":                  {mode: order.Listed, a: at(80, 2, ordinary), b: elsewhere(at(90, 1, ordinary))},
		"older in another line":         {a: at(80, 2, ordinary), b: elsewhere(at(90, 1, ordinary)), broken: "1800"},
		"older than a winner of strict": {ordering: strict, a: at(80, 2, in("gold")), b: elsewhere(at(90, 1, ordinary)), broken: "1800"},
		"behind a winner of strict":     {beside: strict, a: at(80, 2, ordinary), b: elsewhere(at(90, 1, in("ordinary")))},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			x.a.ID = "a"
			w := newWitness()
			joined := store.Result{Tokens: []store.Token{x.a, x.b}}
			if broken := w.see(&store.Batch{}, &joined); broken != "" {
				t.Fatalf("a join: %s", broken)
			}
			b := ordered(x.ordering, 1)
			b.Pick.Mode = x.mode
			b.Pick.Lines = append(b.Pick.Lines, store.PickLine{Line: store.LineKey{Queue: other, Gen: today}, Ordering: x.beside})
			called := x.a
			called.State = "calling"
			got := w.see(&b, &store.Result{Now: now, Tokens: []store.Token{called}, Picked: 1})
			if (got != "") != (x.broken != "") || !strings.Contains(got, x.broken) {
				t.Errorf("got %q, want %q", got, x.broken)
			}
			if w.passes != 1 {
				t.Errorf("%d passes were judged, want 1", w.passes)
			}
		})
	}
}

// TestWitnessLooksWhereThePickDoes: who is excluded, of another class or bound
// to another counter is not passed.
func TestWitnessLooksWhereThePickDoes(t *testing.T) {
	t.Parallel()
	for what, edit := range map[string]func(*store.Pick, *store.Token){
		"excluded":                 func(p *store.Pick, t *store.Token) { p.Exclude = t.ID },
		"of another class":         func(p *store.Pick, t *store.Token) { p.Lines[0].Classes = []string{"", "cash"}; t.Lane.Class = "loan" },
		"bound to another counter": func(_ *store.Pick, t *store.Token) { t.Lane.Class = "@desk-9" },
		"in another line":          func(_ *store.Pick, t *store.Token) { t.Gen++ },
		"not waiting":              func(_ *store.Pick, t *store.Token) { t.State = "held" },
	} {
		w := newWitness()
		a, b := fresh("a"), fresh("b")
		a.Seq, b.Seq, a.Place, b.Place = 2, 1, 5, 1
		pick := calling(1)
		edit(pick.Pick, &b)
		w.see(&store.Batch{}, &store.Result{Tokens: []store.Token{a, b}})
		called := a
		called.State = "calling"
		if got := w.see(&pick, &store.Result{Now: 9, Tokens: []store.Token{called}, Picked: 1}); got != "" || w.passes != 0 {
			t.Errorf("%s: %d passes, %q", what, w.passes, got)
		}
	}
	pick := calling(1)
	if got := newWitness().see(&pick, &store.Result{Tokens: []store.Token{fresh("a")}, Picked: 1}); got == "" {
		t.Error("a call of a token that did not wait was not noticed")
	}
}
