package ledger

import (
	"fmt"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// Check refuses batches for partition p that are wrong in themselves, whatever
// the state is.
func Check(p store.Partition, b *store.Batch) error {
	if b.Partition != p {
		return fmt.Errorf("ledger: batch of partition %d given to partition %d", b.Partition, p)
	}
	if n := len(b.Tokens) + b.Picks(); n > store.MaxTokens {
		return fmt.Errorf("ledger: batch may touch %d tokens, more than %d", n, store.MaxTokens)
	}
	if b.Op.Key != "" && b.Op.Keep <= 0 {
		return fmt.Errorf("ledger: operation %q is kept for %d ms", b.Op.Key, b.Op.Keep)
	}
	for _, x := range b.Expect {
		switch x.(type) {
		case nil, store.SeriesBelow, store.OpReused:
			return fmt.Errorf("ledger: %T cannot be expected", x)
		}
	}
	if err := checkDocs(b.Docs); err != nil {
		return err
	}
	if err := checkTokens(b); err != nil {
		return err
	}
	if err := checkPick(b.Pick); err != nil {
		return err
	}
	for _, ev := range b.Events {
		if ev.Type == "" || ev.Token < 0 || ev.Token > len(b.Tokens) {
			return fmt.Errorf("ledger: event %q about token %d of %d", ev.Type, ev.Token, len(b.Tokens))
		}
	}
	for _, ask := range b.Ranks {
		if ask.Token < 1 || ask.Token > len(b.Tokens) {
			return fmt.Errorf("ledger: rank of token %d of %d", ask.Token, len(b.Tokens))
		}
	}
	return checkCounts(b)
}

// checkCounts is about tallies and marks.
func checkCounts(b *store.Batch) error {
	for _, add := range b.Tallies {
		if store.IsOwed(add.Key.Name) {
			return fmt.Errorf("ledger: batch adds to what is owed, %q", add.Key.Name)
		}
	}
	for _, m := range b.Marks {
		if m.Queue == "" || m.Business == "" || m.Keep <= 0 {
			return fmt.Errorf("ledger: mark of %q in %q kept for %d ms", m.Business, m.Queue, m.Keep)
		}
	}
	return nil
}

func checkDocs(docs []store.DocWrite) error {
	for i := range docs {
		key := docs[i].Doc.Key
		switch {
		case key.Kind == "" || key.ID == "":
			return fmt.Errorf("ledger: document %v without kind or id", key)
		case slices.ContainsFunc(docs[:i], func(d store.DocWrite) bool { return d.Doc.Key == key }):
			return fmt.Errorf("ledger: document %v written twice", key)
		case len(docs[i].Doc.Body) > store.MaxBody:
			return fmt.Errorf("ledger: document %v of %d bytes, more than %d", key, len(docs[i].Doc.Body), store.MaxBody)
		case docs[i].Delete && docs[i].Expect == 0:
			return fmt.Errorf("ledger: absent document %v deleted", key)
		}
	}
	return nil
}

func checkTokens(b *store.Batch) error {
	for i := range b.Tokens {
		w := &b.Tokens[i]
		t := &w.Token
		switch {
		case t.ID == "" || t.Version == 0 || !t.State.Valid():
			return fmt.Errorf("ledger: token %s of version %d in state %q", t.ID.Mask(), t.Version, t.State)
		case writes(b.Tokens[:i], t.ID):
			return fmt.Errorf("ledger: token %s written twice", t.ID.Mask())
		case t.Site != b.Site || t.Queue == "":
			return fmt.Errorf("ledger: token %s of site %q, queue %q in a batch of site %q", t.ID.Mask(), t.Site, t.Queue, b.Site)
		case t.Version == 1 && (t.Arrival != 0 || t.Seq != 0):
			return fmt.Errorf("ledger: new token %s brings an arrival number", t.ID.Mask())
		case t.Version > 1 && t.Arrival == 0:
			return fmt.Errorf("ledger: token %s lost its arrival number", t.ID.Mask())
		case w.Archive && (!t.State.Ended() || t.Version == 1):
			return fmt.Errorf("ledger: token %s archived in state %q", t.ID.Mask(), t.State)
		case w.ScaleFrom != 0 && t.Factor <= 0:
			return fmt.Errorf("ledger: token %s scaled by factor %d", t.ID.Mask(), t.Factor)
		}
		if err := checkSeries(w.Series); err != nil {
			return err
		}
	}
	return nil
}

// writes reports whether a token is among those that are written. There are at
// most MaxTokens, and nearly always one.
func writes(tokens []store.TokenWrite, id dengxu.TokenID) bool {
	for i := range tokens {
		if tokens[i].Token.ID == id {
			return true
		}
	}
	return false
}

func checkSeries(s *store.Series) error {
	if s == nil {
		return nil
	}
	known := s.At == "widen" || s.At == "refuse" || s.At == "wrap"
	if s.First < 0 || s.Last != 0 && (s.Last < s.First || !known) {
		return fmt.Errorf("ledger: series %q from %d to %d, then %q", s.Name, s.First, s.Last, s.At)
	}
	return nil
}

func checkPick(p *store.Pick) error {
	if p == nil {
		return nil
	}
	if p.Max < 1 || p.Counter == "" || p.Event == "" || !p.State.AtCounter() {
		return fmt.Errorf("ledger: pick of %d for counter %q into state %q with event %q", p.Max, p.Counter, p.State, p.Event)
	}
	for i, l := range p.Lines {
		if slices.ContainsFunc(p.Lines[:i], func(o store.PickLine) bool { return o.Line == l.Line }) {
			// order.Pick would take a token bound to the counter twice.
			return fmt.Errorf("ledger: pick sees line %v twice", l.Line)
		}
		if l.Ordering.Discipline == order.Ratio && slices.ContainsFunc(p.Lines[:i], func(o store.PickLine) bool { return o.Line.Queue == l.Line.Queue }) {
			// Both would owe in the same tallies.
			return fmt.Errorf("ledger: pick sees two lines of queue %q, which is ordered by shares", l.Line.Queue)
		}
	}
	return nil
}
