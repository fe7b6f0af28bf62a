package redisstore

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/dengxu/dengxu/internal/store"
)

// inFlight is how many groups of a partition are on their way at once: while
// Redis judges one, the process makes the next.
const inFlight = 2

// part is one partition as this process sees it.
type part struct {
	s    *Store
	id   store.Partition
	keys []string

	epoch atomic.Uint64
	marks marks
	seen  seen

	commits  chan *commitCall // unbuffered but for what fills the next group
	waiting  atomic.Int64     // commits that have no answer yet
	views    chan *viewCall   // unbuffered but for what fills the next group
	slots    chan *slot       // one for each group of commits that may be on its way
	all      [inFlight]*slot
	looks    chan struct{} // as many as groups of asks may be on their way
	watch    watchers
	recent   recent
	failing  atomic.Int64 // since when no call had an answer, ns; 0 = the last one had
	wrote    atomic.Bool  // since the last sweep
	sweeping uint64       // cursor of the next page of marks; of tend
	fencing  sync.Mutex   // one at a time compares what was lost
}

// slot is a place for one group on its way. Redis remembers the last call of
// each slot and its answer, so that a call whose answer was lost is repeated
// without a second effect.
type slot struct {
	name     string       // of the process and the slot
	call     int64        // number of the last call; of who has the slot
	answered atomic.Int64 // number of the last call that was answered
}

func newPart(s *Store, id store.Partition, keys []string) *part {
	p := &part{
		s: s, id: id, keys: keys,
		commits: make(chan *commitCall, groupMost),
		views:   make(chan *viewCall, groupMost),
		slots:   make(chan *slot, inFlight),
		looks:   make(chan struct{}, inFlight),
	}
	for i := range inFlight {
		p.all[i] = &slot{name: s.process + string([]byte{byte(i)})}
		p.slots <- p.all[i]
		p.looks <- struct{}{}
	}
	return p
}

// key is a key by its number.
func (p *part) key(n int) string { return p.keys[n-1] }

// marks are the highest numbers that this process has seen of a partition. A
// server that knows less has lost commits.
type marks struct {
	mu                   sync.Mutex
	arrival, call, event int64
	series               map[string]daily
}

// daily is a number of a series on a day.
type daily struct {
	day int
	n   int64
}

func (m *marks) see(arrival, call, event int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.arrival, m.call, m.event = max(m.arrival, arrival), max(m.call, call), max(m.event, event)
}

func (m *marks) lastEvent() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.event
}

func (m *marks) lastArrival() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.arrival
}

// number takes in a number that a series gave.
func (m *marks) number(field string, day int, n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	have := m.series[field]
	if day < have.day || day == have.day && n <= have.n {
		return
	}
	if m.series == nil {
		m.series = make(map[string]daily)
	}
	m.series[field] = daily{day, n}
}

// seen is what this process knows of the server's clock: what it showed last,
// and when that was by the process's own monotonic clock. A server's clock
// that has run far ahead since then has jumped.
type seen struct {
	mu    sync.Mutex
	known bool
	at    int64 // server time of the last answer, ms
	mono  time.Duration
	steps int64 // how many steps the partition's clock had seen
	now   int64 // the latest time of the partition in any answer, in half ms
}

func (s *seen) see(at, steps, now int64, mono time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = max(s.now, now)
	if !s.known || steps > s.steps || mono > s.mono {
		s.known, s.at, s.steps, s.mono = true, at, steps, mono
	}
}

// try is what a script is told about the clock, anew for each attempt.
func (p *part) try() string {
	o := &p.s.opts
	p.seen.mu.Lock()
	known, at, mono, steps, now := p.seen.known, p.seen.at, p.seen.mono, p.seen.steps, p.seen.now
	p.seen.mu.Unlock()
	w := &packer{}
	w.fields(2)
	w.text("wall")
	if o.Wall == nil {
		w.no()
	} else {
		w.int(o.Wall().UnixMilli())
	}
	w.text("seen")
	if !known {
		w.no()
	} else {
		w.array(4)
		w.int(at)
		w.int((o.Mono() - mono).Milliseconds())
		w.int(steps)
		w.int(now)
	}
	return string(w.buf)
}

// readHead takes in the head of an answer: the partition's time in half ms (a
// clock that is behind runs at half speed), the server's time, and the steps of
// the clock. It returns the partition's time in ms.
func (p *part) readHead(u *unpacker) (now int64) {
	halves, t, steps := u.int(), u.int(), u.int()
	p.seen.see(t, steps, halves, p.s.opts.Mono())
	return halves >> 1
}
