package httpapi

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/feed"
)

// Bounds of open position streams. One token is watched by its holder and few
// others; without a bound of its own it could take everybody's.
const (
	maxWatchers        = 20_000 // of a process
	maxWatchersOfToken = 32
)

// watches wakes the streams of positions. One subscription to the feed serves
// all of them; a queue's streams are woken together, so that a burst in a queue
// costs each of them one look and not one for every event.
type watches struct {
	server *server

	mu     sync.Mutex // guards what follows
	tokens map[dengxu.TokenID]map[*watcher]struct{}
	queues map[dengxu.QueueID]*queueWatch
	n      int
	cancel context.CancelFunc // ends the reader; nil = none runs
}

// queueWatch is the streams of one queue.
type queueWatch struct {
	site     dengxu.SiteID
	leave    func() // ends listening to its site
	watchers map[*watcher]struct{}
	changes  uint64      // rises with every event that may move somebody
	woken    time.Time   // when its streams were last woken together
	timer    *time.Timer // wakes them again; nil = not needed
}

// watcher is one stream.
type watcher struct {
	token dengxu.TokenID
	queue dengxu.QueueID
	near  bool      // woken by every change
	next  time.Time // far: not woken before
	seen  uint64    // queueWatch.changes at the last look
	// wake has capacity one: one value stands for all changes since the last
	// look. It is closed when the feed ends.
	wake chan struct{}
}

func (h *watches) init(s *server) {
	h.server = s
	h.tokens = make(map[dengxu.TokenID]map[*watcher]struct{})
	h.queues = make(map[dengxu.QueueID]*queueWatch)
}

// everything reads the feed from where it is, which it waits for no longer than
// a request may take.
func (s *server) everything(ctx context.Context) (*feed.Subscription, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Deadline)
	defer cancel()
	sub, err := s.Feed.Follow(ctx)
	return sub, feedError(err)
}

// add makes a stream be woken. It returns after the feed is listened to, so
// that a position read from now on misses nothing.
func (h *watches) add(ctx context.Context, p *dengxu.Position) (*watcher, <-chan struct{}, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n >= maxWatchers {
		return nil, nil, dengxu.Errorf(dengxu.Unavailable, "there are already %d streams of positions", h.n).Because("subscribers")
	}
	if n := len(h.tokens[p.ID]); n >= maxWatchersOfToken {
		return nil, nil, dengxu.Errorf(dengxu.TooMany, "there are already %d streams of this token", n).Because("subscribers")
	}
	if h.cancel == nil {
		sub, err := h.server.everything(ctx)
		if err != nil {
			return nil, nil, err
		}
		var own context.Context
		own, h.cancel = context.WithCancel(context.Background())
		go h.read(own, sub) //nolint:contextcheck // it serves all streams, not the one that happens to be the first
	}
	w := &watcher{token: p.ID, wake: make(chan struct{}, 1)}
	if h.tokens[w.token] == nil {
		h.tokens[w.token] = make(map[*watcher]struct{})
	}
	h.tokens[w.token][w] = struct{}{}
	h.n++
	h.enter(w, p)
	return w, w.wake, nil
}

// remove ends a stream; the last one ends the reader.
func (h *watches) remove(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.tokens[w.token], w)
	if len(h.tokens[w.token]) == 0 {
		delete(h.tokens, w.token)
	}
	h.leave(w)
	if h.n--; h.n == 0 && h.cancel != nil {
		h.cancel()
		h.cancel = nil
	}
}

func (h *watches) enter(w *watcher, p *dengxu.Position) {
	w.queue = p.QueueID
	q := h.queues[w.queue]
	if q == nil {
		q = &queueWatch{site: p.Site, leave: h.server.Feed.Attend(p.Site), watchers: make(map[*watcher]struct{})}
		h.queues[w.queue] = q
	}
	q.watchers[w] = struct{}{}
	w.seen = q.changes
}

func (h *watches) leave(w *watcher) {
	q := h.queues[w.queue]
	delete(q.watchers, w)
	if len(q.watchers) > 0 {
		return
	}
	if q.timer != nil {
		q.timer.Stop()
	}
	q.leave()
	delete(h.queues, w.queue)
}

// look marks everything up to now as seen by a stream that reads its position
// next.
func (h *watches) look(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.seen = h.queues[w.queue].changes
}

// settle tells where the stream's token stands now, which says how often it is
// woken.
func (h *watches) settle(w *watcher, p *dengxu.Position) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.QueueID != w.queue {
		h.leave(w)
		h.enter(w, p)
	}
	pause := h.server.pause(p)
	w.near = pause == 0
	w.next = time.Now().Add(pause)
}

