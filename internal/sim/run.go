package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// run is one playing of one policy.
type run struct {
	*plan
	hall   *hall
	base   int64 // the run's beginning, in ms since the epoch
	people []person
	stays  []stay // by person
	// byArrival is who has an arrival number of the partition; nobody where a
	// number went to something else.
	byArrival []int32
	joining   int32 // who is just joining
	called    int32 // who was just called
	desks     []desk
	byCounter map[dengxu.CounterID]int
	idle      []int // desks that are free and open, the longest free first
	parts     []*part
	waiting   int // of all parts
	inside    int // tokens that have not ended
	todo      agenda
	due       dues
	ask       []int32 // who is asked whether they still come
	slots     []slot
	unmet     []slot // slots that found nobody
	broken    error  // of a call that the ordering does not allow
	m         *measures
	told      func(people int)
	promises  []promise // by person; nil = no estimates
	heard     hearing
	dayBegan  bool // of the site, and desks may have to be opened again
}

// stay is what became of a person so far.
type stay struct {
	id       dengxu.TokenID
	joinedAt int64 // ms since the epoch
	first    int64 // call, likewise; 0 = not called yet
	seq      uint64
	version  uint64
	state    dengxu.State
	part     int16 // of run.parts, while waiting
	due      int64 // when the engine's timer will look at them; ms of the run
	listed   int16 // part in which they stand since they came, from 1; 0 = none
	position int32 // in the part's passes
	desk     int16 // where they were called last
	calls    int32
	outcome  outcome
}

// play plays one run of one policy to its end, or to the first call that breaks
// what the ordering promises.
func (p *plan) play(ctx context.Context, policy *Policy, n int, told func(people int)) (*measures, error) {
	r, err := p.begin(ctx, policy, n, told)
	if err != nil {
		return nil, err
	}
	if err := r.playAll(ctx); err != nil {
		return nil, fmt.Errorf("%s after the beginning: %w", r.at(), err)
	}
	r.end()
	return r.m, r.hall.store.Close()
}

// begin draws the people of a run and makes its hall.
func (p *plan) begin(ctx context.Context, policy *Policy, n int, told func(people int)) (*run, error) {
	r := &run{
		plan: p, base: p.start.UnixMilli(), people: p.people(n), desks: p.desksOf(n), slots: p.slots(n),
		byCounter: make(map[dengxu.CounterID]int), joining: nobody, called: nobody, told: told,
	}
	r.stays = make([]stay, len(r.people))
	if p.Estimates {
		r.promises = make([]promise, len(r.people))
	}
	r.byArrival = make([]int32, 1, len(r.people)+1)
	r.m = newMeasures(p, r.people)
	for i := range r.desks {
		r.byCounter[r.desks[i].id] = i
	}
	r.todo.plan(r)
	var err error
	if r.hall, err = p.newHall(ctx, policy, r.desks, r); err != nil {
		return nil, err
	}
	r.m.warnings = r.hall.warnings
	return r, nil
}

// at is the time of the run, in words.
func (r *run) at() string { return fmt.Sprintf("%.3f s", seconds(r.hall.now)) }

// told is after how many people whoever watches is told.
const told = 1024

// patienceOfRun is how long after the last arrival a run goes on for those who
// wait while nobody serves, in ms: two nights.
const patienceOfRun = 2 * 86_400_000

