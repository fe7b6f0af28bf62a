package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// Shares between groups are kept by what each group owes: a tally that a pick
// reads and sets.
var ratioExamples = []example{
	{"groups are called by their shares", ratioShares},
	{"what each group owes after each call", ratioDebts},
	{"several picked at once are charged one after another", ratioSeveral},
	{"calls by hand charge nothing", ratioByHand},
	{"places in the future charge nothing", ratioFuture},
	{"each class has debts of its own", ratioClasses},
	{"each queue has debts of its own", ratioQueues},
	{"a new day owes nothing, and a day that is over no more", ratioDays},
	{"changed shares count from the next call", ratioChanged},
	{"a refused or repeated pick charges nothing", ratioOnce},
	{"ranks go by what is owed", ratioRanks},
	{"places behind another go by what is owed", ratioAfter},
	{"no batch names what is owed", ratioNames},
	{"debts go into another store", ratioDump},
}

// byShares is the ordering of the examples: three calls of vip for one of
// ordinary. A call of vip costs 1, one of ordinary 3.
func byShares() store.Ordering {
	return store.Ordering{Day: today, Rule: order.Rule{Discipline: order.Ratio, Groups: []order.Group{
		{Name: "vip", Share: 3}, {Name: "ordinary", Share: 1},
	}}}
}

// owed is what vip and ordinary of a class owe on a day.
func (k *kit) owed(class string, day int) [2]int64 {
	k.t.Helper()
	v := k.view(store.Ask{Tallies: []store.TallyKey{
		{Name: store.OwedTally(queue, class, "vip"), Day: day}, {Name: store.OwedTally(queue, class, "ordinary"), Day: day},
	}})
	return [2]int64(v.Tallies)
}

func (k *kit) wantOwed(when string, want [2]int64) {
	k.t.Helper()
	if got := k.owed("", today); got != want {
		k.t.Errorf("%s vip and ordinary owe %v, want %v", when, got, want)
	}
}

// keepsShares holds calls, made while both groups waited, against the
// guarantee: in any window of calls |n_a/3 − n_b/1| ≤ 1/3 + 1.
func (k *kit) keepsShares(calls string) {
	k.t.Helper()
	for from := range calls {
		vip, ordinary := 0, 0
		for to, c := range calls[from:] {
			if c == 'v' {
				vip++
			} else {
				ordinary++
			}
			if off := vip - 3*ordinary; max(off, -off) > 4 {
				k.t.Fatalf("calls %d to %d: %d of vip and %d of ordinary, in %s", from+1, from+to+1, vip, ordinary, calls)
			}
		}
	}
}

func ratioShares(k *kit) {
	k.joinGroups(40, "ordinary", "vip")
	var called []store.Token
	for n := range 20 {
		called = append(called, k.commit(ordered(byShares(), 1+n%3)).Tokens...)
		k.pass(time.Second)
	}
	calls := groupsOf(called)
	k.keepsShares(calls)
	if len(calls) != 39 {
		k.t.Errorf("called %d, want 39", len(calls))
	}
}

func ratioDebts(k *kit) {
	k.joinGroups(4, "ordinary", "vip")
	k.wantOwed("before any call", [2]int64{})
	// Both owe nothing: the first to come is called, then by what is owed.
	for i, want := range []struct {
		group string
		owed  [2]int64
	}{
		{"o", [2]int64{0, 3}},
		{"v", [2]int64{1, 3}},
		{"v", [2]int64{1, 2}},
		{"v", [2]int64{1, 1}},
		{"o", [2]int64{0, 3}},
		{"v", [2]int64{1, 3}},
		{"o", [2]int64{0, 3}},
		{"o", [2]int64{0, 3}},
	} {
		if got := k.calls(byShares(), 1); got != want.group {
			k.t.Fatalf("call %d is of %s, want %s", i+1, got, want.group)
		}
		k.wantOwed(fmt.Sprintf("after call %d", i+1), want.owed)
	}
	if r := k.commit(ordered(byShares(), 1)); r.Picked != 0 {
		k.t.Errorf("an empty line: called %q", ids(r.Tokens))
	}
	k.wantOwed("after a call of nobody", [2]int64{0, 3})
}

