package engine

import (
	"context"
	"errors"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// Edit changes what a token says of its holder. Its place and state stay; a
// new class takes it to the same place of another lane. Codes: not_found,
// invalid, conflict.
func (e *Engine) Edit(ctx context.Context, by By, id dengxu.TokenID, req dengxu.TokenEdit) (Done[dengxu.Token], error) {
	if err := cleanPerson(req.Name, req.Phone, req.Note); err != nil {
		return Done[dengxu.Token]{}, err
	}
	if req.PartySize != nil {
		if err := checkParty(*req.PartySize); err != nil {
			return Done[dengxu.Token]{}, err
		}
	}
	var last command
	lanes := make(map[dengxu.QueueID]int)
	res, err := e.retryLanes(ctx, lanes, func() (store.Result, error) {
		return e.commit(ctx, func(w *world) (store.Batch, error) {
			c, err := e.command(ctx, w, by, dengxu.VerbEdit, id, dengxu.VerbRequest{Version: req.Version})
			last = c
			if err != nil {
				return decidedIn(c.q.home()), err
			}
			b, err := c.edit(req, lanes)
			if e.shared {
				b.Expect = append(b.Expect, c.q.settled())
			}
			return b, err
		})
	})
	switch {
	case errors.Is(err, errReplayed):
		return e.replayed(last.replay, e.now())
	case err != nil:
		return Done[dengxu.Token]{}, e.verbError(ctx, &last, err)
	}
	return Done[dengxu.Token]{Value: staff(&res.Tokens[0], last.q.site.partition, res.Now), Replayed: res.Replayed}, nil
}

// edit is the commit of an edit.
func (c *command) edit(req dengxu.TokenEdit, lanes map[dengxu.QueueID]int) (store.Batch, error) {
	b := store.Batch{Partition: c.q.site.partition, Site: c.q.site.id, Op: c.by.op(string(c.verb))}
	if err := c.allowed(); err != nil {
		return b, err
	}
	if err := c.q.checkEdit(req); err != nil {
		return b, err
	}
	next := *c.t
	next.Version++
	next.Undo = nil
	set(&next.Name, req.Name)
	set(&next.Phone, req.Phone)
	set(&next.Note, req.Note)
	set(&next.Party, req.PartySize)
	if req.Class != nil && *req.Class != c.t.Class {
		class, err := c.q.classOf(*req.Class)
		if err != nil {
			return b, err
		}
		next.Class = class
		if store.BoundClass(next.Lane) == "" {
			next.Lane.Class = class
			if k, ok := lanes[c.q.id]; ok {
				next.Lane.K, next.Factor, next.Clipped = k, order.FactorOf(k), true
			}
			b.Expect = append(b.Expect, c.q.steady()...)
			if c.q.order.Discipline == order.Aging && next.State == dengxu.StateWaiting {
				b.Expect = append(b.Expect, store.LaneOpen{Line: next.Line(), Lane: next.Lane, Max: maxLanes})
			}
		}
	}
	b.Tokens = []store.TokenWrite{{Token: next}}
	b.Events = []store.EventSpec{{Type: dengxu.EventEdited, Token: 1, Actor: c.by.Name}}
	return b, nil
}

// checkEdit refuses an edit of nothing, and what the queue's declared fields
// would refuse at a join.
func (q *queue) checkEdit(req dengxu.TokenEdit) error {
	edited := make(map[string]any)
	for field, value := range map[string]*string{"name": req.Name, "phone": req.Phone, "note": req.Note} {
		if value != nil {
			edited[field] = text(*value)
		}
	}
	if req.PartySize != nil {
		edited["party_size"] = party(*req.PartySize)
	}
	if len(edited) == 0 && req.Class == nil {
		return dengxu.Errorf(dengxu.Invalid, "say what to change: name, phone, note, class or party_size")
	}
	for _, f := range q.set.Fields {
		if value, ok := edited[f.Name]; ok {
			if err := checkField(f, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}
