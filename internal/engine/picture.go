package engine

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/announce"
	"github.com/dengxu/dengxu/internal/estimate"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/store"
)

// How pictures of lines are taken.
const (
	// pictureFor is how long one serves everybody who asks, in ms.
	pictureFor = 1000
	// farBehind is how many more than the counters are ahead of somebody for whom
	// it does not matter that one of these has called.
	farBehind = 8
	// pictureKeys is about how many tokens a picture names one by one; those
	// behind are counted.
	pictureKeys = 512
)

// outlook is a queue's announcements, and the last picture of its line.
type outlook struct {
	announce.Queue
	last   atomic.Pointer[framed]
	taking sync.Mutex // held by whoever takes the next picture
	// restoring is held by whoever brings in what was kept.
	restoring sync.Mutex
	// keeping is held while what is pending, or a model, goes into the store and
	// what is kept is taken over from there: a sum of both counts nothing twice and
	// leaves nothing out, and nothing older is taken over after the newer.
	keeping sync.Mutex
	looked  atomic.Int64 // ms: when it was last seen whether others have kept more
}

// framed is a picture with what it was taken of.
type framed struct {
	*announce.Picture
	site  *site
	stirs uint64
}

// outlooks are those of all queues.
type outlooks struct {
	queues sync.Map // QueueID → *outlook
	stirs  sync.Map // SiteID → *atomic.Uint64: changes at counters that this process knows of
}

// outlook is the queue's, made when it is first asked for.
func (e *Engine) outlook(id dengxu.QueueID) *outlook {
	if o, ok := e.outlooks.queues.Load(id); ok {
		return o.(*outlook)
	}
	o, _ := e.outlooks.queues.LoadOrStore(id, new(outlook))
	return o.(*outlook)
}

func (e *Engine) stirs(id dengxu.SiteID) *atomic.Uint64 {
	if n, ok := e.outlooks.stirs.Load(id); ok {
		return n.(*atomic.Uint64)
	}
	n, _ := e.outlooks.stirs.LoadOrStore(id, new(atomic.Uint64))
	return n.(*atomic.Uint64)
}

// stir says that something changed at a counter of a site: who is next in line
// is told from a new picture.
func (e *Engine) stir(id dengxu.SiteID) { e.stirs(id).Add(1) }

// EstimateScores sums up what holders were told by this process since its start,
// and what it came to.
func (e *Engine) EstimateScores() announce.Day {
	var all announce.Day
	e.outlooks.queues.Range(func(_, o any) bool {
		all.Merge(new(o.(*outlook).Total()))
		return true
	})
	return all
}

// picture is how the queue stood at most a second ago; for who is near the
// front, no counter has changed since, as far as this process knows. It is nil
// when the line cannot be read, and where no estimates are wanted.
func (e *Engine) picture(ctx context.Context, q *queue, rank int) (*announce.Picture, *outlook) {
	if e.silent {
		return nil, nil
	}
	o := e.outlook(q.id)
	if f := o.last.Load(); e.usable(f, q, rank) {
		return f.Picture, o
	}
	o.taking.Lock()
	defer o.taking.Unlock()
	f := o.last.Load()
	if e.usable(f, q, rank) {
		return f.Picture, o // somebody else took it meanwhile
	}
	stirs := e.stirs(q.site.id).Load()
	p, err := e.takePicture(ctx, q, o, f)
	if err != nil {
		e.log.DebugContext(ctx, "a line could not be read for an estimate", "queue", q.id, "err", err)
		return nil, o
	}
	o.last.Store(&framed{Picture: p, site: q.site, stirs: stirs})
	return p, o
}

// usable reports whether a picture still shows the queue. A change of settings
// or of a counter's state makes another site of it.
func (e *Engine) usable(f *framed, q *queue, rank int) bool {
	if f == nil || f.site != q.site || e.nowIn(q.site.partition)-f.At >= pictureFor {
		return false
	}
	return rank >= farBehind*(1+len(f.Desks)) || f.stirs == e.stirs(q.site.id).Load()
}

