package storetest

import (
	"fmt"
	"strings"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// Lists show live tokens in arrival order, page by page.
var listExamples = []example{
	{"each field restricts", listFields},
	{"in arrival order or newest first", listOrder},
	{"pages join without gap or repeat", listPages},
	{"a page examines a bounded number", listBounded},
}

func listFields(k *kit) {
	k.join("a", func(t *store.Token) { t.Number, t.Name = 7, "Ann Müller" })
	k.join("b", inOther, func(t *store.Token) { t.Number, t.Phone, t.State = 8, "+49 123", dengxu.StateMissed })
	k.join("c", func(t *store.Token) { t.Gen, t.Business = today+1, "Card-5" })
	k.join("d")
	k.commit(calling(2))
	south := fresh("e")
	south.Site = "south"
	b := writing(south)
	b.Site = "south"
	k.commit(b)
	for _, x := range []struct {
		ask  store.ListAsk
		want string
	}{
		{store.ListAsk{}, "a b c d e"},
		{store.ListAsk{Site: site}, "a b c d"},
		{store.ListAsk{Site: site, Queue: queue}, "a c d"},
		{store.ListAsk{Queue: queue, Gen: new(today)}, "a d e"},
		{store.ListAsk{Gen: new(0)}, ""},
		{store.ListAsk{States: []dengxu.State{dengxu.StateMissed, dengxu.StateCalling}}, "a b d"},
		{store.ListAsk{Counter: desk}, "a d"},
		{store.ListAsk{Label: "A007"}, "a"},
		{store.ListAsk{Label: "A07"}, ""},
		{store.ListAsk{Text: "mÜLL"}, "a"},
		{store.ListAsk{Text: "9 12"}, "b"},
		{store.ListAsk{Text: "card"}, "c"},
		{store.ListAsk{Text: "a00"}, "a b c d e"},
		{store.ListAsk{Text: "note"}, ""},
	} {
		x.ask.Limit = 50
		if got := ids(k.list(x.ask)); got != x.want {
			k.t.Errorf("%+v: %q, want %q", x.ask, got, x.want)
		}
	}
}

func listOrder(k *kit) {
	for _, id := range []dengxu.TokenID{"c", "a", "b"} {
		k.join(id)
	}
	k.change(k.token("c"), func(t *store.Token) { t.Seq = 0 }) // arrival stays
	if got := ids(k.list(store.ListAsk{Limit: 9})); got != "c a b" {
		k.t.Errorf("in arrival order: %q", got)
	}
	if got := ids(k.list(store.ListAsk{Limit: 9, Newest: true})); got != "b a c" {
		k.t.Errorf("newest first: %q", got)
	}
	p, err := k.s.List(k.t.Context(), store.ListAsk{Limit: 9, After: k.token("c").Arrival})
	if err != nil || ids(p.Tokens) != "a b" || p.Now != k.clock.Now() {
		k.t.Errorf("after c: %q at %d, %v", ids(p.Tokens), p.Now, err)
	}
	if _, err := k.s.List(k.t.Context(), store.ListAsk{}); err == nil {
		k.t.Error("a page of no tokens was answered")
	}
}

func listPages(k *kit) {
	var want []string
	for i := range 25 {
		id := fmt.Sprintf("t%02d", i)
		t := k.join(dengxu.TokenID(id))
		if i%4 == 0 {
			k.change(t, func(t *store.Token) { t.State = dengxu.StateHeld })
		} else {
			want = append(want, id)
		}
	}
	waiting := []dengxu.State{dengxu.StateWaiting}
	for limit := 1; limit <= 20; limit += 3 {
		if got := ids(k.list(store.ListAsk{States: waiting, Limit: limit})); got != strings.Join(want, " ") {
			k.t.Errorf("pages of %d: %q", limit, got)
		}
	}
	newest := strings.Fields(ids(k.list(store.ListAsk{States: waiting, Limit: 4, Newest: true})))
	if len(newest) != len(want) || newest[0] != want[len(want)-1] {
		k.t.Errorf("newest first: %v", newest)
	}
}

func listBounded(k *kit) {
	const many = store.MaxExamined + 200
	for n := 0; n < many; n += store.MaxTokens {
		tokens := make([]store.Token, store.MaxTokens)
		for i := range tokens {
			tokens[i] = fresh(dengxu.TokenID(fmt.Sprint("t", n+i)))
		}
		k.commit(writing(tokens...))
	}
	k.join("last", func(t *store.Token) { t.Name = "Zoë" })
	p, err := k.s.List(k.t.Context(), store.ListAsk{Text: "zoë", Limit: 5})
	if err != nil || p.Next == 0 || len(p.Tokens) != 0 {
		k.t.Errorf("the first page has %d tokens and next %d, %v; want none yet and more to come", len(p.Tokens), p.Next, err)
	}
	if got := ids(k.list(store.ListAsk{Text: "zoë", Limit: 5})); got != "last" {
		k.t.Errorf("all pages: %q", got)
	}
}
