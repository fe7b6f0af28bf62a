package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/recording"
)

// plan is a scenario that is ready to be played.
type plan struct {
	*Scenario
	start     time.Time // midnight of the first day
	horizon   int64     // nobody comes at or after this; ms of the run
	days      int       // 0 = by customers
	customers int       // 0 = by days
	warmup    int64
	streams   []Stream
	sources   []source
	desks     []desk
	lines     []lineName
	lineOf    []int // by stream
	runs      []runName
	recorded  []recording.Day // one for each run, or none
}

// runName is what one run is drawn from.
type runName struct {
	Seed uint64 `json:"seed,omitempty"`
	Date string `json:"date,omitempty"` // of a recording
}

// lineName is a line of the report: the people of one kind.
type lineName struct {
	Queue dengxu.QueueID `json:"queue,omitempty"`
	Class string         `json:"class,omitempty"`
	Group string         `json:"group,omitempty"`
}

// plan reads what the scenario names, and works out what does not depend on
// seeds.
func (s *Scenario) plan() (*plan, error) {
	zone, err := time.LoadLocation(s.Site.TimeZone)
	if err != nil {
		return nil, wrong("site.time_zone", "%v", err)
	}
	start, err := time.ParseInLocation(time.DateOnly, s.Start, zone)
	if err != nil {
		return nil, wrong("start", "%v", err)
	}
	p := &plan{Scenario: s, start: start, days: s.Days, customers: s.Customers, warmup: int64(s.WarmupSeconds * 1000), horizon: forever}
	if s.Recording != nil {
		return p, p.record()
	}
	if p.days > 0 {
		p.horizon = p.midnight(p.days)
	}
	for i := range s.Runs {
		p.runs = append(p.runs, runName{Seed: s.Seed + uint64(i)})
	}
	p.streams = s.Streams
	for i := range s.Streams {
		src, err := newSource(&s.Streams[i], s.folder)
		if err != nil {
			return nil, err
		}
		p.sources = append(p.sources, src)
		st := &s.Streams[i]
		p.lineOf = append(p.lineOf, p.line(lineName{st.Queue, st.Class, cmp.Or(st.Group, dengxu.GroupOrdinary)}))
	}
	p.desks = s.allDesks()
	return p, nil
}

// line finds or adds a line of the report.
func (p *plan) line(name lineName) int {
	i := slices.Index(p.lines, name)
	if i < 0 {
		i = len(p.lines)
		p.lines = append(p.lines, name)
	}
	return i
}

// allDesks are the counters, one by one.
func (s *Scenario) allDesks() []desk {
	var all []desk
	for kind, c := range s.Counters {
		n, id := 1, cmp.Or(c.ID, defaultCounter)
		if c.Count != nil {
			n = *c.Count
		}
		set := c.Counter
		if len(set.Queues) == 0 {
			for _, q := range slices.Sorted(maps.Keys(s.Queues)) {
				set.Queues = append(set.Queues, dengxu.CounterQueue{ID: q})
			}
		}
		for i := range n {
			d := desk{id: dengxu.CounterID(id), kind: kind, set: set, hours: c.Hours, serving: nobody}
			if n > 1 || c.ID == "" {
				d.id = dengxu.CounterID(fmt.Sprintf("%s-%d", id, len(all)+1))
			}
			if n > 1 && c.ID != "" {
				d.id = dengxu.CounterID(fmt.Sprintf("%s-%d", id, i+1))
			}
			all = append(all, d)
		}
	}
	return all
}

// people are those who come in a run.
func (p *plan) people(run int) []person {
	if p.recorded == nil {
		return p.crowd(p.runs[run].Seed)
	}
	rows := p.recorded[run].Rows
	all := make([]person, len(rows))
	for i, r := range rows {
		all[i] = person{at: int64(r.Join) * 1000, patience: forever, stream: int32(r.Priority)}
		if !r.Served {
			all[i].patience = int64(r.Leave-r.Join) * 1000
		}
	}
	slices.SortStableFunc(all, func(a, b person) int { return cmp.Compare(a.at, b.at) })
	return all
}

// desksOf are the desks of a run. Those of a recording are as many as ever served
// at once, and one: a slot that found nobody begins later and ends no later than
// recorded, or takes no time.
func (p *plan) desksOf(run int) []desk {
	if p.recorded == nil {
		return slices.Clone(p.desks)
	}
	queue := p.streams[0].Queue
	most, now := 0, 0
	type edge struct {
		at int64
		by int
	}
	var edges []edge
	for _, s := range p.slots(run) {
		edges = append(edges, edge{s.at, 1}, edge{max(s.until, s.at+1), -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	for _, e := range edges {
		now += e.by
		most = max(most, now)
	}
	desks := make([]desk, most+1)
	for i := range desks {
		desks[i] = desk{
			id: dengxu.CounterID(fmt.Sprintf("server-%d", i+1)), serving: nobody,
			set: dengxu.Counter{Queues: []dengxu.CounterQueue{{ID: queue}}},
		}
	}
	return desks
}

// timeouts reports whether only a call's timeout notices that people of a queue do
// not come.
func (p *plan) timeouts(id dengxu.QueueID) bool {
	return slices.ContainsFunc(p.streams, func(st Stream) bool {
		silent := st.Patience != nil && st.Patience.Silent
		noticed := st.NoShow != nil && st.NoShow.OperatorAfterSeconds > 0
		return st.Queue == id && !noticed && (silent || st.NoShow != nil && st.NoShow.Share > 0)
	})
}

// seconds of ms.
func seconds(ms int64) float64 { return float64(ms) / 1000 }
