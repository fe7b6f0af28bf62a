package engine

import (
	"context"
	"slices"
	"sync"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// lookedUp is how many tokens a second of a partition's log are looked up to
// learn from. Where more happens, the others are counted only: rates and lanes
// are known well enough from these, and a store that is busy is left alone.
const lookedUp = 256

// lookups counts them.
type lookups struct {
	mu     sync.Mutex // guards what follows
	second int64
	n      int
}

// take asks for n lookups at a time, in ms, and says how many there may be.
func (l *lookups) take(at int64, n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if second := at / 1000; second != l.second {
		l.second, l.n = second, 0
	}
	n = min(n, lookedUp-l.n)
	l.n += n
	return n
}

// observeWaits learns from events how the lines move. What cannot be read is
// not learned from.
func (e *Engine) observeWaits(ctx context.Context, p store.Partition, events []store.Event) {
	news := make([]*store.Event, 0, len(events))
	var ids []dengxu.TokenID
	w := e.world.Load()
	for i := range events {
		ev := &events[i]
		q := w.queues[ev.Queue]
		if q == nil || q.set.Kind == dengxu.KindTask || !tells(ev) {
			continue
		}
		o := e.outlook(q.id)
		if err := e.restore(ctx, q, o); err != nil {
			e.log.DebugContext(ctx, "what a queue learned could not be read", "queue", q.id, "err", err)
			continue
		}
		if !o.News(ev.At, ev.Number) {
			continue
		}
		news = append(news, ev)
		if !slices.Contains(ids, ev.Token) {
			ids = append(ids, ev.Token)
		}
	}
	if len(news) == 0 {
		return
	}
	ids = ids[:e.lookups[p].take(news[0].At, len(ids))]
	tokens := make(map[dengxu.TokenID]*store.Token, len(ids))
	if len(ids) > 0 {
		v, err := e.view(ctx, store.Ask{Partition: p, Tokens: ids})
		if err != nil {
			e.log.DebugContext(ctx, "tokens could not be read to learn from", "err", err)
		}
		for _, t := range v.Tokens {
			if t != nil {
				tokens[t.ID] = t
			}
		}
	}
	for _, ev := range news {
		e.learnFrom(ev, tokens[ev.Token])
	}
}

// tells reports whether an event says something about waits.
func tells(ev *store.Event) bool {
	switch ev.Type { //nolint:exhaustive // the others do not move the line
	case dengxu.EventJoined, dengxu.EventDue, dengxu.EventCheckedIn:
		return ev.State == dengxu.StateWaiting
	case dengxu.EventCalled, dengxu.EventCompleted, dengxu.EventMissed, dengxu.EventRequeued, dengxu.EventHeld,
		dengxu.EventDeferred, dengxu.EventTransferred, dengxu.EventCancelled, dengxu.EventAbandoned,
		dengxu.EventMoved, dengxu.EventUndone:
		return true
	default:
		return false
	}
}

// learnFrom takes one event in. t is the token as it is by now; nil when it was
// not looked up.
func (e *Engine) learnFrom(ev *store.Event, t *store.Token) {
	o := e.outlook(ev.Queue)
	switch ev.Type { //nolint:exhaustive // tells has sorted the others out
	case dengxu.EventJoined, dengxu.EventDue, dengxu.EventCheckedIn:
		if t == nil || t.Queue != ev.Queue {
			o.Came(ev.At)
			return
		}
		o.Joined(ev.At, t.Lane, e.headStartOf(ev, t))
		return
	case dengxu.EventCalled:
		if t != nil && t.FirstCalled == ev.At {
			o.Called(ev.At, t.ID, seconds(waited(t, ev.At)))
		} else {
			o.Left(ev.Token) // room for others: only first calls that are seen are scored
		}
		return
	case dengxu.EventMoved, dengxu.EventUndone:
		o.Left(ev.Token)
		return
	}
	if t == nil {
		o.Left(ev.Token)
		return
	}
	freed, had, from := spanEnded(t, ev.At)
	if freed == nil {
		o.Left(ev.Token)
		return
	}
	o = e.outlook(freed.Queue)
	switch {
	case freed.State.AtCounter():
		o.Freed(ev.At, freed.Counter, seconds(had))
	case freed.State == dengxu.StateWaiting && ev.State.Ended() && t.FirstCalled == 0 && ev.Reason != reasonDayEnd:
		o.GaveUp(t.ID, seconds(max(0, ev.At-max(from, waitsFrom(t)))))
	default:
		o.Left(t.ID)
	}
}

// headStartOf is by how much somebody stands before the moment in which they
// came, in ms.
func (e *Engine) headStartOf(ev *store.Event, t *store.Token) int64 {
	if q := e.world.Load().queues[t.Queue]; q != nil && q.epoch() {
		return t.HeadStart // its place is scaled
	}
	return ev.At - t.Place
}

// spanEnded is the span that an event at a time closed. Of one at a counter, had
// is how long the counter had the token, in ms: from the call, walk and service
// together, which is what the next one has to wait for. from is when the span
// began.
func spanEnded(t *store.Token, ended int64) (s *store.Span, had, from int64) {
	for i := len(t.Spans) - 1; i >= 0; i-- {
		if s = &t.Spans[i]; s.To != ended {
			continue
		}
		from = s.From
		for i--; i >= 0 && s.State.AtCounter() && t.Spans[i].State.AtCounter() && t.Spans[i].Counter == s.Counter && t.Spans[i].To == from; i-- {
			from = t.Spans[i].From
		}
		return s, ended - from, from
	}
	return nil, 0, 0
}
