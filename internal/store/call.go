package store

import (
	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
)

// Call is what a pick writes on a token: everything that does not follow from
// the record itself.
type Call struct {
	Now      int64
	Number   uint64 // call number
	State    dengxu.State
	Counter  dengxu.CounterID
	Deadline int64
	Due      int64
	Actor    string
	Passed   int
	Compared []order.Member
}

// Call returns the record of a token that was just called.
func (t *Token) Call(c Call) Token {
	n := *t
	n.CloseSpan(c.Now, dengxu.VerbCall, c.Actor)
	n.Version++
	n.State, n.Counter = c.State, c.Counter
	n.CalledAt, n.CallNo, n.CallCount = c.Now, c.Number, 1
	if n.FirstCalled == 0 {
		n.FirstCalled = c.Now
	}
	if c.State == dengxu.StateServing {
		n.StartedAt = c.Now
	}
	n.Deadline, n.Due = c.Deadline, c.Due
	n.Confirmed, n.Asked = false, false
	n.Why, n.Reason, n.Undo = "", "", nil
	n.Passed, n.Compared = c.Passed, c.Compared
	return n
}

// ResolveTimes replaces every symbolic time of the record but its place, which
// a TokenWrite says more about. Spans and Undo are changed in place.
func (t *Token) ResolveTimes(now int64) {
	for _, at := range []*int64{
		&t.Since, &t.Origin, &t.JoinedAt, &t.Due, &t.FirstCalled, &t.CalledAt,
		&t.Deadline, &t.StartedAt, &t.EndedAt,
	} {
		*at = Resolve(*at, now)
	}
	for i := range t.Spans {
		t.Spans[i].From = Resolve(t.Spans[i].From, now)
		t.Spans[i].To = Resolve(t.Spans[i].To, now)
	}
	if u := t.Undo; u != nil {
		for _, at := range []*int64{
			&u.Until, &u.Before.Place, &u.Before.Origin, &u.Before.Due,
			&u.Before.Deadline, &u.Before.StartedAt,
		} {
			*at = Resolve(*at, now)
		}
	}
}
