package announce

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dengxu/dengxu/internal/estimate"
)

// Outcome is what was told at a join, and the wait that it came to.
type Outcome struct {
	Forecast *Answer
	Wait     float64
}

// Day sums up what was told on one day and what it came to: by who was ahead,
// and by the hour in which it was told. It can be saved as JSON.
type Day struct {
	ByPosition estimate.Card      `json:"by_position"`
	ByHour     [24]estimate.Score `json:"by_hour"`
	// Free is of those who found a counter free. They are told that they need
	// not wait, and what passes until the call is the counter's to say.
	Free estimate.Score `json:"free"`
}

func (d *Day) add(s *saying, wait float64) {
	if s.free {
		d.Free.Add(wait, s.seconds)
		return
	}
	d.ByPosition.Add(s.position, wait, s.seconds)
	d.ByHour[s.hour%24].Add(wait, s.seconds)
}

// Merge adds another sum.
func (d *Day) Merge(o *Day) {
	for i := range d.ByPosition {
		d.ByPosition[i].Merge(o.ByPosition[i])
	}
	for i := range d.ByHour {
		d.ByHour[i].Merge(o.ByHour[i])
	}
	d.Free.Merge(o.Free)
}

// Pending is what was learned and is not kept yet.
type Pending struct {
	Outcomes []Outcome
	Days     map[int]*Day // by business day
}

func (p *Pending) day(n int) *Day {
	if p.Days == nil {
		p.Days = make(map[int]*Day)
	}
	if p.Days[n] == nil {
		p.Days[n] = new(Day)
	}
	return p.Days[n]
}

// DaysInOrder are the days that have something, the oldest first.
func (p *Pending) DaysInOrder() []int { return slices.Sorted(maps.Keys(p.Days)) }

// Lessons are the outcomes that can be learned from.
func (p *Pending) Lessons() []estimate.Resolved {
	var lessons []estimate.Resolved
	for _, o := range p.Outcomes {
		if o.Forecast.Sample.PerSecond > 0 { // not one who found a free counter
			lessons = append(lessons, estimate.Resolved{Sample: o.Forecast.Sample, Wait: max(0, o.Wait-o.Forecast.Closed)})
		}
	}
	return lessons
}

// Unkept sums up the days from first to last that are not kept yet.
func (q *Queue) Unkept(first, last int) (sum Day) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for n, d := range q.pending.Days {
		if n >= first && n <= last {
			sum.Merge(d)
		}
	}
	return sum
}

// Outlook is what is kept of a queue. It can be saved as JSON.
type Outlook struct {
	// Estimator is without its model, which is kept by itself.
	Estimator estimate.Estimator `json:"estimator"`
	Seen      Seen               `json:"seen"`
	// Lessons counts those that were ever kept.
	Lessons int `json:"lessons"`
	// Model is the version of the kept model that the calibration goes with; 0
	// for none.
	Model uint64 `json:"model,omitempty"`
	// LearnedFrom is what Lessons was when a model was last sought.
	LearnedFrom int `json:"learned_from,omitempty"`
}

// maxSeen is how far the log may have been taken in beyond a store's clock, in
// ms, and maxLessons how many there can be.
const (
	maxSeen    = 3600 * 1000
	maxLessons = 1 << 40
)

// Check refuses what nobody could have kept: it is damaged. A log that was taken in
// far beyond now, by a store whose clock was ahead, goes on from now.
func (o *Outlook) Check(now int64) error {
	if o.Seen.At > now+maxSeen {
		o.Seen = Seen{At: now}
	}
	switch {
	case o.Lessons < 0 || o.Lessons > maxLessons || o.LearnedFrom < 0 || o.LearnedFrom > maxLessons:
		return fmt.Errorf("%d lessons, learned from %d", o.Lessons, o.LearnedFrom)
	}
	return o.Estimator.Check()
}

// Take hands out what is to be kept, and is false when there is nothing. Whoever
// takes it gives it back by Kept or Return.
func (q *Queue) Take(now int64) (p Pending, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sweep(now)
	if !q.restored || !q.changed && len(q.pending.Outcomes) == 0 && len(q.pending.Days) == 0 {
		return Pending{}, false
	}
	p, q.pending, q.changed = q.pending, Pending{}, false
	return p, true
}

// Return takes back what could not be kept.
func (q *Queue) Return(p Pending) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.changed = true
	p.Outcomes = append(p.Outcomes, q.pending.Outcomes...)
	for n, d := range q.pending.Days {
		p.day(n).Merge(d)
	}
	q.pending = p
}

// Merge brings what is to be kept into what is kept, which others may have
// changed meanwhile: calibrations go on from theirs, the history is this one.
func (q *Queue) Merge(o *Outlook, p *Pending) {
	for i := range p.Outcomes {
		o.Estimator.Resolve(p.Outcomes[i].Forecast.Forecast, p.Outcomes[i].Wait)
	}
	o.Lessons += len(p.Lessons())
	q.mu.Lock()
	defer q.mu.Unlock()
	o.Estimator.History = q.estimator.History.Clone()
	o.Seen = q.seen
}

// Kept takes over what is kept by now, with the model that goes with it. What
// was resolved since it was taken is added again.
func (q *Queue) Kept(o *Outlook, m *estimate.Model) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.estimator.Plain, q.estimator.Learned = o.Estimator.Plain, o.Estimator.Learned
	q.estimator.Model, q.model = m, o.Model
	q.lessons, q.unlearned = o.Lessons, o.Lessons-o.LearnedFrom
	for i := range q.pending.Outcomes {
		q.estimator.Resolve(q.pending.Outcomes[i].Forecast.Forecast, q.pending.Outcomes[i].Wait)
	}
}

// Model is what forecasts are made with, and its version in the store; nil and 0
// for nothing.
func (q *Queue) Model() (*estimate.Model, uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.estimator.Model, q.model
}

// Learnable is how many lessons were kept, and how many of them since a model was
// last sought, as of the last look at the store.
func (q *Queue) Learnable() (all, unlearned int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lessons, q.unlearned
}
