package sim

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Aim is what a search for counters has to keep, such as p90<15m.
type Aim struct {
	measure string // mean, p50, p90, p99 or gave_up
	who     string // a group or a class; "" = everybody
	limit   float64
	text    string
}

var aimForm = regexp.MustCompile(`^(mean|p50|p90|p99|gave_up)(?:\[([^\]]+)\])?\s*<\s*(\S+)$`)

// ParseAim reads an aim: mean, p50, p90 or p99 below a duration (p90<15m), or
// gave_up below a share (gave_up<5%); with a group or class in brackets, of those
// people only (p90[VIP]<5m).
func ParseAim(text string) (Aim, error) {
	m := aimForm.FindStringSubmatch(text)
	if m == nil {
		return Aim{}, wrong("find-counters", "%q is not an aim such as p90<15m, p90[VIP]<5m or gave_up<5%%", text)
	}
	a := Aim{measure: m[1], who: m[2], text: text}
	if a.measure == "gave_up" {
		percent, ok := trimSuffix(m[3], "%")
		v, err := strconv.ParseFloat(percent, 64)
		if a.limit = v / 100; !ok || err != nil || !(v > 0 && v <= 100) {
			return a, wrong("find-counters", "%q is not a share such as 5%%", m[3])
		}
		return a, nil
	}
	d, err := time.ParseDuration(m[3])
	if a.limit = d.Seconds(); err != nil || d <= 0 {
		return a, wrong("find-counters", "%q is not a duration such as 15m", m[3])
	}
	return a, nil
}

func trimSuffix(s, suffix string) (string, bool) {
	if n := len(s) - len(suffix); n >= 0 && s[n:] == suffix {
		return s[:n], true
	}
	return s, false
}

// value is what the people whom the aim means came to; the worst when they are
// several lines. Those who were still waiting at the end waited for ever.
func (a *Aim) value(p *PolicyReport) (float64, error) {
	worst, found := 0.0, false
	for i := range p.Lines {
		l := &p.Lines[i]
		if a.who == "" && !l.All || a.who != "" && a.who != l.Group && a.who != l.Class {
			continue
		}
		found = true
		worst = max(worst, a.of(l))
	}
	if !found {
		return 0, wrong("find-counters", "there is neither a group nor a class %q", a.who)
	}
	return worst, nil
}

func (a *Aim) of(l *Line) float64 {
	switch a.measure {
	case "gave_up":
		return share(l.GaveUp, l.People)
	case "mean":
		if l.LeftOver > 0 {
			return math.Inf(1)
		}
		return l.Wait.Mean
	}
	q := map[string]float64{"p50": 0.5, "p90": 0.9, "p99": 0.99}[a.measure]
	at := max(0, int(math.Ceil(q*float64(len(l.waits)+l.LeftOver)))-1)
	switch {
	case at < len(l.waits):
		return seconds(l.waits[at])
	case l.LeftOver > 0:
		return math.Inf(1)
	}
	return 0
}

// Try is one try of a search.
type Try struct {
	Aim      string  `json:"aim"`
	Policy   string  `json:"policy"`
	Counters int     `json:"counters"`
	Value    float64 `json:"value"` // seconds, or a share; -1 = without end
	GaveUp   int     `json:"gave_up"`
	LeftOver int     `json:"left_over"`
	Kept     bool    `json:"kept"`
}

// String says what a try came to.
func (t Try) String() string {
	value := "without end"
	if t.Value >= 0 {
		value = fmt.Sprintf("%.1f s", t.Value)
	}
	if strings.HasPrefix(t.Aim, "gave_up") {
		value = percent(t.Value)
	}
	kept := "too few"
	if t.Kept {
		kept = "enough"
	}
	return fmt.Sprintf("%s: %d counters: %s (%d gave up, %d left over): %s", t.Policy, t.Counters, value, t.GaveUp, t.LeftOver, kept)
}

// Find looks for the fewest counters that keep an aim, under each policy: it
// varies the count of the counters with the id vary, or of the first ones when
// vary is empty, from what the scenario says up or down in doubled steps and then
// by halves, because more counters never make people wait longer. Each try is
// told. The report is that of the last scenario that kept the aim, with all tries;
// for a policy that not even 1,000 counters help it is an error.
func Find(ctx context.Context, s *Scenario, a Aim, vary string, o Options, tried func(Try)) (*Report, error) {
	at := slices.IndexFunc(s.Counters, func(c Counters) bool { return vary == "" || c.ID == vary })
	if at < 0 {
		return nil, wrong("vary", "there are no counters %q", vary)
	}
	var out *Report
	var tries []Try
	for i := range s.Policies {
		f := finder{Aim: a, scenario: s, policy: i, vary: at, options: o, kept: make(map[int]*Report), tried: func(t Try) {
			tries = append(tries, t)
			tried(t)
		}}
		best, err := f.search(ctx)
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = best
			continue
		}
		out.Policies = append(out.Policies, best.Policies...)
	}
	out.Tries = tries
	return out, nil
}

// finder searches under one policy.
type finder struct {
	Aim
	scenario *Scenario
	policy   int
	vary     int
	options  Options
	kept     map[int]*Report // by counters that are enough
	tried    func(Try)
}

// search returns the report with the fewest counters that are enough.
func (f *finder) search(ctx context.Context) (*Report, error) {
	start := 1
	if c := f.scenario.Counters[f.vary].Count; c != nil {
		start = max(1, *c)
	}
	few, enough := 0, 0 // too few, and enough when not 0
	for n := start; enough == 0; n = min(2*n, maxDesks) {
		ok, err := f.try(ctx, n)
		switch {
		case err != nil:
			return nil, err
		case ok:
			enough = n
		case n == maxDesks:
			return nil, fmt.Errorf("policy %q: %d counters do not keep %s", f.scenario.Policies[f.policy].Name, n, f.text)
		default:
			few = n
		}
	}
	for step := 1; few == 0 && enough > 1; step *= 2 { // the start was enough
		n := max(1, enough-step)
		ok, err := f.try(ctx, n)
		if err != nil {
			return nil, err
		}
		if !ok {
			few = n
			break
		}
		enough = n
	}
	for enough-few > 1 {
		n := (few + enough) / 2
		ok, err := f.try(ctx, n)
		if err != nil {
			return nil, err
		}
		if ok {
			enough = n
		} else {
			few = n
		}
	}
	return f.kept[enough], nil
}

// try plays the scenario with n counters.
func (f *finder) try(ctx context.Context, n int) (bool, error) {
	s := *f.scenario
	s.Counters = slices.Clone(s.Counters)
	s.Counters[f.vary].Count = &n
	s.Policies = s.Policies[f.policy : f.policy+1]
	r, err := Play(ctx, &s, f.options)
	if err != nil {
		return false, err
	}
	p := &r.Policies[0]
	value, err := f.value(p)
	if err != nil {
		return false, err
	}
	all := p.Lines[len(p.Lines)-1]
	t := Try{Aim: f.text, Policy: p.Name, Counters: n, Value: value, GaveUp: all.GaveUp, LeftOver: all.LeftOver, Kept: value < f.limit}
	if math.IsInf(value, 1) {
		t.Value = -1
	}
	p.Counters = n
	if t.Kept {
		f.kept[n] = r
	}
	f.tried(t)
	return t.Kept, nil
}
