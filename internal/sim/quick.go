package sim

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dengxu/dengxu"
)

// Quick is the plainest scenario: one queue, counters that are always open, one
// stream cut into groups.
type Quick struct {
	PerHour   float64
	Service   string // a law: see ParseLaw
	Patience  string // likewise; "" = nobody gives up
	NoShow    float64
	Counters  int
	Customers int
	Groups    []string // see parseGroup
}

// Names of the policies of a quick scenario and of a recording.
const (
	policyFIFO   = "fifo"
	policyGroups = "groups"
)

// Scenario makes the scenario. When groups differ, first come, first served is
// played beside them.
func (q Quick) Scenario() (*Scenario, error) {
	service, err := ParseLaw("service", q.Service)
	if err != nil {
		return nil, err
	}
	if !(q.PerHour > 0) {
		return nil, wrong("per-hour", "say how many people come in an hour")
	}
	count := q.Counters
	base := Stream{Arrivals: Arrivals{PerHour: q.PerHour}, Service: service}
	if q.Patience != "" {
		law, err := ParseLaw("patience", q.Patience)
		if err != nil {
			return nil, err
		}
		base.Patience = &Patience{Law: law}
	}
	settings := dengxu.Queue{DayEnd: "keep", OnCallTimeout: "ask", MinFactor: new(0.05)}
	if q.NoShow != 0 {
		base.NoShow = &NoShow{Share: q.NoShow}
		settings.OnCallTimeout = "miss"
	}
	s := &Scenario{
		Customers: q.Customers, WarmupSeconds: float64(q.Customers) * 360 / q.PerHour,
		Counters: []Counters{{Count: &count}},
	}
	if err := s.divide(&settings, base, q.Groups); err != nil {
		return nil, err
	}
	s.Queues = map[dengxu.QueueID]dengxu.Queue{"main": settings}
	return s, s.check()
}

// divide cuts a stream into groups; what is left over is ordinary.
func (s *Scenario) divide(settings *dengxu.Queue, base Stream, groups []string) error {
	// A policy can only add to what the queue says, as a PATCH does: so the queue
	// itself treats all alike.
	settings.Groups = make(map[string]dengxu.Group)
	sets, left := make(map[string]dengxu.Group), 1.0
	for _, text := range groups {
		name, part, set, err := parseGroup(text)
		if err != nil {
			return err
		}
		if _, twice := sets[name]; twice {
			return wrong("group", "%s is given twice", name)
		}
		sets[name], settings.Groups[name] = set, dengxu.Group{}
		st := base
		st.Group, st.Arrivals.PerHour = name, base.Arrivals.PerHour*part
		if left -= part; left < -1e-9 {
			return wrong("group", "the shares are more than 1 together")
		}
		if part > 0 {
			s.Streams = append(s.Streams, st)
		}
	}
	if left > 1e-9 {
		st := base
		st.Arrivals.PerHour *= left
		s.Streams = append(s.Streams, st)
	}
	if len(groups) > 0 {
		s.Policies = []Policy{{Name: policyFIFO}, groupPolicy(policyGroups, sets)}
	}
	return nil
}

// groupPolicy is a policy that sets the groups of the queue main.
func groupPolicy(name string, groups map[string]dengxu.Group) Policy {
	return patchPolicy(name, map[string]any{"groups": groups})
}

// ParseLaw reads a law of seconds: exponential:120, lognormal:120:0.8 (mean, cv)
// or constant:90; a number alone is exponential. field is named in errors.
func ParseLaw(field, text string) (Law, error) {
	parts := strings.Split(text, ":")
	if len(parts) == 1 {
		parts = []string{Exponential, parts[0]}
	}
	law := Law{Law: parts[0]}
	into := []*float64{&law.MeanSeconds, &law.CV}
	bad := len(parts) > 3
	for i := 1; i < len(parts) && !bad; i++ {
		v, err := strconv.ParseFloat(parts[i], 64)
		*into[i-1], bad = v, err != nil
	}
	if bad {
		return law, wrong(field, "%q is not a law such as exponential:120, lognormal:120:0.8 or constant:90", text)
	}
	return law, law.check(field)
}

// parseGroup reads NAME=SHARE, and after commas factor=F and head_start=SECONDS,
// such as VIP=0.2,factor=0.5.
func parseGroup(text string) (name string, part float64, set dengxu.Group, err error) {
	for i, piece := range strings.Split(text, ",") {
		key, value, ok := strings.Cut(piece, "=")
		v, parseErr := strconv.ParseFloat(value, 64)
		if !ok || parseErr != nil {
			return name, 0, set, wrong("group", "%q is not NAME=SHARE with factor=F or head_start=SECONDS after it", text)
		}
		switch {
		case i == 0:
			name, part = key, v
		case key == "factor":
			set.Factor = &v
		case key == "head_start":
			set.HeadStartSeconds = v
		default:
			return name, 0, set, wrong("group", "%q is neither factor nor head_start", key)
		}
	}
	if name == "" || !(part >= 0 && part <= 1) {
		return name, 0, set, wrong("group", "%q: a share is from 0 to 1", text)
	}
	return name, part, set, nil
}

// headStartOfBank is the waiting credit that the bank of the recorded calls gave
// to its priority customers, in seconds.
const headStartOfBank = 90

// Recorded is the scenario of a file of recorded days: priority 2 is a group of
// its own, and is played as first come, first served, with the head start that the
// bank gave, and with two factors. No dates are all dates.
func Recorded(csv string, dates []string) (*Scenario, error) {
	const group = "priority"
	factor := func(f float64) Policy {
		return groupPolicy(fmt.Sprintf("factor %g", f), map[string]dengxu.Group{group: {Factor: &f}})
	}
	s := &Scenario{
		Recording: &Recording{CSV: csv, Dates: dates, Groups: map[string]string{"2": group}},
		Queues: map[dengxu.QueueID]dengxu.Queue{"main": {
			DayEnd: "keep", OnCallTimeout: "ask", Groups: map[string]dengxu.Group{group: {}},
		}},
		Policies: []Policy{
			{Name: policyFIFO},
			groupPolicy(fmt.Sprintf("head start %d s", headStartOfBank), map[string]dengxu.Group{group: {HeadStartSeconds: headStartOfBank}}),
			factor(0.5), factor(0.25),
		},
	}
	return s, s.check()
}
