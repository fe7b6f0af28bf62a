package storetest

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// The names that the examples use.
const (
	site  = dengxu.SiteID("north")
	queue = dengxu.QueueID("clinic")
	other = dengxu.QueueID("lab")
	desk  = dengxu.CounterID("desk-1")
	today = 20_514
)

var (
	line     = store.LineKey{Queue: queue, Gen: today}
	ordinary = order.Lane{K: order.Ordinary}
)

// kit is one store under test, its clock, and shorthand for using both.
type kit struct {
	t      *testing.T
	s      store.Store
	clock  *Clock
	closed bool
}

func newKit(t *testing.T, open Opener) *kit {
	t.Helper()
	c := NewClock()
	return &kit{t: t, s: open(t, c), clock: c}
}

func (k *kit) close() {
	k.t.Helper()
	k.closed = true
	if err := k.s.Close(); err != nil {
		k.t.Errorf("close: %v", err)
	}
}

// commit commits and expects success.
func (k *kit) commit(b store.Batch) store.Result {
	k.t.Helper()
	r, err := k.s.Commit(k.t.Context(), k.at(b))
	if err != nil {
		k.t.Fatalf("commit: %v", explain(err))
	}
	return r
}

// refused commits and expects by to be what refuses.
func (k *kit) refused(b store.Batch, by store.Expectation) *store.Refused {
	k.t.Helper()
	_, err := k.s.Commit(k.t.Context(), k.at(b))
	r, ok := errors.AsType[*store.Refused](err)
	if !ok {
		k.t.Fatalf("commit: got %v, want it refused by %#v", explain(err), by)
	}
	if diff := cmp.Diff(by, r.By); diff != "" {
		k.t.Fatalf("refused by (-want +got):\n%s", diff)
	}
	if r.Now != k.clock.Now() {
		k.t.Errorf("refused at %d, want now = %d", r.Now, k.clock.Now())
	}
	return r
}

// malformed commits and expects neither success nor a refusal.
func (k *kit) malformed(what string, b store.Batch) {
	k.t.Helper()
	_, err := k.s.Commit(k.t.Context(), k.at(b))
	if _, refused := errors.AsType[*store.Refused](err); err == nil || refused {
		k.t.Errorf("%s: got %v, want a plain error", what, explain(err))
	}
}

func (k *kit) at(b store.Batch) store.Batch {
	if b.Site == "" {
		b.Site = site
	}
	return b
}

// explain shows what refused, which the error's text does not.
func explain(err error) any {
	if r, ok := errors.AsType[*store.Refused](err); ok {
		return cmp.Diff(nil, r)
	}
	return err
}

func (k *kit) view(a store.Ask) store.View {
	k.t.Helper()
	v, err := k.s.View(k.t.Context(), a)
	if err != nil {
		k.t.Fatalf("view: %v", err)
	}
	return v
}

// token reads one token, which must be known.
func (k *kit) token(id dengxu.TokenID) store.Token {
	k.t.Helper()
	t := k.view(store.Ask{Tokens: []dengxu.TokenID{id}}).Tokens[0]
	if t == nil {
		k.t.Fatalf("token %s is unknown", id)
	}
	return *t
}

// lineView reads a line.
func (k *kit) lineView(key store.LineKey) store.LineView {
	k.t.Helper()
	return k.view(store.Ask{Lines: []store.LineKey{key}}).Lines[0]
}

// now asks the store for its time.
func (k *kit) now() int64 {
	k.t.Helper()
	return k.view(store.Ask{}).Now
}

// fresh is a token that joins the line now.
func fresh(id dengxu.TokenID, edits ...func(*store.Token)) store.Token {
	t := store.Token{
		ID: id, Site: site, Queue: queue, Gen: today, Prefix: "A", Width: 3,
		State: dengxu.StateWaiting, Version: 1, Since: store.Now, JoinedAt: store.Now,
		Lane: ordinary, Place: store.Now, Factor: 1000,
	}
	for _, edit := range edits {
		edit(&t)
	}
	return t
}

