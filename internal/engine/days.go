package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// timerName is the actor of what the engine does by itself.
const timerName = "timer"

// byTimer is who asks when the engine acts by itself.
var byTimer = By{Kind: Timer, Name: timerName}

// reasonDayEnd is the reason of tokens that the end of the day took out.
const reasonDayEnd = "day_end"

// sweepRetry is when a sweep that left tokens behind is tried again, in ms.
const sweepRetry = 5_000

// dayBegan is when the site's business day began by its calendar, in ms.
func (s *site) dayBegan() int64 { return dayBegin(s.zone, s.dayStart, s.state.Day) }

// startDay starts the site's next business day, if its day has ended at now:
// one commit raises the day, and with it every series, quota and generation.
// Losing the race against another process is success.
func (e *Engine) startDay(ctx context.Context, id dengxu.SiteID, now int64) error {
	for range maxTries {
		s := e.world.Load().sites[id]
		if s == nil || now < s.state.DayEnds {
			return nil
		}
		b, err := s.nextDay(now)
		if err != nil {
			return err
		}
		res, err := e.store.Commit(ctx, b)
		if err == nil {
			e.absorb(b.Partition, res.Docs)
			return nil
		}
		refused, ok := errors.AsType[*store.Refused](err)
		if !ok {
			return storeError("start a day", err)
		}
		switch refused.By.(type) {
		case store.NotBefore: // the caller's clock was ahead: the day goes on
			return nil
		case store.Before: // the day that was to start is over too
			now = refused.Now
		default:
			if err := e.refreshPart(ctx, s.partition); err != nil {
				return err
			}
		}
	}
	return errContention("start a day")
}

// nextDay is the batch that starts the day that now belongs to.
func (s *site) nextDay(now int64) (store.Batch, error) {
	next := s.state
	today, _ := dayAt(s.zone, s.dayStart, now)
	next.Day = max(s.state.Day, today)
	next.DayEnds = dayBegin(s.zone, s.dayStart, next.Day+1)
	b := store.Batch{
		Partition: s.partition, Site: s.id,
		Expect: []store.Expectation{store.NotBefore{At: s.state.DayEnds}, store.Before{At: next.DayEnds}},
	}
	// Not later than before only when the settings moved the day's end while
	// the day went on: then nothing starts.
	if next.Day > s.state.Day {
		for _, q := range s.queues {
			if q.set.DayEnd == "expire" {
				next.Sweep = next.Day
			}
		}
		data, err := json.Marshal(struct {
			Day     string `json:"day"`
			Version uint64 `json:"version"`
		}{dayText(next.Day), s.stateV + 1})
		if err != nil {
			return b, fmt.Errorf("day started: %w", err)
		}
		b.Events = append(b.Events, store.EventSpec{Type: dengxu.EventDayStarted, Actor: timerName, Data: data})
	}
	write, err := s.writeState(next)
	b.Docs = append(b.Docs, write)
	return b, err
}

// writeState writes the site's running state over the one that is known. A
// pending sweep makes it due at once, so that a crash only delays the sweep.
func (s *site) writeState(next siteState) (store.DocWrite, error) {
	due := next.DayEnds
	if next.Sweep != 0 {
		due = store.Now
	}
	return docWrite(store.DocSiteState, string(s.id), s.id, next, due, s.stateV)
}

// docWrite writes a document with a JSON body.
func docWrite(kind store.DocKind, id string, site dengxu.SiteID, body any, due int64, expect uint64) (store.DocWrite, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return store.DocWrite{}, fmt.Errorf("write %s %s: %w", kind, id, err)
	}
	return store.DocWrite{
		Doc:    store.Doc{Key: store.DocKey{Kind: kind, ID: id}, Site: site, Due: due, Body: text},
		Expect: expect,
	}, nil
}

// docDue does what a document's due time asks for. When it returns nil, the
// document is not due any more, or another process has changed it.
func (e *Engine) docDue(ctx context.Context, p store.Partition, key store.DocKey) error {
	known, err := e.knows(ctx, p, key)
	switch {
	case err != nil:
		return err
	case !known:
		return dengxu.Errorf(dengxu.Internal, "%s %s is due and belongs to nothing", key.Kind, key.ID)
	}
	switch key.Kind { //nolint:exhaustive // no other kind is ever due
	case store.DocSiteState:
		return e.siteDue(ctx, dengxu.SiteID(key.ID))
	case store.DocQueueState:
		return e.moveDoor(ctx, dengxu.QueueID(key.ID))
	case store.DocAPIKey:
		return e.expireKey(ctx, dengxu.KeyID(key.ID))
	default:
		return nil
	}
}

