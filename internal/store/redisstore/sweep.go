package redisstore

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/redis/rueidis"
)

// How often a process looks for what is over: in partitions that it has written
// to, and, so that others know that it lives, in all.
const (
	tendEvery  = time.Minute
	greetEvery = 6 * 60 // in turns of tendEvery: well within the day after which it would count as dead
	pagesMost  = 50
)

// settleAfter is how long after a connection ended the servers are looked at
// anew, for another one may have taken over.
const settleAfter = 5 * time.Second

// lookAgain has the servers looked at soon.
func (s *Store) lookAgain() {
	select {
	case s.changed <- struct{}{}:
	default: // they will be
	}
}

// tend looks at the servers and sweeps the partitions until the store closes.
func (s *Store) tend() {
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	for turn := 1; ; {
		swept := false
		select {
		case <-tick.C:
			swept, turn = true, turn+1
		case <-s.changed:
			s.wait(settleAfter)
		case <-s.closing.Done():
			return
		}
		if err := s.assess(s.closing); err != nil && s.closing.Err() == nil {
			s.opts.Logger.Warn("how redis keeps data could not be found out", "err", err)
		}
		if !swept {
			continue
		}
		for _, p := range s.parts {
			if p.wrote.Swap(false) || turn%greetEvery == 0 {
				if err := p.sweep(s.closing); err != nil {
					s.opts.Logger.Warn("what is over could not be swept", "partition", p.id, "err", err)
				}
			}
		}
	}
}

// sweep forgets marks that are over and processes that are gone. It goes on
// with pages of marks as long as they hold much that is over.
func (p *part) sweep(ctx context.Context) error {
	for range pagesMost {
		cursor := strconv.FormatUint(p.sweeping, 10)
		reply, err := p.call(ctx, soon(), func(ctx context.Context, c rueidis.Client) ([]byte, error) {
			return p.s.scripts.sweep.run(ctx, c, p.keys, cursor, p.s.process, strconv.Itoa(inFlight))
		})
		if err != nil {
			return err
		}
		u := &unpacker{buf: reply}
		u.array()
		next, seen, gone := u.int(), u.int(), u.int()
		if u.err != nil {
			return u.err
		}
		p.sweeping = uint64(next)
		if next == 0 || gone*4 < seen {
			return nil
		}
	}
	return nil
}

// leave takes the process out of the partitions, as well as that works within a
// second: whatever stays is swept by others.
func (s *Store) leave() {
	ctx, cancel := context.WithTimeout(s.working, time.Second)
	defer cancel()
	var leaving sync.WaitGroup
	for _, p := range s.parts {
		leaving.Go(func() {
			_, _ = s.scripts.leave.run(ctx, s.client(), p.keys, s.process, strconv.Itoa(inFlight))
		})
	}
	leaving.Wait()
}