// pause is how long a stream of this position is left alone: not at all when
// called or near the head, longer the farther it is.
func (s *server) pause(p *dengxu.Position) time.Duration {
	rank := p.Rank
	if rank == nil {
		rank = p.RankIfCheckedIn
	}
	switch {
	case p.State != dengxu.StateWaiting && p.State != dengxu.StateScheduled, rank == nil, *rank <= 3:
		return 0
	case *rank <= 10:
		return s.Pace
	case *rank <= 50:
		return 5 * s.Pace
	default:
		return 15 * s.Pace
	}
}

// read takes events until ctx or the feed ends.
func (h *watches) read(ctx context.Context, sub *feed.Subscription) {
	defer func() { sub.Close() }()
	for {
		it, err := sub.Next(ctx)
		switch {
		case err == nil:
			h.take(it)
		case errors.Is(err, feed.ErrSlow):
			next, err := h.server.everything(ctx)
			if err != nil {
				h.end(ctx)
				return
			}
			sub.Close()
			sub = next
			h.take(feed.Item{Reset: true}) // what was dropped is looked at as a whole
		default:
			h.end(ctx)
			return
		}
	}
}

// end closes every stream when the feed has ended for another reason than
// that nobody is left.
func (h *watches) end(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	h.cancel()
	h.cancel = nil
	for _, q := range h.queues {
		for w := range q.watchers {
			close(w.wake)
			w.wake = nil // nobody gives to it any more; its stream has the channel
		}
	}
}

// take wakes whom an event concerns.
func (h *watches) take(it feed.Item) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if it.Reset {
		for _, q := range h.queues {
			h.changed(q)
		}
		return
	}
	e := &it.Event
	for w := range h.tokens[e.TokenID] {
		w.give()
	}
	if e.QueueID != "" {
		if q := h.queues[e.QueueID]; q != nil {
			h.changed(q)
		}
		return
	}
	for _, q := range h.queues { // a counter or a site may change every estimate
		if e.Site == "" || q.site == e.Site {
			h.changed(q)
		}
	}
}

// changed wakes the near streams of a queue, and the others now or when their
// time has come.
func (h *watches) changed(q *queueWatch) {
	q.changes++
	for w := range q.watchers {
		if w.near {
			w.give()
		}
	}
	if q.timer != nil {
		return
	}
	h.wakeAll(q)
}

// wakeAll wakes the far streams whose time has come, at most once a pace, and
// sets the timer for the others.
func (h *watches) wakeAll(q *queueWatch) {
	now := time.Now()
	again := q.woken.Add(h.server.Pace)
	if wait := again.Sub(now); wait > 0 {
		q.timer = time.AfterFunc(wait, func() { h.rang(q) })
		return
	}
	q.woken = now
	var next time.Time
	for w := range q.watchers {
		switch {
		case w.near || w.seen == q.changes:
		case w.next.After(now):
			if next.IsZero() || w.next.Before(next) {
				next = w.next
			}
		default:
			w.give()
		}
	}
	if !next.IsZero() {
		q.timer = time.AfterFunc(max(next.Sub(now), h.server.Pace), func() { h.rang(q) })
	}
}

func (h *watches) rang(q *queueWatch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	q.timer = nil
	if len(q.watchers) > 0 {
		h.wakeAll(q)
	}
}

// give never waits. The caller holds the lock.
func (w *watcher) give() {
	if w.wake == nil {
		return
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// positionStream sends the position, then every change of it.
func (s *server) positionStream(c *call, p *TokenPath) (func(*sse), error) {
	at, err := s.engine.Position(c.ctx, p.TokenID)
	if err != nil {
		return nil, err
	}
	w, wake, err := s.watches.add(c.ctx, &at)
	if err != nil {
		return nil, err
	}
	return func(out *sse) {
		defer s.watches.remove(w)
		_ = s.follow(c, w, wake, out) // its reader comes back, whatever ended it
	}, nil
}

// follow sends the position whenever it says something new. A heartbeat looks
// again too, since an estimate may move with nothing but time.
func (s *server) follow(c *call, w *watcher, wake <-chan struct{}, out *sse) error {
	beat := time.NewTicker(s.Heartbeat)
	defer beat.Stop()
	if err := out.open(""); err != nil {
		return err
	}
	sent := ""
	for {
		s.watches.look(w)
		ctx, cancel := context.WithTimeout(c.ctx, s.Deadline)
		p, err := s.engine.Position(ctx, w.token)
		cancel()
		if err != nil {
			return err
		}
		s.watches.settle(w, &p)
		if tag := positionTag(p); tag != sent {
			sent = tag
			err = out.message("position", "", &p)
		} else {
			err = out.heartbeat("")
		}
		if err != nil || p.State.Ended() {
			return err
		}
		select {
		case _, more := <-wake:
			if !more {
				return feed.ErrStopped
			}
		case <-beat.C:
		case <-c.ctx.Done():
			return c.ctx.Err()
		}
	}
}
