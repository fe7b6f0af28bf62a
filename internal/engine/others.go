package engine

import (
	"context"
	"encoding/json"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// OtherTokens does what a site's other_tokens says when one of a holder's
// tokens is called: the others step back (hold) or leave (cancel), and come
// back when the called one ends, is missed or is put back. It is given every
// event in the order of the log, at least once; a repeat changes nothing. Each
// token is a commit of its own; the error is one after which the event should
// come again.
func (e *Engine) OtherTokens(ctx context.Context, ev store.Event) error {
	e.follow(ctx, ev) // what was set before this event holds for it
	if ev.Token == "" {
		return nil
	}
	s, err := e.site(ctx, ev.Site)
	if err != nil {
		return ignoreLost(err) // it was deleted
	}
	if s.set.OtherTokens == "keep" {
		return nil
	}
	switch ev.Type { //nolint:exhaustive // the others free or bind nobody
	case dengxu.EventCalled, dengxu.EventCompleted, dengxu.EventMissed, dengxu.EventRequeued,
		dengxu.EventDeferred, dengxu.EventCancelled, dengxu.EventAbandoned, dengxu.EventTransferred,
		dengxu.EventUndone:
	default:
		return nil
	}
	t, _, err := e.read(ctx, ev.Token)
	if err != nil || t.Business == "" || t.Why == whyOtherToken {
		return ignoreLost(err)
	}
	v, err := e.view(ctx, store.Ask{
		Partition: s.partition, Persons: []store.Person{{Site: s.id, Business: t.Business}},
	})
	if err != nil {
		return err
	}
	if t.State.AtCounter() {
		return e.stepBack(ctx, s, &t, v.Persons[0])
	}
	for i := range v.Persons[0] {
		if v.Persons[0][i].State.AtCounter() {
			return nil // another one is being served: the rest goes on waiting
		}
	}
	return e.comeBack(ctx, v.Persons[0])
}

// stepBack takes the holder's other callable tokens out of their lines.
func (e *Engine) stepBack(ctx context.Context, s *site, called *store.Token, all []store.Token) error {
	verb := dengxu.VerbDefer
	if s.set.OtherTokens == "cancel" {
		verb = dengxu.VerbCancel
	}
	for i := range all {
		t := &all[i]
		callable := t.State == dengxu.StateWaiting || t.State == dengxu.StateCalling ||
			t.State == dengxu.StateScheduled && verb == dengxu.VerbCancel
		// An appointment on a later day has nothing to do with today.
		if t.ID == called.ID || !callable || t.Booked >= s.state.DayEnds {
			continue
		}
		if err := e.actForOther(ctx, verb, t); err != nil {
			return err
		}
	}
	return nil
}

// comeBack makes the tokens callable that stepped back.
func (e *Engine) comeBack(ctx context.Context, all []store.Token) error {
	for i := range all {
		if t := &all[i]; t.State == dengxu.StateScheduled && t.Why == whyOtherToken {
			if err := e.actForOther(ctx, dengxu.VerbDue, t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *Engine) actForOther(ctx context.Context, verb dengxu.Verb, t *store.Token) error {
	by := By{Kind: Timer, Name: whyOtherToken}
	_, err := e.Act(ctx, by, verb, t.ID, dengxu.VerbRequest{Version: t.Version, Reason: whyOtherToken})
	return ignoreLost(err)
}

// ignoreLost drops the errors of a token that changed or vanished meanwhile:
// its own event will be seen too.
func ignoreLost(err error) error {
	switch dengxu.CodeOf(err) { //nolint:exhaustive // only these are harmless
	case dengxu.Conflict, dengxu.NotFound:
		return nil
	default:
		return err
	}
}

// Consumed is how far the consumer name of partition p has come; false when it
// has never saved.
func (e *Engine) Consumed(ctx context.Context, name string, p store.Partition) (store.Cursor, bool, error) {
	v, err := e.view(ctx, store.Ask{Partition: p, Docs: []store.DocKey{{Kind: store.DocConsumer, ID: name}}})
	if err != nil || v.Docs[0] == nil {
		return store.Cursor{}, false, err
	}
	var c store.Cursor
	if err := json.Unmarshal(v.Docs[0].Body, &c); err != nil {
		return c, false, storeError("read how far "+name+" is", err)
	}
	return c, true, nil
}

// SaveConsumed remembers how far a consumer has come. One that is behind what
// another process has remembered changes nothing.
func (e *Engine) SaveConsumed(ctx context.Context, name string, c store.Cursor) error {
	key := store.DocKey{Kind: store.DocConsumer, ID: name}
	v, err := e.view(ctx, store.Ask{Partition: c.Partition, Docs: []store.DocKey{key}})
	if err != nil {
		return err
	}
	var version uint64
	if v.Docs[0] != nil {
		version = v.Docs[0].Version
		var had store.Cursor
		if json.Unmarshal(v.Docs[0].Body, &had) == nil && had.Epoch == c.Epoch && had.Number >= c.Number {
			return nil
		}
	}
	body, err := json.Marshal(c)
	if err != nil {
		return storeError("save how far "+name+" is", err)
	}
	_, err = e.store.Commit(ctx, store.Batch{
		Partition: c.Partition,
		Docs:      []store.DocWrite{{Doc: store.Doc{Key: key, Body: body}, Expect: version}},
	})
	if _, raced := refusedBy[store.DocAt](err); raced {
		return nil // another process did
	}
	return storeError("save how far "+name+" is", err)
}
