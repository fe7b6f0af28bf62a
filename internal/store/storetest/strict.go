package storetest

import (
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// Groups in ordering strict go before each other, until somebody is overdue.
var strictExamples = []example{
	{"the better rank is called first", strictRanks},
	{"who is overdue goes before every rank", strictOverdue},
	{"places in the future are behind", strictFuture},
	{"ranks are the order of calls", strictAhead},
	{"places behind another keep to the ranks", strictAfter},
	{"beside another queue the factor is ordinary", strictBeside},
}

// byRank is the ordering of the examples.
func byRank() store.Ordering {
	return store.Ordering{Day: today, Rule: order.Rule{
		Discipline: order.Strict, Escalate: 60_000,
		Groups: []order.Group{{Name: "gold"}, {Name: "vip", Rank: 1}, {Name: "staff", Rank: 1}, {Name: "ordinary", Rank: 2}},
	}}
}

func strictRanks(k *kit) {
	k.joinGroups(2, "guest", "ordinary", "staff", "vip", "gold") // guest is in no rule
	want := "gold-00 gold-01 staff-00 vip-00 staff-01 vip-01 guest-00 ordinary-00 guest-01 ordinary-01"
	if got := ids(k.commit(ordered(byRank(), 99)).Tokens); got != want {
		k.t.Errorf("called %q, want %q", got, want)
	}
}

func strictOverdue(k *kit) {
	k.join("ordinary", grouped("ordinary"))
	k.pass(time.Millisecond)
	k.join("vip", grouped("vip"))
	k.pass(59_998 * time.Millisecond)
	for _, id := range []dengxu.TokenID{"gold-1", "gold-2"} {
		k.join(id, grouped("gold"))
	}
	if got := ids(k.commit(ordered(byRank(), 1)).Tokens); got != "gold-1" {
		k.t.Errorf("a moment before called %q, want gold-1", got)
	}
	k.pass(time.Millisecond)
	if got := ids(k.commit(ordered(byRank(), 2)).Tokens); got != "ordinary gold-2" {
		k.t.Errorf("overdue called %q, want ordinary gold-2", got)
	}
	k.pass(time.Minute)
	k.join("gold-3", grouped("gold"), func(t *store.Token) { t.Place = store.Now - 60_000 }) // a head start
	if got := ids(k.commit(ordered(byRank(), 2)).Tokens); got != "vip gold-3" {
		k.t.Errorf("both overdue called %q, want vip gold-3", got)
	}
}

func strictFuture(k *kit) {
	k.join("gold", grouped("gold"), func(t *store.Token) { t.Place = store.Now + 1000 })
	k.join("vip", grouped("vip"), func(t *store.Token) { t.Place = store.Now + 500 })
	k.join("ordinary", grouped("ordinary"))
	if got := ids(k.commit(ordered(byRank(), 1)).Tokens); got != "ordinary" {
		k.t.Errorf("called %q, want ordinary", got)
	}
	k.pass(499 * time.Millisecond)
	if got := ids(k.commit(ordered(byRank(), 1)).Tokens); got != "vip" {
		k.t.Errorf("of the future called %q, want vip, whose place is nearer", got)
	}
	k.commit(ordered(byRank(), 1))
	if r := k.commit(ordered(byRank(), 1)); r.Picked != 0 {
		k.t.Errorf("of an empty line called %q", ids(r.Tokens))
	}
}

func strictAhead(k *kit) {
	k.joinGroups(3, "ordinary", "guest")
	k.pass(52 * time.Second) // some are overdue
	k.joinGroups(2, "staff", "gold", "vip")
	k.join("later", grouped("gold"), func(t *store.Token) { t.Place = store.Now + 1000 })
	k.ranksAreCalls(byRank())
}

func strictAfter(k *kit) {
	k.joinGroups(3, "ordinary", "gold")
	k.pass(57 * time.Second)
	k.joinGroups(2, "staff", "vip")
	k.placesHaveRanks(byRank(), k.join("x", grouped("vip")))
}

func strictBeside(k *kit) {
	k.join("vip", grouped("vip"))
	k.pass(20 * time.Second)
	k.join("fast", inOther, vip) // ages twice as fast
	b := ordered(byRank(), 1)
	b.Pick.Lines = append(b.Pick.Lines, store.PickLine{Line: store.LineKey{Queue: other, Gen: today}})
	k.pass(19 * time.Second)
	if got := ids(k.commit(b).Tokens); got != "vip" {
		k.t.Errorf("39 s beside twice 19 s: called %q, want vip", got)
	}
	k.join("gold", grouped("gold"), func(t *store.Token) { t.Place = store.Now - 37_000 })
	if got := ids(k.commit(b).Tokens); got != "fast" {
		k.t.Errorf("37 s beside twice 19 s: called %q, want fast", got)
	}
}
