package ledger

import "github.com/dengxu/dengxu/internal/store"

// ranks answers what the batch asks about the tokens that it writes. The
// lines still stand as they were before the batch.
func (w *work) ranks() error {
	for _, ask := range w.b.Ranks {
		t := &w.e.Tokens[ask.Token-1]
		w.e.Ranks = append(w.e.Ranks, Rank(w.now, w.t, &store.RankAsk{
			Line: t.Line(), Ordering: ask.Ordering, Classes: ask.Classes, Member: t.Member(),
		}))
	}
	return nil
}
