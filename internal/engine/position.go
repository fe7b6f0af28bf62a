package engine

import (
	"context"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// tickets are the answers of a join. A replay reads the ranks as they are now.
func (e *Engine) tickets(ctx context.Context, queues []*queue, res store.Result) ([]dengxu.Ticket, error) {
	out := make([]dengxu.Ticket, len(res.Tokens))
	w := e.world.Load()
	for i := range res.Tokens {
		t := &res.Tokens[i]
		var q *queue
		if res.Replayed {
			q = w.queues[t.Queue] // it may have been transferred since
		} else {
			q = queues[i]
		}
		var rank *int
		if res.Ranks != nil {
			rank = &res.Ranks[i]
		} else if q != nil {
			r, err := e.rank(ctx, q, t)
			if err != nil {
				return nil, err
			}
			rank = r
		}
		out[i] = e.ticket(q, t, rank)
		when := atJoin
		if res.Replayed {
			when = whenAsked
		}
		e.announce(ctx, q, t, rank, &out[i], when)
	}
	return out, nil
}

// rank reads how many are ahead of a waiting or scheduled token; nil in other
// states.
func (e *Engine) rank(ctx context.Context, q *queue, t *store.Token) (*int, error) {
	if t.State != dengxu.StateWaiting && t.State != dengxu.StateScheduled {
		return nil, nil
	}
	v, err := e.view(ctx, store.Ask{Partition: q.site.partition, Ranks: []store.RankAsk{q.rankAsk(t)}})
	if err != nil {
		return nil, err
	}
	return &v.Ranks[0], nil
}

func (q *queue) rankAsk(t *store.Token) store.RankAsk {
	return store.RankAsk{
		Line: t.Line(), Ordering: q.ordering(),
		Classes: q.rivals(t), Member: t.Member(),
	}
}

// ticket is what a holder is told at once. q is nil when the queue is gone.
func (e *Engine) ticket(q *queue, t *store.Token, rank *int) dengxu.Ticket {
	out := dengxu.Ticket{
		ID: t.ID, QueueID: t.Queue, Number: t.Label(), State: t.State, Version: t.Version,
		JoinedAt: at(t.JoinedAt), AppointmentAt: at(t.Booked), TicketURL: e.url(t.ID),
		Estimate: dengxu.Estimate{Method: "none", Reason: dengxu.UnknownNotWaiting},
	}
	switch t.State {
	case dengxu.StateWaiting:
		out.Rank = rank
	case dengxu.StateScheduled:
		notBefore, checkInBy := comesBack(t)
		if t.Why == whyCheckIn && t.Booked != 0 && q != nil && q.booking != nil {
			notBefore = t.Booked - q.booking.early
		}
		out.RankIfCheckedIn, out.NotBefore, out.CheckInBy = rank, at(notBefore), at(checkInBy)
	case dengxu.StateCalling, dengxu.StateServing, dengxu.StateHeld, dengxu.StateMissed,
		dengxu.StateCompleted, dengxu.StateCancelled, dengxu.StateAbandoned, dengxu.StateFailed:
	}
	return out
}

// Position is what a holder sees of the own token, exact now. It returns
// NotFound for an unknown id.
func (e *Engine) Position(ctx context.Context, id dengxu.TokenID) (dengxu.Position, error) {
	for {
		t, now, err := e.read(ctx, id)
		if err != nil {
			return dengxu.Position{}, err
		}
		q, err := e.queue(ctx, t.Queue)
		if err != nil && dengxu.CodeOf(err) != dengxu.NotFound {
			return dengxu.Position{}, err
		}
		if q == nil {
			return dengxu.Position{Ticket: e.ticket(nil, &t, nil), Site: t.Site, ServerTime: at(now), AsOf: at(now)}, nil
		}
		var rank *int
		if t.State == dengxu.StateWaiting || t.State == dengxu.StateScheduled {
			v, err := e.view(ctx, store.Ask{
				Partition: q.site.partition, Tokens: []dengxu.TokenID{id}, Ranks: []store.RankAsk{q.rankAsk(&t)},
			})
			if err != nil {
				return dengxu.Position{}, err
			}
			if v.Tokens[0] == nil || v.Tokens[0].Version != t.Version {
				continue // it changed between the two reads
			}
			rank, now = &v.Ranks[0], v.Now
		}
		out := e.position(q, &t, rank, now)
		e.announce(ctx, q, &t, rank, &out.Ticket, whenAsked)
		return out, nil
	}
}

// position puts together what a holder sees.
func (e *Engine) position(q *queue, t *store.Token, rank *int, now int64) dengxu.Position {
	s := q.site
	out := dengxu.Position{
		Ticket: e.ticket(q, t, rank),
		Site:   s.id, SiteName: nameOr(s.set.Name, string(s.id)),
		QueueName:  nameOr(q.set.Name, string(q.id)),
		ServerTime: at(now), AsOf: at(now), TimeZone: s.zone.String(),
		DefersLeft: max(0, q.maxDefers-t.Defers), Door: q.state.Door, DoorReason: q.state.Reason,
		LastCalled: e.lastCalled(q.id), Actions: q.holderActions(t),
		PollAfterSeconds: pollAfter(t, rank),
	}
	if t.State.AtCounter() || t.State == dengxu.StateHeld {
		out.CounterID, out.CalledAt = t.Counter, at(t.CalledAt)
		out.CounterName = e.counterName(t.Counter)
	}
	if t.State == dengxu.StateCalling {
		out.CallDeadline, out.CallCount = at(t.Deadline), t.CallCount
	}
	return out
}

func nameOr(name, id string) string {
	if name == "" {
		return id
	}
	return name
}

func (e *Engine) counterName(id dengxu.CounterID) string {
	if c := e.world.Load().counters[id]; c != nil {
		return nameOr(c.set.Name, string(id))
	}
	return string(id)
}

// holderActions are the verbs that the holder may do now.
func (q *queue) holderActions(t *store.Token) []dengxu.Verb {
	actions := []dengxu.Verb{}
	for _, v := range []dengxu.Verb{
		dengxu.VerbCheckIn, dengxu.VerbConfirm, dengxu.VerbDefer, dengxu.VerbCancel, dengxu.VerbRate,
	} {
		if q.holderMay(v, t) {
			actions = append(actions, v)
		}
	}
	return actions
}

func (q *queue) holderMay(v dengxu.Verb, t *store.Token) bool {
	if !dengxu.Allowed(q.set.Kind, t.State, v) {
		return false
	}
	switch v { //nolint:exhaustive // the other verbs are not the holder's
	case dengxu.VerbCheckIn:
		return t.Why == whyCheckIn || t.Why == whyDeferred
	case dengxu.VerbConfirm:
		return t.State == dengxu.StateCalling && !t.Confirmed || t.State == dengxu.StateWaiting && t.Asked
	case dengxu.VerbDefer:
		return t.Defers < q.maxDefers
	case dengxu.VerbCancel:
		return t.State != dengxu.StateServing
	case dengxu.VerbRate:
		return t.Stars == 0
	default:
		return false
	}
}

// pollAfter is how soon a holder should ask again, in seconds: often near the
// head, seldom far behind.
func pollAfter(t *store.Token, rank *int) float64 {
	switch {
	case t.State.Ended():
		return 60
	case t.State == dengxu.StateWaiting && rank != nil && *rank > 3:
		return min(15, 2+float64(*rank)/4)
	default:
		return 2
	}
}

// Token is the staff's view of one token, with its rank while it waits. It
// returns NotFound for an unknown id.
func (e *Engine) Token(ctx context.Context, id dengxu.TokenID) (dengxu.Token, error) {
	t, now, err := e.read(ctx, id)
	if err != nil {
		return dengxu.Token{}, err
	}
	out := e.staff(&t, now)
	if q := e.world.Load().queues[t.Queue]; q != nil && t.State == dengxu.StateWaiting {
		out.Rank, err = e.rank(ctx, q, &t)
	}
	return out, err
}
