package order_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/dengxu/dengxu/internal/order"
)

func TestSharesMakeARound(t *testing.T) {
	t.Parallel()
	all := make([]order.Group, 20)
	for i := range all {
		all[i].Share = i + 1
	}
	for _, c := range []struct {
		groups []order.Group
		round  int64
		refuse string // what the error names
	}{
		{nil, 1, ""},
		{[]order.Group{{Share: 1}, {Share: 1}}, 1, ""},
		{[]order.Group{{Share: 4}, {Share: 6}, {Share: 10}}, 60, ""},
		{all, 232_792_560, ""}, // the most there can be
		{[]order.Group{{Name: "vip", Share: 1}, {Name: "elder"}}, 0, `0 of group "elder"`},
		{[]order.Group{{Name: "vip", Share: 21}}, 0, `21 of group "vip"`},
		{[]order.Group{{Name: "vip", Share: -3}}, 0, `-3 of group "vip"`},
	} {
		round, err := order.Shares(c.groups)
		if round != c.round || (err != nil) != (c.refuse != "") {
			t.Errorf("%v: %d, %v, want %d", c.groups, round, err, c.round)
		}
		if err != nil && !strings.Contains(err.Error(), c.refuse) {
			t.Errorf("%v: error %q does not say %q", c.groups, err, c.refuse)
		}
	}
}

// A rule that nobody checked must not divide by zero or call for ever.
func TestSharesThatWereNotCheckedCountAsAllowed(t *testing.T) {
	t.Parallel()
	rule := order.Rule{Discipline: order.Ratio, Groups: []order.Group{{Name: "none"}, {Name: "less", Share: -1}, {Name: "many", Share: 1000}}}
	line := order.Line{Rule: rule, Index: newIndex(member("", "none", 1, 1), member("", "less", 2, 2), member("", "many", 3, 3))}
	want := map[string]int64{"none": 20, "less": 0, "many": 0}
	got := order.Pick(9, []order.Line{line}, order.Oldest, 1, 0)
	if len(got) != 1 || !maps.Equal(got[0].Debts, want) {
		t.Errorf("got %+v, want debts %v", got, want)
	}
}

func member(class, group string, place int64, seq uint64) order.Member {
	return order.Member{Lane: order.Lane{Class: class, Group: group}, Key: order.Key{Place: place, Seq: seq}}
}

// calls names the seqs in the order in which one counter calls them.
func calls(now int64, line order.Line) []uint64 {
	var seqs []uint64
	for _, c := range order.Pick(now, []order.Line{line}, order.Oldest, 100, 0) {
		seqs = append(seqs, c.Member.Key.Seq)
	}
	return seqs
}

// The examples that people are told.
func TestOrderOfGroupsByExample(t *testing.T) {
	t.Parallel()
	ranks := []order.Group{{Name: "vip", Rank: 0}, {Name: "card", Rank: 1}, {Name: "gold", Rank: 1}, {Name: "ordinary", Rank: 2}}
	shares := []order.Group{{Name: "vip", Share: 2}, {Name: "ordinary", Share: 1}}
	for _, c := range []struct {
		name    string
		rule    order.Rule
		debts   order.Debts
		members []order.Member
		want    []uint64
	}{
		{
			"better tiers first, equal ranks are one tier, an undeclared group is with the last",
			order.Rule{Discipline: order.Strict, Escalate: 500, Groups: ranks},
			nil,
			[]order.Member{
				member("", "ordinary", 700, 1), member("", "unknown", 690, 2), member("", "gold", 800, 3),
				member("", "card", 810, 4), member("", "gold", 820, 5), member("", "vip", 1000, 6), member("", "vip", 1001, 7),
			},
			[]uint64{6, 3, 4, 5, 2, 1, 7},
		},
		{
			"the overdue first, by place, on the millisecond",
			order.Rule{Discipline: order.Strict, Escalate: 500, Groups: ranks},
			nil,
			[]order.Member{member("", "ordinary", 501, 1), member("", "ordinary", 500, 3), member("", "card", 500, 2), member("", "vip", 600, 4)},
			[]uint64{2, 3, 4, 1},
		},
		{
			"two of one group, one of the other",
			order.Rule{Discipline: order.Ratio, Groups: shares},
			nil,
			[]order.Member{
				member("", "ordinary", 1, 1), member("", "ordinary", 2, 2), member("", "ordinary", 3, 3),
				member("", "vip", 4, 4), member("", "vip", 5, 5), member("", "vip", 6, 6), member("", "vip", 7, 7),
			},
			[]uint64{1, 4, 5, 2, 6, 7, 3},
		},
		{
			"who was called last owes, and the future owes nothing",
			order.Rule{Discipline: order.Ratio, Groups: shares},
			order.Debts{"": {"ordinary": 2, "vip": 99}},
			[]order.Member{member("", "ordinary", 1, 1), member("", "vip", 4, 4), member("", "vip", 1001, 5)},
			[]uint64{4, 1, 5},
		},
		{
			"each class has debts of its own, and the older winner goes first",
			order.Rule{Discipline: order.Ratio, Groups: shares},
			order.Debts{"a": {"ordinary": 2}},
			[]order.Member{member("a", "ordinary", 1, 1), member("a", "vip", 5, 5), member("b", "ordinary", 3, 3), member("b", "vip", 7, 7)},
			[]uint64{3, 5, 1, 7},
		},
	} {
		line := order.Line{Rule: c.rule, Debts: c.debts, Index: newIndex(c.members...)}
		got := calls(1000, line)
		if len(got) != len(c.want) {
			t.Errorf("%s: %d calls", c.name, len(got))
		}
		for i, seq := range got {
			if seq != c.want[i] {
				t.Errorf("%s: got %v, want %v", c.name, got, c.want)
				break
			}
			for _, m := range c.members {
				if rank := order.Rank(1000, m, line); m.Key.Seq == seq && rank != i {
					t.Errorf("%s: rank of seq %d is %d, but it is called as %d", c.name, seq, rank, i)
				}
			}
		}
	}
}

