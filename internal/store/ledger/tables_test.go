package ledger_test

import (
	"iter"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// world is tables that derive everything from a list of records by scanning.
type world struct {
	records []store.Token
	docs    map[store.DocKey]*store.Doc
	marks   map[string]int64
	tallies map[string]ledger.Daily
	series  map[ledger.SeriesKey]ledger.Daily
	ops     map[string]*ledger.OpRecord
	broken  error // what the methods that may touch disk answer
}

func (w *world) Token(id dengxu.TokenID) (*store.Token, error) {
	for i := range w.records {
		if w.records[i].ID == id {
			return &w.records[i], w.broken
		}
	}
	return nil, w.broken
}

func (w *world) Doc(k store.DocKey) *store.Doc { return w.docs[k] }

func (w *world) Holder(k store.HolderKey) dengxu.TokenID {
	for i := range w.records {
		if h := w.records[i].Indexes().Holder; h.Business != "" && h == k {
			return w.records[i].ID
		}
	}
	return ""
}

func (w *world) Mark(k store.MarkKey) (int64, error) {
	return w.marks[string(k.Queue)+"/"+k.Name()], w.broken
}

func (w *world) Tally(name string) ledger.Daily { return w.tallies[name] }

func (w *world) Series(site dengxu.SiteID, name string) ledger.Daily {
	return w.series[ledger.SeriesKey{Site: site, Name: name}]
}

func (w *world) Count(k store.LineKey, s dengxu.State) int {
	n := 0
	for i := range w.records {
		if w.records[i].Line() == k && w.records[i].State == s {
			n++
		}
	}
	return n
}

func (w *world) Busy(c dengxu.CounterID) int {
	n := 0
	for i := range w.records {
		if ix := w.records[i].Indexes(); ix.Busy && ix.Counter == c {
			n++
		}
	}
	return n
}

func (w *world) Index(k store.LineKey) order.Index {
	var ix members
	for i := range w.records {
		if w.records[i].Line() == k && w.records[i].State == dengxu.StateWaiting {
			ix = append(ix, w.records[i].Member())
		}
	}
	slices.SortFunc(ix, func(a, b order.Member) int { return a.Key.Compare(b.Key) })
	return ix
}

func (w *world) TokenAt(k store.LineKey, m order.Member) dengxu.TokenID {
	for i := range w.records {
		if w.records[i].Line() == k && w.records[i].Member() == m {
			return w.records[i].ID
		}
	}
	return ""
}

func (w *world) Op(scope, key string) (*ledger.OpRecord, error) {
	return w.ops[scope+"/"+key], w.broken
}

// members is an index of a whole line in key order.
type members []order.Member

func (m members) in(l order.Lane) []order.Key {
	var keys []order.Key
	for _, x := range m {
		if x.Lane == l {
			keys = append(keys, x.Key)
		}
	}
	return keys
}

func (m members) Lanes() iter.Seq[order.Lane] {
	return func(yield func(order.Lane) bool) {
		seen := make(map[order.Lane]bool)
		for _, x := range m {
			if !seen[x.Lane] && !yield(x.Lane) {
				return
			}
			seen[x.Lane] = true
		}
	}
}

func (m members) Len(l order.Lane) int { return len(m.in(l)) }

func (m members) Below(l order.Lane, k order.Key) int {
	n := 0
	for _, key := range m.in(l) {
		if key.Less(k) {
			n++
		}
	}
	return n
}

func (m members) At(l order.Lane, i int) (order.Key, bool) {
	keys := m.in(l)
	if i < 0 || i >= len(keys) {
		return order.Key{}, false
	}
	return keys[i], true
}
