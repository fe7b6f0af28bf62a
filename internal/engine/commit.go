package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// maxTries bounds how often one command decides anew after losing a race. A
// picture that is old is renewed by the first refusal; more than a few mean
// that someone changes the same object as fast as we read it.
const maxTries = 16

// commit decides and commits until the batch is in. A decision against it is
// taken once more when the settings turn out to be others by now; for that, a
// batch that is not to be committed names its site. A refusal that only says that
// the engine's picture was old (settings, a door, the day, a version) renews it
// and decides again; any other is returned as *store.Refused for the use case to
// put into words.
func (e *Engine) commit(ctx context.Context, decide func(*world) (store.Batch, error)) (store.Result, error) {
	for range maxTries {
		w := e.world.Load()
		b, err := decide(w)
		if errors.Is(err, errAgain) {
			continue
		}
		if err != nil {
			better, lookErr := e.reconsider(ctx, w.sites[b.Site], err)
			if better {
				continue
			}
			return store.Result{}, cmp.Or(lookErr, err)
		}
		if e.shared {
			settingsFirst(b.Expect)
		}
		res, err := e.store.Commit(ctx, b)
		if err == nil {
			e.saw(b.Partition, res.Now)
			e.absorb(b.Partition, res.Docs)
			e.sawAtCounter(b.Site, res)
			e.settle(ctx, res)
			return res, nil
		}
		r, refused := errors.AsType[*store.Refused](err)
		if !refused {
			return store.Result{}, storeError("commit", err)
		}
		renewed, err := e.renew(ctx, w, &b, r)
		if err != nil {
			return store.Result{}, err
		}
		if !renewed {
			return store.Result{}, r
		}
	}
	return store.Result{}, errContention("commit")
}

// reconsider reports whether deciding anew may end otherwise than with err:
// what was missing is there by now, or other processes have changed the
// settings of the site that it was decided by.
func (e *Engine) reconsider(ctx context.Context, s *site, err error) (bool, error) {
	if _, ok := errors.AsType[missing](err); ok {
		return e.find(ctx, err)
	}
	if !e.shared || s == nil || !decided(err) || !e.misses.take(e.now()) {
		return false, nil
	}
	current, err := e.isCurrent(ctx, s)
	if err != nil || current {
		return false, err
	}
	return true, e.refreshPart(ctx, s.partition)
}

// decidedIn names the site of a decision not to commit anything.
func decidedIn(s *site) store.Batch {
	if s == nil {
		return store.Batch{}
	}
	return store.Batch{Partition: s.partition, Site: s.id}
}

// isCurrent reports whether all settings and states of a site have the versions
// that the world knows.
func (e *Engine) isCurrent(ctx context.Context, s *site) (bool, error) {
	ask := store.Ask{Partition: s.partition}
	var known checks
	known.site(&ask, s)
	for _, q := range s.queues {
		known.queue(&ask, q)
	}
	for _, c := range s.counters {
		known.counter(&ask, c)
	}
	v, err := e.view(ctx, ask)
	return err == nil && known.hold(v.Docs), err
}

