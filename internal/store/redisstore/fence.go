package redisstore

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/redis/rueidis"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// A server can lose commits that were answered: a crash between two fsyncs, a
// failover to a replica that was behind. Nobody tells; so each call brings what
// its process knows, and the server compares. It shows by itself that it forgot
// something when the last event that the process saw, or the last call of one of
// its slots that was answered, is not there: the latter also after other
// processes have gone on from the older state. Then the numbers are raised to
// what the process has seen, so that none is given twice, and the epoch too, so
// that every cursor begins anew.

// Losses is what servers lost after it was answered, as far as processes that
// lived through it could tell.
type Losses struct {
	Times   uint64 // how often it was found
	Events  uint64 // at least
	Joins   uint64 // tokens that are gone
	Burned  uint64 // numbers of series that nobody has
	Numbers uint64 // numbers of lost tokens that others were given too
	Calls   uint64 // lost calls of tokens that are there: another counter has called them too, or will
}

func (l *Losses) add(o Losses) {
	l.Times, l.Events, l.Joins = l.Times+o.Times, l.Events+o.Events, l.Joins+o.Joins
	l.Burned, l.Numbers, l.Calls = l.Burned+o.Burned, l.Numbers+o.Numbers, l.Calls+o.Calls
}

type losses struct {
	mu  sync.Mutex
	sum Losses
}

// Lost is what this process found lost since it started.
func (s *Store) Lost() Losses {
	s.losses.mu.Lock()
	defer s.losses.mu.Unlock()
	return s.losses.sum
}

// Losses is what all processes found lost in the life of the store.
func (s *Store) Losses(ctx context.Context) (Losses, error) {
	var sum Losses
	for i := range s.parts {
		p, err := s.ready(ctx, store.Partition(i))
		if err != nil {
			return sum, err
		}
		raw, err := p.call(ctx, soon(), func(ctx context.Context, c rueidis.Client) ([]byte, error) {
			b, err := c.Do(ctx, c.B().Hget().Key(p.key(keyState)).Field("L").Build()).AsBytes()
			if rueidis.IsRedisNil(err) {
				return nil, nil
			}
			return b, err
		})
		if err != nil {
			return sum, err
		}
		if len(raw) > 0 {
			sum.add(readLosses(&reader{buf: raw, ok: true}))
		}
	}
	return sum, nil
}

// readLosses reads what fence.lua packs.
func readLosses(r *reader) Losses {
	return Losses{Times: r.number(6), Events: r.number(6), Joins: r.number(6), Burned: r.number(6), Numbers: r.number(6), Calls: r.number(6)}
}

// packSlots writes the last answered call of each slot, for forgot in cell.lua.
func (p *part) packSlots(w *packer, need cells) {
	w.text("slots")
	w.array(len(p.all))
	for _, at := range p.all {
		need.add(keyState, "q"+at.name)
		w.array(2)
		w.text(at.name)
		w.int(at.answered.Load())
	}
}

// remembered is how many writes a process can account for when they were lost,
// over all partitions: about 130 bytes each.
const remembered = 1 << 16

// recent are the last writes that were answered.
type recent struct {
	mu   sync.Mutex
	ring []answeredWrite
	next int
	most int
}

// answeredWrite is a write of a token that was answered.
type answeredWrite struct {
	slot    *slot
	call    int64
	id      dengxu.TokenID
	joined  bool
	called  bool // by this write
	counter dengxu.CounterID
	series  string // "" = no number was given
	number  int64
}