// writing is a batch that writes tokens.
func writing(tokens ...store.Token) store.Batch {
	b := store.Batch{Site: site}
	for _, t := range tokens {
		b.Tokens = append(b.Tokens, store.TokenWrite{Token: t})
	}
	return b
}

// changed is t with the next version and what edits do.
func changed(t store.Token, edits ...func(*store.Token)) store.Token {
	t.Version++
	for _, edit := range edits {
		edit(&t)
	}
	return t
}

// join commits a fresh token and returns its record.
func (k *kit) join(id dengxu.TokenID, edits ...func(*store.Token)) store.Token {
	k.t.Helper()
	b := writing(fresh(id, edits...))
	b.Events = []store.EventSpec{{Type: dengxu.EventJoined, Token: 1}}
	return k.commit(b).Tokens[0]
}

// change commits a change of t and returns the new record.
func (k *kit) change(t store.Token, edits ...func(*store.Token)) store.Token {
	k.t.Helper()
	return k.commit(writing(changed(t, edits...))).Tokens[0]
}

// calling is a pick of n from the line at the desk.
func calling(n int) store.Batch {
	return store.Batch{Site: site, Pick: &store.Pick{
		Lines: []store.PickLine{{Line: line}}, Max: n, State: dengxu.StateCalling, Counter: desk,
		Deadline: store.Now + 300_000, Due: store.Now + 300_000, Actor: "anna", Event: dengxu.EventCalled,
	}}
}

// pass lets time go by.
func (k *kit) pass(d time.Duration) { k.clock.Advance(d) }

// end is the cursor of the log's end.
func (k *kit) end() store.Cursor {
	k.t.Helper()
	p, err := k.s.Events(k.t.Context(), store.Cursor{}, 1)
	if err != nil || !p.Reset {
		k.t.Fatalf("events after an unknown cursor: %+v, %v; want a reset", p, err)
	}
	return p.End
}

// events reads all events after a cursor.
func (k *kit) events(after store.Cursor) []store.Event {
	k.t.Helper()
	var all []store.Event
	for {
		p, err := k.s.Events(k.t.Context(), after, 1000)
		if err != nil || p.Reset {
			k.t.Fatalf("events after %v: %v, reset %t", after, err, p.Reset)
		}
		if len(p.Events) == 0 {
			return all
		}
		all = append(all, p.Events...)
		after = p.End
	}
}

// list reads all pages of a list.
func (k *kit) list(a store.ListAsk) []store.Token {
	k.t.Helper()
	all, err := drain(k, a)
	if err != nil {
		k.t.Fatalf("list: %v", err)
	}
	return all
}

func drain(k *kit, a store.ListAsk) ([]store.Token, error) {
	var all []store.Token
	for {
		p, err := k.s.List(k.t.Context(), a)
		if err != nil {
			return nil, err
		}
		all = append(all, p.Tokens...)
		if p.Next == 0 {
			return all, nil
		}
		if a.Newest {
			a.Before = p.Next
		} else {
			a.After = p.Next
		}
	}
}

// sound expects a clean audit.
func (k *kit) sound() {
	k.t.Helper()
	found, err := k.s.Audit(k.t.Context())
	if err != nil {
		k.t.Fatalf("audit: %v", err)
	}
	for _, f := range found {
		k.t.Errorf("audit: %s: %s", f.Kind, f.Text)
	}
}

// same compares in full; nil and empty are the same, as are the epochs of two
// logs.
func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := difference(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func difference(want, got any) string {
	if reflect.DeepEqual(want, got) { // cmp is slow, and this is what mostly holds
		return ""
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(store.Cursor{}, "Epoch"))
}

// ids are the ids of tokens in their order, as one word each.
func ids(tokens []store.Token) string {
	words := make([]string, len(tokens))
	for i, t := range tokens {
		words[i] = string(t.ID)
	}
	return strings.Join(words, " ")
}
