package redisstore

import (
	"fmt"
	"testing"

	"github.com/dengxu/dengxu/internal/order"
)

// row is a line whose lanes have each members, one a second.
func row(each int, lanes ...order.Lane) *laneIndex {
	x := newLaneIndex("q", 1)
	for i := range each {
		for j, lane := range lanes {
			seq := uint64(i*len(lanes) + j + 1)
			x.add(order.Member{Lane: lane, Key: order.Key{Place: 1_000_000 + int64(seq)*1000, Seq: seq}}, "id"+decimal(seq))
		}
	}
	return x
}

// nth is the i-th member of a lane, from 0.
func (x *laneIndex) nth(l order.Lane, i int) order.Member {
	return order.Member{Lane: l, Key: x.keys[l][i]}
}

// What the common questions cost. Another line stands behind each of these.
func TestOrderAsksLittle(t *testing.T) {
	t.Parallel()
	rig := newOrderRig(t)
	ordinary := order.Lane{K: 20}
	var twelve, paces, bound []order.Lane
	for i := range 12 {
		twelve = append(twelve, order.Lane{Class: decimal(10 + i), K: 20})
		paces = append(paces, order.Lane{K: 10 + i})
	}
	for i := range 50 {
		bound = append(bound, order.Lane{Class: fmt.Sprintf("@%d", i), K: 20})
	}
	general := order.Lane{Class: "general", K: 20}
	long, short, wide, mixed := row(1000, ordinary), row(1, ordinary), row(300, twelve...), row(300, paces...)
	var grouped, classed []order.Lane
	for i := range 12 {
		grouped = append(grouped, order.Lane{Group: caseGroups[i%4] + decimal(i)})
		classed = append(classed, order.Lane{Class: decimal(i % 6), Group: caseGroups[i/6]})
	}
	tiers, classes := row(300, grouped...), row(300, classed...)
	strict := order.Rule{Discipline: order.Strict, Escalate: 1 << 39, Groups: []order.Group{{Name: "0", Rank: 1}, {Name: "g1"}}}
	ratio := order.Rule{Discipline: order.Ratio, Groups: []order.Group{{Name: "0", Share: 3}, {Name: "g", Share: 2}}}
	halls := row(20, append(bound, general, order.Lane{Class: "special", K: 20})...)
	pick := func(n int, exclude uint64) func(*orderCase) question {
		return func(c *orderCase) question { return c.askPick(order.Oldest, n, exclude) }
	}
	rank := func(i, known int) func(*orderCase) question {
		return func(c *orderCase) question { return c.askRank(0, long.nth(ordinary, i))[known] }
	}
	rankOf := func(x *laneIndex, l order.Lane) func(*orderCase) question {
		return func(c *orderCase) question { return c.askRank(0, x.nth(l, 150))[0] }
	}
	for _, q := range []struct {
		name                   string
		spec                   order.Line
		ask                    func(*orderCase) question
		zranges, zcounts, read int // at most
	}{
		{"one of nobody", order.Line{Index: newLaneIndex("q", 1)}, pick(1, 0), 1, 0, 2},
		{"one of one", order.Line{Index: short, Bound: "@1"}, pick(1, 0), 1, 0, 2},
		{"one of a lane", order.Line{Index: long, Bound: "@1"}, pick(1, 0), 2, 0, 4},
		{"one of a class", order.Line{Index: long, Bound: "@1", Classes: []string{""}}, pick(1, 0), 2, 0, 4},
		{"one without the first", order.Line{Index: long}, pick(1, 1), 2, 0, 5},
		{"twenty of a lane", order.Line{Index: long}, pick(20, 0), 2, 0, 23},
		{"hundred of a lane without one", order.Line{Index: long}, pick(100, 50), 2, 0, 104},
		{"one of twelve lanes", order.Line{Index: wide}, pick(1, 0), 13, 11, 26},
		{"hundred of twelve lanes", order.Line{Index: wide}, pick(100, 0), 35, 0, 257},
		{"hundred of twelve paces", order.Line{Index: mixed}, pick(100, 0), 13, 11 * 100, 125},
		{"one past bound lanes", order.Line{Index: halls, Bound: "@7", Classes: []string{"general"}}, pick(1, 0), 4, 1, 8},
		{"one of all past bound lanes", order.Line{Index: halls, Bound: "@7"}, pick(1, 0), 6, 2, 12},
		{"first of a lane", order.Line{Index: long}, rank(0, 0), 2, 0, 2},
		{"rank in a lane", order.Line{Index: long}, rank(500, 0), 2, 1, 2},
		{"one of twelve tiers", order.Line{Index: tiers, Rule: strict}, pick(1, 0), 13, 11, 26},
		{"one of twelve shares", order.Line{Index: tiers, Rule: ratio}, pick(1, 0), 13, 11, 26},
		{"hundred of twelve shares", order.Line{Index: tiers, Rule: ratio}, pick(100, 0), 35, 200, 257},
		{"rank in twelve tiers", order.Line{Index: tiers, Rule: strict}, rankOf(tiers, grouped[1]), 13, 12, 13},
		{"rank in twelve shares", order.Line{Index: tiers, Rule: ratio}, rankOf(tiers, grouped[1]), 13, 1 + 2*11, 13},
		{"rank in six classes of two", order.Line{Index: classes, Rule: ratio}, rankOf(classes, classed[1]), 13 + 10, 1 + 3 + 3*10, 13 + 1 + 10},
		{"rank in a known lane", order.Line{Index: long}, rank(500, 1), 0, 1, 0},
	} {
		behind := newLaneIndex("q", 2)
		behind.add(order.Member{Lane: ordinary, Key: order.Key{Place: 1, Seq: 1 << 40}}, "x")
		behind.add(order.Member{Lane: ordinary, Key: order.Key{Place: 2, Seq: 1 << 41}}, "y")
		c := &orderCase{now: 1 << 40, lines: []*laneIndex{q.spec.Index.(*laneIndex), behind}, specs: []order.Line{q.spec}}
		ask := q.ask(c)
		got := rig.run([]*orderCase{c}, [][]question{{ask}})[0][0]
		if diff := ask.diff(got); diff != "" {
			t.Errorf("%s (-go +lua):\n%s", q.name, diff)
		}
		t.Logf("%s: %d zranges, %d zcounts, %d members read", q.name, got.zranges, got.zcounts, got.read)
		if got.zranges > q.zranges || got.zcounts > q.zcounts || got.read > q.read {
			t.Errorf("%s: %d zranges, %d zcounts, %d members read; want at most %d, %d, %d",
				q.name, got.zranges, got.zcounts, got.read, q.zranges, q.zcounts, q.read)
		}
	}
}
