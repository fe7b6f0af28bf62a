package storetest

import (
	"slices"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// Ranks and places behind another come from order, over the stored lines.
var rankExamples = []example{
	{"how many are ahead", rankAhead},
	{"of a batch's own tokens", rankOwn},
	{"of classes that compete", rankClasses},
	{"behind the n-th", rankAfter},
	{"behind the n-th in ordering epoch", rankAfterEpoch},
}

func (k *kit) rank(t store.Token, classes ...string) int {
	k.t.Helper()
	return k.view(store.Ask{Ranks: []store.RankAsk{{Line: t.Line(), Classes: classes, Member: t.Member()}}}).Ranks[0]
}

func rankAhead(k *kit) {
	a := k.join("a")
	k.pass(time.Minute)
	b := k.join("b", vip)
	c := k.join("c")
	k.join("d", inOther)
	for i, t := range []store.Token{a, b, c} {
		if got := k.rank(t); got != i {
			k.t.Errorf("%s has rank %d, want %d", t.ID, got, i)
		}
	}
	k.pass(2 * time.Minute) // b has aged past a
	if a, b := k.rank(a), k.rank(b); a != 1 || b != 0 {
		k.t.Errorf("later a has rank %d and b %d, want 1 and 0", a, b)
	}
	nobody := store.Token{Queue: "none", Lane: ordinary}
	if got := k.rank(nobody); got != 0 {
		k.t.Errorf("in an empty line the rank is %d", got)
	}
}

func rankOwn(k *kit) {
	k.join("a")
	held := k.join("b", func(t *store.Token) { t.State = dengxu.StateHeld })
	b := writing(fresh("c"), changed(held, func(t *store.Token) { t.State = dengxu.StateWaiting }))
	b.Ranks = []store.RankOf{{Token: 2}, {Token: 1}}
	b.Op = op("r")
	same(k.t, "ranks in the line as it was", []int{1, 1}, k.commit(b).Ranks)
	if r := k.commit(b); !r.Replayed || r.Ranks != nil {
		k.t.Errorf("replayed %t with ranks %v, want none", r.Replayed, r.Ranks)
	}
	b = writing(fresh("x"))
	b.Ranks = []store.RankOf{{Token: 2}}
	k.malformed("rank of a token that is not written", b)
}

func rankClasses(k *kit) {
	class := func(c string) func(*store.Token) { return func(t *store.Token) { t.Class, t.Lane.Class = c, c } }
	k.join("a", class("cash"))
	k.join("b", class("loan"))
	k.join("c", class("@desk-1"))
	d := k.join("d", class("loan"))
	for _, x := range []struct {
		classes []string
		want    int
	}{{nil, 2}, {[]string{"loan"}, 1}, {[]string{"cash", "loan"}, 2}, {[]string{"gold"}, 1}} {
		if got := k.rank(d, x.classes...); got != x.want {
			k.t.Errorf("rank beside %v is %d, want %d", x.classes, got, x.want)
		}
	}
	if got := k.rank(k.join("e", class("@desk-1"))); got != 4 {
		k.t.Errorf("bound to a counter the rank is %d, want 4", got)
	}
}

func (k *kit) after(ask store.AfterAsk) order.Placed {
	k.t.Helper()
	return k.view(store.Ask{Afters: []store.AfterAsk{ask}}).Afters[0]
}

func rankAfter(k *kit) {
	var tokens []store.Token
	for _, id := range []dengxu.TokenID{"a", "b", "c", "d"} {
		tokens = append(tokens, k.join(id))
		k.pass(time.Minute)
	}
	d := tokens[3]
	for n, want := range map[int]order.Placed{
		0: {Place: tokens[0].Place - 1, Rank: 0},
		1: {Place: tokens[0].Place, Rank: 1},
		2: {Place: tokens[1].Place, Rank: 2},
		3: {Place: tokens[2].Place, Rank: 3}, // d itself is left out
		9: {Place: k.clock.Now(), Rank: 3},
	} {
		got := k.after(store.AfterAsk{Line: line, Member: d.Member(), N: n})
		if got != want {
			k.t.Errorf("behind %d: %+v, want %+v", n, got, want)
		}
	}
	moved := k.change(d, func(t *store.Token) { t.Place, t.Seq = tokens[0].Place, 0 })
	if got := k.rank(moved); got != 1 {
		k.t.Errorf("behind 1 the rank became %d", got)
	}
}

func rankAfterEpoch(k *kit) {
	ask := store.AfterAsk{
		Line: line, Ordering: store.Ordering{Rule: order.Rule{Discipline: order.Epoch}}, N: 3, DayStart: k.clock.Now() - 10_000, Factor: 500,
		Member: order.Member{Lane: order.Lane{}},
	}
	if got, want := k.after(ask), (order.Placed{Place: k.clock.Now() - 5000}); got != want {
		k.t.Errorf("the tail of an empty line is %+v, want %+v", got, want)
	}
}

// ranksAreCalls calls all who wait while time stands, and holds the ranks that
// they have before each call against who is called.
func (k *kit) ranksAreCalls(o store.Ordering) {
	k.t.Helper()
	left := k.list(store.ListAsk{Queue: queue, States: []dengxu.State{dengxu.StateWaiting}, Limit: 100})
	promised := make(map[dengxu.TokenID]int)
	for calls := 0; len(left) > 0; calls++ {
		var a store.Ask
		for _, t := range left {
			a.Ranks = append(a.Ranks, store.RankAsk{Line: line, Ordering: o, Member: t.Member()})
		}
		ranks := k.view(a).Ranks
		for i, t := range left {
			if calls == 0 {
				promised[t.ID] = ranks[i]
			}
			if got, want := ranks[i], promised[t.ID]-calls; got != want {
				k.t.Errorf("after %d calls %s has rank %d, want %d", calls, t.ID, got, want)
			}
		}
		called := k.commit(ordered(o, 1)).Tokens
		if len(called) != 1 || promised[called[0].ID] != calls {
			k.t.Fatalf("call %d is of %q, ranks were %v", calls, ids(called), promised)
		}
		left = slices.DeleteFunc(left, func(t store.Token) bool { return t.ID == called[0].ID })
	}
}

// placesHaveRanks asks for the place of t behind each number of its class, and
// expects the rank that is told with it when t stands there.
func (k *kit) placesHaveRanks(o store.Ordering, t store.Token) {
	k.t.Helper()
	ranks := make(map[int]bool)
	for n := range 12 {
		p := k.after(store.AfterAsk{Line: line, Ordering: o, Member: t.Member(), N: n})
		t = k.change(t, func(t *store.Token) { t.Place, t.Seq = p.Place, 0 })
		v := k.view(store.Ask{Ranks: []store.RankAsk{{Line: line, Ordering: o, Member: t.Member()}}})
		if v.Ranks[0] != p.Rank {
			k.t.Errorf("behind %d the rank became %d, want %d", n, v.Ranks[0], p.Rank)
		}
		ranks[p.Rank] = true
	}
	if len(ranks) < 3 {
		k.t.Errorf("only the ranks %v were reached", ranks)
	}
}
