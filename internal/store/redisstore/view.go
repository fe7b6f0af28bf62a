package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/rueidis"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// viewCall is one Ask on its way.
type viewCall struct {
	ask   *store.Ask
	times int // how much longer the beginnings of lanes are than at first
	view  store.View
	exact bool
	err   error
	until time.Time // when it should have its answer
	done  chan struct{}
}

// longer is how much longer the beginnings of lanes are the next time, when they
// did not say where somebody belongs.
const longer = 16

// View answers point reads from one snapshot, or store.ErrUnavailable.
func (s *Store) View(ctx context.Context, a store.Ask) (store.View, error) {
	p, err := s.ready(ctx, a.Partition)
	if err != nil {
		return store.View{}, err
	}
	for times := 1; ; times *= longer {
		c := &viewCall{ask: &a, times: times, until: soon(), done: make(chan struct{})}
		if _, err := handOver(ctx, s, p.views, c, c.done); err != nil {
			return store.View{}, err
		}
		if c.err != nil || c.exact {
			return c.view, c.err
		}
	}
}

// viewLoop sends asks in groups, as commitLoop does batches.
func (p *part) viewLoop() {
	for {
		var first *viewCall
		select {
		case first = <-p.views:
		case <-p.s.closing.Done():
			return
		}
		<-p.looks
		group := p.gatherViews(first)
		p.s.running.Go(func() {
			err := p.look(group)
			for _, c := range group {
				if err != nil {
					c.err = err
				}
				close(c.done)
			}
			p.looks <- struct{}{}
		})
	}
}

// gatherViews takes what waits behind the first, and refuses what has waited
// too long.
func (p *part) gatherViews(first *viewCall) []*viewCall {
	group, now := make([]*viewCall, 0, groupMost), time.Now() //nolint:forbidigo // how long to wait, no time of a record
	for c := first; ; {
		if now.After(c.until) {
			c.err = fmt.Errorf("%w: redis gave no answer", store.ErrUnavailable)
			close(c.done)
		} else {
			group = append(group, c)
		}
		if len(group) == groupMost {
			return group
		}
		select {
		case c = <-p.views:
		default:
			return group
		}
	}
}

// look has one group of asks answered.
func (p *part) look(group []*viewCall) error {
	if len(group) == 0 {
		return nil
	}
	until := atLeast(group[0].until)
	for range 4 {
		packed := p.packAsks(group)
		reply, err := p.readUntil(p.s.working, until, p.s.scripts.view, packed)
		if err != nil {
			return err
		}
		u := &unpacker{buf: reply}
		u.array()
		switch word := u.text(); word {
		case "ok":
			again, err := p.answerAsks(u, group)
			if !again {
				return err
			}
		case "epoch", "behind":
			if err := p.fence(p.s.working); err != nil {
				return err
			}
		default:
			return fmt.Errorf("view script answers %q: %w", word, store.ErrDamaged)
		}
	}
	return fmt.Errorf("partition %d does not come to rest: %w", p.id, store.ErrUnavailable)
}

// read runs a script that only reads; what the clock is told comes last.
func (p *part) read(ctx context.Context, s *script, args ...string) ([]byte, error) {
	return p.readUntil(ctx, soon(), s, args...)
}

func (p *part) readUntil(ctx context.Context, until time.Time, s *script, args ...string) ([]byte, error) {
	reply, err := p.call(ctx, until, func(ctx context.Context, c rueidis.Client) ([]byte, error) {
		return s.run(ctx, c, p.keys, append(slices.Clip(args), p.try())...)
	})
	return reply, asRead(err)
}

// asRead is the error of a read, which has no outcome.
func asRead(err error) error {
	if isUnknown(err) {
		return fmt.Errorf("%w: %v", store.ErrUnavailable, err) //nolint:errorlint // the outcome is not unknown
	}
	return err
}

// stepped takes in the head of a read's answer. When the clock stepped, it
// is written down before anyone is told the time; then the read is to be
// repeated.
func (p *part) stepped(u *unpacker) (now int64, again bool, err error) {
	head := *u
	u.int()
	u.int()
	u.int()
	if !u.bool() {
		return p.readHead(&head), false, u.err
	}
	reply, err := p.read(p.s.working, p.s.scripts.tick)
	if err != nil {
		return now, false, err
	}
	u = &unpacker{buf: reply}
	u.array()
	u.text()
	return p.readHead(u), u.err == nil, u.err
}

func (p *part) packAsks(group []*viewCall) string {
	asks := &packer{buf: make([]byte, 0, 256*len(group))}
	asks.array(len(group))
	need := cells{}
	need.add(keyState, "m")
	var rules once
	for _, c := range group {
		packAsk(asks, need, &rules, c.ask, c.times)
	}
	w := &packer{buf: make([]byte, 0, len(asks.buf)+512)}
	w.fields(5 + rules.some())
	w.fieldInt("epoch", int64(p.epoch.Load()))
	w.fieldInt("event", p.marks.lastEvent())
	p.packSlots(w, need)
	w.text("fields")
	need.pack(w, nil)
	rules.packSome(w, "rules")
	w.text("asks")
	w.buf = append(w.buf, asks.buf...)
	return string(w.buf)
}

// answerAsks reads the answers of a group; again = the group must be asked anew.
func (p *part) answerAsks(u *unpacker, group []*viewCall) (again bool, err error) {
	now, again, err := p.stepped(u)
	if again || err != nil {
		return again, err
	}
	if n := u.array(); n != len(group) {
		u.fail(fmt.Sprintf("%d answers for %d asks", n, len(group)))
	}
	for _, c := range group {
		u.array()
		c.view, c.exact, c.err = readView(u, c.ask, c.times, now)
		if u.err != nil {
			return false, u.err
		}
	}
	return false, nil
}

// records reads tokens, each an id and a record.
func records(u *unpacker) ([]store.Token, error) {
	var found []store.Token
	for range u.array() {
		u.array()
		id := u.text()
		rec := u.bytes()
		if rec == nil {
			continue
		}
		t, err := decodeRecord(id, rec)
		if err != nil {
			return nil, err
		}
		found = append(found, *t)
	}
	return found, u.err
}

// known are the records of ids as they are now.
func (p *part) known(ctx context.Context, ids []dengxu.TokenID) ([]store.Token, error) {
	v, err := p.s.View(ctx, store.Ask{Partition: p.id, Tokens: ids})
	if err != nil {
		return nil, err
	}
	var found []store.Token
	for _, t := range v.Tokens {
		if t != nil {
			found = append(found, *t)
		}
	}
	return found, nil
}

// inOrder sorts tokens by a number and then by arrival.
func inOrder(tokens []store.Token, by func(*store.Token) uint64) []store.Token {
	slices.SortFunc(tokens, func(a, b store.Token) int {
		return cmp.Or(cmp.Compare(by(&a), by(&b)), cmp.Compare(a.Arrival, b.Arrival))
	})
	return tokens
}
