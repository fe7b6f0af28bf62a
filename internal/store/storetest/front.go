package storetest

import (
	"fmt"
	"math"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// A front is how the lanes of a line begin.
var frontExamples = []example{
	{"each lane with its first members, in order", frontLanes},
	{"as many members as are asked for", frontMost},
	{"no more than MaxFront", frontBounded},
	{"lanes of few members among longer ones", frontShort},
	{"a line of nobody has no lanes", frontNobody},
	{"who leaves and who moves", frontMoves},
}

func (k *kit) fronts(asks ...store.FrontAsk) []store.FrontView {
	k.t.Helper()
	got := k.view(store.Ask{Fronts: asks}).Fronts
	if len(got) != len(asks) {
		k.t.Fatalf("%d fronts for %d asks", len(got), len(asks))
	}
	return got
}

func (k *kit) front(most int) store.FrontView {
	k.t.Helper()
	return k.fronts(store.FrontAsk{Line: line, Most: most})[0]
}

func inLane(l order.Lane) func(*store.Token) { return func(t *store.Token) { t.Lane = l } }

func placed(at int64) func(*store.Token) { return func(t *store.Token) { t.Place = at } }

// frontOf is the front that lanes of these members have; of each lane at most
// so many are named.
func frontOf(most int, lanes ...[]store.Token) store.FrontView {
	var v store.FrontView
	for _, in := range lanes {
		l := store.FrontLane{Lane: in[0].Lane, Len: len(in)}
		for _, t := range in[:min(most, len(in))] {
			l.Keys = append(l.Keys, keyOf(t))
		}
		v.Lanes = append(v.Lanes, l)
	}
	return v
}

func frontLanes(k *kit) {
	late := k.join("late", placed(store.Now+3_600_000)) // in the future
	first := k.join("first", placed(0))
	k.pass(time.Second)
	now := k.join("now")
	tie := k.join("tie")
	quick := k.join("quick", vip)
	cash := k.join("cash", inLane(order.Lane{Class: "cash", Group: "staff"}))
	plain := k.join("plain", inLane(order.Lane{Class: "cash", Group: ""}))
	longer := k.join("longer", inLane(order.Lane{Class: "cash2"}))
	bound := k.join("bound", inLane(order.Lane{Class: store.BoundTo(desk), K: 400}), placed(store.Now+1))
	upper := k.join("upper", inLane(order.Lane{Class: "CASH", K: 1}))
	k.join("elsewhere", inOther)
	k.join("tomorrow", func(t *store.Token) { t.Gen++ })
	k.join("not yet", func(t *store.Token) { t.State = dengxu.StateScheduled })
	want := frontOf(9,
		[]store.Token{quick}, []store.Token{first, now, tie, late}, []store.Token{bound}, []store.Token{upper},
		[]store.Token{plain}, []store.Token{cash}, []store.Token{longer},
	)
	same(k.t, "front", want, k.front(9))
	// Beside others of one question, in the order of the questions.
	v := k.view(store.Ask{
		Lines: []store.LineKey{line}, Tallies: []store.TallyKey{{Name: "a", Day: today}},
		Fronts: []store.FrontAsk{
			{Line: store.LineKey{Queue: other, Gen: today}, Most: 1}, {Line: line, Most: 2}, {Line: line, Most: 0}, {Line: line, Most: 9},
		},
		Ranks: []store.RankAsk{{Line: line, Member: late.Member()}},
	})
	elsewhere := k.token("elsewhere")
	two, none := want, want
	two.Lanes, none.Lanes = cut(want, 2), cut(want, 0)
	same(k.t, "fronts of one question", []store.FrontView{frontOf(1, []store.Token{elsewhere}), two, none, want}, v.Fronts)
	if len(v.Lines) != 1 || v.Lines[0].Counts[dengxu.StateWaiting] != 10 || len(v.Ranks) != 1 || len(v.Tallies) != 1 {
		k.t.Errorf("beside them: %+v", v)
	}
}

// cut is the lanes of a front with at most so many members named.
func cut(v store.FrontView, most int) []store.FrontLane {
	var lanes []store.FrontLane
	for _, l := range v.Lanes {
		l.Keys = l.Keys[:min(most, len(l.Keys))]
		lanes = append(lanes, l)
	}
	return lanes
}

func frontMost(k *kit) {
	var in, quick []store.Token
	for i := range 6 {
		in = append(in, k.join(dengxu.TokenID(fmt.Sprint("a", i))))
		quick = append(quick, k.join(dengxu.TokenID(fmt.Sprint("b", i)), vip))
		k.pass(time.Second)
	}
	in = in[:5]
	k.change(k.token("a5"), func(t *store.Token) { t.State = dengxu.StateHeld })
	for most := range 9 {
		same(k.t, fmt.Sprint("front of ", most), frontOf(most, quick, in), k.front(most))
	}
	for _, less := range []int{-1, math.MinInt} {
		same(k.t, fmt.Sprint("front of ", less), frontOf(0, quick, in), k.front(less))
	}
	for _, more := range []int{store.MaxFront, store.MaxFront + 1, math.MaxInt} {
		same(k.t, fmt.Sprint("front of ", more), frontOf(9, quick, in), k.front(more))
	}
}

func frontBounded(k *kit) {
	var all []store.Token
	for len(all) < store.MaxFront+3 {
		var some []store.Token
		for range min(store.MaxTokens, store.MaxFront+3-len(all)) {
			some = append(some, fresh(dengxu.TokenID(fmt.Sprint("t", len(all)+len(some)))))
		}
		all = append(all, k.commit(writing(some...)).Tokens...)
	}
	for _, most := range []int{store.MaxFront - 1, store.MaxFront, store.MaxFront + 1, math.MaxInt} {
		same(k.t, fmt.Sprint("front of ", most), frontOf(min(most, store.MaxFront), all), k.front(most))
	}
}

// frontShort has lanes of one, two and three members in turn.
func frontShort(k *kit) {
	var lanes [][]store.Token
	for i := range 9 {
		var in []store.Token
		for j := range 1 + i%3 {
			id := dengxu.TokenID(fmt.Sprint("t", i, "-", j))
			in = append(in, k.join(id, inLane(order.Lane{Group: "g", K: i * 40}), placed(store.Now+int64(j))))
		}
		lanes = append(lanes, in)
	}
	for most := range 5 {
		same(k.t, fmt.Sprint("front of ", most), frontOf(most, lanes...), k.front(most))
	}
}

func frontNobody(k *kit) {
	same(k.t, "front of an empty store", store.FrontView{}, k.front(9))
	t1 := k.join("t1")
	k.join("t2", inOther)
	k.change(t1, func(t *store.Token) { t.State = dengxu.StateCompleted })
	nobody := []store.LineKey{line, {Queue: "none", Gen: today}, {Queue: other, Gen: today + 1}, {Queue: other, Gen: -1}, {}}
	for _, key := range nobody {
		for _, most := range []int{0, 1, 9} {
			same(k.t, fmt.Sprintf("front of %v", key), store.FrontView{}, k.fronts(store.FrontAsk{Line: key, Most: most})[0])
		}
	}
}

func frontMoves(k *kit) {
	k.join("a")
	b, c, d := k.join("b"), k.join("c"), k.join("d", vip)
	r := k.commit(calling(1)) // takes a
	if ids(r.Tokens) != "a" {
		k.t.Fatalf("called %q", ids(r.Tokens))
	}
	same(k.t, "after a call", frontOf(9, []store.Token{d}, []store.Token{b, c}), k.front(9))
	b = k.change(b, placed(store.Now+5000))
	d = k.change(d, inLane(ordinary))
	a := k.change(r.Tokens[0], func(t *store.Token) { t.State, t.Counter, t.Place = dengxu.StateWaiting, "", 1 })
	same(k.t, "after moves", frontOf(9, []store.Token{a, c, d, b}), k.front(9))
	same(k.t, "cut", frontOf(3, []store.Token{a, c, d, b}), k.front(3))
}