// takePicture reads the line, those that share its counters, and who is at these
// counters, in one snapshot.
func (e *Engine) takePicture(ctx context.Context, q *queue, o *outlook, last *framed) (*announce.Picture, error) {
	if err := e.restore(ctx, q, o); err != nil {
		return nil, err
	}
	desks := q.desks()
	rivals, merged := q.rivalQueues(desks)
	most := keysALane(last)
	ask := store.Ask{Partition: q.site.partition, Fronts: []store.FrontAsk{{Line: q.line(), Most: most}}}
	for _, r := range rivals {
		front := store.FrontAsk{Line: r.line()}
		if merged {
			front.Most = most
		}
		ask.Fronts = append(ask.Fronts, front)
	}
	for _, c := range desks {
		ask.Counters = append(ask.Counters, c.id)
	}
	v, err := e.view(ctx, ask)
	if err != nil {
		return nil, err
	}
	p := q.pictureAt(v.Now)
	p.Closed, p.Unknown = q.away(v.Now, desks)
	p.Fronts = fronts(p.Fronts, "", v.Fronts[0].Lanes)
	if merged {
		e.mergeRivals(p, rivals, v.Fronts[1:])
	}
	for i, c := range desks {
		d := c.desk(q, v.Counters[i])
		if merged && len(rivals) > 0 {
			d.Classes = c.mergedClasses(q, p.Fronts)
		} else {
			d.Share = c.share(rivals, v.Fronts)
		}
		p.Desks = append(p.Desks, d)
	}
	if q.order.Discipline == order.Ratio {
		p.Debts, err = e.readDebts(ctx, q, estimate.NewFronts(v.Now, p.Fronts).Lanes())
	}
	return p, err
}

// pictureAt is a picture of what settings and the calendar say of a moment.
func (q *queue) pictureAt(now int64) *announce.Picture {
	local := time.UnixMilli(now).In(q.site.zone)
	p := &announce.Picture{
		At: now, Weekday: int(local.Weekday()), Rule: q.order, Covariates: q.site.set.Covariates,
		Hour: float64(local.Hour()) + float64(local.Minute())/60, DayStart: q.site.dayBegan(),
	}
	switch q.set.Estimates.Method {
	case dengxu.EstimatesErlang:
		p.Method = estimate.MethodErlang
	case dengxu.EstimatesWindow:
		p.Method = estimate.MethodWindow
	}
	return p
}

// keysALane is how many members of each lane a picture names, by how many lanes
// the last one had. Of a lane by itself the rank says everything.
func keysALane(last *framed) int {
	if last == nil || len(last.Fronts) == 1 {
		return 1
	}
	return pictureKeys / max(1, len(last.Fronts))
}

// away is how long nobody is called because the door is closed, in seconds, or
// why nothing can be said. desks are those that are open.
func (q *queue) away(now int64, desks []*counter) (closed float64, reason string) {
	switch q.state.Door {
	case dengxu.DoorPaused:
		return 0, dengxu.UnknownPaused
	case dengxu.DoorClosed:
		if q.site.hours != nil && q.state.Hours != hoursOpen {
			if opens, ok := q.site.hours.nextOpening(now); ok {
				return seconds(opens - now), ""
			}
		}
		if len(desks) > 0 {
			return 0, dengxu.UnknownPaused
		}
	case dengxu.DoorOpen, dengxu.DoorClosing:
	}
	return 0, ""
}

// desks are the open counters that serve the queue.
func (q *queue) desks() []*counter {
	var desks []*counter
	for _, c := range q.site.counters {
		if c.shown() == dengxu.CounterOpen && c.takesFrom(q.id) {
			desks = append(desks, c)
		}
	}
	return desks
}

// rivalQueues are the other queues that these counters call from. merged says
// that all of them order by aging and the counters take the oldest of all, so
// that together they are one line.
func (q *queue) rivalQueues(desks []*counter) (rivals []*queue, merged bool) {
	merged = q.order.Discipline == order.Aging
	for _, c := range desks {
		merged = merged && c.mode == order.Oldest
		for _, s := range c.queues {
			r := s.queue
			if r.id == q.id || r.state.Door == dengxu.DoorPaused || r.state.Door == dengxu.DoorClosed || slices.Contains(rivals, r) {
				continue
			}
			merged = merged && r.order.Discipline == order.Aging
			rivals = append(rivals, r)
		}
	}
	return rivals, merged
}