// keep takes in a commit that was answered.
func (r *recent) keep(at *slot, c *commitCall) {
	if c.err != nil || len(c.res.Tokens) == 0 || c.res.Replayed {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	written := len(c.batch.Tokens)
	for i := range c.res.Tokens {
		t := &c.res.Tokens[i]
		a := answeredWrite{slot: at, call: at.call, id: t.ID, counter: t.Counter, joined: t.Version == 1, called: i >= written}
		if i < written {
			w := &c.batch.Tokens[i]
			a.called = w.Token.CallNo == store.NextCall
			if w.Series != nil {
				a.series, a.number = seriesField(t.Site, w.Series.Name), t.Number
			}
		}
		if len(r.ring) < r.most {
			r.ring = append(r.ring, a)
			continue
		}
		r.ring[r.next] = a
		r.next = (r.next + 1) % r.most
	}
}

// gone are the writes of calls that a server does not know, oldest first.
func (r *recent) gone(known map[*slot]int64) []answeredWrite {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lost []answeredWrite
	for _, a := range slices.Concat(r.ring[r.next:], r.ring[:r.next]) {
		if a.call > known[a.slot] {
			lost = append(lost, a)
		}
	}
	return lost
}

// lostNow is what a fence is told beside the marks.
type lostNow struct {
	events, joins, calls int64
	numbers              map[string][]int64 // of lost tokens, by series
}

// compare finds which of the recent writes the server does not have.
func (p *part) compare(ctx context.Context) (lostNow, error) {
	lost := lostNow{numbers: make(map[string][]int64)}
	known, err := p.knownCalls(ctx)
	if err != nil {
		return lost, err
	}
	gone := p.recent.gone(known)
	lost.events = int64(len(gone))
	var calls []answeredWrite
	for _, a := range gone {
		if a.joined {
			lost.joins++
		}
		if a.series != "" {
			lost.numbers[a.series] = append(lost.numbers[a.series], a.number)
		}
		if a.called {
			calls = append(calls, a)
		}
	}
	for page := range slices.Chunk(calls, 500) {
		n, err := p.notThere(ctx, page)
		if err != nil {
			return lost, err
		}
		lost.calls += n
	}
	return lost, nil
}

// notThere counts the lost calls whose tokens are there, and not at the counter
// that called them.
func (p *part) notThere(ctx context.Context, calls []answeredWrite) (n int64, err error) {
	ids := make([]string, len(calls))
	for i, a := range calls {
		ids[i] = packID(a.id)
	}
	for _, key := range []int{keyLive, keyEnded} {
		var records []rueidis.RedisMessage
		_, err := p.call(ctx, soon(), func(ctx context.Context, c rueidis.Client) (_ []byte, err error) {
			records, err = c.Do(ctx, c.B().Hmget().Key(p.key(key)).Field(ids...).Build()).ToArray()
			return nil, err
		})
		if err != nil {
			return 0, err
		}
		for i := range records {
			rec, err := records[i].AsBytes()
			if err != nil {
				continue // it is not there
			}
			t, err := decodeRecord(ids[i], rec)
			if err != nil {
				return 0, err
			}
			if t.Counter != calls[i].counter {
				n++
			}
		}
	}
	return n, nil
}

// knownCalls is the last call of each slot that the server has.
func (p *part) knownCalls(ctx context.Context) (map[*slot]int64, error) {
	fields := make([]string, 0, len(p.all))
	for _, at := range p.all {
		fields = append(fields, "q"+at.name)
	}
	known := make(map[*slot]int64)
	_, err := p.call(ctx, soon(), func(ctx context.Context, c rueidis.Client) ([]byte, error) {
		calls, err := c.Do(ctx, c.B().Hmget().Key(p.key(keyState)).Field(fields...).Build()).ToArray()
		for i := range calls {
			text, _ := calls[i].ToString()         // nothing is 0
			n, _ := strconv.ParseInt(text, 10, 64) // as above
			known[p.all[i]] = n
		}
		return nil, err
	})
	return known, err
}

// fence makes this process and the server agree on the epoch and the numbers.
func (p *part) fence(ctx context.Context) error {
	before := p.epoch.Load()
	p.fencing.Lock()
	defer p.fencing.Unlock()
	if p.epoch.Load() != before {
		return nil // another call has done it meanwhile
	}
	lost, err := p.compare(ctx)
	if err != nil {
		return err
	}
	packed := p.packFence(&lost)
	reply, err := p.call(ctx, soon(), func(ctx context.Context, c rueidis.Client) ([]byte, error) {
		return p.s.scripts.fence.run(ctx, c, p.keys, packed)
	})
	if err != nil {
		return err
	}
	u := &unpacker{buf: reply}
	u.array()
	epoch, event, _ := u.int(), u.int(), u.int()
	var l Losses
	for _, n := range []*uint64{&l.Times, &l.Events, &l.Joins, &l.Burned, &l.Numbers, &l.Calls} {
		*n = uint64(u.int())
	}
	if u.err != nil {
		return u.err
	}
	p.marks.see(0, 0, event)
	p.epoch.Store(uint64(epoch))
	if l.Times > 0 {
		p.s.losses.mu.Lock()
		p.s.losses.sum.add(l)
		p.s.losses.mu.Unlock()
		p.s.opts.Logger.Error("redis lost commits that were acknowledged", "partition", p.id, "epoch", epoch, "events", l.Events,
			"joins", l.Joins, "numbers_burned", l.Burned, "numbers_repeated", l.Numbers, "calls_repeated", l.Calls)
	}
	p.watch.hint()
	return nil
}

// packFence writes the marks and what is lost for fence.lua.
func (p *part) packFence(lost *lostNow) string {
	m := &p.marks
	m.mu.Lock()
	defer m.mu.Unlock()
	w := &packer{}
	w.fields(12)
	w.fieldInt("epoch", int64(p.epoch.Load()))
	w.fieldInt("arrival", m.arrival)
	w.fieldInt("call", m.call)
	w.fieldInt("event", m.event)
	w.fieldInt("events", lost.events)
	w.fieldInt("joins", lost.joins)
	w.fieldInt("calls", lost.calls)
	w.fieldText("format", format)
	w.fieldInt("partitions", int64(len(p.s.parts)))
	w.text("wall")
	if p.s.opts.Wall == nil {
		w.no()
	} else {
		w.int(p.s.opts.Wall().UnixMilli())
	}
	w.text("series")
	w.array(len(m.series))
	for field, d := range m.series {
		w.array(4)
		w.text(field)
		w.int(int64(d.day))
		w.int(d.n)
		numbers := lost.numbers[field]
		slices.SortFunc(numbers, cmp.Compare)
		w.array(len(numbers))
		for _, n := range numbers {
			w.int(n)
		}
	}
	p.packSlots(w, cells{})
	return string(w.buf)
}
