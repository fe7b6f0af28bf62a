package engine

import (
	"context"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// History is the token's intervals in its states, and the times that follow
// from them. Codes: not_found for an unknown id, unavailable.
func (e *Engine) History(ctx context.Context, id dengxu.TokenID) (dengxu.History, error) {
	t, now, err := e.read(ctx, id)
	if err != nil {
		return dengxu.History{}, err
	}
	out := dengxu.History{TokenID: t.ID, Number: t.Label(), WaitSeconds: seconds(waited(&t, now))}
	spans := slices.Clone(t.Spans)
	present := store.Span{State: t.State, From: t.Since, Queue: t.Queue, Counter: t.Counter}
	if t.State == dengxu.StateWaiting || t.State == dengxu.StateScheduled {
		present.Counter = ""
	}
	spans = append(spans, present)
	for _, s := range spans {
		out.Spans = append(out.Spans, dengxu.Span{
			State: s.State, From: at(s.From), To: at(s.To), QueueID: s.Queue, CounterID: s.Counter,
			Actor: s.Actor, Verb: s.Verb, Reason: s.Reason, Implicit: s.Implicit,
		})
		until := s.To
		if until == 0 {
			until = now
		}
		switch s.State { //nolint:exhaustive // only these have a time of their own
		case dengxu.StateCalling:
			out.WalkSeconds += seconds(until - s.From)
		case dengxu.StateServing:
			out.ServiceSeconds += seconds(until - s.From)
		case dengxu.StateHeld:
			out.HoldSeconds += seconds(until - s.From)
		}
	}
	return out, nil
}