// ofRival is the class of a rival's tokens in the picture of another queue. No
// class begins like it.
func ofRival(id dengxu.QueueID, class string) string { return "\x00" + string(id) + "\x00" + class }

// fronts adds the beginnings of lanes; those of a rival are kept apart, except
// of tokens that are bound to a counter.
func fronts(to []estimate.Front, rival dengxu.QueueID, lanes []store.FrontLane) []estimate.Front {
	for _, l := range lanes {
		f := estimate.Front{Lane: l.Lane, Len: l.Len, Keys: l.Keys}
		switch at := slices.IndexFunc(to, func(f estimate.Front) bool { return f.Lane == l.Lane }); {
		case rival != "" && !l.Lane.Bound():
			f.Lane.Class, f.Foreign = ofRival(rival, l.Lane.Class), true
		case at >= 0:
			to[at].Len += l.Len
			to[at].Keys = slices.SortedFunc(slices.Values(slices.Concat(to[at].Keys, l.Keys)), order.Key.Compare)
			continue
		}
		to = append(to, f)
	}
	return to
}

// mergeRivals puts the lines that share the counters beside the queue's own,
// and who will come into them.
func (e *Engine) mergeRivals(p *announce.Picture, rivals []*queue, lines []store.FrontView) {
	for i, r := range rivals {
		p.Fronts = fronts(p.Fronts, r.id, lines[i].Lanes)
		for _, flow := range e.outlook(r.id).Flows(p.At) {
			if !flow.Lane.Bound() {
				flow.Lane.Class = ofRival(r.id, flow.Lane.Class)
			}
			p.Flows = append(p.Flows, flow)
		}
	}
}

// desk is the counter as one of its queues sees it.
func (c *counter) desk(q *queue, tokens []store.Token) announce.Desk {
	d := announce.Desk{ID: string(c.id), Bound: store.BoundTo(c.id), Slots: c.maxServing}
	for _, s := range c.queues {
		if s.queue.id == q.id {
			d.Classes = s.classes
		}
	}
	for i := range tokens {
		if t := &tokens[i]; t.State.AtCounter() {
			d.Since = append(d.Since, t.CalledAt)
		}
	}
	return d
}

// mergedClasses are the classes of a merged picture that a counter serves.
func (c *counter) mergedClasses(q *queue, lines []estimate.Front) []string {
	classes := []string{}
	for _, s := range c.queues {
		serves := s.classes
		if serves == nil {
			serves = append(slices.Clip(s.queue.classes), "")
		}
		for _, class := range serves {
			if s.queue.id != q.id {
				class = ofRival(s.queue.id, class)
			}
			classes = append(classes, class)
		}
	}
	// Whoever stands in a class that is not declared any more is served by
	// counters of all classes.
	for _, f := range lines {
		if c.all(q.id) && !f.Lane.Bound() && !f.Foreign {
			classes = append(classes, f.Lane.Class)
		}
	}
	slices.Sort(classes)
	return slices.Compact(classes)
}

// all reports whether a counter serves every class of a queue.
func (c *counter) all(id dengxu.QueueID) bool {
	return slices.ContainsFunc(c.queues, func(s served) bool { return s.queue.id == id && s.classes == nil })
}

// share is the part of a counter's time that the queue has, by who waits in each
// of the counter's queues.
func (c *counter) share(rivals []*queue, lines []store.FrontView) float64 {
	waiting := func(v store.FrontView) (n int) {
		for _, l := range v.Lanes {
			n += l.Len
		}
		return n
	}
	own := max(1, waiting(lines[0])) // whoever asks is one
	all := own
	for i, r := range rivals {
		if c.takesFrom(r.id) {
			all += waiting(lines[i+1])
		}
	}
	return float64(own) / float64(all)
}
