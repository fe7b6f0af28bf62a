package feed

import "context"

// hint is one who only wants to know that something happened.
type hint struct {
	filter Filter
	ch     chan struct{} // capacity one: one value stands for all that were not taken
}

// give never waits.
func (h *hint) give() {
	select {
	case h.ch <- struct{}{}:
	default:
	}
}

// Hint returns a channel that gets a value soon after an event that filter
// selects, or after a log was cut; several may become one. The channel is
// closed when the feed stops. stop ends it and may be called again.
//
// Too many of them are Unavailable, a stopped feed is ErrStopped.
func (f *Feed) Hint(ctx context.Context, filter Filter) (hints <-chan struct{}, stop func(), err error) {
	if err := f.wait(ctx); err != nil {
		return nil, nil, err
	}
	h := &hint{filter: filter, ch: make(chan struct{}, 1)}
	in := f.selects(&filter)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.admit(); err != nil {
		return nil, nil, err
	}
	f.hints[h] = struct{}{}
	f.listen(in, 1)
	return h.ch, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if _, there := f.hints[h]; there {
			delete(f.hints, h)
			f.listen(in, -1)
			f.open--
		}
	}, nil
}

// wait returns when the feed knows where the logs end.
func (f *Feed) wait(ctx context.Context) error {
	select {
	case <-f.located:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
