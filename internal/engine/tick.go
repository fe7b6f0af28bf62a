package engine

import (
	"context"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// dueAtOnce is how many due entries one reading takes; as many ended records
// are archived in one commit.
const dueAtOnce = store.MaxTokens

// tickRetry is when entries that failed are tried again.
const tickRetry = time.Second

// Tick does everything that is due and returns how long until the next thing
// is, by the store's clock; 0 means that nothing is known. One entry that
// fails does not stop the others: it is logged and tried again at the next
// tick. The error is that of the store, or of ctx.
func (e *Engine) Tick(ctx context.Context) (wait time.Duration, err error) {
	for p := range e.parts {
		next, err := e.TickPartition(ctx, store.Partition(p))
		if err != nil {
			return 0, err
		}
		if next > 0 && (wait == 0 || next < wait) {
			wait = next
		}
	}
	return wait, nil
}

// TickPartition is Tick for one partition.
func (e *Engine) TickPartition(ctx context.Context, p store.Partition) (wait time.Duration, err error) {
	failed := make(map[store.DueEntry]bool)
	for {
		due, err := e.store.Due(ctx, p, dueAtOnce)
		if err != nil {
			return 0, storeError("read what is due", err)
		}
		e.saw(p, due.Now)
		done, err := e.fireAll(ctx, p, due.Entries, failed)
		if err != nil {
			return 0, err
		}
		if done > 0 {
			continue
		}
		switch {
		case len(due.Entries) > 0:
			return tickRetry, nil // what failed is tried again
		case due.Next == 0:
			return 0, nil
		default:
			return time.Duration(due.Next-due.Now) * time.Millisecond, nil
		}
	}
}

// fireAll fires entries and returns how many succeeded. Ended records among
// them are archived together.
func (e *Engine) fireAll(ctx context.Context, p store.Partition, entries []store.DueEntry, failed map[store.DueEntry]bool) (int, error) {
	done := 0
	var ended []store.Token
	for _, entry := range entries {
		if failed[entry] {
			continue
		}
		archive, err := e.fire(ctx, p, entry)
		if ctx.Err() != nil {
			return done, ctx.Err()
		}
		switch {
		case err != nil:
			failed[entry] = true
			e.log.WarnContext(ctx, "timer", "token", entry.Token.Mask(), "doc", entry.Doc, "err", err)
		case archive != nil:
			ended = append(ended, *archive)
		default:
			done++
		}
	}
	if len(ended) == 0 {
		return done, nil
	}
	if err := e.archive(ctx, p, ended); err != nil {
		if ctx.Err() != nil {
			return done, ctx.Err()
		}
		for _, entry := range entries {
			failed[entry] = true
		}
		e.log.WarnContext(ctx, "archive ended tokens", "n", len(ended), "err", err)
		return done, nil
	}
	return done + len(ended), nil
}

// fire does what is due for one entry. A token that has ended is returned, to
// be archived.
func (e *Engine) fire(ctx context.Context, p store.Partition, entry store.DueEntry) (*store.Token, error) {
	if entry.Token == "" {
		return nil, e.docDue(ctx, p, entry.Doc)
	}
	t, now, err := e.read(ctx, entry.Token)
	if err != nil {
		return nil, err
	}
	if t.Due == 0 || t.Due > now {
		return nil, nil // it changed meanwhile
	}
	if t.State.Ended() {
		return &t, nil
	}
	q, err := e.queue(ctx, t.Queue)
	if err != nil {
		return nil, err
	}
	verb := timerVerb(q, &t, now)
	by := byTimer
	by.due = true
	_, err = e.Act(ctx, by, verb, t.ID, dengxu.VerbRequest{Version: t.Version, Reason: timerReason(&t, verb)})
	if dengxu.CodeOf(err) == dengxu.Conflict {
		return nil, nil // someone acted first
	}
	return nil, err
}

// timerVerb is what the timer does to a token whose time has come.
func timerVerb(q *queue, t *store.Token, now int64) dengxu.Verb {
	switch t.State { //nolint:exhaustive // the others have no timer
	case dengxu.StateScheduled:
		if t.Why == whyCheckIn {
			return dengxu.VerbExpire
		}
		return dengxu.VerbDue
	case dengxu.StateCalling:
		if q != nil && q.set.OnCallTimeout == "start" {
			return dengxu.VerbStart
		}
		return dengxu.VerbMiss
	case dengxu.StateWaiting:
		if !t.Asked {
			return dengxu.VerbAsk
		}
		overdue := q == nil || q.expireWaiting > 0 && now-t.Since >= q.expireWaiting
		// Silence is put off as often as the holder may step back, and not for
		// ever: who has vanished leaves in the end.
		if !overdue && q.set.Ask.OnSilence == "defer" && t.Defers < q.maxDefers {
			return dengxu.VerbDefer
		}
		return dengxu.VerbExpire
	default: // missed
		return dengxu.VerbExpire
	}
}

func timerReason(t *store.Token, verb dengxu.Verb) string {
	switch {
	case verb == dengxu.VerbMiss:
		return "call_timeout"
	case t.State == dengxu.StateScheduled && verb == dengxu.VerbExpire:
		return "no_check_in"
	case t.State == dengxu.StateWaiting && verb == dengxu.VerbExpire:
		return "no_answer"
	case t.State == dengxu.StateMissed:
		return "missed_too_long"
	default:
		return ""
	}
}

// archive takes ended records out of the live set, one commit a site.
func (e *Engine) archive(ctx context.Context, p store.Partition, ended []store.Token) error {
	bySite := make(map[dengxu.SiteID]*store.Batch)
	for _, t := range ended {
		b := bySite[t.Site]
		if b == nil {
			b = &store.Batch{Partition: p, Site: t.Site}
			bySite[t.Site] = b
		}
		b.Expect = append(b.Expect, store.NotBefore{At: t.Due})
		t.Version++
		t.Due = 0
		b.Tokens = append(b.Tokens, store.TokenWrite{Token: t, Archive: true})
	}
	for _, b := range bySite {
		if _, err := e.store.Commit(ctx, *b); err != nil {
			return storeError("archive", err)
		}
	}
	return nil
}
