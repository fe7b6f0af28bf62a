package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// maxLanes is how many factor lanes a queue may have; a join that would open
// one more takes the nearest factor of its class.
const maxLanes = 32

// Join puts one more token into a queue. Codes: not_found, invalid; exists,
// closed, too_many, full in this order. It is one commit; a cancelled ctx
// leaves the outcome to the idempotency key.
func (e *Engine) Join(ctx context.Context, by By, id dengxu.QueueID, req dengxu.JoinRequest) (Done[dengxu.Ticket], error) {
	done, err := e.join(ctx, by, []dengxu.QueueID{id}, req)
	if err != nil {
		return Done[dengxu.Ticket]{}, err
	}
	return Done[dengxu.Ticket]{Value: done.Value[0], Replayed: done.Replayed}, nil
}

// maxJoins is how many queues one join may name.
const maxJoins = 16

// JoinSite puts one token into each of several queues of a site, in one commit:
// all or none. Codes: those of Join; not_found is the site's, and a queue that
// is not in it is invalid.
func (e *Engine) JoinSite(ctx context.Context, by By, id dengxu.SiteID, req dengxu.SiteJoinRequest) (Done[[]dengxu.Ticket], error) {
	if _, err := e.site(ctx, id); err != nil {
		return Done[[]dengxu.Ticket]{}, err
	}
	if len(req.Queues) == 0 || len(req.Queues) > maxJoins {
		return Done[[]dengxu.Ticket]{}, dengxu.Fieldf(dengxu.Invalid, "queues", "name 1 to %d queues", maxJoins)
	}
	for i, q := range req.Queues {
		found, err := e.queue(ctx, q)
		if err != nil && dengxu.CodeOf(err) != dengxu.NotFound {
			return Done[[]dengxu.Ticket]{}, err
		}
		if found == nil || found.site.id != id {
			return Done[[]dengxu.Ticket]{}, dengxu.Fieldf(dengxu.Invalid, "queues", "queue %s is not in site %s", q, id)
		}
		if slices.Contains(req.Queues[:i], q) {
			return Done[[]dengxu.Ticket]{}, dengxu.Fieldf(dengxu.Invalid, "queues", "queue %s is named twice", q)
		}
	}
	return e.join(ctx, by, req.Queues, req.JoinRequest)
}

// join puts one token into each queue, in one commit.
func (e *Engine) join(ctx context.Context, by By, ids []dengxu.QueueID, req dengxu.JoinRequest) (Done[[]dengxu.Ticket], error) {
	var queues []*queue
	lanes := make(map[dengxu.QueueID]int) // K taken instead of the own, by queue
	res, err := e.retryLanes(ctx, lanes, func() (store.Result, error) {
		return e.commit(ctx, func(w *world) (store.Batch, error) {
			queues = queues[:0]
			b := store.Batch{Op: by.op("join")}
			if err := by.check(); err != nil {
				return b, err
			}
			for _, id := range ids {
				q := w.queues[id]
				if q == nil {
					return b, errNoQueue(id)
				}
				queues = append(queues, q)
				b.Partition, b.Site = q.site.partition, q.site.id
				if err := e.joinOne(ctx, &b, q, by, req, lanes); err != nil {
					return b, err
				}
			}
			return b, nil
		})
	})
	if err != nil {
		return Done[[]dengxu.Ticket]{}, e.joinError(ctx, err)
	}
	tickets, err := e.tickets(ctx, queues, res)
	return Done[[]dengxu.Ticket]{Value: tickets, Replayed: res.Replayed}, err
}

// joinOne adds to a batch the join of one queue, as its rules judge it; lanes
// are those of join.
func (e *Engine) joinOne(ctx context.Context, b *store.Batch, q *queue, by By, req dengxu.JoinRequest, lanes map[dengxu.QueueID]int) error {
	v, err := e.judge(ctx, q, by, req)
	if err != nil {
		return err
	}
	t, err := q.admit(by, req, e.now(), &v)
	if err != nil {
		return err
	}
	if k, ok := lanes[q.id]; ok {
		t.Lane.K, t.Factor, t.Clipped = k, order.FactorOf(k), true
	}
	barred, err := e.bar(ctx, by, q, &t, &v)
	if err != nil {
		return err
	}
	q.enter(b, t, by, dengxu.EventJoined)
	b.Expect = append(b.Expect, v.expect...)
	if barred {
		// Only to be told what is told first. Should that have changed since it
		// was read, it is decided anew.
		b.Expect = append(b.Expect, never)
	}
	return nil
}

