package feed

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// tail reads one log to its end whenever the store hints at something new,
// and at least once a tick; where hints may be lost and somebody listens, once
// a second.
func (f *Feed) tail(ctx context.Context, p store.Partition) {
	hint, stop := f.o.Store.Watch(p)
	defer stop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	found, failed := false, false
	for {
		var err error
		if !found {
			err = f.locate(ctx, p)
			found = err == nil
		}
		if found {
			err = f.drain(ctx, p)
		}
		if ctx.Err() != nil {
			return
		}
		wait := f.o.Tick - rand.N(f.o.Tick/10+1)
		if err != nil || f.shared && f.isHeard(p) {
			wait = min(wait, retry)
		}
		if (err != nil) != failed {
			failed = err != nil
			f.fail(ctx, p, err)
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-hint:
		case <-f.poke[p]:
		case <-timer.C:
		}
	}
}

// fail records that reading a log began to fail, or works again.
func (f *Feed) fail(ctx context.Context, p store.Partition, err error) {
	if err == nil {
		f.failing.Add(-1)
		f.o.Logger.WarnContext(ctx, "event log is read again", "partition", p)
		return
	}
	f.failing.Add(1)
	f.o.Logger.WarnContext(ctx, "event log cannot be read", "partition", p, "error", err)
}

// end finds the end of a log: a cursor of no known epoch is answered with a
// reset to it.
func (f *Feed) end(ctx context.Context, p store.Partition) (store.Cursor, error) {
	page, err := f.o.Store.Events(ctx, store.Cursor{Partition: p, Epoch: math.MaxUint64, Number: math.MaxUint64}, 1)
	page.End.Partition = p
	return page.End, err
}

// locate begins a tail at the end of its log.
func (f *Feed) locate(ctx context.Context, p store.Partition) error {
	end, err := f.end(ctx, p)
	if err != nil {
		return err
	}
	if err := f.replay(ctx, end); err != nil {
		return err
	}
	f.mu.Lock()
	f.tails[p] = end
	f.unknown--
	last := f.unknown == 0
	f.mu.Unlock()
	// What was written between the loading of settings and this position is in
	// neither; so they are loaded anew.
	f.refresh(ctx, p)
	f.moved(p)
	if last {
		close(f.located)
	}
	return nil
}

// replayed is how many of the last entries are told to Observe at the start,
// so that what it keeps of them comes back.
const replayed = 1000

// replay tells Observe the last entries up to end.
func (f *Feed) replay(ctx context.Context, end store.Cursor) error {
	if f.o.Observe == nil {
		return nil
	}
	events, err := f.before(ctx, end, replayed)
	for some := range slices.Chunk(events, batch) {
		f.o.Observe(ctx, end.Partition, some)
	}
	return err
}

func (f *Feed) refresh(ctx context.Context, p store.Partition) {
	if f.o.Refresh != nil {
		f.o.Refresh(ctx, p)
	}
}

// drain fans out everything after the tail's position.
func (f *Feed) drain(ctx context.Context, p store.Partition) error {
	f.mu.Lock()
	at := f.tails[p]
	f.mu.Unlock()
	for {
		page, err := f.o.Store.Events(ctx, at, batch)
		if err != nil {
			return err
		}
		page.End.Partition = p
		if page.Reset {
			at = page.End
			f.refresh(ctx, p)
			f.cut(at)
			f.moved(p)
			continue
		}
		if len(page.Events) == 0 {
			return nil
		}
		if f.o.Observe != nil {
			f.o.Observe(ctx, p, page.Events)
		}
		f.fanOut(page)
		f.moved(p)
		at = page.End
	}
}

func (f *Feed) moved(p store.Partition) {
	if f.o.Moved != nil {
		f.o.Moved(p)
	}
}

// cut tells every subscriber that a log was cut: they go on at its end.
func (f *Feed) cut(end store.Cursor) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tails[end.Partition] = end
	it := &item{at: end, reset: true}
	for s := range f.subs {
		f.push(s, it)
	}
	for h := range f.hints {
		h.give()
	}
}

// fanOut hands a page to the subscribers that want it and moves the tail. An
// event is put in its wire form once, and only if somebody wants it.
func (f *Feed) fanOut(page store.EventPage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := page.End.Partition
	for i := range page.Events {
		e := &page.Events[i]
		at := store.Cursor{Partition: p, Epoch: page.End.Epoch, Number: e.Number}
		f.tails[p] = at
		var it *item
		for s := range f.subs {
			if !s.filter.wants(e) {
				continue
			}
			if it == nil {
				it = &item{at: at, event: f.wire(at, e)}
			}
			f.push(s, it)
		}
		for h := range f.hints {
			if h.filter.wants(e) {
				h.give()
			}
		}
	}
	f.tails[p] = page.End
}

// wire converts an entry. Where there is one log, the event's own position is
// the whole cursor and all subscribers share it.
func (f *Feed) wire(at store.Cursor, e *store.Event) *dengxu.Event {
	event := f.o.Event(at, *e)
	event.ID = ""
	if len(f.tails) == 1 {
		event.ID = Cursor{at}.String()
	}
	return &event
}

// push never waits: a full subscriber is dropped. The caller holds mu.
func (f *Feed) push(s *Subscription, it *item) {
	select {
	case s.live <- it:
	default:
		f.drop(s, ErrSlow)
	}
}