// playAll does what is to be done, in the order of time. At one moment, what the
// engine's timers do is first, then the kinds in their order.
func (r *run) playAll(ctx context.Context) error {
	next, last := 0, int64(0)
	if len(r.people) > 0 {
		last = r.people[len(r.people)-1].at
	}
	for next < len(r.people) || r.inside > 0 {
		what := r.todo.first()
		if next < len(r.people) {
			what = what.earlier(task{moment: moment{r.people[next].at, joins}, n: int32(next)})
		}
		timer := r.due.first(r)
		if min(timer, what.at) == forever || min(timer, what.at) > last+patienceOfRun && !r.serves() {
			return nil // nobody is left who would do anything
		}
		var err error
		switch {
		case timer <= what.at:
			err = r.tick(ctx, timer)
		case what.kind == joins:
			if next++; next%told == 0 {
				r.told(told)
			}
			r.pass(what.at)
			err = r.join(ctx, what.n)
		default:
			r.todo.pop()
			r.pass(what.at)
			err = r.do(ctx, what)
		}
		err = cmp.Or(r.broken, err, ctx.Err())
		if err == nil {
			err = cmp.Or(r.callIdle(ctx), r.broken)
		}
		if err == nil && r.Estimates {
			err = r.hear(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// serves reports whether somebody is served.
func (r *run) serves() bool {
	return slices.ContainsFunc(r.desks, func(d desk) bool { return d.serving != nobody })
}

// pass moves the clock and counts who waited meanwhile.
func (r *run) pass(to int64) {
	if to > r.hall.now {
		r.m.length.add(r.hall.now, to, r.waiting)
		r.hall.now = to
	}
}

// tick lets the engine do what is due.
func (r *run) tick(ctx context.Context, at int64) error {
	r.pass(at)
	if _, err := r.hall.Tick(ctx); err != nil {
		return err
	}
	if r.due.first(r) <= at {
		return errors.New("a timer was due and did nothing")
	}
	for _, who := range r.ask {
		// Whoever waits here has not gone, and says so.
		if r.stays[who].state != dengxu.StateWaiting {
			continue
		}
		if _, err := r.hall.Act(ctx, staff, dengxu.VerbConfirm, r.stays[who].id, dengxu.VerbRequest{}); err != nil {
			return err
		}
	}
	r.ask = r.ask[:0]
	return nil
}

// join lets somebody come.
func (r *run) join(ctx context.Context, who int32) error {
	p := &r.people[who]
	st := &r.streams[p.stream]
	r.joining = who
	r.m.came(p)
	done, err := r.hall.Join(ctx, staff, st.Queue, dengxu.JoinRequest{PriorityGroup: st.Group, Class: st.Class, ExtAttrs: st.Attrs})
	r.joining = nobody
	switch dengxu.CodeOf(err) { //nolint:exhaustive // the others are mistakes
	case dengxu.Closed, dengxu.Full, dengxu.TooMany:
		r.stays[who].outcome = turnedAway
		return nil
	}
	if err != nil {
		return fmt.Errorf("join: %w", err)
	}
	r.stays[who].id = done.Value.ID
	if r.promises != nil {
		r.promises[who] = promiseOf(&done.Value.Estimate)
		r.m.of(p).promised(&r.promises[who])
	}
	if p.patience != forever && !r.silent(p) {
		r.todo.add(task{moment: moment{r.hall.now + p.patience, leaves}, n: who})
	}
	if len(r.unmet) > 0 {
		s := r.unmet[0]
		r.unmet = r.unmet[1:]
		return r.slot(ctx, s)
	}
	return nil
}

func (r *run) silent(p *person) bool {
	st := &r.streams[p.stream]
	return st.Patience != nil && st.Patience.Silent
}

// saw follows what a commit did. It is called inside the engine's own commit,
// so that nothing is missed that the engine does by itself.
func (r *run) saw(res *store.Result) {
	for i := range res.Docs {
		r.due.doc(res.Docs[i].Key, r.ofRun(res.Docs[i].Due))
		if res.Docs[i].Key.Kind == store.DocSiteState {
			r.forgive() // a day may have begun
			r.dayBegan = true
		}
	}
	for i := range res.Tokens {
		t := &res.Tokens[i]
		who := r.person(t)
		if who == nobody {
			continue
		}
		if i >= len(res.Tokens)-res.Picked {
			r.judge(who, t, res.Now)
			r.called = who
		}
		r.moved(who, t)
	}
}

// ofRun turns a time of the store into one of the run; 0, which is never, into
// forever.
func (r *run) ofRun(at int64) int64 {
	if at == 0 {
		return forever
	}
	return at - r.base
}

// person is whose token it is.
func (r *run) person(t *store.Token) int32 {
	for uint64(len(r.byArrival)) <= t.Arrival {
		r.byArrival = append(r.byArrival, nobody)
	}
	if t.Version == 1 {
		r.byArrival[t.Arrival] = r.joining
	}
	return r.byArrival[t.Arrival]
}

// moved brings a person's stay up to date.
func (r *run) moved(who int32, t *store.Token) {
	s := &r.stays[who]
	before := s.state
	if before == dengxu.StateWaiting {
		r.parts[s.part].size--
		r.waiting--
	}
	if before == "" {
		s.joinedAt, s.seq = t.JoinedAt, t.Seq
		r.inside++
	}
	s.state, s.version = t.State, t.Version
	switch {
	case t.State == dengxu.StateWaiting:
		r.enter(who, t)
	case t.State == dengxu.StateCalling && s.first == 0:
		s.first = t.FirstCalled
		if r.promises != nil {
			r.m.of(&r.people[who]).promises.came(&r.promises[who], s.first-s.joinedAt, r.dayOf(r.people[who].at))
		}
		r.left(who)
	case t.State.Ended() && !before.Ended():
		r.inside--
		r.left(who)
		r.ended(who, t)
	}
	if before.AtCounter() && !t.State.AtCounter() {
		r.freed(who)
	}
	s.due = forever
	if t.Due != 0 && !t.State.Ended() {
		s.due = r.ofRun(t.Due)
		r.due.token(due{at: s.due, who: who, version: t.Version})
	}
	if t.Asked && t.State == dengxu.StateWaiting {
		r.ask = append(r.ask, who)
	}
}

// enter puts somebody into the part of the line where the token stands.
func (r *run) enter(who int32, t *store.Token) {
	s := &r.stays[who]
	i := r.partOf(t)
	p := r.parts[i]
	s.part = int16(i)
	p.laneOf(t.Lane).heads.push(head{key: r.key(t, &r.hall.queues[p.queue]), who: who, version: t.Version})
	p.size++
	r.waiting++
	if t.Version == 1 {
		s.listed, s.position = s.part+1, p.calls.add(who, t.Seq, len(r.people))
	}
}

// partOf finds or adds the part of a token's line.
func (r *run) partOf(t *store.Token) int {
	queue := slices.IndexFunc(r.hall.queues, func(q queue) bool { return q.id == t.Queue })
	for i, p := range r.parts {
		if p.queue == queue && p.class == t.Class {
			return i
		}
	}
	r.parts = append(r.parts, &part{queue: queue, class: t.Class})
	for i := range r.desks {
		d := &r.desks[i]
		d.sees = append(d.sees, slices.ContainsFunc(d.set.Queues, func(q dengxu.CounterQueue) bool {
			return q.ID == t.Queue && (len(q.Classes) == 0 || slices.Contains(q.Classes, t.Class))
		}))
	}
	return len(r.parts) - 1
}

// left is somebody who is called for the first time, or leaves before that:
// passing is over.
func (r *run) left(who int32) {
	s := &r.stays[who]
	if s.listed == 0 {
		return
	}
	r.m.passed(&r.people[who], r.parts[s.listed-1].calls.leave(s.position))
	s.listed = 0
}

// ended is somebody who is out.
func (r *run) ended(who int32, t *store.Token) {
	s := &r.stays[who]
	switch {
	case t.State == dengxu.StateCompleted:
		s.outcome = served
	case s.outcome != 0: // it was known before
	case t.Misses > 0:
		s.outcome = neverCame
	default:
		s.outcome = leftOver
	}
}

// end closes the books: counters that have nobody left are open until their hours
// are over.
func (r *run) end() {
	for t := r.todo.first(); t.at < r.m.until; t = r.todo.first() {
		r.todo.pop()
		r.pass(t.at)
		switch t.kind { //nolint:exhaustive // nobody is there for the others
		case opens:
			r.opens(int(t.n))
		case closes:
			r.closes(int(t.n))
		}
	}
	for i := range r.desks {
		if r.desks[i].open {
			r.m.opened(r.desks[i].since, r.m.until)
		}
	}
	for i := range r.people {
		if r.stays[i].outcome == 0 {
			r.stays[i].outcome = leftOver
		}
		r.m.became(&r.people[i], r.stays[i].outcome)
	}
}
