package storetest

import (
	"fmt"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// Series number tokens by site, name and day.
var seriesExamples = []example{
	{"numbers follow each other", seriesCounts},
	{"each site and name counts alone", seriesApart},
	{"a new day starts again and is never left", seriesDays},
	{"at the last number it widens, refuses or wraps", seriesEnds},
	{"a later first number is skipped to", seriesSkips},
}

// numbered commits tokens in series sr, n at a time, and returns their numbers.
func (k *kit) numbered(sr store.Series, n int) []int64 {
	k.t.Helper()
	var got []int64
	for _, t := range k.commit(k.inSeries(sr, n)).Tokens {
		got = append(got, t.Number)
	}
	return got
}

func (k *kit) inSeries(sr store.Series, n int) store.Batch {
	k.t.Helper()
	var b store.Batch
	for i := range n {
		id := dengxu.TokenID(fmt.Sprintf("%s-%d-%d-%d", sr.Name, sr.Day, k.lineView(line).Counts[dengxu.StateWaiting], i))
		b.Tokens = append(b.Tokens, store.TokenWrite{Token: fresh(id), Series: &sr})
	}
	return b
}

func seriesCounts(k *kit) {
	sr := store.Series{Name: "A", Day: today, First: 7}
	same(k.t, "first batch", []int64{7, 8}, k.numbered(sr, 2))
	same(k.t, "second batch", []int64{9}, k.numbered(sr, 1))
	plain := k.join("plain", func(t *store.Token) { t.Number = 3 })
	if plain.Number != 3 {
		k.t.Errorf("a token without series got number %d", plain.Number)
	}
}

func seriesApart(k *kit) {
	k.numbered(store.Series{Name: "A", Day: today, First: 1}, 2)
	same(k.t, "another name", []int64{1}, k.numbered(store.Series{Name: "B", Day: today, First: 1}, 1))
	south := fresh("south")
	south.Site = "south"
	b := store.Batch{Site: "south", Tokens: []store.TokenWrite{{Token: south, Series: &store.Series{Name: "A", Day: today, First: 1}}}}
	if n := k.commit(b).Tokens[0].Number; n != 1 {
		k.t.Errorf("another site begins with %d", n)
	}
}

func seriesDays(k *kit) {
	day := func(d int) store.Series { return store.Series{Name: "A", Day: d, First: 1} }
	k.numbered(day(today), 3)
	same(k.t, "the next day", []int64{1, 2}, k.numbered(day(today+1), 2))
	same(k.t, "a straggler of the day before", []int64{3}, k.numbered(day(today), 1))
	same(k.t, "the next day again", []int64{4}, k.numbered(day(today+1), 1))
}

func seriesEnds(k *kit) {
	sr := store.Series{Name: "W", Day: today, First: 1, Last: 2, At: "widen"}
	same(k.t, "widen", []int64{1, 2, 3}, k.numbered(sr, 3))
	sr.Name, sr.At = "X", "wrap"
	same(k.t, "wrap", []int64{1, 2, 1, 2}, k.numbered(sr, 4))
	sr.Name, sr.At = "Y", "refuse"
	same(k.t, "refuse, to the last", []int64{1, 2}, k.numbered(sr, 2))
	k.refused(k.inSeries(sr, 1), store.SeriesBelow{Name: "Y"})
	sr.Last = 3
	same(k.t, "refuse, with one more", []int64{3}, k.numbered(sr, 1))
	sr.Day++
	k.refused(k.inSeries(sr, 4), store.SeriesBelow{Name: "Y"})
	same(k.t, "after a refused day", []int64{1}, k.numbered(sr, 1))
}

func seriesSkips(k *kit) {
	sr := store.Series{Name: "A", Day: today, First: 1}
	k.numbered(sr, 2)
	sr.First = 100
	same(k.t, "numbers", []int64{100, 101}, k.numbered(sr, 2))
}
