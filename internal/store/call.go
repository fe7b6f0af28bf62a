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

// Call makes a record that of a token that was just called. What the record
// shares with others stays as it is.
func (t *Token) Call(c Call) {
	t.CloseSpan(c.Now, dengxu.VerbCall, c.Actor)
	t.Version++
	t.State, t.Counter = c.State, c.Counter
	t.CalledAt, t.CallNo, t.CallCount = c.Now, c.Number, 1
	if t.FirstCalled == 0 {
		t.FirstCalled = c.Now
	}
	if c.State == dengxu.StateServing {
		t.StartedAt = c.Now
	}
	t.Deadline, t.Due = c.Deadline, c.Due
	t.Confirmed, t.Asked = false, false
	t.Why, t.Reason, t.Undo = "", "", nil
	t.Passed, t.Compared = c.Passed, c.Compared
}

// ResolveTimes replaces every symbolic time of the record but its place, which
// a TokenWrite says more about. Spans and Undo are changed in place.
func (t *Token) ResolveTimes(now int64) {
	for _, at := range [...]*int64{
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
