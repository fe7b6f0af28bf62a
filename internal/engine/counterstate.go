package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// errHoldsTokens refuses to close a counter that still has tokens.
func errHoldsTokens() error {
	return dengxu.Errorf(dengxu.Conflict, "the counter still has tokens: say what happens to them with current").Because("has_tokens")
}

// SetCounterState opens, pauses or closes a counter by hand. A counter that is
// calling or serving closes only with req.Current, which is then done to each
// of its tokens, one commit each, before it closes; held tokens stay held.
// Codes: not_found, invalid, conflict with reason has_tokens, and those of the
// verb on a token.
func (e *Engine) SetCounterState(ctx context.Context, by By, id dengxu.CounterID, action string, req dengxu.DoorRequest) (done Done[dengxu.CounterView], err error) {
	state, err := checkCounterRequest(action, &req)
	if err != nil {
		return done, err
	}
	site, err := e.CounterSite(ctx, id)
	if err != nil {
		return done, err
	}
	c := amendment{by: by, site: site, counted: errHoldsTokens, decide: func(w *world) (store.Batch, error) {
		return counterMove(w, by, id, state, req.Reason)
	}}
	if state == dengxu.CounterClosed && req.Current != "" {
		seen, err := e.seen(ctx, c)
		if err != nil {
			return done, err
		}
		if !seen {
			if err := e.clearCounter(ctx, by, id, site, req); err != nil {
				return done, err
			}
		}
	}
	if done.Replayed, err = e.change(ctx, c); err != nil {
		return done, err
	}
	done.Value, err = e.Counter(ctx, id)
	return done, err
}

func checkCounterRequest(action string, req *dengxu.DoorRequest) (dengxu.CounterState, error) {
	states := map[string]dengxu.CounterState{
		"open": dengxu.CounterOpen, "pause": dengxu.CounterPaused, "close": dengxu.CounterClosed,
	}
	state, ok := states[action]
	if !ok {
		return "", dengxu.Fieldf(dengxu.Invalid, "action", "a counter opens, pauses or closes; not %q", action)
	}
	if req.Now {
		return "", dengxu.Fieldf(dengxu.Invalid, "now", "now means nothing to a counter")
	}
	if req.Current != "" && action != "close" {
		return "", dengxu.Fieldf(dengxu.Invalid, "current", "current means nothing to %s", action)
	}
	if err := checkOneOf("current", req.Current, "complete", "miss", "requeue", "hold"); err != nil {
		return "", err
	}
	return state, cleanText("reason", &req.Reason, maxReason)
}

// counterMove decides the batch that changes a counter's state today.
func counterMove(w *world, by By, id dengxu.CounterID, state dengxu.CounterState, reason string) (store.Batch, error) {
	c := w.counters[id]
	if c == nil {
		return store.Batch{}, errNoCounter(id)
	}
	next := counterState{State: state, Reason: reason, Day: c.site.state.Day}
	b := store.Batch{
		Partition: c.site.partition, Site: c.site.id, Op: by.op("counter_state"),
		Expect: []store.Expectation{
			store.DocAt{Key: store.DocKey{Kind: store.DocCounter, ID: string(id)}, Version: c.version},
			store.Before{At: c.site.state.DayEnds},
		},
	}
	if state == dengxu.CounterClosed {
		b.Expect = append(b.Expect, store.RoomAt{Counter: id, Max: 1})
	}
	if c.shown() == state && c.state.Reason == reason && c.state.State == state {
		return b, errUnchanged
	}
	write, err := c.writeState(next)
	if err != nil {
		return b, err
	}
	event, err := c.stateEvent(next, by.Name)
	b.Docs = append(b.Docs, write)
	b.Events = append(b.Events, event)
	return b, err
}

// stateEvent tells of a counter's new state.
func (c *counter) stateEvent(next counterState, actor string) (store.EventSpec, error) {
	data, err := json.Marshal(struct {
		State   dengxu.CounterState `json:"state"`
		Reason  string              `json:"reason"`
		Version uint64              `json:"version"`
	}{next.State, next.Reason, c.stateV + 1})
	if err != nil {
		return store.EventSpec{}, fmt.Errorf("counter event: %w", err)
	}
	return store.EventSpec{
		Type: dengxu.EventCounterState, Counter: c.id, Actor: actor, Reason: next.Reason, Data: data,
	}, nil
}

// clearCounter does req.Current to every token that a counter calls or serves.
// A token that changes meanwhile is looked at again: it may be gone already.
func (e *Engine) clearCounter(ctx context.Context, by By, id dengxu.CounterID, site dengxu.SiteID, req dengxu.DoorRequest) error {
	for range maxTries {
		err := e.clearOnce(ctx, by, id, site, req)
		if dengxu.ReasonOf(err) != "stale_version" {
			return err
		}
	}
	return errContention("clear counter " + string(id))
}

func (e *Engine) clearOnce(ctx context.Context, by By, id dengxu.CounterID, site dengxu.SiteID, req dengxu.DoorRequest) error {
	v, err := e.view(ctx, store.Ask{
		Partition: partitionOfSite(site, e.parts), Counters: []dengxu.CounterID{id},
	})
	if err != nil {
		return err
	}
	// The key belongs to the closing; a verb of its own under it would be
	// taken for a repeat.
	by.Key = ""
	for _, t := range v.Counters[0] {
		if !t.State.AtCounter() {
			continue
		}
		verb := dengxu.VerbRequest{Version: t.Version, CounterID: id, Reason: req.Reason}
		if _, err := e.Act(ctx, by, dengxu.Verb(req.Current), t.ID, verb); err != nil {
			return err
		}
	}
	return nil
}
