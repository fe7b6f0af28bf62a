package engine

import (
	"context"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// A queue remembers of a business id when it last joined, missed and was
// served, each only if its rules ask, and as long as they look back. The marks
// are read before a join and expected unchanged by its commit.

// keeps is how long the queue keeps marks of a kind, in ms; 0 = not at all.
func (q *queue) keeps(kind store.MarkKind) int64 {
	needs := q.rules.Needs()
	var long time.Duration
	switch kind {
	case store.MarkJoined:
		long = needs.Joined
	case store.MarkMissed:
		long = needs.Missed
	case store.MarkServed:
		long = needs.Served
	case store.MarkEnded: // kept for rejoin_after_seconds, by whoever ends a token
	}
	return long.Milliseconds()
}

// remember is the mark that a kind of thing happens to a business id now, or
// none where no rule asks.
func (q *queue) remember(kind store.MarkKind, business string) []store.MarkWrite {
	keep := q.keeps(kind)
	if keep == 0 || business == "" {
		return nil
	}
	return []store.MarkWrite{{MarkKey: store.MarkKey{Queue: q.id, Business: business, Kind: kind}, At: store.Now, Keep: keep}}
}

// longAgo is when a mark that is taken back was set, as far as any window can
// see. A mark cannot be deleted; it goes by itself, as it is kept for no time.
const longAgo = 1

// forget takes the mark of a verb back that is undone: who did not miss the
// call has not missed lately. What had happened before is forgotten with it.
func (c *command) forget(undone dengxu.Verb) (marks []store.MarkWrite) {
	kind, ok := markOf[undone]
	if !ok {
		return nil
	}
	marks = c.q.remember(kind, c.t.Business)
	for i := range marks {
		marks[i].At, marks[i].Keep = longAgo, 1
	}
	return marks
}

// markOf is the kind of mark that a verb sets.
var markOf = map[dengxu.Verb]store.MarkKind{
	dengxu.VerbMiss: store.MarkMissed, dengxu.VerbComplete: store.MarkServed,
}

// recollect reads what the queue's rules ask beside the join itself, and
// answers the time of the join. The commit must find the same history.
func (e *Engine) recollect(ctx context.Context, q *queue, business string, v *verdict) (now int64, err error) {
	needs := q.rules.Needs()
	ask := store.Ask{Partition: q.site.partition}
	if business != "" {
		for _, kind := range []store.MarkKind{store.MarkMissed, store.MarkJoined, store.MarkServed} {
			if q.keeps(kind) > 0 {
				ask.Marks = append(ask.Marks, store.MarkKey{Queue: q.id, Business: business, Kind: kind})
			}
		}
	}
	if needs.Waiting {
		ask.Lines = []store.LineKey{q.line()}
	}
	if len(ask.Marks) == 0 && !needs.Waiting && !needs.Clock {
		return e.now(), nil
	}
	view, err := e.view(ctx, ask)
	if err != nil {
		return 0, err
	}
	for i, key := range ask.Marks {
		mark := view.Marks[i]
		v.expect = append(v.expect, store.MarkAt{MarkKey: key, At: mark})
		switch key.Kind {
		case store.MarkMissed:
			v.judged.Missed = mark
		case store.MarkJoined:
			v.judged.Joined = mark
		case store.MarkServed:
			v.judged.Served = mark
		case store.MarkEnded:
		}
	}
	if needs.Waiting {
		v.judged.Waiting = new(view.Lines[0].Counts[dengxu.StateWaiting])
	}
	return view.Now, nil
}