// admit builds the record of a join. Its times are symbols that the commit
// fills in.
func (q *queue) admit(by By, req dengxu.JoinRequest, now int64, v *verdict) (store.Token, error) {
	if err := q.checkJoin(by, &req); err != nil {
		return store.Token{}, err
	}
	class, g, err := q.standing(cmp.Or(v.Class, req.Class), req.PriorityGroup)
	if err != nil {
		return store.Token{}, err
	}
	t := store.Token{
		ID: newTokenID(now, q.site.partition), Site: q.site.id,
		Queue: q.id, Gen: q.gen(), Class: class, Group: cmp.Or(req.PriorityGroup, dengxu.GroupOrdinary),
		Prefix: q.prefix(class), Width: *q.set.NumberWidth,
		State: dengxu.StateWaiting, Version: 1, Since: store.Now, JoinedAt: store.Now,
		Place: store.Now - g.headStart, Factor: g.factor, Clipped: g.clipped, HeadStart: g.headStart,
		Lane: q.lane(class, cmp.Or(req.PriorityGroup, dengxu.GroupOrdinary), g.factor), Due: q.waitDue(),
		Business: req.BusinessID, Unique: q.unique && req.BusinessID != "",
		Channel: req.Channel, Party: req.PartySize,
		Name: req.Name, Phone: req.Phone, Note: req.Note, Attrs: req.ExtAttrs,
	}
	v.apply(q, &t)
	err = q.postpone(&t, req, now)
	return t, err
}

// postpone makes a joining token scheduled where it is not callable yet.
func (q *queue) postpone(t *store.Token, req dengxu.JoinRequest, now int64) error {
	runAt := req.RunAt
	switch {
	case !req.AppointmentAt.IsZero():
		return q.book(t, req, now)
	case req.DelaySeconds > 0 && !runAt.IsZero():
		return dengxu.Fieldf(dengxu.Invalid, "run_at", "give delay_seconds or run_at, not both")
	case req.DelaySeconds > maxSeconds:
		return dengxu.Fieldf(dengxu.Invalid, "delay_seconds", "that is too far away")
	case !runAt.IsZero() && !plausible(runAt):
		return dengxu.Fieldf(dengxu.Invalid, "run_at", "that is too far away")
	case req.DelaySeconds > 0:
		t.State, t.Why, t.Due = dengxu.StateScheduled, whyDelay, store.Now+ms(req.DelaySeconds)
	case !runAt.IsZero():
		t.State, t.Why, t.Due = dengxu.StateScheduled, whyDelay, runAt.UnixMilli()
	case q.mustCheckIn(req.Channel):
		t.State, t.Why, t.Due = dengxu.StateScheduled, whyCheckIn, 0
		if q.checkInWithin > 0 {
			t.Due = store.Now + q.checkInWithin
		}
	}
	return nil
}

// The years of a time that a join names: in ms since 1970 they have at most 13
// digits, and what is outside of them is a slip of the unit.
const (
	firstYear = 1971
	lastYear  = 2285
)

func plausible(t time.Time) bool { return t.Year() >= firstYear && t.Year() <= lastYear }

// Why a token is scheduled.
const (
	whyDelay       = "delay"
	whyAppointment = "appointment" // until its booked time comes near
	whyCheckIn     = "check_in"
	whyMissed      = "missed"
	whyDeferred    = "deferred"
	whyOtherToken  = "other_token"
)

func (q *queue) mustCheckIn(channel string) bool {
	switch q.set.CheckIn.Required {
	case "all":
		return true
	case "remote":
		return channel == channelWeb
	default:
		return false
	}
}

// enter adds a joining token to a batch, with everything that must hold for
// it, in the order in which refusals are told.
func (q *queue) enter(b *store.Batch, t store.Token, by By, event dengxu.EventType) {
	line := t.Line()
	b.Expect = slices.Grow(b.Expect, 8) // mostly enough
	// First of all, so that nobody is refused for being in yesterday's line.
	b.Expect = append(b.Expect, store.Before{At: q.site.state.DayEnds})
	if t.Unique {
		b.Expect = append(b.Expect, store.HolderFree{Holder: store.HolderKey{Line: line, Business: t.Business}})
	}
	b.Expect = append(b.Expect, q.steady()...)
	if q.rejoinAfter > 0 && t.Business != "" {
		b.Expect = append(b.Expect, store.MarkOlder{MarkKey: store.MarkKey{Queue: q.id, Business: t.Business}, At: store.Now - q.rejoinAfter})
	}
	if q.set.MaxLength > 0 {
		b.Expect = append(b.Expect, q.roomInLine(line))
	}
	joins := store.TallyKey{Name: store.JoinsTally(q.id), Day: q.site.state.Day}
	if q.set.DailyQuota > 0 {
		b.Expect = append(b.Expect, store.TallyBelow{Key: joins, Max: int64(q.set.DailyQuota)})
	}
	if q.order.Discipline == order.Aging {
		b.Expect = append(b.Expect, store.LaneOpen{Line: line, Lane: t.Lane, Max: maxLanes})
	}
	write := store.TokenWrite{Token: t, Series: q.series(t.Class)}
	if q.epoch() {
		write.ScaleFrom = q.scaleFrom(&t)
	}
	b.Tokens = append(b.Tokens, write)
	b.Tallies = append(b.Tallies, store.TallyAdd{Key: joins, N: 1})
	b.Marks = append(b.Marks, q.remember(store.MarkJoined, t.Business)...)
	b.Events = append(b.Events, store.EventSpec{Type: event, Token: len(b.Tokens), Actor: by.Name})
	b.Ranks = append(b.Ranks, store.RankOf{
		Token: len(b.Tokens), Ordering: q.ordering(), Classes: q.competing(t.Class),
	})
}

