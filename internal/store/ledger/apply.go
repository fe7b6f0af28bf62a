package ledger

import (
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// Apply judges b against the tables t of partition p, whose numbers are m, at
// time now, and returns what it does. It changes nothing itself, and the effects
// share nothing with b that its caller could change.
//
// It answers *store.Refused when an expectation or a version does not hold,
// the tables' own error when they fail, and a plain error for a batch that no
// state could make right, which is a defect of the caller.
func Apply(t Tables, m Meta, p store.Partition, b *store.Batch, now int64) (*Effects, error) {
	if err := Check(p, b); err != nil {
		return nil, err
	}
	w := &work{t: t, p: p, b: b, now: now, e: &Effects{Meta: m}}
	w.before = w.few[:0]
	replay, err := w.replay()
	if err != nil {
		return nil, err
	}
	if replay != nil {
		w.e.Replay, w.e.Empty = replay, true
		return w.e, nil
	}
	for _, step := range steps {
		if err := step(w); err != nil {
			return nil, err
		}
	}
	w.finish()
	return w.e, nil
}

// steps are what a batch goes through, in this order.
var steps = [...]func(*work) error{
	(*work).expectations,
	(*work).versions,
	(*work).holders,
	(*work).docs,
	(*work).tokens,
	(*work).ranks,
	(*work).pick,
	(*work).counts,
	(*work).events,
}

// work is one batch being judged.
type work struct {
	t   Tables
	p   store.Partition
	b   *store.Batch
	now int64
	e   *Effects
	// before holds the records that the batch writes, in its order.
	before []*store.Token
	few    [2]*store.Token // room for before, nearly always enough
}

func (w *work) refuse(by store.Expectation) *store.Refused {
	return &store.Refused{By: by, Now: w.now}
}

// replay looks the operation up.
func (w *work) replay() (*OpRecord, error) {
	if w.b.Op.Key == "" {
		return nil, nil
	}
	rec, err := w.t.Op(w.b.Op.Scope, w.b.Op.Key)
	if err != nil || rec == nil || rec.Expires <= w.now {
		return nil, err
	}
	if rec.Hash != w.b.Op.Hash {
		return nil, w.refuse(store.OpReused{})
	}
	return rec, nil
}

// versions compares the versions of what is written with those that stand,
// and keeps the records.
func (w *work) versions() error {
	for i := range w.b.Docs {
		d := &w.b.Docs[i]
		if have := w.docVersion(d.Doc.Key); have != d.Expect {
			r := w.refuse(store.DocAt{Key: d.Doc.Key, Version: d.Expect})
			r.Have = have
			return r
		}
	}
	for i := range w.b.Tokens {
		after := &w.b.Tokens[i].Token
		have, err := w.tokenAt(after.ID, after.Version-1)
		if err != nil {
			return err
		}
		w.before = append(w.before, have)
	}
	return nil
}

func (w *work) docVersion(k store.DocKey) uint64 {
	if d := w.t.Doc(k); d != nil {
		return d.Version
	}
	return 0
}

// tokenAt returns the record of id when its version is the one given (0 =
// none), else refuses.
func (w *work) tokenAt(id dengxu.TokenID, version uint64) (*store.Token, error) {
	t, err := w.t.Token(id)
	if err != nil {
		return nil, err
	}
	var have uint64
	if t != nil {
		have = t.Version
	}
	if have != version {
		r := w.refuse(store.TokenAt{ID: id, Version: version})
		r.Have = have
		return nil, r
	}
	return t, nil
}

// holders refuses a write that would give one mark to two tokens, whatever the
// batch expected.
func (w *work) holders() error {
	var taken map[store.HolderKey]dengxu.TokenID
	for i := range w.b.Tokens {
		t := &w.b.Tokens[i].Token
		key := t.Indexes().Holder
		if key.Business == "" {
			continue
		}
		by, twice := taken[key]
		if !twice {
			by = w.t.Holder(key)
			twice = by != "" && by != t.ID && !w.frees(by, key)
		}
		if twice {
			r := w.refuse(store.HolderFree{Holder: key, Not: t.ID})
			r.Token = by
			return r
		}
		if len(w.b.Tokens) == 1 {
			break
		}
		if taken == nil {
			taken = make(map[store.HolderKey]dengxu.TokenID, len(w.b.Tokens))
		}
		taken[key] = t.ID
	}
	return nil
}

// frees reports whether the batch takes the mark key from token id.
func (w *work) frees(id dengxu.TokenID, key store.HolderKey) bool {
	return slices.ContainsFunc(w.b.Tokens, func(tw store.TokenWrite) bool {
		return tw.Token.ID == id && tw.Token.Indexes().Holder != key
	})
}

// docs works out the documents.
func (w *work) docs() error {
	for i := range w.b.Docs {
		d := w.b.Docs[i].Doc
		if w.b.Docs[i].Delete {
			d = store.Doc{Key: d.Key, Site: d.Site}
		} else {
			d.Version = w.b.Docs[i].Expect + 1
			d.Due = store.Resolve(d.Due, w.now)
		}
		w.e.Docs = append(w.e.Docs, d)
	}
	return nil
}

// tokens works out the records that are written.
func (w *work) tokens() error {
	if n := len(w.b.Tokens) + w.b.Picks(); n > 0 {
		w.e.Tokens, w.e.Changes = make([]store.Token, 0, n), make([]Change, 0, n)
	}
	for i := range w.b.Tokens {
		if err := w.token(&w.b.Tokens[i], w.before[i]); err != nil {
			return err
		}
	}
	return nil
}

// finish says whether anything is written, and remembers the operation.
func (w *work) finish() {
	e := w.e
	e.Empty = len(e.Tokens) == 0 && len(e.Docs) == 0 && len(e.Tallies) == 0 &&
		len(e.Marks) == 0 && len(e.Events) == 0
	if w.b.Op.Key == "" || e.Empty || w.b.Pick != nil && e.Picked == 0 {
		return
	}
	e.OpKey = w.b.Op
	e.Op = &OpRecord{
		Hash: w.b.Op.Hash, Expires: w.now + w.b.Op.Keep, Note: w.b.Op.Note,
		Tokens: make([]dengxu.TokenID, len(e.Tokens)), Picked: e.Picked,
	}
	for i := range e.Tokens {
		e.Op.Tokens[i] = e.Tokens[i].ID
	}
}
