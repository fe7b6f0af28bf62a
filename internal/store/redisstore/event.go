package redisstore

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/dengxu/dengxu/internal/store"
)

// Events returns at most limit events after a cursor.
func (s *Store) Events(ctx context.Context, after store.Cursor, limit int) (store.EventPage, error) {
	p, err := s.ready(ctx, after.Partition)
	if err != nil {
		return store.EventPage{}, err
	}
	number := strconv.FormatUint(min(after.Number, 1<<48), 10)
	reply, err := p.call(ctx, soon(), func(ctx context.Context, c rueidis.Client) ([]byte, error) {
		return s.scripts.events.run(ctx, c, p.keys, number, strconv.Itoa(max(limit, 1)))
	})
	if err != nil {
		return store.EventPage{}, err
	}
	u := &unpacker{buf: reply}
	u.array()
	u.text()
	epoch, last := uint64(u.int()), uint64(u.int())
	end := store.Cursor{Partition: p.id, Epoch: epoch, Number: last}
	if epoch == p.epoch.Load() {
		p.marks.see(0, 0, int64(last))
	}
	reset := store.EventPage{Reset: true, End: end}
	if after.Epoch != epoch || after.Number > last {
		return reset, nil
	}
	page := store.EventPage{End: after}
	for i := range u.array() {
		entry := u.bytes()
		if i == 0 && firstOf(entry) > after.Number+1 {
			return reset, nil // the log was cut behind the cursor
		}
		events, err := decodeEntry(p.id, entry)
		if err != nil {
			return store.EventPage{}, err
		}
		for i := range events {
			if n := events[i].Number; n > after.Number && len(page.Events) < limit {
				page.Events = append(page.Events, events[i])
				page.End.Number = n
			}
		}
	}
	return page, u.err
}

// watchers are the channels of Watch for one partition.
type watchers struct {
	mu  sync.Mutex
	all map[chan struct{}]struct{}
}

// hint wakes all watchers.
func (w *watchers) hint() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.all {
		select {
		case c <- struct{}{}:
		default: // one is waiting to be taken already
		}
	}
}

// Watch returns a channel that gets a value after events of partition, whoever
// wrote them. Hints of other processes come by publish and subscribe, and may
// be lost.
func (s *Store) Watch(partition store.Partition) (<-chan struct{}, func()) {
	hint := make(chan struct{}, 1) // one hint stands for all that are not taken yet
	if int(partition) >= len(s.parts) {
		return hint, func() {}
	}
	w := &s.parts[partition].watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = make(map[chan struct{}]struct{})
	}
	w.all[hint] = struct{}{}
	return hint, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all, hint)
	}
}

// listen passes on the hints of other processes until the store closes.
func (s *Store) listen() {
	byChannel := make(map[string]*part, len(s.parts))
	for _, p := range s.parts {
		byChannel[p.key(keyHint)] = p
	}
	if !s.cluster {
		channels := make([]string, 0, len(s.parts))
		for name := range byChannel {
			channels = append(channels, name)
		}
		s.running.Go(func() {
			s.subscribe(byChannel, s.client().B().Subscribe().Channel(channels...).Build())
		})
		return
	}
	// A sharded subscription is of one slot.
	for name := range byChannel {
		s.running.Go(func() { s.subscribe(byChannel, s.client().B().Ssubscribe().Channel(name).Build()) })
	}
}

// heard takes in what a hint says of the numbers that were given, by whichever
// process: should the server lose them, this one knows. Where replicas are
// waited for, a hint may be of what is not acknowledged yet, and is not counted.
func (p *part) heard(hint string) {
	r := &reader{buf: []byte(hint), ok: true}
	epoch, arrival, call, event := r.number(6), r.time(), r.time(), r.time()
	if !r.ok || epoch != p.epoch.Load() || p.s.opts.Replicated {
		return
	}
	for len(r.buf) > 0 {
		field, day, n := r.text(2), int(int32(r.number(4))), r.time()
		if !r.ok {
			return
		}
		p.marks.number(field, day, n)
	}
	p.marks.see(arrival, call, event)
}

// subscribe holds one subscription, again and again.
func (s *Store) subscribe(parts map[string]*part, cmd rueidis.Completed) {
	cmd = cmd.Pin()
	for level := slog.LevelWarn; s.closing.Err() == nil; {
		began := time.Now() //nolint:forbidigo // a distance, no time of a record
		err := s.client().Receive(s.closing, cmd, func(m rueidis.PubSubMessage) {
			if p := parts[m.Channel]; p != nil {
				p.heard(m.Message)
				p.watch.hint()
			}
		})
		if s.closing.Err() != nil {
			return
		}
		if time.Since(began) > pauseBetween { //nolint:forbidigo // as above
			level = slog.LevelWarn // it had come about
		}
		s.opts.Logger.Log(s.closing, level, "the subscription to hints ended; it is made again", "err", err)
		level = slog.LevelDebug
		s.lookAgain()
		s.wait(pauseBetween)
	}
}
