package sim

import (
	"math"

	"github.com/dengxu/dengxu"
)

// promise is what somebody was told at the join: seconds of which the wait is at
// most low, recommended and high in one, five and nine cases of ten.
type promise struct {
	said     [3]float64
	position float64
	method   string
	reason   string // of nothing that could be told; "" = something was
}

// methodIdle is the method of whoever finds a free counter; it is counted apart.
const methodIdle = "idle"

func promiseOf(e *dengxu.Estimate) promise {
	if !e.Known {
		return promise{reason: e.Reason}
	}
	p := promise{position: e.Position, method: e.Method}
	for i, v := range []*int{e.LowSeconds, e.RecommendedSeconds, e.HighSeconds} {
		p.said[i] = float64(*v)
	}
	return p
}

// kept is a promise and what it came to.
type kept struct {
	promise
	wait float64 // seconds
	day  int     // of the run
}

// promises are those of one line of the report.
type promises struct {
	idle       int            // were told that a counter is free
	idleWaited int            // of those, had to wait nevertheless
	told       int            // were told something else
	unknown    map[string]int // could not be told anything, by the reason
	kept       []kept         // of told: those who were called
}

// promised counts what somebody is told.
func (t *promises) promised(p *promise) {
	switch {
	case p.reason != "":
		if t.unknown == nil {
			t.unknown = make(map[string]int)
		}
		t.unknown[p.reason]++
	case p.method == methodIdle:
		t.idle++
	default:
		t.told++
	}
}

// came holds a promise against the first call, ms after the join on a day.
func (t *promises) came(p *promise, ms int64, day int) {
	switch {
	case p.reason != "":
	case p.method == methodIdle:
		if ms > 0 {
			t.idleWaited++
		}
	default:
		t.kept = append(t.kept, kept{promise: *p, wait: seconds(ms), day: day})
	}
}

func (t *promises) merge(o *promises) {
	t.idle, t.idleWaited, t.told = t.idle+o.idle, t.idleWaited+o.idleWaited, t.told+o.told
	for reason, n := range o.unknown {
		if t.unknown == nil {
			t.unknown = make(map[string]int)
		}
		t.unknown[reason] += n
	}
	t.kept = append(t.kept, o.kept...)
}

// Kept is how right what people were told was, of those of them who were called.
type Kept struct {
	People int     `json:"people"`
	Wait   float64 `json:"wait_mean_seconds"`
	// Low, Recommended and High are the shares of waits that were at most so long:
	// 0.1, 0.5 and 0.9 are promised.
	Low         float64 `json:"low_covers"`
	Recommended float64 `json:"recommended_covers"`
	High        float64 `json:"high_covers"`
	// Bias is by how much the recommended waits were too long in the mean, and WAPE
	// how far off they were as a share of the waits.
	Bias float64 `json:"bias_seconds"`
	WAPE float64 `json:"wape"`
}

// score sums up. It is written anew and not what the engine counts with, so that
// both can be held against each other.
func score(all []kept) (k Kept) {
	var within [3]int
	off, deviation := 0.0, 0.0
	for i := range all {
		p := &all[i]
		for q, said := range p.said {
			if p.wait <= said {
				within[q]++
			}
		}
		k.Wait += p.wait
		off += p.said[1] - p.wait
		deviation += math.Abs(p.said[1] - p.wait)
	}
	n := len(all)
	if k.People = n; n == 0 {
		return k
	}
	k.Low, k.Recommended, k.High = share(within[0], n), share(within[1], n), share(within[2], n)
	if k.Wait > 0 {
		k.WAPE = deviation / k.Wait
	}
	k.Wait, k.Bias = k.Wait/float64(n), off/float64(n)
	return k
}

// Estimates is what people were told at the join, and what it came to.
type Estimates struct {
	// Idle found a free counter and were told so; IdleWaited of them were not
	// called at once.
	Idle       int `json:"idle"`
	IdleWaited int `json:"idle_waited"`
	// Unknown could not be told anything, by the reason.
	Unknown map[string]int `json:"unknown"`
	// Uncalled were told something and not called: they gave up, or were left over.
	Uncalled int `json:"uncalled"`
	// Methods are how many of those in All were told by which method.
	Methods map[string]int `json:"methods"`
	All     Kept           `json:"all"`
	Lines   []KeptLine     `json:"lines"`    // by queue, class and group
	Ahead   []KeptAhead    `json:"by_ahead"` // by how many were ahead
	Days    []Kept         `json:"by_day"`   // of all runs; none when customers end a run

	kept []kept
}

// KeptLine is Kept of people of one kind.
type KeptLine struct {
	Queue string `json:"queue,omitempty"`
	Class string `json:"class,omitempty"`
	Group string `json:"group,omitempty"`
	Kept
}

// KeptAhead is Kept of those who had about as many ahead of them.
type KeptAhead struct {
	Ahead string `json:"ahead"`
	Kept
}

// aheads are the rows by those ahead, up to and with the number.
var aheads = []struct {
	name string
	most float64
}{
	{"0", 0}, {"1", 1}, {"2", 2}, {"3-4", 4}, {"5-9", 9}, {"10-19", 19}, {"20+", math.Inf(1)},
}

// estimates sums up the promises of all runs.
func (p *plan) estimates(runs []*measures) *Estimates {
	if !p.Estimates {
		return nil
	}
	var all promises
	all.unknown = make(map[string]int) // none is an empty list in JSON
	e := &Estimates{Methods: make(map[string]int), Days: []Kept{}}
	for n, who := range p.lines {
		var line promises
		for _, m := range runs {
			line.merge(&m.lines[n].promises)
		}
		all.merge(&line)
		e.Lines = append(e.Lines, KeptLine{string(who.Queue), who.Class, who.Group, score(line.kept)})
	}
	e.Idle, e.IdleWaited, e.Unknown, e.Uncalled = all.idle, all.idleWaited, all.unknown, all.told-len(all.kept)
	e.All, e.kept = score(all.kept), all.kept
	byAhead, byDay := make([][]kept, len(aheads)), make([][]kept, p.days)
	for _, k := range all.kept {
		e.Methods[k.method]++
		at := 0
		for math.Round(k.position)-1 > aheads[at].most {
			at++
		}
		byAhead[at] = append(byAhead[at], k)
		if k.day < p.days {
			byDay[k.day] = append(byDay[k.day], k)
		}
	}
	for i, ahead := range aheads {
		e.Ahead = append(e.Ahead, KeptAhead{ahead.name, score(byAhead[i])})
	}
	for _, day := range byDay {
		e.Days = append(e.Days, score(day))
	}
	return e
}

// weeks are the scores of every seven days; none of less than two weeks.
func (e *Estimates) weeks() (all []Kept) {
	const week = 7
	last := 0
	for i := range e.kept {
		last = max(last, e.kept[i].day/week)
	}
	if len(e.Days) < 2*week {
		return nil
	}
	weeks := make([][]kept, last+1)
	for _, k := range e.kept {
		weeks[k.day/week] = append(weeks[k.day/week], k)
	}
	for _, w := range weeks {
		all = append(all, score(w))
	}
	return all
}