func ratioSeveral(k *kit) {
	k.joinGroups(4, "ordinary", "vip")
	if got := groupsOf(k.commit(ordered(byShares(), 4)).Tokens); got != "ovvv" {
		k.t.Errorf("called %s, want ovvv", got)
	}
	k.wantOwed("after four at once", [2]int64{1, 1})
	b := ordered(byShares(), 2)
	b.Pick.Exclude = "ordinary-01"
	if got := ids(k.commit(b).Tokens); got != "ordinary-02 vip-03" {
		k.t.Errorf("called %q without ordinary-01", got)
	}
	k.wantOwed("after two more", [2]int64{1, 3})
}

func ratioByHand(k *kit) {
	k.joinGroups(2, "ordinary", "vip")
	k.calls(byShares(), 1)
	k.change(k.token("vip-00"), func(t *store.Token) {
		t.State, t.Counter, t.CallNo, t.CalledAt = dengxu.StateCalling, desk, store.NextCall, store.Now
	})
	k.wantOwed("after a call by hand", [2]int64{0, 3})
	back := k.token("ordinary-00")
	k.change(back, func(t *store.Token) { t.State, t.Counter = dengxu.StateWaiting, "" })
	k.change(k.token("vip-01"), func(t *store.Token) { t.State = dengxu.StateCancelled })
	k.wantOwed("after one was put back and one left", [2]int64{0, 3})
}

func ratioFuture(k *kit) {
	k.join("o1", grouped("ordinary"))
	k.join("o2", grouped("ordinary"))
	k.join("v1", grouped("vip"), func(t *store.Token) { t.Place = store.Now + 60_000 })
	// vip owes nothing, but has nobody to call yet.
	if got := k.calls(byShares(), 2); got != "oo" {
		k.t.Errorf("called %s, want oo: who is not due is behind", got)
	}
	if got := k.calls(byShares(), 1); got != "v" {
		k.t.Errorf("called %s, want v, who alone is left", got)
	}
	k.wantOwed("after a call of the future", [2]int64{0, 3})
	k.join("v2", grouped("vip"))
	k.calls(byShares(), 1)
	k.wantOwed("after a call of now", [2]int64{1, 3})
}

func ratioClasses(k *kit) {
	for _, class := range []string{"cash", "loan", "@desk-1"} {
		for _, group := range []string{"vip", "ordinary"} {
			k.join(dengxu.TokenID(class+"-"+group), grouped(group), classed(class))
			k.pass(time.Second)
		}
	}
	b := ordered(byShares(), 1)
	b.Pick.Lines[0].Classes = []string{"loan"}
	b.Pick.Counter = "desk-2"
	if got := ids(k.commit(b).Tokens); got != "loan-vip" {
		k.t.Fatalf("called %q, want loan-vip", got)
	}
	for class, want := range map[string][2]int64{"cash": {}, "loan": {1, 0}, "@desk-1": {}} {
		if got := k.owed(class, today); got != want {
			k.t.Errorf("%s owes %v, want %v", class, got, want)
		}
	}
	// Each class names its winner, and the oldest of these is called.
	if got := ids(k.commit(ordered(byShares(), 9)).Tokens); got != "cash-vip cash-ordinary loan-ordinary @desk-1-vip @desk-1-ordinary" {
		k.t.Errorf("then called %q", got)
	}
	for class, want := range map[string][2]int64{"cash": {1, 3}, "loan": {1, 3}, "@desk-1": {1, 3}} {
		if got := k.owed(class, today); got != want {
			k.t.Errorf("in the end %s owes %v, want %v", class, got, want)
		}
	}
}

