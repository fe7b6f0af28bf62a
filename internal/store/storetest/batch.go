package storetest

import (
	"fmt"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// A batch is written whole or not at all, and malformed ones never.
var batchExamples = []example{
	{"nothing of a refused batch is written", batchWhole},
	{"an empty batch does nothing", batchEmpty},
	{"malformed batches are plain errors", batchMalformed},
	{"a batch touches a hundred tokens", batchLarge},
}

func batchWhole(k *kit) {
	t1 := k.join("t1")
	before := k.whole()
	b := writing(
		fresh("t2", func(t *store.Token) { t.Business, t.Unique = "ann", true }),
		changed(t1, func(t *store.Token) { t.Version = 7 }))
	b.Tokens[0].Series = &store.Series{Name: "A", Day: today, First: 1}
	b.Docs = []store.DocWrite{{Doc: store.Doc{Key: store.DocKey{Kind: store.DocQueue, ID: "clinic"}, Body: []byte("{}")}}}
	b.Tallies = []store.TallyAdd{{Key: store.TallyKey{Name: "joins", Day: today}, N: 1}}
	b.Marks = []store.MarkWrite{{MarkKey: store.MarkKey{Queue: queue, Business: "ann"}, At: store.Now, Keep: 1000}}
	b.Events = []store.EventSpec{{Type: dengxu.EventJoined, Token: 1}}
	b.Op = op("a")
	r := k.refused(b, store.TokenAt{ID: "t1", Version: 6})
	if r.Have != 1 {
		k.t.Errorf("the version now is said to be %d, want 1", r.Have)
	}
	same(k.t, "the store after a refused batch", before, k.whole())
	v := k.view(store.Ask{
		Tallies: []store.TallyKey{{Name: "joins", Day: today}}, Marks: []store.MarkKey{{Queue: queue, Business: "ann"}}, Op: op("a"),
	})
	if v.Tallies[0] != 0 || v.Marks[0] != 0 || v.Op != nil {
		k.t.Errorf("tally %d, mark %d, operation %v after a refused batch", v.Tallies[0], v.Marks[0], v.Op)
	}
	b.Tokens = b.Tokens[:1]
	if n := k.commit(b).Tokens[0].Number; n != 1 {
		k.t.Errorf("the first number is %d: a refused batch used one up", n)
	}
}

func batchEmpty(k *kit) {
	end := k.end()
	r := k.commit(store.Batch{Expect: []store.Expectation{store.NotBefore{At: store.Now}}})
	same(k.t, "result", store.Result{Now: k.clock.Now(), Last: end}, r)
	if k.end() != end {
		k.t.Error("an empty batch wrote events")
	}
}

// batchMalformed is long because it is a table.
func batchMalformed(k *kit) {
	t1 := k.join("t1")
	k.join("t2")
	edit := func(b store.Batch, f func(*store.Batch)) store.Batch {
		f(&b)
		return b
	}
	tokens := make([]store.Token, store.MaxTokens+1)
	for i := range tokens {
		tokens[i] = fresh(dengxu.TokenID(fmt.Sprint("x", i)))
	}
	doc := store.DocWrite{Doc: store.Doc{Key: store.DocKey{Kind: store.DocQueue, ID: "q"}}}
	lastDay := func(b *store.Batch) { b.Pick.Lines = []store.PickLine{{Line: line}, {Line: line}} }
	for what, b := range map[string]store.Batch{
		"too many tokens":             writing(tokens...),
		"too many picks":              calling(store.MaxTokens + 1),
		"one token twice":             writing(fresh("x"), fresh("x")),
		"one document twice":          {Docs: []store.DocWrite{doc, doc}},
		"an absent document deleted":  {Docs: []store.DocWrite{{Doc: doc.Doc, Delete: true}}},
		"a token without id":          writing(fresh("")),
		"a token without version":     writing(fresh("x", func(t *store.Token) { t.Version = 0 })),
		"a token in no state":         writing(fresh("x", func(t *store.Token) { t.State = "asleep" })),
		"a token of another site":     writing(fresh("x", func(t *store.Token) { t.Site = "south" })),
		"a new arrival number":        writing(fresh("x", func(t *store.Token) { t.Arrival = 4 })),
		"a changed arrival number":    writing(changed(t1, func(t *store.Token) { t.Arrival++ })),
		"a seq never given":           writing(changed(t1, func(t *store.Token) { t.Seq = 1 << 40 })),
		"archived while it waits":     {Tokens: []store.TokenWrite{{Token: changed(t1), Archive: true}}},
		"an operation kept for 0 ms":  {Op: store.Op{Key: "a"}},
		"an event about no token":     {Events: []store.EventSpec{{Type: dengxu.EventJoined, Token: 1}}},
		"an event of no type":         {Events: []store.EventSpec{{}}},
		"a mark of nobody":            {Marks: []store.MarkWrite{{MarkKey: store.MarkKey{Queue: queue}, Keep: 1}}},
		"a pick for no counter":       edit(calling(1), func(b *store.Batch) { b.Pick.Counter = "" }),
		"a pick that leaves waiting":  edit(calling(1), func(b *store.Batch) { b.Pick.State = dengxu.StateWaiting }),
		"a pick of nobody":            calling(0),
		"a pick without event":        edit(calling(1), func(b *store.Batch) { b.Pick.Event = "" }),
		"one line picked from twice":  edit(calling(1), lastDay),
		"a token written and picked":  edit(calling(1), func(b *store.Batch) { b.Tokens = writing(changed(t1)).Tokens }),
		"another site's token picked": edit(calling(1), func(b *store.Batch) { b.Site = "south" }),
		"an expected refusal":         {Expect: []store.Expectation{store.OpReused{}}},
		"an expected series":          {Expect: []store.Expectation{store.SeriesBelow{Name: "A"}}},
		"a series that ends early":    {Tokens: []store.TokenWrite{{Token: fresh("x"), Series: &store.Series{First: 5, Last: 4, At: "wrap"}}}},
		"a series without an ending":  {Tokens: []store.TokenWrite{{Token: fresh("x"), Series: &store.Series{First: 1, Last: 4}}}},
		"another partition":           {Partition: 200},
	} {
		before := k.whole()
		k.malformed(what, b)
		same(k.t, "the store after "+what, before, k.whole())
	}
}

func batchLarge(k *kit) {
	tokens := make([]store.Token, store.MaxTokens)
	for i := range tokens {
		tokens[i] = fresh(dengxu.TokenID(fmt.Sprintf("t%02d", i)))
	}
	k.commit(writing(tokens...))
	r := k.commit(calling(store.MaxTokens))
	if r.Picked != store.MaxTokens {
		k.t.Fatalf("picked %d", r.Picked)
	}
	for i, t := range r.Tokens {
		if t.ID != tokens[i].ID {
			k.t.Errorf("picked %s as number %d, want %s", t.ID, i, tokens[i].ID)
		}
	}
}

// snapshot is what a store shows as a whole.
type snapshot struct {
	Tokens []store.Token
	Docs   []store.Doc
	Bulky  *store.Doc // at bulkyKey, which Docs leaves out
	Due    store.Due
	Events []store.Event
}

// whole reads everything that can be read without asking for it by name. The
// events are those of the first thousand.
func (k *kit) whole() snapshot {
	k.t.Helper()
	docs, err := k.s.Docs(k.t.Context(), 0)
	if err != nil {
		k.t.Fatalf("docs: %v", err)
	}
	due, err := k.s.Due(k.t.Context(), 0, 1000)
	if err != nil {
		k.t.Fatalf("due: %v", err)
	}
	start := k.end()
	start.Number = 0
	return snapshot{Tokens: k.list(store.ListAsk{Limit: 1000}), Docs: docs, Due: due, Events: k.events(start), Bulky: k.doc(bulkyKey)}
}
