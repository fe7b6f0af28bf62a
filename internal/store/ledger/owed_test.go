package ledger_test

import (
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// shares is an ordering in which a call of vip costs 1 and one of ordinary 3.
func shares(day int) store.Ordering {
	return store.Ordering{Day: day, Rule: order.Rule{Discipline: order.Ratio, Groups: []order.Group{
		{Name: "vip", Share: 3}, {Name: "ordinary", Share: 1},
	}}}
}

func ofGroup(id dengxu.TokenID, arrival uint64, class, group string) store.Token {
	t := waits(id, arrival)
	t.Lane = order.Lane{Class: class, Group: group}
	return t
}

func pickOf(o store.Ordering, n int) store.Batch {
	b := store.Batch{Site: "north", Pick: calls(n)}
	b.Pick.Lines[0].Ordering = o
	return b
}

func owes(class, group string) string { return store.OwedTally("clinic", class, group) }

// TestOwed: a pick sets what is owed where that changes, and nothing else.
func TestOwed(t *testing.T) {
	t.Parallel()
	line := []store.Token{
		ofGroup("t1", 1, "", "ordinary"), ofGroup("t2", 2, "", "vip"), ofGroup("t3", 3, "", "vip"),
		ofGroup("t4", 4, "cash", "ordinary"), ofGroup("t5", 5, "@desk", "guest"),
	}
	day := func(n int64) ledger.Daily { return ledger.Daily{Day: 5, N: n} }
	for what, x := range map[string]struct {
		owed map[string]ledger.Daily
		pick store.Batch
		want map[string]ledger.Daily
	}{
		"a first call": {pick: pickOf(shares(5), 1), want: map[string]ledger.Daily{owes("", "ordinary"): day(3)}},
		"three calls": {pick: pickOf(shares(5), 3), want: map[string]ledger.Daily{
			owes("", "ordinary"): day(2), owes("", "vip"): day(1),
		}},
		"all calls": {pick: pickOf(shares(5), 9), want: map[string]ledger.Daily{
			owes("", "ordinary"): day(2), owes("", "vip"): day(1), owes("cash", "ordinary"): day(3), owes("@desk", "guest"): day(3),
		}},
		"a debt that grows and one that is paid": {
			owed: map[string]ledger.Daily{owes("", "ordinary"): day(1), owes("", "vip"): day(1)},
			pick: pickOf(shares(5), 1),
			want: map[string]ledger.Daily{owes("", "ordinary"): day(3), owes("", "vip"): day(0)},
		},
		"debts that stay as they are": {
			owed: map[string]ledger.Daily{owes("", "ordinary"): day(3), owes("", "vip"): day(0)},
			pick: pickOf(shares(5), 1),
			want: map[string]ledger.Daily{owes("", "vip"): day(1)},
		},
		"a debt of a group that nobody is in": {
			owed: map[string]ledger.Daily{owes("cash", "vip"): day(1), owes("cash", "ordinary"): day(1)},
			pick: func() store.Batch {
				b := pickOf(shares(5), 1)
				b.Pick.Lines[0].Classes, b.Pick.Counter = []string{"cash"}, "other"
				return b
			}(),
			want: map[string]ledger.Daily{owes("cash", "vip"): day(0), owes("cash", "ordinary"): day(3)},
		},
		"debts of the day before": {
			owed: map[string]ledger.Daily{owes("", "ordinary"): {Day: 4, N: 3}, owes("", "vip"): {Day: 4, N: 1}},
			pick: pickOf(shares(5), 1), want: map[string]ledger.Daily{owes("", "ordinary"): day(3)},
		},
		"debts of the day after": {
			owed: map[string]ledger.Daily{owes("", "ordinary"): {Day: 6, N: 3}, owes("", "vip"): {Day: 4, N: 1}},
			pick: pickOf(shares(5), 2), want: map[string]ledger.Daily{owes("", "vip"): day(1)},
		},
		"another ordering": {
			owed: map[string]ledger.Daily{owes("", "ordinary"): day(3)},
			pick: pickOf(store.Ordering{Day: 5, Rule: order.Rule{Discipline: order.Strict}}, 9),
		},
	} {
		e := apply(t, &world{records: line, tallies: x.owed}, x.pick)
		wantDiff(t, what, x.want, mapOf(e.Tallies))
	}
}

// TestOwedByOneAndBySeveral: it is all the same whether tokens are called one
// by one or several at once. That is promised for groups that the rule names: of
// the others only those are known that somebody waits in.
func TestOwedByOneAndBySeveral(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		one, several := &world{tallies: map[string]ledger.Daily{}}, &world{tallies: map[string]ledger.Daily{}}
		for i := range rapid.IntRange(1, 14).Draw(t, "tokens") {
			class := rapid.SampledFrom([]string{"", "cash", "@desk"}).Draw(t, "class")
			group := rapid.SampledFrom([]string{"vip", "ordinary"}).Draw(t, "group")
			one.records = append(one.records, ofGroup(dengxu.TokenID(fmt.Sprint("t", i)), uint64(i+1), class, group))
		}
		several.records = append(several.records, one.records...)
		for range 3 {
			n := rapid.IntRange(1, 6).Draw(t, "calls")
			e := several.commit(t, pickOf(shares(5), n))
			for i := range n {
				alone := one.commit(t, pickOf(shares(5), 1))
				if i < e.Picked && (alone.Picked != 1 || alone.Tokens[0].ID != e.Tokens[i].ID) {
					t.Fatalf("call %d of %d is of another token", i+1, n)
				}
			}
			for name, owed := range one.tallies {
				if several.tallies[name].On(5) != owed.On(5) {
					t.Fatalf("after %d calls %q is %+v, one by one %+v", n, name, several.tallies[name], owed)
				}
			}
		}
	})
}

