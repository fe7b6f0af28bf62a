package pebblestore

import (
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/ledger"
)

// fresh is what a group writes and is not in the database yet: by key what
// readers of the database must see first (records are in the cache), and in
// order what is still to be encoded. The committer fills it and the writer
// encodes it, beside the committer, which has enough to do.
type fresh struct {
	ops    map[string]*ledger.OpRecord
	marks  map[string]mark
	tokens []freshToken
	events []store.Event
	opKeys []string // of ops, in order
}

// freshToken is a record to be encoded. The writer alone sets the hash and
// the kept record of its entry.
type freshToken struct {
	after    *store.Token // never changed
	entry    *entry
	archived bool
	record   []byte // as encoded, if it is to be kept in memory
}

// reset makes room for another group.
func (f *fresh) reset() {
	clear(f.ops)
	clear(f.marks)
	clear(f.tokens)
	clear(f.events)
	clear(f.opKeys)
	f.tokens, f.events, f.opKeys = f.tokens[:0], f.events[:0], f.opKeys[:0]
}

// encode puts into a group's batch what the committer left: records, events,
// operations, and the partition's numbers with the sum. Pebble is quicker with
// keys that follow each other, which those of each kind nearly do.
func (s *Store) encode(g *group) error {
	w := &s.encoder
	w.batch = g.batch
	sum := s.meta.Sum + g.sum // only the writer changes it
	for i := range g.fresh.tokens {
		sum += w.token(&g.fresh.tokens[i])
	}
	for i := range g.fresh.events {
		ev := &g.fresh.events[i]
		w.key, w.value = eventKey(w.key, ev.Number), store.AppendEvent(w.value[:0], ev)
		w.set()
	}
	for _, key := range g.fresh.opKeys {
		w.key, w.value = append(w.key[:0], key...), appendOp(w.value[:0], g.fresh.ops[key])
		w.set()
	}
	g.meta.Sum = sum
	w.key, w.value = append(w.key[:0], metaKey...), appendMeta(w.value[:0], &g.meta)
	w.set()
	return w.err
}

// token encodes a record and returns what it adds to the sum.
func (w *writer) token(t *freshToken) uint64 {
	id, before := t.after.ID, t.entry.hash
	w.value = store.AppendToken(w.value[:0], t.after)
	if t.archived {
		w.key = tokenKey(w.key, id)
		w.delete()
		w.key = archiveKey(w.key, id)
		w.set()
		return -before
	}
	w.key = tokenKey(w.key, id)
	w.set()
	t.entry.hash = hashOf(w.key, w.value)
	t.record = keptRecord(t.after, w.value)
	return t.entry.hash - before
}
