package engine

import (
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// serves reports whether the counter serves a class of a queue by its
// settings.
func (c *counter) serves(q dengxu.QueueID, class string) bool {
	for _, s := range c.queues {
		if s.queue.id == q {
			return s.classes == nil || slices.Contains(s.classes, class)
		}
	}
	return false
}

// takesFrom reports whether the counter serves any class of a queue.
func (c *counter) takesFrom(q dengxu.QueueID) bool {
	return slices.ContainsFunc(c.queues, func(s served) bool { return s.queue.id == q })
}

// competing returns the classes that share a counter with a token's class, by
// the counters' settings; nil means all.
func (q *queue) competing(class string) []string { return q.compete[class] }

// rivals returns the classes that compete with a token: those of its class, or,
// when it waits for one counter only, those that this counter serves. nil means
// all.
func (q *queue) rivals(t *store.Token) []string {
	bound := store.BoundClass(t.Lane)
	if bound == "" {
		return q.competing(t.Class)
	}
	for _, c := range q.site.counters {
		for _, s := range c.queues {
			if s.queue.id == q.id && store.BoundTo(c.id) == bound {
				return s.classes
			}
		}
	}
	return nil
}

// writeState is the write of a counter's next running state.
func (c *counter) writeState(next counterState) (store.DocWrite, error) {
	return docWrite(store.DocCounterState, string(c.id), c.site.id, next, 0, c.stateV)
}
