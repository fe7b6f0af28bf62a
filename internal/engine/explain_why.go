package engine

import (
	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// rival describes another token that is, or was, ahead of the explained one at
// a moment, when that one's place was own, and says why.
func (x *explaining) rival(other *store.Token, own, moment int64) (dengxu.Rival, said) {
	me := x.t
	me.Place = own
	code, why := x.why(other, &me, moment)
	age, ownAge := moment-other.Place, moment-own
	return dengxu.Rival{
		Number: other.Label(), Class: other.Class, PriorityGroup: other.Group,
		Factor: decimal(other.Factor), HeadStartSeconds: seconds(other.HeadStart),
		JoinedAt: at(other.JoinedAt), AppointmentAt: at(other.Booked), Place: at(other.Place),
		AgeSeconds: seconds(age), CountsSeconds: seconds(counts(age, other.Lane)),
		OwnAgeSeconds: seconds(ownAge), OwnCountsSeconds: seconds(counts(ownAge, me.Lane)),
		Why: code, Text: x.said.one(why),
	}, why
}

// The reasons why one token is before another.
const (
	rivalEarlier   = "earlier"
	rivalFactor    = "factor"
	rivalHeadStart = "head_start"
	rivalBooked    = "appointment"
	rivalOverdue   = "overdue"
	rivalRank      = "rank"
	rivalShare     = "share"
	rivalDay       = "day"
	rivalFuture    = "future"
	rivalPlaced    = "placed"
	rivalByHand    = "by_hand"
	rivalClass     = "class"
	rivalUnknown   = "unknown"
)

// why says why a is before b at a moment, both as they stood then.
func (x *explaining) why(a, b *store.Token, moment int64) (string, said) {
	if x.q.order.Discipline != order.Ratio && !order.Before(moment, a.Member(), b.Member(), x.q.order) {
		return rivalUnknown, said{phrase: sayWhyUnknown}
	}
	if b.Place > moment && a.Place <= moment {
		return rivalFuture, said{sayWhyFuture, []any{b.Label(), clock(b.Place)}}
	}
	if a.Place > moment {
		return x.whyPlace(a, b)
	}
	switch x.q.order.Discipline {
	case order.Strict:
		return x.whyStrict(a, b, moment)
	case order.Ratio:
		switch {
		case a.Lane == b.Lane:
			return x.whyPlace(a, b)
		case a.Lane.Class != b.Lane.Class:
			return rivalClass, said{phrase: sayWhyClass}
		}
		say := sayWhyShare
		if x.past {
			say = sayWhyShareWas
		}
		return rivalShare, said{say, []any{a.Group, x.q.order.ShareOf(a.Lane.Group), b.Group, x.q.order.ShareOf(b.Lane.Group)}}
	case order.Epoch:
		if a.JoinedAt > b.JoinedAt && a.Factor != b.Factor && a.Booked == 0 {
			return rivalDay, said{sayWhyDay, []any{times(decimal(a.Factor)), clock(a.Place), clock(b.Place)}}
		}
		return x.whyPlace(a, b)
	case order.Aging:
	}
	return x.whyAging(a, b, moment)
}

// whyAging compares what the waits count.
func (x *explaining) whyAging(a, b *store.Token, moment int64) (string, said) {
	if a.Lane.K == b.Lane.K && a.HeadStart == b.HeadStart && a.Booked == 0 {
		return x.whyPlace(a, b)
	}
	args := []any{
		lasting(moment - a.Place), times(decimal(order.FactorOf(a.Lane.K))), lasting(counts(moment-a.Place, a.Lane)),
		lasting(moment - b.Place), times(decimal(order.FactorOf(b.Lane.K))), lasting(counts(moment-b.Place, b.Lane)),
	}
	switch {
	case a.Booked != 0:
		return rivalBooked, said{sayWhyAppointment, append(args, clock(a.Booked), clock(a.Place))}
	case a.HeadStart > 0:
		return rivalHeadStart, said{sayWhyHeadStart, append(args, lasting(a.HeadStart))}
	default:
		return rivalFactor, said{sayWhyFactor, args}
	}
}

// whyStrict compares ranks, and who is overdue.
func (x *explaining) whyStrict(a, b *store.Token, moment int64) (string, said) {
	escalate := x.q.order.Escalate
	first, second := moment-a.Place >= escalate, moment-b.Place >= escalate
	switch {
	case first && second:
		return rivalOverdue, said{sayWhyOverdueBoth, []any{lasting(escalate), clock(a.Place), clock(b.Place)}}
	case first:
		return rivalOverdue, said{sayWhyOverdue, []any{lasting(moment - a.Place), lasting(escalate)}}
	case x.q.order.RankOf(a.Lane.Group) != x.q.order.RankOf(b.Lane.Group):
		return rivalRank, said{sayWhyRank, []any{a.Group, x.q.order.RankOf(a.Lane.Group), b.Group, x.q.order.RankOf(b.Lane.Group)}}
	}
	return x.whyPlace(a, b)
}

// whyPlace says why a's place is before b's, where nothing else decides.
func (x *explaining) whyPlace(a, b *store.Token) (string, said) {
	switch {
	case a.Booked != 0 && a.JoinedAt > b.JoinedAt:
		return rivalBooked, said{sayWhyPlaced, []any{clock(a.Place), clock(b.Place)}}
	case a.JoinedAt <= b.JoinedAt && a.Misses == 0 && a.Booked == 0:
		return rivalEarlier, said{sayWhyEarlier, []any{clock(a.JoinedAt)}}
	case a.HeadStart > b.HeadStart:
		return rivalHeadStart, said{sayWhyPlaced, []any{clock(a.Place), clock(b.Place)}}
	default:
		return rivalPlaced, said{sayWhyPlaced, []any{clock(a.Place), clock(b.Place)}}
	}
}
