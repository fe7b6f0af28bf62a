package memstore

import (
	"math"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// tables shows the store to the ledger. The caller holds the lock and has
// forgotten what is over.
type tables struct{ s *part }

func (t tables) Token(id dengxu.TokenID) (*store.Token, error) { return t.s.tokens[id], nil }

func (t tables) Doc(k store.DocKey) *store.Doc { return t.s.docs[k] }

func (t tables) Holder(k store.HolderKey) dengxu.TokenID { return t.s.index.holders[k] }

func (t tables) Mark(k store.MarkKey) (int64, error) {
	return t.s.marks.get(k, math.MinInt64), nil
}

func (t tables) Tally(name string) ledger.Daily { return t.s.tallies[name] }

func (t tables) Series(site dengxu.SiteID, name string) ledger.Daily {
	return t.s.series[ledger.SeriesKey{Site: site, Name: name}]
}

func (t tables) Count(k store.LineKey, s dengxu.State) int { return t.s.index.line(k).counts[s] }

func (t tables) Busy(c dengxu.CounterID) int { return t.s.index.busy(c) }

func (t tables) Index(k store.LineKey) order.Index { return t.s.index.line(k) }

func (t tables) TokenAt(k store.LineKey, m order.Member) dengxu.TokenID {
	return t.s.index.line(k).id(m)
}

func (t tables) Op(scope, key string) (*ledger.OpRecord, error) {
	return t.s.ops.get(store.OpName(scope, key), math.MinInt64), nil
}