func (q *queue) roomInLine(line store.LineKey) store.CountBelow {
	return store.CountBelow{
		Line:   line,
		States: []dengxu.State{dengxu.StateWaiting, dengxu.StateScheduled},
		Max:    q.set.MaxLength,
	}
}

// retryLanes runs commit again with the nearest open lane when a queue has no
// lane left for a factor.
func (e *Engine) retryLanes(ctx context.Context, lanes map[dengxu.QueueID]int, commit func() (store.Result, error)) (store.Result, error) {
	for {
		res, err := commit()
		full, ok := refusedBy[store.LaneOpen](err)
		if !ok {
			return res, err
		}
		if _, again := lanes[full.Line.Queue]; again {
			return res, errContention("find a lane")
		}
		k, err := e.nearestLane(ctx, full)
		if err != nil {
			return res, err
		}
		lanes[full.Line.Queue] = k
	}
}

// nearestLane finds the open factor of the lane's class nearest to its own; a
// class without a lane always gets its own.
func (e *Engine) nearestLane(ctx context.Context, full store.LaneOpen) (int, error) {
	v, err := e.view(ctx, store.Ask{Partition: e.partition(full.Line.Queue), Lines: []store.LineKey{full.Line}})
	if err != nil {
		return 0, err
	}
	var open []int
	for _, l := range v.Lines[0].Lanes {
		if l.Lane.Class == full.Lane.Class {
			open = append(open, l.Lane.K)
		}
	}
	if k, ok := order.NearestLane(full.Lane.K, open); ok {
		return k, nil
	}
	return full.Lane.K, nil
}

// bar refuses a join that the door or a rule does not let in, the door first.
// What is told before either, that the operation was done before or that the
// holder is inside, the commit itself tells: barred is then true, and the batch
// must not be carried out.
func (e *Engine) bar(ctx context.Context, by By, q *queue, t *store.Token, v *verdict) (barred bool, err error) {
	reason := q.shut()
	if reason == "" && v.Reject == nil {
		return false, nil
	}
	holder := store.HolderKey{Line: t.Line(), Business: t.Business}
	now, err := e.view(ctx, store.Ask{
		Partition: q.site.partition, Op: by.op("join"), Holders: []store.HolderKey{holder},
	})
	if err != nil {
		return false, err
	}
	turned := q.state.Edge != 0 && now.Now >= q.state.Edge || now.Now >= q.site.state.DayEnds
	switch {
	case now.Op != nil || turned || t.Unique && now.Holders[0] != "":
		return true, nil
	case reason != "":
		return false, q.errShut(reason, now.Now)
	default:
		return false, errRejected(v.Reject)
	}
}

// errShut says why a queue gives no numbers at now, and when it opens, if
// opening hours tell.
func (q *queue) errShut(reason string, now int64) error {
	err := dengxu.Errorf(dengxu.Closed, "queue %s does not give numbers now: %s%s", q.id, reason, because(q.state.Reason)).Because(reason)
	if q.site.hours == nil || q.state.Hours == hoursOpen {
		return err // shut by hand: who knows until when
	}
	if opens, ok := q.site.hours.nextOpening(now); ok {
		err.Message += "; it opens at " + at(opens).In(q.site.zone).Format("15:04 on Monday 2 January")
		err.RetryAfter = time.Duration(opens-now) * time.Millisecond
	}
	return err
}

// because adds what somebody gave as a reason, if anything.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// joinError puts a refusal of a join into words.
func (e *Engine) joinError(ctx context.Context, err error) error {
	r, ok := errors.AsType[*store.Refused](err)
	if !ok {
		return err
	}
	switch by := r.By.(type) {
	case store.HolderFree:
		out := dengxu.Errorf(dengxu.Exists, "already in this queue").Because("already_in_line")
		if t, now, err := e.read(ctx, r.Token); err == nil {
			out.Token = new(e.staff(&t, now))
		}
		return out
	case store.MarkOlder:
		out := dengxu.Errorf(dengxu.TooMany, "this person was in the queue a short while ago").Because("rejoin_after")
		if q := e.world.Load().queues[by.Queue]; q != nil {
			out.RetryAfter = time.Duration(r.At+q.rejoinAfter-r.Now) * time.Millisecond
		}
		return out
	case store.CountBelow:
		return dengxu.Errorf(dengxu.Full, "the queue is full (%d)", by.Max).Because("max_length")
	case store.TallyBelow:
		return dengxu.Errorf(dengxu.Full, "today's %d numbers are all given out", by.Max).Because("daily_quota")
	case store.SeriesBelow:
		return dengxu.Errorf(dengxu.Full, "the numbers of series %s are used up", by.Name).Because("numbers_used_up")
	default:
		return storeError("commit", err)
	}
}