// Where nobody can be placed, the answer says the rank that was reached.
func TestAfterInStrictAndRatioByExample(t *testing.T) {
	t.Parallel()
	const now = 1_000_000
	strict := order.Rule{Discipline: order.Strict, Escalate: 5000, Groups: []order.Group{{Name: "vip"}, {Name: "ordinary", Rank: 1}}}
	ratio := order.Rule{Discipline: order.Ratio, Groups: []order.Group{{Name: "vip", Share: 1}, {Name: "ordinary", Share: 1}}}
	vips := []order.Member{member("", "vip", now-30, 1), member("", "vip", now-20, 2)}
	late := append([]order.Member{member("", "ordinary", now-6000, 3)}, vips...)
	mixed := append([]order.Member{member("", "ordinary", now-10, 3)}, vips...)
	for _, c := range []struct {
		name  string
		rule  order.Rule
		group string
		line  []order.Member
		n     int
		want  order.Placed
	}{
		{"strict, inside a better tier", strict, "ordinary", vips, 1, order.Placed{Place: now - 30, Rank: 2}},
		{"strict, before a better tier by being overdue", strict, "ordinary", vips, 0, order.Placed{Place: now - 5000}},
		{"strict, behind a worse one", strict, "vip", mixed, 3, order.Placed{Place: now, Rank: 2}},
		{"strict, first among equals", strict, "vip", vips, 0, order.Placed{Place: now - 31}},
		{"strict, behind one of equals", strict, "vip", vips, 1, order.Placed{Place: now - 30, Rank: 1}},
		{"strict, behind the overdue", strict, "vip", late, 1, order.Placed{Place: now - 6000, Rank: 1}},
		{"ratio, only where the group has its turn", ratio, "ordinary", vips, 2, order.Placed{Place: now, Rank: 1}},
		{"ratio, the next turn", ratio, "ordinary", mixed, 2, order.Placed{Place: now - 10, Rank: 3}},
		{"a future one", ratio, "vip", []order.Member{member("", "vip", now+5, 1)}, 1, order.Placed{Place: now + 5, Rank: 1}},
		{"before a future one", strict, "vip", []order.Member{member("", "vip", now+5, 1)}, 0, order.Placed{Place: now}},
		{"more than stand", strict, "ordinary", mixed, 7, order.Placed{Place: now, Rank: 3}},
	} {
		x := member("", c.group, now, 9)
		got := order.After(now, x, c.n, order.Line{Rule: c.rule, Index: newIndex(c.line...)}, 0, 0)
		if got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// A ratio line asks a few times a lane, however long it is.
func TestRatioAsksByLanes(t *testing.T) {
	t.Parallel()
	for _, each := range []int{30, 3000} {
		line, all := longRule(order.Ratio, 12, each)
		index := line.Index.(*sliceIndex)
		most := 0
		for i := range 50 {
			index.asked = 0
			order.Rank(longNow, all[i*7%len(all)], line)
			most = max(most, index.asked)
		}
		if most > 12*4 {
			t.Errorf("lanes of %d: a rank asked %d times", each, most)
		}
		index.asked = 0
		order.After(longNow, all[0], len(all)/2, line, 0, 0)
		if index.asked > 2*37*12*3+40*24 {
			t.Errorf("lanes of %d: After asked %d times", each, index.asked)
		}
	}
}
