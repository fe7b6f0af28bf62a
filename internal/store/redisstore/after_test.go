package redisstore_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/memstore"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

const afterDay = 20_514

// longLine is a line whose lanes are longer than what a store reads of them.
type longLine struct {
	ordering store.Ordering
	key      store.LineKey
	tokens   []store.Token
	owed     []store.Row
}

func newLongLine(r *rand.Rand, queue dengxu.QueueID, now int64) longLine {
	l := longLine{key: store.LineKey{Queue: queue, Gen: afterDay}, ordering: store.Ordering{Day: afterDay}}
	l.ordering.Discipline = []order.Discipline{order.Aging, order.Epoch, order.Strict, order.Ratio}[r.IntN(4)]
	unit := []int64{1, 2, 7, 1000, 60_000, 1 << 31}[r.IntN(6)]
	groups := []string{"", "vip", "old", "other"}
	if d := l.ordering.Discipline; d == order.Strict || d == order.Ratio {
		l.ordering.Escalate = r.Int64N(20*unit + 2)
		for _, g := range groups[:3] {
			l.ordering.Groups = append(l.ordering.Groups, order.Group{Name: g, Rank: r.IntN(3), Share: 1 + r.IntN(6)})
			if r.IntN(2) == 0 {
				l.owed = append(l.owed, store.Row{Kind: store.RowTally, Count: &store.Count{
					Name: store.OwedTally(queue, "", g), Day: afterDay - r.IntN(2), N: r.Int64N(20),
				}})
			}
		}
	}
	spread := []int64{1, 3, 10, 100}[r.IntN(4)] // few places make many ties
	for range 20 + r.IntN(150) {
		place := max(0, now-r.Int64N(spread)*unit)
		switch {
		case r.IntN(20) == 0:
			place = now + r.Int64N(3)
		case r.IntN(20) == 0:
			place = now - l.ordering.Escalate - r.Int64N(2)
		}
		var lane order.Lane
		switch l.ordering.Discipline {
		case order.Aging:
			lane.K = []int{1, 10, 20, 399, 400}[r.IntN(5)]
		case order.Strict, order.Ratio:
			lane.Group = groups[r.IntN(len(groups))]
		case order.Epoch:
		}
		l.add(lane, place)
	}
	return l
}

func (l *longLine) add(lane order.Lane, place int64) {
	l.tokens = append(l.tokens, store.Token{
		ID: dengxu.TokenID(fmt.Sprint(l.key.Queue, "-", len(l.tokens))), Site: "north", Queue: l.key.Queue, Gen: l.key.Gen,
		State: dengxu.StateWaiting, Version: 1, Since: store.Now, JoinedAt: store.Now, Place: place, Lane: lane, Factor: 1000,
	})
}

// asks are about some that stand there, and some that do not.
func (l *longLine) asks(r *rand.Rand, now int64) (asks []store.AfterAsk) {
	for range 30 {
		m := l.tokens[r.IntN(len(l.tokens))].Member()
		if r.IntN(4) == 0 {
			m.Lane = l.tokens[r.IntN(len(l.tokens))].Lane
		}
		asks = append(asks, store.AfterAsk{
			Line: l.key, Ordering: l.ordering, Member: m, N: []int{0, 1, 2, 3, 5, 8, 20, 60, 1000}[r.IntN(9)],
			DayStart: now - 3_600_000, Factor: 700,
		})
	}
	return asks
}

// join brings the line into a store, and what its groups owe, and returns the
// tokens as they stand there.
func (l *longLine) join(t *testing.T, s store.Store) (stand []store.Token) {
	t.Helper()
	if err := s.Load(t.Context(), 0, l.owed); err != nil {
		t.Fatal(err)
	}
	for from := 0; from < len(l.tokens); from += store.MaxTokens {
		b := store.Batch{Site: "north"}
		for _, token := range l.tokens[from:min(from+store.MaxTokens, len(l.tokens))] {
			b.Tokens = append(b.Tokens, store.TokenWrite{Token: token})
		}
		res, err := s.Commit(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		stand = append(stand, res.Tokens...)
	}
	return stand
}

// ancient is a line of many who are older than After looks back, and one of now.
func ancient(now int64) (l longLine) {
	l = longLine{key: store.LineKey{Queue: "ancient", Gen: afterDay}, ordering: store.Ordering{Day: afterDay}}
	l.ordering.Rule = order.Rule{Discipline: order.Strict, Escalate: 3_600_000}
	for i := range 31 {
		l.add(order.Lane{}, now-1<<36+int64(i))
	}
	l.tokens[30].Place = now - 5
	return l
}

// near is a line of many who are called within a millisecond of a fast one.
func near(now int64) (l longLine) {
	l = longLine{key: store.LineKey{Queue: "near", Gen: afterDay}}
	for i := range 50 {
		l.add(order.Lane{K: []int{400, 400, 400, 400, 1}[i%5]}, now-int64(i))
	}
	return l
}

// TestAfterInLongLines: behind the n-th is the same place, with the same rank, as
// in a store that knows the whole line.
func TestAfterInLongLines(t *testing.T) {
	t.Parallel()
	lines := 150
	if storetest.Torture() {
		lines = 2_000
	}
	clock := storetest.NewClock()
	now := clock.Now()
	model, subject := memstore.New(memstore.Options{Wall: clock.Wall, Mono: clock.Mono}), open(t, clock)
	defer func() {
		if err := subject.Close(); err != nil {
			t.Error(err)
		}
	}()
	for seed := range lines {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		l := newLongLine(r, dengxu.QueueID(fmt.Sprint("q", seed)), now)
		switch seed {
		case 0:
			l = ancient(now)
		case 1:
			l = near(now)
		}
		l.join(t, subject)
		l.tokens = l.join(t, model)
		for _, ask := range l.asks(r, now) {
			// Alone, for one that needs more has all of an Ask asked again.
			a := store.Ask{Afters: []store.AfterAsk{ask}}
			want, err := model.View(t.Context(), a)
			if err != nil {
				t.Fatal(err)
			}
			got, err := subject.View(t.Context(), a)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Afters, got.Afters); diff != "" {
				t.Fatalf("seed %d: behind %d of %+v, member %+v (-memstore +redis):\n%s", seed, ask.N, l.ordering, ask.Member, diff)
			}
		}
	}
}