// mapOf is counts by their names, nil when there are none.
func mapOf(counts ledger.Counts[string]) map[string]ledger.Daily {
	var m map[string]ledger.Daily
	for _, c := range counts {
		if m == nil {
			m = make(map[string]ledger.Daily)
		}
		m[c.Key] = c.Daily
	}
	return m
}

// commit applies a batch and carries out what matters here.
func (w *world) commit(t *rapid.T, b store.Batch) *ledger.Effects {
	e, err := ledger.Apply(w, meta, 0, &b, now)
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(w.tallies, mapOf(e.Tallies))
	for _, c := range e.Tokens {
		for i := range w.records {
			if w.records[i].ID == c.ID {
				w.records[i] = c
			}
		}
	}
	return e
}

// TestRanksReadDebts: a rank and a place go by the debts of the day.
func TestRanksReadDebts(t *testing.T) {
	t.Parallel()
	w := &world{records: []store.Token{ofGroup("t1", 1, "", "ordinary"), ofGroup("t2", 2, "", "vip"), ofGroup("t3", 3, "", "vip")}}
	ask := store.RankAsk{Line: clinic, Ordering: shares(5), Member: w.records[0].Member()}
	after := store.AfterAsk{Line: clinic, Ordering: shares(5), Member: w.records[0].Member(), N: 1}
	for _, x := range []struct {
		owed   ledger.Daily
		rank   int
		behind int
	}{{ledger.Daily{}, 0, 1}, {ledger.Daily{Day: 5, N: 1}, 1, 1}, {ledger.Daily{Day: 5, N: 3}, 2, 2}, {ledger.Daily{Day: 4, N: 3}, 0, 1}} {
		w.tallies = map[string]ledger.Daily{owes("", "ordinary"): x.owed}
		if got := ledger.Rank(now, w, &ask); got != x.rank {
			t.Errorf("owing %+v the rank is %d, want %d", x.owed, got, x.rank)
		}
		if got := ledger.After(now, w, &after); got.Rank != x.behind {
			t.Errorf("owing %+v behind the first is %+v, want rank %d", x.owed, got, x.behind)
		}
	}
}

func TestOwedIsNotAdded(t *testing.T) {
	t.Parallel()
	b := store.Batch{Site: "north", Tallies: []store.TallyAdd{{Key: store.TallyKey{Name: owes("", "vip"), Day: 5}, N: 1}}}
	if e, err := ledger.Apply(&world{}, meta, 0, &b, now); err == nil {
		t.Errorf("a batch that adds to what is owed: %+v", e.Tallies)
	}
	b = pickOf(shares(5), 1)
	b.Pick.Lines = append(b.Pick.Lines, b.Pick.Lines[0])
	b.Pick.Lines[1].Line.Gen++
	if _, err := ledger.Apply(&world{}, meta, 0, &b, now); err == nil {
		t.Error("a pick from two lines that owe in the same tallies")
	}
	b.Pick.Lines[0].Ordering, b.Pick.Lines[1].Ordering = store.Ordering{}, store.Ordering{}
	if _, err := ledger.Apply(&world{}, meta, 0, &b, now); err != nil {
		t.Errorf("a pick from two generations of a queue: %v", err)
	}
}
