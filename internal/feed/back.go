package feed

import (
	"context"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// maxScan bounds how many entries one page of Back looks at.
const maxScan = 5000

// Back reads the logs backwards from before (nil = from now): up to limit
// events that filter selects and keep accepts, newest first. next is where the
// following page begins, nil at the logs' beginning. A page is short, even
// empty, when it has looked at 5,000 entries. A cursor of another store is
// Invalid, field cursor.
func (f *Feed) Back(ctx context.Context, filter Filter, keep func(*dengxu.Event) bool, before Cursor, limit int) (items []dengxu.Event, next Cursor, err error) {
	if err := f.wait(ctx); err != nil {
		return nil, nil, err
	}
	runs, err := f.runs(ctx, f.selects(&filter), before)
	if err != nil {
		return nil, nil, err
	}
	scanned := 0
	for len(items) < limit && scanned < maxScan {
		newest, err := f.newest(ctx, runs)
		if err != nil {
			return nil, nil, err
		}
		if newest == nil {
			return items, nil, nil
		}
		e := newest.pop()
		scanned++
		if !filter.wants(&e) {
			continue
		}
		at := newest.at
		at.Number = e.Number
		wire := f.wire(at, &e)
		if keep(wire) {
			wire.ID = idOf(runs, at)
			items = append(items, *wire)
		}
	}
	return items, reached(runs), nil
}

// runs begin before a position, or at the ends of the logs: a change that was
// answered is there, also when the feed has not come to it. Partitions that are
// not in are not read.
func (f *Feed) runs(ctx context.Context, in []bool, before Cursor) ([]run, error) {
	head := f.Head()
	if before != nil && len(before) != len(head) {
		return nil, dengxu.Fieldf(dengxu.Invalid, "cursor", "this cursor belongs to another store").Because("cursor")
	}
	runs := make([]run, len(head))
	for p, at := range head {
		if in[p] {
			var err error
			if at, err = f.end(ctx, store.Partition(p)); err != nil {
				return nil, err
			}
		}
		if before != nil {
			at.Number = min(at.Number, before[p].Number)
		}
		runs[p] = run{at: at, begun: !in[p]}
	}
	return runs, nil
}

// reached is the cursor before which everything is still to come.
func reached(runs []run) Cursor {
	c := make(Cursor, len(runs))
	for p := range runs {
		c[p] = runs[p].at
	}
	return c
}

// idOf is the cursor after which reading goes on with what follows the event.
func idOf(runs []run, at store.Cursor) string {
	c := reached(runs)
	c[at.Partition] = at
	return c.String()
}

// run reads one log backwards: at is the position before which everything is
// still to come, events the window that was read, in the log's order.
type run struct {
	at     store.Cursor
	events []store.Event
	begun  bool // the log's beginning was reached
}

// pop takes the newest event of the window.
func (r *run) pop() store.Event {
	e := r.events[len(r.events)-1]
	r.events = r.events[:len(r.events)-1]
	r.at.Number = e.Number - 1
	return e
}

// newest returns the run with the latest event, nil when all are at their
// beginning.
func (f *Feed) newest(ctx context.Context, runs []run) (*run, error) {
	var best *run
	for p := range runs {
		r := &runs[p]
		if len(r.events) == 0 && !r.begun {
			if err := f.fill(ctx, r); err != nil {
				return nil, err
			}
		}
		if n := len(r.events); n > 0 && (best == nil || r.events[n-1].At > best.events[len(best.events)-1].At) {
			best = r
		}
	}
	return best, nil
}

// fill reads the window that ends at the run's position.
func (f *Feed) fill(ctx context.Context, r *run) error {
	events, err := f.before(ctx, r.at, batch)
	r.events, r.begun = events, err == nil && len(events) == 0
	return err
}

// before reads the last size entries up to end. Where the log was trimmed
// inside them, fewer are tried; none is its beginning.
func (f *Feed) before(ctx context.Context, end store.Cursor, size uint64) ([]store.Event, error) {
	for ; size > 0 && end.Number > 0; size /= 4 {
		from := end
		from.Number -= min(size, from.Number)
		page, err := f.o.Store.Events(ctx, from, int(end.Number-from.Number))
		if err != nil {
			return nil, err
		}
		if !page.Reset {
			return page.Events, nil
		}
	}
	return nil, nil
}