// knows reports whether the engine has what a due document belongs to, after
// looking again if it has not.
func (e *Engine) knows(ctx context.Context, p store.Partition, key store.DocKey) (bool, error) {
	for range 2 {
		w, found := e.world.Load(), false
		switch key.Kind { //nolint:exhaustive // no other kind is ever due
		case store.DocSiteState:
			found = w.sites[dengxu.SiteID(key.ID)] != nil
		case store.DocQueueState:
			found = w.queues[dengxu.QueueID(key.ID)] != nil
		case store.DocAPIKey:
			found = w.keys[dengxu.KeyID(key.ID)] != nil
		}
		if found {
			return true, nil
		}
		if err := e.refreshPart(ctx, p); err != nil {
			return false, err
		}
	}
	return false, nil
}

// siteDue starts the next day when the present one has ended, and goes on with
// the sweep.
func (e *Engine) siteDue(ctx context.Context, id dengxu.SiteID) error {
	s := e.world.Load().sites[id]
	v, err := e.view(ctx, store.Ask{Partition: s.partition})
	if err != nil {
		return err
	}
	switch {
	case v.Now >= s.state.DayEnds:
		if err := e.startDay(ctx, id, v.Now); err != nil {
			return err
		}
	case s.state.Sweep == 0:
		// Another process has moved on, and this one has not seen it.
		return e.refreshPart(ctx, s.partition)
	}
	return e.sweepDay(ctx, id)
}

// sweepDay closes what earlier days left in the lines that are emptied at day
// end, in small commits. It goes on after a crash, because the site's state
// says that it is not done; tokens that refuse are tried again later.
func (e *Engine) sweepDay(ctx context.Context, id dengxu.SiteID) error {
	s := e.world.Load().sites[id]
	if s == nil || s.state.Sweep == 0 {
		return nil
	}
	clean := true
	for _, q := range s.queues {
		if q.set.DayEnd != "expire" {
			continue
		}
		ok, err := e.sweepQueue(ctx, q)
		if err != nil {
			return fmt.Errorf("sweep queue %s: %w", q.id, err)
		}
		clean = clean && ok
	}
	return e.swept(ctx, id, s.state.Sweep, clean)
}

