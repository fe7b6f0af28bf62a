package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// audited feeds two sound tokens, their events and counts, after spoil has
// changed one thing, and returns the kinds of what is found.
func audited(spoil func(a, b *store.Token, log []store.Event, counts map[string]int64)) []string {
	a := &store.Token{
		ID: "token-a-0001", Site: "main", Queue: "clinic", Gen: 7, Prefix: "A", Number: 1, Arrival: 1, Seq: 1,
		State: dengxu.StateWaiting, Version: 1, Business: "ann", Unique: true,
	}
	b := &store.Token{
		ID: "token-b-0002", Site: "main", Queue: "clinic", Gen: 7, Prefix: "A", Number: 2, Arrival: 2, Seq: 2,
		State: dengxu.StateCalling, Counter: "1", Version: 2, Business: "bob", Unique: true,
	}
	log := []store.Event{
		{Number: 4, Type: dengxu.EventDayStarted, Site: "main"},
		{Number: 5, Type: dengxu.EventJoined, Token: a.ID, Site: "main", Queue: "clinic", Version: 1},
		{Number: 6, Type: dengxu.EventJoined, Token: b.ID, Site: "main", Queue: "clinic", Version: 1},
		{Number: 7, Type: dengxu.EventCalled, Token: b.ID, Queue: "clinic", Version: 2},
	}
	counts := map[string]int64{"series": 2, "joins": 2, "owed": 3, "arrival": 2, "event": 7}
	spoil(a, b, log, counts)
	x := store.Auditor{Engine: true}
	x.Token(a, false)
	x.Token(b, false)
	x.SeriesCount("main", "A", 7, counts["series"])
	for i := range log {
		x.Event(&log[i])
	}
	x.TallyCount(store.JoinsTally("clinic"), counts["joins"])
	x.TallyCount(store.OwedTally("clinic", "cash", "vip"), counts["owed"])
	x.Numbers(uint64(counts["arrival"]), uint64(counts["event"]))
	var kinds []string
	for _, f := range x.Findings() {
		kinds = append(kinds, f.Kind)
	}
	return kinds
}

func TestAuditor(t *testing.T) {
	t.Parallel()
	type spoiler = func(a, b *store.Token, log []store.Event, counts map[string]int64)
	for name, x := range map[string]struct {
		spoil spoiler
		want  []string
	}{
		"sound":            {func(_, _ *store.Token, _ []store.Event, _ map[string]int64) {}, nil},
		"mark held twice":  {func(a, b *store.Token, _ []store.Event, _ map[string]int64) { b.Business = a.Business }, []string{"holders"}},
		"seq given twice":  {func(a, b *store.Token, _ []store.Event, _ map[string]int64) { b.Seq = a.Seq }, []string{"lanes"}},
		"called nowhere":   {func(_, b *store.Token, _ []store.Event, _ map[string]int64) { b.Counter = "" }, []string{"counters"}},
		"version unheard":  {func(a, _ *store.Token, _ []store.Event, _ map[string]int64) { a.Version = 2 }, []string{"versions"}},
		"version too low":  {func(_, b *store.Token, _ []store.Event, _ map[string]int64) { b.Version = 1 }, []string{"versions"}},
		"gap in the log":   {func(_, _ *store.Token, log []store.Event, c map[string]int64) { log[3].Number, c["event"] = 8, 8 }, []string{"events"}},
		"log too short":    {func(_, _ *store.Token, _ []store.Event, c map[string]int64) { c["event"] = 8 }, []string{"events"}},
		"seq never given":  {func(_, _ *store.Token, _ []store.Event, c map[string]int64) { c["arrival"] = 1 }, []string{"arrivals"}},
		"number not given": {func(_, _ *store.Token, _ []store.Event, c map[string]int64) { c["series"] = 1 }, []string{"series"}},
		"joins uncounted":  {func(_, _ *store.Token, _ []store.Event, c map[string]int64) { c["joins"] = 1 }, []string{"tallies"}},
		"owed too little":  {func(_, _ *store.Token, _ []store.Event, c map[string]int64) { c["owed"] = -1 }, []string{"tallies"}},
		"owed too much":    {func(_, _ *store.Token, _ []store.Event, c map[string]int64) { c["owed"] = 232_792_561 }, []string{"tallies"}},
		"owed the most":    {func(_, _ *store.Token, _ []store.Event, c map[string]int64) { c["owed"] = 232_792_560 }, nil},
		"two orderings":    {func(a, _ *store.Token, _ []store.Event, _ map[string]int64) { a.Lane = order.Lane{Group: "vip", K: 20} }, []string{"lanes"}},
		"token unknown":    {func(_, _ *store.Token, log []store.Event, _ map[string]int64) { log[1].Token = "token-c-0003" }, []string{"versions"}},
		"state unknown":    {func(a, _ *store.Token, _ []store.Event, _ map[string]int64) { a.State = "gone" }, []string{"records"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(x.want, audited(x.spoil)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
