package engine

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/announce"
	"github.com/dengxu/dengxu/internal/estimate"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// occasion is on which a holder is told the wait.
type occasion uint8

const (
	atJoin    occasion = iota // told for the first time
	whenAsked                 // a later look
)

// announce puts the wait into what a holder is told, and remembers that it was
// told. rank is nil unless the token waits.
func (e *Engine) announce(ctx context.Context, q *queue, t *store.Token, rank *int, to *dengxu.Ticket, when occasion) {
	if q == nil || t.State != dengxu.StateWaiting || rank == nil {
		return // the ticket says so already
	}
	p, o := e.picture(ctx, q, *rank)
	if p == nil {
		to.Estimate = unknown(dengxu.UnknownNoData)
		return
	}
	m := q.site.moment(max(e.nowIn(q.site.partition), p.At))
	f := o.Forecast(p, q.asked(t, *rank, m.At))
	if when == atJoin {
		f = o.TellFirst(t.ID, m, f)
	} else {
		f = o.Tell(t.ID, m, f)
	}
	to.Estimate = f.Said
	to.EstimatedWaitSeconds = to.Estimate.RecommendedSeconds
}

// asked is a waiting token, or one that would join, as its queue is asked about
// it.
func (q *queue) asked(t *store.Token, rank int, now int64) *announce.Asked {
	prior := q.set.ExpectedServiceSeconds
	if class, ok := q.set.Classes[t.Class]; ok && class.ExpectedServiceSeconds > 0 {
		prior = class.ExpectedServiceSeconds
	}
	return &announce.Asked{
		At:     now,
		Member: t.Member(), Class: t.Class, Group: t.Group, Rank: rank,
		Classes: q.rivals(t), InLine: t.Seq != math.MaxUint64, Prior: prior,
	}
}

// moment is an instant by the site's clock and calendar.
func (s *site) moment(now int64) announce.Moment {
	return announce.Moment{At: now, Day: s.state.Day, Hour: time.UnixMilli(now).In(s.zone).Hour()}
}

func unknown(reason string) dengxu.Estimate {
	return dengxu.Estimate{Method: estimate.MethodNone, Reason: reason}
}

// Estimate answers "if I joined now" without joining. A wait that cannot be
// estimated is no error: the answer says so. Codes: not_found, invalid,
// unavailable.
func (e *Engine) Estimate(ctx context.Context, id dengxu.QueueID, class, groupName string, party int) (dengxu.EstimateAnswer, error) {
	q, err := e.queue(ctx, id)
	if err != nil {
		return dengxu.EstimateAnswer{}, err
	}
	if err := checkParty(party); err != nil {
		return dengxu.EstimateAnswer{}, err
	}
	v, err := e.view(ctx, store.Ask{Partition: q.site.partition, Lines: []store.LineKey{q.line()}})
	if err != nil {
		return dengxu.EstimateAnswer{}, err
	}
	t := store.Token{
		Queue: q.id, Gen: q.gen(), Class: class, Group: cmp.Or(groupName, dengxu.GroupOrdinary), Party: party,
		State: dengxu.StateWaiting, JoinedAt: v.Now, Seq: math.MaxUint64,
	}
	if err := q.foresee(&t, v.Lines[0].Counts[dengxu.StateWaiting]); err != nil {
		return dengxu.EstimateAnswer{}, err
	}
	if q.epoch() {
		t.Place = order.Scale(t.Place, q.site.dayBegan(), t.Factor)
	}
	rank, err := e.rank(ctx, q, &t)
	if err != nil {
		return dengxu.EstimateAnswer{}, err
	}
	out := dengxu.EstimateAnswer{
		QueueID: q.id, Class: t.Class, Rank: *rank, Door: q.state.Door, AsOf: at(v.Now),
		Estimate: unknown(dengxu.UnknownNoData),
	}
	if p, o := e.picture(ctx, q, *rank); p != nil {
		out.Estimate = o.Forecast(p, q.asked(&t, *rank, v.Now)).Said
		out.EstimatedWaitSeconds = out.Estimate.RecommendedSeconds
	}
	return out, nil
}