// swept notes that the generations before sweep are closed, or when to try the
// rest again.
func (e *Engine) swept(ctx context.Context, id dengxu.SiteID, sweep int, clean bool) error {
	_, err := e.commit(ctx, func(w *world) (store.Batch, error) {
		s := w.sites[id]
		if s == nil || s.state.Sweep != sweep {
			return store.Batch{}, errUnchanged // a later day goes on with it
		}
		next := s.state
		if clean {
			next.Sweep = 0
		}
		write, err := s.writeState(next)
		if !clean {
			write.Doc.Due = store.Now + sweepRetry
		}
		return store.Batch{Partition: s.partition, Site: s.id, Docs: []store.DocWrite{write}}, err
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}

// sweepable are the states that the end of the day closes. Tokens at a counter
// finish by themselves.
var sweepable = []dengxu.State{
	dengxu.StateScheduled, dengxu.StateWaiting, dengxu.StateMissed, dengxu.StateHeld,
}

// sweepQueue sweeps one queue and reports whether nothing was left behind.
func (e *Engine) sweepQueue(ctx context.Context, q *queue) (clean bool, err error) {
	ask := store.ListAsk{
		Partition: q.site.partition, Site: q.site.id, Queue: q.id,
		States: sweepable, Limit: store.MaxTokens,
	}
	clean = true
	for {
		page, err := e.store.List(ctx, ask)
		if err != nil {
			return false, storeError("list tokens", err)
		}
		var old []store.Token
		for _, t := range page.Tokens {
			if t.Gen < q.site.state.Sweep {
				old = append(old, t)
			}
		}
		ok, err := e.sweepTokens(ctx, q, old)
		if err != nil {
			return false, err
		}
		clean = clean && ok
		if page.Next == 0 {
			return clean, nil
		}
		ask.After = page.Next
	}
}

// sweepTokens closes some tokens in one commit, or one by one when one of them
// refuses, so that a single bad one does not stop the rest.
func (e *Engine) sweepTokens(ctx context.Context, q *queue, old []store.Token) (clean bool, err error) {
	if len(old) == 0 {
		return true, nil
	}
	_, err = e.store.Commit(ctx, q.sweepBatch(old, false))
	if err == nil {
		return true, nil
	}
	if fatal := sweepFatal(err); fatal != nil {
		return false, fatal
	}
	if len(old) > 1 {
		clean = true
		for i := range old {
			ok, err := e.sweepTokens(ctx, q, old[i:i+1])
			if err != nil {
				return false, err
			}
			clean = clean && ok
		}
		return clean, nil
	}
	if _, taken := refusedBy[store.HolderFree](err); taken {
		// The holder has joined the new day already: two places are not kept, so
		// the old one goes.
		if _, err = e.store.Commit(ctx, q.sweepBatch(old, true)); err == nil {
			return true, nil
		}
	}
	e.log.WarnContext(ctx, "a token of an earlier day was left for later", "queue", q.id, "token", old[0].ID.Mask(), "err", err)
	return false, sweepFatal(err)
}

// sweepFatal returns an error after which going on makes no sense: all but a
// batch that was refused or could not be.
func sweepFatal(err error) error {
	if _, refused := errors.AsType[*store.Refused](err); refused {
		return nil
	}
	coded := storeError("close an earlier day", err)
	if dengxu.CodeOf(coded) == dengxu.Internal {
		return nil
	}
	return coded
}

// sweepBatch ends the tokens, or lets those that are booked for a later day
// move on to the present generation with their place, unless all is set.
func (q *queue) sweepBatch(old []store.Token, all bool) store.Batch {
	b := store.Batch{Partition: q.site.partition, Site: q.site.id}
	for _, t := range old {
		next := t
		next.Version++
		next.Undo = nil
		next.Reason = reasonDayEnd
		if !all && q.movesOn(&t) {
			next.Gen = q.gen()
			if t.Unique {
				b.Expect = append(b.Expect, store.HolderFree{Holder: store.HolderKey{Line: next.Line(), Business: t.Business}, Not: t.ID})
			}
			b.Tokens = append(b.Tokens, store.TokenWrite{Token: next})
			b.Events = append(b.Events, store.EventSpec{Type: dengxu.EventEdited, Token: len(b.Tokens), Actor: timerName})
			continue
		}
		c := command{verb: dengxu.VerbExpire, by: byTimer, q: q, t: &t}
		ch := change{write: [1]store.TokenWrite{{Token: next}}}
		c.end(&ch, dengxu.StateAbandoned, dengxu.EventAbandoned)
		b.Tokens = append(b.Tokens, ch.write[0])
		b.Marks = append(b.Marks, ch.marks...)
		b.Events = append(b.Events, store.EventSpec{Type: ch.event, Token: len(b.Tokens), Actor: timerName})
	}
	return b
}

// movesOn reports whether a token is booked for the present day or a later
// one. Somebody booked for just after the day's start may wait already.
func (q *queue) movesOn(t *store.Token) bool {
	began := q.site.dayBegan()
	switch t.State { //nolint:exhaustive // the others have been called
	case dengxu.StateScheduled:
		return t.Why == whyDelay && t.Due >= began || t.Booked >= began
	case dengxu.StateWaiting:
		return t.Booked >= began
	default:
		return false
	}
}

// lineOver reports whether the end of the day has emptied the line that the
// token came from. Who was at a counter then is finished there: nobody comes
// back into a line that nobody calls from.
func (c *command) lineOver() bool { return c.t.Gen != c.q.gen() }

// dayOver refuses what would put a token back into such a line.
func (c *command) dayOver() error {
	return c.conflict("state", "its day is over: it can be finished, missed or transferred, not put back")
}

// whileLine expects that the line is not emptied before the commit.
func (c *command) whileLine(ch *change) {
	if c.q.set.DayEnd == "expire" {
		ch.expect = append(ch.expect, store.Before{At: c.q.site.state.DayEnds})
	}
}
