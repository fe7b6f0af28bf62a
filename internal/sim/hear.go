package sim

import (
	"context"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// hearing is the engine told of its own log, as a server's feed does it, so that
// it learns how long people wait. It is used in runs with estimates only.
type hearing struct {
	upTo store.Cursor
	hour int64 // of the run, in which was last kept
	day  int   // in which was last learned
}

// heardAtOnce is how many events are read together.
const heardAtOnce = 256

// hear tells the engine what has happened. What it learned is kept every hour of
// the run, which a server does twice a minute: what it says does not depend on
// that, since no process ends here. In the first hour of a day it is trained, each
// queue at most once, of which a server would leave the less recent part out for
// the sake of its processor.
func (r *run) hear(ctx context.Context) error {
	if err := r.manAgain(ctx); err != nil {
		return err
	}
	for {
		page, err := r.hall.store.Events(ctx, r.heard.upTo, heardAtOnce)
		if err != nil {
			return err
		}
		r.hall.Observe(ctx, r.heard.upTo.Partition, page.Events)
		if r.heard.upTo = page.End; len(page.Events) < heardAtOnce {
			break
		}
	}
	hour := r.hall.now / 3_600_000
	if hour == r.heard.hour {
		return nil
	}
	r.heard.hour = hour
	if err := r.hall.KeepEstimates(ctx, r.heard.upTo.Partition); err != nil {
		return err
	}
	day := r.dayOf(r.hall.now)
	if day == r.heard.day {
		return nil
	}
	r.heard.day = day
	for more := true; more; {
		var err error
		if more, err = r.hall.LearnNext(ctx, r.heard.upTo.Partition); err != nil {
			return err
		}
	}
	return nil
}

// man tells the engine that a desk opens or closes: what is foretold depends on
// it. A desk that closes is paused, since it may have somebody whom it finishes.
func (r *run) man(ctx context.Context, d *desk, action string) error {
	if !r.Estimates {
		return nil
	}
	_, err := r.hall.SetCounterState(ctx, staff, d.id, action, dengxu.DoorRequest{})
	return err
}

// manAgain opens those desks again that are open at all hours, when the day of
// the site is over and they are closed with it.
func (r *run) manAgain(ctx context.Context) error {
	if !r.dayBegan {
		return nil
	}
	r.dayBegan = false
	for i := range r.desks {
		if d := &r.desks[i]; d.open {
			if err := r.man(ctx, d, manned); err != nil {
				return err
			}
		}
	}
	return nil
}

// What a desk does for the engine.
const (
	manned   = "open"
	unmanned = "pause"
)
