package announce

import (
	"maps"
	"slices"
	"sync"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/estimate"
	"github.com/dengxu/dengxu/internal/order"
)

// Seen is up to where the log of a partition has been taken in.
type Seen struct {
	At     int64  `json:"at"`
	Number uint64 `json:"number"`
}

// Before reports whether an event comes after what was seen.
func (s Seen) Before(at int64, number uint64) bool {
	return s.At < at || s.At == at && s.Number < number
}

// Queue is what is known and was told of one queue. It is safe for concurrent
// use. Its zero value knows nothing; what was kept is brought in by Restore.
type Queue struct {
	mu        sync.Mutex // guards what follows
	estimator estimate.Estimator
	model     uint64 // version in the store of the estimator's model; 0 = none
	unlearned int    // lessons that were kept since a model was last sought
	lessons   int    // all that were kept
	seen      Seen
	restored  bool
	changed   bool // the history has something that was not kept
	told      map[dengxu.TokenID]*stay
	pending   Pending
	total     Day // since the start of the process
}

// Total sums up what was told since the start and what it came to.
func (q *Queue) Total() Day {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.total
}

// Restored reports whether what was kept has been brought in.
func (q *Queue) Restored() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.restored
}

// Restore brings in what was kept, unless somebody already has.
func (q *Queue) Restore(o *Outlook) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.restored {
		return
	}
	q.restored = true
	q.estimator = o.Estimator
	q.seen = o.Seen
}

// News reports whether an event has not been taken in yet, and takes it as
// taken in.
func (q *Queue) News(at int64, number uint64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.seen.Before(at, number) {
		return false
	}
	q.seen = Seen{At: at, Number: number}
	return true
}

// Came tells that somebody came into the line whose lane is not known.
func (q *Queue) Came(at int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.changed = true
	q.estimator.History.Joins.Add(at)
}

// Joined tells that somebody came into a lane, with a head start in ms.
func (q *Queue) Joined(at int64, lane order.Lane, headStart int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.changed = true
	q.estimator.History.Joined(at, lane, headStart)
}

// Called tells that a token was called first after waiting so many seconds. What
// its holder was told is scored by that.
func (q *Queue) Called(at int64, id dengxu.TokenID, waited float64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.changed = true
	s := q.told[id]
	if s == nil {
		q.estimator.History.Called(at, waited)
		return
	}
	delete(q.told, id)
	if s.joined != nil && s.joined.Method == estimate.MethodIdle {
		waited = 0 // nobody was ahead: what passed is the counter's pause
	}
	q.estimator.History.Called(at, waited)
	q.score(s, at)
}

// Freed tells that a counter has done with somebody whom it had for so many
// seconds, from the call.
func (q *Queue) Freed(at int64, counter dengxu.CounterID, seconds float64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.changed = true
	q.estimator.History.Served(at, string(counter), seconds)
}

// GaveUp tells that a token left the line uncalled after so many seconds.
func (q *Queue) GaveUp(id dengxu.TokenID, waited float64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.changed = true
	delete(q.told, id)
	q.estimator.History.GaveUp(waited)
}

// Left tells that a token does not wait here any more in a way that tells
// nothing about waits: it was put off, moved, or sent elsewhere.
func (q *Queue) Left(id dengxu.TokenID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.told, id)
}

// Retain forgets counters that are gone for good.
func (q *Queue) Retain(exists func(counter string) bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range slices.Collect(maps.Keys(q.estimator.History.Counters)) {
		if !exists(c) {
			q.estimator.History.Forget(c)
			q.changed = true
		}
	}
}

// Flows are who will come in the next time, by lane.
func (q *Queue) Flows(now int64) []estimate.Flow {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.estimator.History.Flows(now)
}