func ratioQueues(k *kit) {
	k.joinGroups(3, "vip", "ordinary")
	k.join("lab-v", grouped("vip"), inOther)
	k.pass(time.Second)
	k.join("lab-o", grouped("ordinary"), inOther)
	b := ordered(byShares(), 6)
	b.Pick.Lines = append(b.Pick.Lines, store.PickLine{Line: store.LineKey{Queue: other, Gen: today}, Ordering: byShares()})
	k.commit(b)
	k.wantOwed("after six calls", [2]int64{0, 3})
	v := k.view(store.Ask{Tallies: []store.TallyKey{
		{Name: store.OwedTally(other, "", "vip"), Day: today}, {Name: store.OwedTally(other, "", "ordinary"), Day: today},
	}})
	same(k.t, "what the lab owes", []int64{0, 0}, v.Tallies)
	b.Pick.Max = 1
	k.commit(b)
	v = k.view(store.Ask{Tallies: []store.TallyKey{{Name: store.OwedTally(other, "", "vip"), Day: today}}})
	same(k.t, "what the lab owes after its call", []int64{1}, v.Tallies)
	k.wantOwed("still", [2]int64{0, 3})
}

func ratioDays(k *kit) {
	k.joinGroups(4, "ordinary")
	k.joinGroups(2, "vip")
	k.calls(byShares(), 1)
	tomorrow := byShares()
	tomorrow.Day++
	if got := k.owed("", tomorrow.Day); got != [2]int64{} {
		k.t.Errorf("the next day owes %v", got)
	}
	// By today's debts vip would be called; without, ordinary came earlier.
	if got := k.calls(tomorrow, 2); got != "ov" {
		k.t.Errorf("the next day called %s, want ov", got)
	}
	want := [2]int64{1, 3}
	if got := k.owed("", tomorrow.Day); got != want {
		k.t.Errorf("the next day owes %v, want %v", got, want)
	}
	k.wantOwed("when the day is over", [2]int64{})
	if got := k.calls(byShares(), 2); got != "oo" {
		k.t.Errorf("stragglers of the day before called %s, want oo", got)
	}
	if got := k.owed("", tomorrow.Day); got != want {
		k.t.Errorf("after stragglers the next day owes %v, want %v", got, want)
	}
}

func ratioChanged(k *kit) {
	k.joinGroups(6, "ordinary", "vip")
	if got := k.calls(byShares(), 2); got != "ov" {
		k.t.Fatalf("called %s, want ov", got)
	}
	k.wantOwed("after two calls", [2]int64{1, 3})
	even := byShares()
	even.Groups = []order.Group{{Name: "vip", Share: 1}, {Name: "ordinary", Share: 1}}
	// Both debts read as 1 now: the first to come is ordinary-01.
	if got := k.calls(even, 3); got != "ovo" {
		k.t.Errorf("with equal shares called %s, want ovo", got)
	}
	k.wantOwed("with equal shares", [2]int64{0, 1})
	// A group that no rule names has one share.
	even.Groups = nil
	if got := k.calls(even, 2); got != "vo" {
		k.t.Errorf("without a rule called %s, want vo", got)
	}
	k.wantOwed("without a rule", [2]int64{0, 1})
}

func ratioOnce(k *kit) {
	k.joinGroups(3, "ordinary", "vip")
	b := withOp(ordered(byShares(), 1), op("call"))
	k.commit(b)
	if r := k.commit(b); !r.Replayed {
		k.t.Error("the repeat was not recognised")
	}
	k.wantOwed("after a repeat", [2]int64{0, 3})
	b = ordered(byShares(), 1)
	b.Expect = []store.Expectation{store.Before{At: k.clock.Now()}}
	k.refused(b, b.Expect[0])
	k.wantOwed("after a refusal", [2]int64{0, 3})
}

