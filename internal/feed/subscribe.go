package feed

import (
	"context"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// Filter selects events. Zero fields do not restrict.
type Filter struct {
	Site   dengxu.SiteID
	Sites  []dengxu.SiteID
	Queues []dengxu.QueueID // events of a counter or a site alone pass only without Queues
	Token  dengxu.TokenID
	Types  []dengxu.EventType
}

func (f *Filter) wants(e *store.Event) bool {
	return (f.Site == "" || f.Site == e.Site) &&
		(len(f.Sites) == 0 || slices.Contains(f.Sites, e.Site)) &&
		(len(f.Queues) == 0 || slices.Contains(f.Queues, e.Queue)) &&
		(f.Token == "" || f.Token == e.Token) &&
		(len(f.Types) == 0 || slices.Contains(f.Types, e.Type))
}

// Item is what a subscriber gets: an event, or a reset.
type Item struct {
	Event dengxu.Event
	// Reset says that entries are lost to this reader: it must read anew what
	// it shows, and goes on at Cursor. Event is empty then.
	Reset  bool
	Cursor string // Event.ID, or where it goes on after a reset
}

// item is an entry on its way to subscribers, who share it and do not change
// it.
type item struct {
	at    store.Cursor
	event *dengxu.Event
	reset bool
}

// Subscription is one reader of the feed. Its methods are called from one
// goroutine at a time.
type Subscription struct {
	feed   *Feed
	filter Filter
	in     []bool // by partition: its log may have what filter selects
	heard  bool   // it is counted as listening
	pos    Cursor // up to where this reader has read

	// live has the feed's Buffer: what a reader may be behind. It is closed
	// when the subscription is dropped; why says the reason.
	live chan *item
	why  error

	joined bool // live gets events
	next   int  // while catching up: the partition that is read next
	page   store.EventPage
	closed bool
}

// Subscribe returns a reader of what filter selects, after a cursor or, with a
// nil one, from now on. It waits until the feed knows where the logs end.
//
// A cursor of another store is Invalid, too many subscriptions are
// Unavailable, a stopped feed is ErrStopped.
func (f *Feed) Subscribe(ctx context.Context, filter Filter, after Cursor) (*Subscription, error) {
	if err := f.wait(ctx); err != nil {
		return nil, err
	}
	s := &Subscription{feed: f, filter: filter, in: f.selects(&filter), heard: true, live: make(chan *item, f.o.Buffer)}
	live := after == nil
	if live {
		after = f.Head()
		// The logs' own ends: the tails may still be on their way to what was
		// committed before this call.
		for p := range after {
			if !s.in[p] {
				continue
			}
			end, err := f.end(ctx, store.Partition(p))
			if err != nil {
				return nil, err
			}
			after[p] = end
		}
	}
	s.pos = slices.Clone(after)
	return s, f.enter(s, live)
}

// Follow returns a reader of everything from the feed's own position on, which
// may lie before what was committed by now. It reads no log and does not count
// as listening: whoever follows says by Attend which sites matter.
func (f *Feed) Follow(ctx context.Context) (*Subscription, error) {
	if err := f.wait(ctx); err != nil {
		return nil, err
	}
	s := &Subscription{feed: f, in: f.selects(&Filter{}), pos: f.Head(), live: make(chan *item, f.o.Buffer)}
	return s, f.enter(s, true)
}

// enter makes the feed know a reader. One that begins now, or has nothing to
// catch up with, is live at once.
func (f *Feed) enter(s *Subscription, live bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(s.pos) != len(f.tails) {
		return dengxu.Fieldf(dengxu.Invalid, "after", "this cursor belongs to another store").Because("cursor")
	}
	if err := f.admit(); err != nil {
		return err
	}
	if s.heard {
		f.listen(s.in, 1)
	}
	for p, tail := range f.tails {
		if (live || !s.in[p]) && before(s.pos[p], tail) {
			s.pos[p] = tail
		}
	}
	if live || s.caughtUp() {
		s.joined = true
		f.subs[s] = struct{}{}
	}
	return nil
}

// caughtUp reports whether a reader has read as far as the tails. It may be
// ahead of one, also by an epoch: what the tail fans out later and the reader
// has had is skipped by take. The caller holds the feed's mu.
func (s *Subscription) caughtUp() bool {
	for p, at := range s.pos {
		if s.in[p] && before(at, s.feed.tails[p]) {
			return false
		}
	}
	return true
}

// before reports whether a position of a log lies before another.
func before(at, other store.Cursor) bool {
	return at.Epoch < other.Epoch || at.Epoch == other.Epoch && at.Number < other.Number
}

// admit counts one more reader, within the bound. The caller holds mu.
func (f *Feed) admit() error {
	if f.stopped {
		return ErrStopped
	}
	if f.open >= f.o.MaxSubscribers {
		e := dengxu.Errorf(dengxu.Unavailable, "there are already %d readers of events", f.open).Because("subscribers")
		e.RetryAfter = f.o.Tick
		return e
	}
	f.open++
	return nil
}

// Close ends the subscription. It may be called again.
func (s *Subscription) Close() {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	if !s.closed {
		s.closed = true
		if s.heard {
			s.feed.listen(s.in, -1)
		}
		s.feed.open--
		delete(s.feed.subs, s)
	}
}

// Cursor returns the position after which Next goes on. Where nothing waits to
// be read it is the feed's own position, so that a quiet reader does not fall
// behind the logs.
func (s *Subscription) Cursor() Cursor {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	if _, live := s.feed.subs[s]; live && len(s.live) == 0 {
		for p, at := range s.feed.tails {
			if s.pos[p].Epoch == at.Epoch {
				s.pos[p].Number = max(s.pos[p].Number, at.Number)
			}
		}
	}
	return slices.Clone(s.pos)
}

// Next waits for the next event or reset. It returns ErrSlow when the reader
// fell too far behind, ErrStopped when the feed ended, the context's error, or
// the store's when the past cannot be read.
func (s *Subscription) Next(ctx context.Context) (Item, error) {
	if !s.joined {
		it, err := s.catchUp(ctx)
		if err != nil || !s.joined {
			return it, err
		}
	}
	for {
		select {
		case it, ok := <-s.live:
			if !ok {
				return Item{}, s.why
			}
			if item, fresh := s.take(it); fresh {
				return item, nil
			}
		case <-ctx.Done():
			return Item{}, ctx.Err()
		}
	}
}

// take moves the position past an item; what the reader has had is not fresh.
func (s *Subscription) take(it *item) (Item, bool) {
	at := &s.pos[it.at.Partition]
	if !it.reset && at.Epoch == it.at.Epoch && it.at.Number <= at.Number {
		return Item{}, false
	}
	*at = it.at
	if it.reset {
		return Item{Reset: true, Cursor: s.pos.String()}, true
	}
	out := Item{Event: *it.event}
	if out.Event.ID == "" {
		out.Event.ID = s.pos.String()
	}
	out.Cursor = out.Event.ID
	return out, true
}

// catchUp reads the logs from the reader's own position until it has what the
// feed has fanned out; there it joins, under the lock that fanOut holds, so
// that nothing lies between. It returns an item, or joined.
func (s *Subscription) catchUp(ctx context.Context) (Item, error) {
	for {
		for len(s.page.Events) > 0 {
			e := s.page.Events[0]
			s.page.Events = s.page.Events[1:]
			at := store.Cursor{Partition: s.page.End.Partition, Epoch: s.page.End.Epoch, Number: e.Number}
			if !s.filter.wants(&e) {
				s.pos[at.Partition] = at
				continue
			}
			out, _ := s.take(&item{at: at, event: s.feed.wire(at, &e)})
			return out, nil
		}
		if s.next == len(s.pos) {
			s.next = 0
			joined, err := s.join()
			if joined || err != nil {
				return Item{}, err
			}
		}
		if !s.in[s.next] {
			s.next++
			continue
		}
		page, err := s.feed.o.Store.Events(ctx, s.pos[s.next], batch)
		if err != nil {
			return Item{}, err
		}
		page.End.Partition = s.pos[s.next].Partition
		if page.Reset {
			out, _ := s.take(&item{at: page.End, reset: true})
			return out, nil
		}
		if len(page.Events) == 0 {
			s.next++
			continue
		}
		s.page = page
	}
}

// join makes the reader live if it has read as far as the tails.
func (s *Subscription) join() (bool, error) {
	f := s.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return false, ErrStopped
	}
	if !s.caughtUp() {
		return false, nil
	}
	s.joined = true
	f.subs[s] = struct{}{}
	return true, nil
}
