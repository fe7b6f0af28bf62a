package engine

import (
	"math"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// at turns a stored time into one for people; 0 stays absent.
func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// seconds and ms turn durations into those of people and back.
func seconds(ms int64) float64 { return float64(ms) / 1000 }

func ms(seconds float64) int64 { return int64(math.Round(seconds * 1000)) }

// decimal is a factor as people write it.
func decimal(thousandths int32) float64 { return float64(thousandths) / 1000 }

// waited is how long a token waited, in ms: to the first call, else to its
// end, else until now.
func waited(t *store.Token, now int64) int64 {
	switch {
	case t.FirstCalled != 0:
		return max(0, t.FirstCalled-waitsFrom(t))
	case t.EndedAt != 0:
		return max(0, t.EndedAt-waitsFrom(t))
	default:
		return max(0, now-waitsFrom(t))
	}
}

// staff is the staff's view of a record, whose site says where it is.
func (e *Engine) staff(t *store.Token, now int64) dengxu.Token {
	return staff(t, e.PartitionOf(t.Site), now)
}

// staff is the staff's view of a record in partition p.
func staff(t *store.Token, p store.Partition, now int64) dengxu.Token {
	out := dengxu.Token{
		ID: t.ID, Ref: t.Ref(p), Number: t.Label(), State: t.State, Version: t.Version,
		Site: t.Site, QueueID: t.Queue, Class: t.Class, PriorityGroup: t.Group,
		Factor: decimal(t.Factor), BusinessID: t.Business,
		Name: t.Name, Phone: t.Phone, Note: t.Note, PartySize: t.Party, Channel: t.Channel,
		ExtAttrs: t.Attrs, Payload: t.Payload,
		JoinedAt: at(t.JoinedAt), AppointmentAt: at(t.Booked), Place: at(t.Place),
		CalledAt: at(t.CalledAt), CallNo: t.CallNo, StartedAt: at(t.StartedAt), EndedAt: at(t.EndedAt),
		Misses: t.Misses, Defers: t.Defers, Rating: t.Stars, Reason: t.Reason,
		WaitSeconds: seconds(waited(t, now)),
	}
	if t.State != dengxu.StateWaiting && t.State != dengxu.StateScheduled {
		out.CounterID = t.Counter
	}
	if t.State == dengxu.StateCalling {
		out.CallDeadline, out.CallCount = at(t.Deadline), t.CallCount
	}
	if t.State == dengxu.StateScheduled {
		notBefore, checkInBy := comesBack(t)
		out.NotBefore, out.CheckInBy = at(notBefore), at(checkInBy)
		if out.Reason == "" {
			out.Reason = t.Why
		}
	}
	return out
}
