package sim

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dengxu/dengxu"
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
func (a *Aim) value(p *PolicyReport) float64 {
	worst := 0.0
	for i := range p.Lines {
		l := &p.Lines[i]
		if a.who == "" && !l.All || a.who != "" && a.who != l.Group && a.who != l.Class {
			continue
		}
		worst = max(worst, a.of(l))
	}
	return worst
}

// check refuses an aim for people who do not come.
func (a *Aim) check(streams []Stream) error {
	if a.who == "" || slices.ContainsFunc(streams, func(st Stream) bool {
		return a.who == st.Class || a.who == cmp.Or(st.Group, dengxu.GroupOrdinary)
	}) {
		return nil
	}
	return wrong("find-counters", "there is neither a group nor a class %q", a.who)
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
	return fmt.Sprintf("%s: %s: %s (%d gave up, %d left over): %s", t.Policy, counted(t.Counters, ""), value, t.GaveUp, t.LeftOver, kept)
}

// Fewest is what a search found under one policy.
type Fewest struct {
	Aim    string `json:"aim"`
	Policy string `json:"policy"`
	// Vary is the id of the counters that were varied, where the scenario has
	// several kinds of counters.
	Vary     string `json:"vary,omitempty"`
	Counters int    `json:"counters"`
}

// String is the answer, such as 5 counters keep p90<15m.
func (f Fewest) String() string {
	keep := "keep"
	if f.Counters == 1 {
		keep = "keeps"
	}
	return fmt.Sprintf("%s %s %s", counted(f.Counters, f.Vary), keep, f.Aim)
}

// counted is how many counters, and which when they have a name.
func counted(n int, id string) string {
	text := fmt.Sprintf("%d counters", n)
	if n == 1 {
		text = "1 counter"
	}
	if id != "" {
		text += " " + strconv.Quote(id)
	}
	return text
}

// Find looks for the fewest counters that keep an aim, under each policy: it
// varies the count of the counters with the id vary, or of the first ones when
// vary is empty, from what the scenario says up or down in doubled steps and then
// by halves, because more counters never make people wait longer. Each try is
// told when it was made. The report is that of the fewest, with all tries by policy
// and count; for a policy that not even 1,000 counters help it is an error.
func Find(ctx context.Context, s *Scenario, a Aim, vary string, o Options, tried func(Try)) (*Report, error) {
	if s.Recording != nil {
		return nil, wrong("find-counters", "who serves is in the recording")
	}
	if err := a.check(s.Streams); err != nil {
		return nil, err
	}
	at := slices.IndexFunc(s.Counters, func(c Counters) bool { return vary == "" || c.ID == vary })
	if at < 0 {
		return nil, wrong("vary", "there are no counters %q", vary)
	}
	if vary = ""; len(s.Counters) > 1 {
		vary = cmp.Or(s.Counters[at].ID, defaultCounter)
	}
	out := new(Report)
	for i := range s.Policies {
		var tries []Try
		f := finder{Aim: a, scenario: s, policy: i, vary: at, options: o, kept: make(map[int]*Report), tried: func(t Try) {
			tries = append(tries, t)
			tried(t)
		}}
		best, err := f.search(ctx)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(tries, func(a, b Try) int { return cmp.Compare(a.Counters, b.Counters) })
		out.Name, out.Runs = best.Name, best.Runs
		out.Policies, out.Tries = append(out.Policies, best.Policies...), append(out.Tries, tries...)
		out.Fewest = append(out.Fewest, Fewest{a.text, s.Policies[i].Name, vary, best.Policies[0].Counters})
	}
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
	value := f.value(p)
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
