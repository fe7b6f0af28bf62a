package engine

import (
	"cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// replace puts a token that goes back to waiting where the request says;
// usual is where it goes when the request says nothing.
func (c *command) replace(ch *change, usual string) error {
	next := &ch.write[0].Token
	where := cmp.Or(c.at(), usual)
	switch {
	case c.req.Place != nil && c.req.Place.After != nil:
		if c.placed == nil {
			return dengxu.Errorf(dengxu.Internal, "no place was found for after %d", *c.req.Place.After)
		}
		next.Place, next.Seq = c.placed.Place, 0
	case where == dengxu.PlaceTail:
		c.tail(ch)
	}
	return nil
}

// tail puts a token where it would be if it joined now.
func (c *command) tail(ch *change) {
	next := &ch.write[0].Token
	next.Place, next.Seq = store.Now-next.HeadStart, 0
	if q := c.target(); q.epoch() {
		ch.write[0].ScaleFrom = q.site.dayBegan()
	}
}

// at is the named place of the request, "" when none was named.
func (c *command) at() string {
	if c.req.Place == nil {
		return ""
	}
	return c.req.Place.At
}

// target is the queue in which the token stands afterwards.
func (c *command) target() *queue {
	if c.to != nil {
		return c.to
	}
	return c.q
}

func decideReinstate(c *command, ch *change) error {
	if c.t.State == dengxu.StateScheduled && c.t.Why != whyMissed {
		return c.conflict("state", "only a missed token is reinstated")
	}
	next := c.wait(ch, dengxu.EventReinstated)
	if c.t.Origin != 0 {
		next.Place = c.t.Origin
	}
	return c.replace(ch, dengxu.PlaceOriginal)
}

func decideMove(c *command, ch *change) error {
	switch {
	case !c.by.Move:
		return dengxu.Errorf(dengxu.Forbidden, "moving a token by hand needs the right move").Because("move")
	case c.req.Reason == "":
		return dengxu.Fieldf(dengxu.Invalid, "reason", "moving a token by hand needs a reason")
	case c.req.Place == nil:
		return dengxu.Fieldf(dengxu.Invalid, "place", "say where to: original, tail or {\"after\": N}")
	}
	next := &ch.write[0].Token
	// The state stays; the span ends all the same, so that the record tells who
	// did it, when and why.
	next.CloseSpan(store.Now, c.verb, c.by.Name)
	next.Spans[len(next.Spans)-1].Reason = c.req.Reason
	ch.event = dengxu.EventMoved
	if c.t.Origin != 0 {
		next.Place = c.t.Origin
	} else {
		next.Origin = c.t.Place
	}
	return c.replace(ch, dengxu.PlaceOriginal)
}

// decideTransfer moves a token to another queue of the site: same token,
// number, joined_at and history. What the target refuses leaves it where it is.
func decideTransfer(c *command, ch *change) error {
	q := c.to
	if q == nil || q.site != c.q.site {
		return dengxu.Fieldf(dengxu.Invalid, "queue_id", "site %s has no queue %q", c.q.site.id, c.req.QueueID)
	}
	if reason := q.shut(); reason != "" && q != c.q {
		return dengxu.Errorf(dengxu.Closed, "queue %s takes nobody now: %s", q.id, reason).Because(reason)
	}
	class, err := c.classThere()
	if err != nil {
		return err
	}
	if q == c.q && class == c.t.Class && c.req.CounterID == "" && !c.t.Lane.Bound() && !c.lineOver() {
		return dengxu.Fieldf(dengxu.Invalid, "queue_id", "it is in queue %s already; a transfer there names another class or a counter, a move another place", q.id)
	}
	there := c.judgeThere(class)
	next := c.wait(ch, dengxu.EventTransferred)
	next.Queue, next.Gen, next.Class, next.Group = q.id, q.gen(), class, there.group
	next.Factor, next.Clipped, next.Rules = there.factor, there.clipped, there.rules
	next.Lane, next.Due = q.lane(class, there.group, there.factor), q.waitDue()
	next.Unique = q.unique && c.t.Business != ""
	if c.req.CounterID != "" {
		next.Lane.Class = store.BoundTo(c.req.CounterID)
		next.Class = ""
	}
	if c.t.Origin != 0 {
		next.Place, next.Origin = c.t.Origin, 0
	}
	if err := c.replace(ch, dengxu.PlaceOriginal); err != nil {
		return err
	}
	c.rescale(ch)
	c.expectThere(ch)
	c.undoable(next)
	return nil
}

// rescale makes an original place mean in the target what it meant at the
// join: the place of an epoch queue is scaled, that of others is not.
func (c *command) rescale(ch *change) {
	next := &ch.write[0].Token
	if next.Seq == 0 || !c.q.epoch() && !c.to.epoch() {
		return
	}
	next.Place = c.t.JoinedAt - c.t.HeadStart
	if c.t.Booked != 0 {
		next.Place = c.q.bookedPlace(c.t)
	}
	if c.to.epoch() {
		ch.write[0].ScaleFrom = c.to.site.dayBegan()
	}
}

// classThere is the class that the token has in the target.
func (c *command) classThere() (string, error) {
	q := c.to
	if c.req.CounterID != "" {
		if k := q.site.counter(c.req.CounterID); k == nil || !k.takesFrom(q.id) {
			return "", dengxu.Fieldf(dengxu.Invalid, "counter_id", "no counter %q serves queue %s", c.req.CounterID, q.id)
		}
		return "", nil
	}
	if c.req.Class != "" {
		return q.classOf(c.req.Class)
	}
	if c.t.Class == "" || len(q.classes) == 0 {
		return q.classOf("")
	}
	return q.classOf(c.t.Class)
}

// expectThere is what the target demands of a newcomer.
func (c *command) expectThere(ch *change) {
	q, next := c.to, &ch.write[0].Token
	if next.Unique {
		ch.expect = append(ch.expect, store.HolderFree{
			Holder: store.HolderKey{Line: next.Line(), Business: next.Business}, Not: next.ID,
		})
	}
	ch.expect = append(ch.expect, q.steady()...)
	if q.set.MaxLength > 0 && q != c.q {
		ch.expect = append(ch.expect, q.roomInLine(next.Line()))
	}
	if q.order.Discipline == order.Aging && store.BoundClass(next.Lane) == "" {
		ch.expect = append(ch.expect, store.LaneOpen{Line: next.Line(), Lane: next.Lane, Max: maxLanes})
	}
}

// decideUndo puts back what the last verb changed, for the one who did it.
func decideUndo(c *command, ch *change) error {
	u := c.t.Undo
	if u == nil {
		return c.conflict("nothing_to_undo", "there is nothing to undo")
	}
	if u.Actor != c.by.Name {
		return c.conflict("other_actor", "only %s can undo this", u.Actor)
	}
	old := u.Before
	q := c.target() // the queue before
	if old.Gen != q.gen() && !old.State.AtCounter() {
		return c.conflict("undo_too_late", "the line that it stood in was emptied at the end of the day")
	}
	next := c.become(ch, old.State, dengxu.EventUndone)
	next.Queue, next.Gen, next.Class, next.Group = old.Queue, old.Gen, old.Class, old.Group
	next.Lane, next.Place, next.Seq, next.Origin = q.fit(old), old.Place, old.Seq, old.Origin
	next.Factor, next.Rules = old.Factor, old.Rules
	next.Due, next.Why = old.Due, old.Why
	ch.marks = append(ch.marks, c.forget(u.Verb)...)
	next.CallCount, next.Confirmed, next.StartedAt = old.CallCount, old.Confirmed, old.StartedAt
	next.Counter, next.Misses = old.Counter, old.Misses
	next.EndedAt, next.Deadline = 0, 0
	next.Unique = q.unique && next.Business != ""
	if old.State == dengxu.StateCalling {
		// The old deadline may be past; the person gets a whole one.
		q.setDeadline(next, q.callTimeout)
	}
	ch.expect = append(ch.expect, store.Before{At: u.Until}, store.Before{At: q.site.state.DayEnds})
	if next.Unique {
		ch.expect = append(ch.expect, store.HolderFree{
			Holder: store.HolderKey{Line: next.Line(), Business: next.Business}, Not: next.ID,
		})
	}
	if old.State.AtCounter() {
		room, err := c.room(old.Counter)
		if err != nil {
			return c.conflict("state", "counter %s, where it was, is gone", old.Counter)
		}
		ch.expect = append(ch.expect, room)
	}
	return nil
}