func ratioRanks(k *kit) {
	k.joinGroups(4, "ordinary", "vip", "guest")
	k.calls(byShares(), 3)
	k.join("later", grouped("vip"), func(t *store.Token) { t.Place = store.Now + 1000 })
	held := k.join("x", grouped("vip"), func(t *store.Token) { t.State = dengxu.StateHeld })
	b := writing(changed(held, func(t *store.Token) { t.State = dengxu.StateWaiting }))
	b.Ranks = []store.RankOf{{Token: 1, Ordering: byShares()}}
	r := k.commit(b)
	v := k.view(store.Ask{Ranks: []store.RankAsk{{Line: line, Ordering: byShares(), Member: r.Tokens[0].Member()}}})
	same(k.t, "the rank that the batch asked for", v.Ranks, r.Ranks)
	k.ranksAreCalls(byShares())
}

func ratioAfter(k *kit) {
	k.joinGroups(4, "ordinary", "vip")
	k.calls(byShares(), 2)
	k.placesHaveRanks(byShares(), k.join("x", grouped("ordinary")))
}

func ratioNames(k *kit) {
	k.joinGroups(1, "vip")
	b := writing(fresh("x"))
	b.Tallies = []store.TallyAdd{{Key: store.TallyKey{Name: store.OwedTally(queue, "", "vip"), Day: today}, N: 1}}
	k.malformed("a batch that adds to what is owed", b)
	b = ordered(byShares(), 1)
	b.Pick.Lines = append(b.Pick.Lines, b.Pick.Lines[0])
	b.Pick.Lines[1].Line.Gen++
	k.malformed("a pick from two lines that owe the same", b)
	k.wantOwed("after both", [2]int64{})
}

func ratioDump(k *kit) {
	m := &kit{t: k.t, s: k.model(), clock: k.clock}
	m.joinGroups(4, "ordinary", "vip")
	m.calls(byShares(), 5)
	rows := m.dump(m.s)
	owed := 0
	for _, r := range rows {
		if r.Kind == store.RowTally {
			owed++
		}
	}
	if owed != 2 {
		k.t.Errorf("%d debts are dumped, want 2", owed)
	}
	k.load(k.s, rows)
	same(k.t, "what was loaded", moved(rows), moved(k.dump(k.s)))
	k.wantOwed("where it was loaded", [2]int64{0, 3})
	if got, want := k.calls(byShares(), 3), m.calls(byShares(), 3); got != want {
		k.t.Errorf("it goes on with %s, want %s", got, want)
	}
}

// raceShares has three counters call at once while both groups wait.
func raceShares(k *kit) {
	calls := rounds() / 2
	for _, group := range []string{"ordinary", "vip"} {
		for n := range workers * calls {
			k.join(dengxu.TokenID(fmt.Sprintf("%s-%d", group, n)), grouped(group))
		}
	}
	var called [workers][]store.Token
	race(func(w int) {
		for range calls {
			b := ordered(byShares(), 1)
			b.Pick.Counter = dengxu.CounterID(fmt.Sprintf("desk-%d", w%3))
			if r, ok := k.try(b); ok {
				called[w] = append(called[w], r.Tokens...)
			}
		}
	})
	all := slices.Concat(called[:]...)
	slices.SortFunc(all, func(a, b store.Token) int { return cmp.Compare(a.CallNo, b.CallNo) })
	if len(all) != workers*calls {
		k.t.Errorf("%d calls, want %d", len(all), workers*calls)
	}
	k.keepsShares(groupsOf(all))
}

func reopenDebts(k *kit, f Factory) {
	k.joinGroups(6, "ordinary", "vip")
	k.calls(byShares(), 2)
	k.reopen(f, nothing)
	k.wantOwed("opened again", [2]int64{1, 3})
	if got := k.calls(byShares(), 3); got != "vvo" {
		k.t.Errorf("opened again it calls %s, want vvo", got)
	}
	k.reopen(f, nothing)
	k.wantOwed("opened a third time", [2]int64{0, 3})
}
