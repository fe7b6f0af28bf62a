package memstore

import (
	"fmt"
	"testing"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// benchGroups are the groups of the benchmarks' lines.
var benchGroups = []order.Group{{Name: "vip", Share: 3}, {Name: "staff", Rank: 1, Share: 2}, {Name: "ordinary", Rank: 1, Share: 1}}

// benchDay is a line in which tokens join and are called, as a simulated day
// does it.
type benchDay struct {
	b        *testing.B
	s        *Store
	ordering store.Ordering
	n        int
	last     *store.Token // that the counter serves
}

func (d *benchDay) commit(batch store.Batch) store.Result {
	batch.Site = "north"
	r, err := d.s.Commit(d.b.Context(), batch)
	if err != nil {
		d.b.Fatal(err)
	}
	return r
}

func (d *benchDay) join() {
	d.n++
	group := benchGroups[d.n%len(benchGroups)].Name
	lane := order.Lane{Group: group}
	if d.ordering.Discipline == order.Aging {
		lane = order.Lane{K: 10 + d.n%3*5}
	}
	line := store.LineKey{Queue: "clinic", Gen: 1}
	business := fmt.Sprint("customer-", d.n)
	joins := store.TallyKey{Name: store.JoinsTally("clinic"), Day: 1}
	d.commit(store.Batch{
		Expect: []store.Expectation{
			store.HolderFree{Holder: store.HolderKey{Line: line, Business: business}},
			store.CountBelow{Line: line, States: []dengxu.State{dengxu.StateWaiting, dengxu.StateScheduled}, Max: 1 << 20},
		},
		Tokens: []store.TokenWrite{{Token: store.Token{
			ID: dengxu.TokenID(fmt.Sprint("t", d.n)), Site: "north", Queue: "clinic", Gen: 1, State: dengxu.StateWaiting, Version: 1,
			Group: group, Lane: lane, Business: business, Unique: true, Prefix: "A", Width: 3,
			Place: store.Now, Since: store.Now, JoinedAt: store.Now, Factor: 1000,
		}, Series: &store.Series{Name: "A", Day: 1, First: 1}}},
		Tallies: []store.TallyAdd{{Key: joins, N: 1}},
		Events:  []store.EventSpec{{Type: dengxu.EventJoined, Token: 1}},
	})
}

// next completes what the counter serves and calls the first of the line.
func (d *benchDay) next() {
	b := store.Batch{Pick: &store.Pick{
		Lines: []store.PickLine{{Line: store.LineKey{Queue: "clinic", Gen: 1}, Ordering: d.ordering}}, Max: 1, State: dengxu.StateCalling,
		Counter: "desk", Due: store.Now + 300_000, Event: dengxu.EventCalled,
	}}
	if d.last != nil {
		t := *d.last
		t.Version++
		t.CloseSpan(store.Now, dengxu.VerbComplete, "desk")
		t.State, t.Due, t.EndedAt = dengxu.StateCompleted, 0, store.Now
		b.Tokens = []store.TokenWrite{{Token: t}}
		b.Events = []store.EventSpec{{Type: dengxu.EventCompleted, Token: 1}}
		b.Marks = []store.MarkWrite{{MarkKey: store.MarkKey{Queue: "clinic", Business: t.Business}, At: store.Now, Keep: 3_600_000}}
	}
	r := d.commit(b)
	d.last = &r.Tokens[len(r.Tokens)-1]
}

// BenchmarkDay is one join and one call with what ended before it, in lines of
// some hundred and some thousand tokens.
func BenchmarkDay(b *testing.B) {
	for name, d := range map[string]order.Discipline{"aging": order.Aging, "strict": order.Strict, "ratio": order.Ratio} {
		for _, waiting := range []int{300, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", name, waiting), func(b *testing.B) {
				day := &benchDay{b: b, s: New(Options{}), ordering: store.Ordering{Day: 1, Rule: order.Rule{
					Discipline: d, Escalate: 3_600_000, Groups: benchGroups,
				}}}
				for range waiting {
					day.join()
				}
				b.ReportAllocs()
				for b.Loop() {
					day.join()
					day.next()
				}
			})
		}
	}
}