// settingsFirst lets a batch that was decided by old settings be refused for
// that, and not for what follows from them.
func settingsFirst(expect []store.Expectation) {
	rank := func(x store.Expectation) int {
		if _, doc := x.(store.DocAt); doc {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(expect, func(a, b store.Expectation) int { return rank(a) - rank(b) })
}

// never is an expectation that no commit meets.
var never = store.Before{At: 0}

// renew brings up to date what a refusal showed to be old, and reports whether
// deciding again can help. w is the world that the batch was decided on.
func (e *Engine) renew(ctx context.Context, w *world, b *store.Batch, r *store.Refused) (bool, error) {
	switch by := r.By.(type) {
	case store.DocAt:
		return true, e.refreshPart(ctx, b.Partition)
	case store.MarkAt: // the holder's history that rules looked at
		return true, nil
	case store.TokenAt:
		// A record that is nowhere among the live ones was archived, for good.
		return r.Have != 0 || by.Version == 0, nil
	case store.Before:
		if by == never {
			return true, nil
		}
		return e.turn(ctx, w.sites[b.Site], by.At, r.Now)
	default:
		return false, nil
	}
}

// turn carries out the day end or door edge at the instant at, which has
// passed, and reports whether at was one for s. Someone else may have carried it
// out meanwhile.
func (e *Engine) turn(ctx context.Context, s *site, at, now int64) (bool, error) {
	if s == nil {
		return false, nil
	}
	if at == s.state.DayEnds {
		return true, e.startDay(ctx, s.id, now)
	}
	turned := false
	for _, q := range s.queues {
		if q.state.Edge == at && at != 0 {
			if err := e.moveDoor(ctx, q.id); err != nil {
				return false, err
			}
			turned = true
		}
	}
	return turned, nil
}

// settle does what follows from a commit without being part of it: a closing
// queue that became empty is closed. What is lost here by a crash is done by
// the queue's timer.
func (e *Engine) settle(ctx context.Context, res store.Result) {
	w := e.world.Load()
	for i := range res.Tokens {
		t := &res.Tokens[i]
		if !t.State.Ended() {
			continue
		}
		if q := w.queues[t.Queue]; q != nil && q.state.Door == dengxu.DoorClosing {
			if err := e.closeIfEmpty(ctx, q.id); err != nil {
				e.log.WarnContext(ctx, "close an empty queue", "queue", q.id, "err", err)
			}
		}
	}
}

// asDecided is what every command on a queue or at a counter expects. It is made
// once for each world, since every commit takes it: nobody changes it.
type asDecided struct {
	version, stateV uint64
	dayEnds, edge   int64 // of edge 0 there is none
	expect          []store.Expectation
}

// holding is d, or what replaces it where it does not fit any more.
func (d *asDecided) holding(settings, state store.DocAt, dayEnds, edge int64) *asDecided {
	if d != nil && d.version == settings.Version && d.stateV == state.Version && d.dayEnds == dayEnds && d.edge == edge {
		return d
	}
	x := []store.Expectation{settings, state, store.Before{At: dayEnds}}
	if edge != 0 {
		x = append(x, store.Before{At: edge})
	}
	return &asDecided{settings.Version, state.Version, dayEnds, edge, slices.Clip(x)}
}

// steady is what every command on a queue expects: its settings, its door and
// its day are those that were decided on. It is to be appended to a batch's own.
func (q *queue) steady() []store.Expectation { return q.decided.expect }

// keepSteady makes what steady answers.
func (q *queue) keepSteady() {
	q.decided = q.decided.holding(q.settled(),
		store.DocAt{Key: store.DocKey{Kind: store.DocQueueState, ID: string(q.id)}, Version: q.stateV},
		q.site.state.DayEnds, q.state.Edge)
}

// steady is what every command at a counter expects: its settings, its state
// and the day are those that were decided on. It is to be appended to a batch's
// own.
func (c *counter) steady() []store.Expectation { return c.decided.expect }

// keepSteady makes what steady answers.
func (c *counter) keepSteady() {
	c.decided = c.decided.holding(
		store.DocAt{Key: store.DocKey{Kind: store.DocCounter, ID: string(c.id)}, Version: c.version},
		store.DocAt{Key: store.DocKey{Kind: store.DocCounterState, ID: string(c.id)}, Version: c.stateV},
		c.site.state.DayEnds, 0)
}

// settled expects that the queue's settings are those that were decided on.
func (q *queue) settled() store.DocAt {
	return store.DocAt{Key: store.DocKey{Kind: store.DocQueue, ID: string(q.id)}, Version: q.version}
}

// view reads from the partition of a site or token.
func (e *Engine) view(ctx context.Context, a store.Ask) (store.View, error) {
	v, err := e.store.View(ctx, a)
	if err != nil {
		return v, storeError("read", err)
	}
	e.saw(a.Partition, v.Now)
	return v, nil
}

// saw keeps the latest time of a store that was answered. It names token ids,
// dates answers of replays and pictures of lines, and decides nothing.
func (e *Engine) saw(p store.Partition, now int64) {
	raise(&e.latest, now)
	raise(&e.clocks[p], now)
}

func raise(latest *atomic.Int64, now int64) {
	for {
		last := latest.Load()
		if now <= last || latest.CompareAndSwap(last, now) {
			return
		}
	}
}

func (e *Engine) now() int64 { return e.latest.Load() }

// nowIn is now by the clock of one partition.
func (e *Engine) nowIn(p store.Partition) int64 { return e.clocks[p].Load() }
