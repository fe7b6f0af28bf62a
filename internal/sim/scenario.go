// Package sim plays people through the real engine on a clock that it moves
// itself: who comes when, how long each is served, who gives up and who does
// not come when called. It owns scenarios, the draws, the measures and the
// reports, and refuses to know how a queue orders people: that is the engine's,
// and what is being measured. What it does know is the bound that the orderings
// promise, and it holds every call against it.
package sim

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/strictyaml"
)

// Scenario is what is simulated, as a file says it: a site with queues and
// counters, and the streams of people that come. The settings of the site, the
// queues and the counters are those of the API.
type Scenario struct {
	Name string `json:"name,omitempty"`
	// Start is the first day, YYYY-MM-DD; a Monday when absent.
	Start string `json:"start,omitempty"`
	// Days or Customers end the arrivals of a run; one of them is given.
	Days      int `json:"days,omitempty"`
	Customers int `json:"customers,omitempty"`
	// WarmupSeconds is the beginning of a run that is played and not measured.
	WarmupSeconds float64 `json:"warmup_seconds,omitempty"`
	// Seed is the seed of the first run, and the next ones count on from it.
	Seed uint64 `json:"seed,omitempty"` // 0 = 1
	Runs int    `json:"runs,omitempty"` // 0 = 10

	// Estimates tells everybody who joins how long the wait will be, learns from
	// what comes of it as a server does, and scores it. It costs about as much as
	// everything else.
	Estimates bool `json:"estimates,omitempty"`

	Site     dengxu.Site                     `json:"site,omitzero"`
	Queues   map[dengxu.QueueID]dengxu.Queue `json:"queues,omitempty"`
	Counters []Counters                      `json:"counters,omitempty"`
	Streams  []Stream                        `json:"streams,omitempty"`
	// Recording plays real days instead of streams and counters.
	Recording *Recording `json:"recording,omitempty"`
	// Policies are played with the same people; none is the settings as given.
	Policies []Policy `json:"policies,omitempty"`

	folder string           // that paths in the file start from
	path   string           // of the file, for errors; "" = there is none
	source *strictyaml.Node // likewise; nil = it was not read
}

// Counters are one or several counters alike.
type Counters struct {
	ID    string `json:"id,omitempty"`    // of one, or what the ids of several begin with; default "counter"
	Count *int   `json:"count,omitempty"` // default 1
	// Hours are the spans "HH:MM-HH:MM" of every day in which they are open;
	// none is always. A service that has begun is finished after them.
	Hours []string `json:"hours,omitempty"`
	dengxu.Counter
}

// Stream is people of one kind.
type Stream struct {
	Queue    dengxu.QueueID `json:"queue,omitempty"` // default the only one
	Group    string         `json:"group,omitempty"`
	Class    string         `json:"class,omitempty"`
	Arrivals Arrivals       `json:"arrivals"`
	Service  Law            `json:"service"`
	Patience *Patience      `json:"patience,omitempty"` // absent = nobody gives up
	NoShow   *NoShow        `json:"no_show,omitempty"`  // absent = everybody comes
	// Attrs are the ext_attrs of each, for rules.
	Attrs json.RawMessage `json:"ext_attrs,omitempty"`
}

// Arrivals are a Poisson process, of one rate or of rates by the hour of the
// day, or moments from a column.
type Arrivals struct {
	PerHour float64 `json:"per_hour,omitempty"`
	// ByHour are people an hour by spans "HH:MM-HH:MM" of the day; nobody comes
	// outside of them.
	ByHour map[string]float64 `json:"by_hour,omitempty"`
	Column                    // seconds since the midnight of the first day
}

// Law is the law of a duration: exponential, lognormal with a mean and a
// coefficient of variation, constant, or as often as in a column.
type Law struct {
	Law         string  `json:"law,omitempty"` // default exponential
	MeanSeconds float64 `json:"mean_seconds,omitempty"`
	CV          float64 `json:"cv,omitempty"` // lognormal: standard deviation / mean
	Column
}

// The laws.
const (
	Exponential = "exponential"
	Lognormal   = "lognormal"
	Constant    = "constant"
	fromColumn  = "csv"
)

// Column is one column of a CSV file with a header, of the rows that have the
// values of Where.
type Column struct {
	CSV    string            `json:"csv,omitempty"`
	Column string            `json:"column,omitempty"`
	Where  map[string]string `json:"where,omitempty"`
}

// Patience is how long people wait before they give up. Silent ones are found
// to be gone when they are called; the others say so.
type Patience struct {
	Law
	Silent bool `json:"silent,omitempty"`
}

// NoShow is how often somebody does not come when called, each call for itself,
// and who notices: the queue's timeout, or the operator after some seconds.
type NoShow struct {
	Share                float64 `json:"share"`
	OperatorAfterSeconds float64 `json:"operator_after_seconds,omitempty"`
}

// Policy changes the settings of queues, as PATCH /queue/{id} does.
type Policy struct {
	Name   string                             `json:"name"`
	Queues map[dengxu.QueueID]json.RawMessage `json:"queues,omitempty"`
}

// Recording is a file of real days. Every recorded service is a call slot: at its
// start a counter calls whoever is next, and has served them when the recorded
// service ended. So all policies have the same moments at which somebody is
// called, and differ in whom. Each date is a run of its own.
type Recording struct {
	CSV   string   `json:"csv"`
	Dates []string `json:"dates,omitempty"` // as the file writes them; default all
	// Groups are the groups of the recorded priorities 0, 1 and 2; what is left
	// out is ordinary.
	Groups map[string]string `json:"groups,omitempty"`
}

// ReadFile reads a scenario. Errors of the file have line and column. Paths in
// it start from its folder.
func ReadFile(path string) (*Scenario, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	s.folder, s.path = filepath.Dir(path), path
	return s, nil
}

// Parse reads a scenario from YAML. An error is a *strictyaml.Error, or Invalid
// when the scenario contradicts itself; either begins with line and column.
func Parse(text []byte) (*Scenario, error) {
	root, err := strictyaml.Parse(text)
	if err != nil {
		return nil, err
	}
	var s Scenario
	if err := root.Decode(&s); err != nil {
		return nil, err
	}
	if policies := root.Get("policies"); policies != nil {
		for _, p := range policies.List {
			queues := p.Get("queues")
			if queues == nil {
				continue
			}
			for _, e := range queues.Entries {
				if err := e.Value.Check(dengxu.Queue{}); err != nil {
					return nil, err
				}
			}
		}
	}
	s.source = root
	return &s, s.placed(s.check())
}

// The defaults of a scenario.
const (
	defaultStart = "2026-03-02" // a Monday
	defaultRuns  = 10
	defaultSeed  = 1

	defaultCounter = "counter"
)

// What a scenario may ask for at most, so that a slip of a digit is told and
// not begun.
const (
	maxRuns      = 10_000
	maxDays      = 3_660
	maxCustomers = 10_000_000 // in one run
	maxDesks     = 1_000
)

// check refuses what contradicts itself, and fills in defaults.
func (s *Scenario) check() error {
	s.defaults()
	if _, err := time.Parse(time.DateOnly, s.Start); err != nil {
		return wrong("start", "%q is not a date such as 2026-03-02", s.Start)
	}
	if s.Runs < 1 || s.Runs > maxRuns {
		return wrong("runs", "must be from 1 to %d", maxRuns)
	}
	if len(s.Queues) == 0 {
		return wrong("queues", "there is none")
	}
	if err := s.checkPolicies(); err != nil {
		return err
	}
	if s.Recording != nil {
		return s.checkRecording()
	}
	switch {
	case (s.Days == 0) == (s.Customers == 0):
		return wrong("days", "give days or customers")
	case s.Days < 0 || s.Days > maxDays:
		return wrong("days", "must be from 1 to %d", maxDays)
	case s.Customers < 0 || s.Customers > maxCustomers:
		return wrong("customers", "must be from 1 to %d in a run", maxCustomers)
	case !(s.WarmupSeconds >= 0 && s.WarmupSeconds <= maxDays*86400):
		return wrong("warmup_seconds", "must be from 0 to %d days", maxDays)
	}
	for i := range s.Streams {
		if err := s.checkStream(i); err != nil {
			return err
		}
	}
	if len(s.Streams) == 0 {
		return wrong("streams", "nobody comes: there is none")
	}
	return s.checkCounters()
}

func (s *Scenario) defaults() {
	if s.Start == "" {
		s.Start = defaultStart
	}
	if s.Runs == 0 {
		s.Runs = defaultRuns
	}
	if s.Seed == 0 {
		s.Seed = defaultSeed
	}
	if s.Site.TimeZone == "" {
		s.Site.TimeZone = "UTC"
	}
	if len(s.Policies) == 0 {
		s.Policies = []Policy{{Name: "as given"}}
	}
}

func (s *Scenario) checkPolicies() error {
	named := make(map[string]bool)
	for i, p := range s.Policies {
		field := fmt.Sprintf("policies[%d]", i)
		if p.Name == "" || named[p.Name] {
			return wrong(field+".name", "every policy has a name of its own")
		}
		named[p.Name] = true
		for id := range p.Queues {
			if _, ok := s.Queues[id]; !ok {
				return wrong(field+".queues", "there is no queue %q", id)
			}
		}
	}
	return nil
}

func (s *Scenario) checkRecording() error {
	switch {
	case s.Recording.CSV == "":
		return wrong("recording.csv", "no file is named")
	case len(s.Queues) != 1:
		return wrong("recording", "people of a recording stand in one queue, and there are %d", len(s.Queues))
	case len(s.Streams) > 0 || len(s.Counters) > 0:
		return wrong("recording", "who comes and who serves is in the recording: leave out streams and counters")
	case s.Estimates:
		return wrong("estimates", "a recording does not say when counters are open, so nobody could be told how long the wait is: dengxu evaluate forecasts recorded days")
	case s.Days != 0 || s.Customers != 0 || s.WarmupSeconds != 0:
		return wrong("recording", "its dates are the runs: leave out days, customers and warmup_seconds")
	}
	for priority := range s.Recording.Groups {
		if priority != "0" && priority != "1" && priority != "2" {
			return wrong("recording.groups", "priorities are \"0\", \"1\" and \"2\", not %q", priority)
		}
	}
	return nil
}

func (s *Scenario) checkStream(i int) error {
	st := &s.Streams[i]
	field := fmt.Sprintf("streams[%d]", i)
	if st.Queue == "" && len(s.Queues) == 1 {
		for id := range s.Queues {
			st.Queue = id
		}
	}
	q, ok := s.Queues[st.Queue]
	if !ok {
		return wrong(field+".queue", "there is no queue %q", st.Queue)
	}
	if q.CheckIn != nil && q.CheckIn.Required == "all" {
		return wrong("queues."+string(st.Queue)+".check_in", "nobody checks in here, so nobody would ever be called")
	}
	if err := st.Arrivals.check(field + ".arrivals"); err != nil {
		return err
	}
	if err := st.Service.check(field + ".service"); err != nil {
		return err
	}
	if st.Patience != nil {
		if err := st.Patience.check(field + ".patience"); err != nil {
			return err
		}
	}
	if n := st.NoShow; n != nil && (!(n.Share >= 0 && n.Share < 1) || n.OperatorAfterSeconds < 0) {
		return wrong(field+".no_show", "share must be from 0 to below 1, operator_after_seconds not below 0")
	}
	return nil
}

func (s *Scenario) checkCounters() error {
	desks := 0
	for i, c := range s.Counters {
		field := fmt.Sprintf("counters[%d]", i)
		n := 1
		if c.Count != nil {
			n = *c.Count
		}
		if desks += n; n < 0 || desks > maxDesks {
			return wrong(field+".count", "must not be below 0, and all together at most %d", maxDesks)
		}
		if c.MaxServing != nil && *c.MaxServing != 1 {
			return wrong(field+".max_serving", "a simulated counter serves one at a time")
		}
		for _, span := range c.Hours {
			if _, _, err := dengxu.ParseHours(span); err != nil {
				return wrong(field+".hours", "%q is not a span such as 08:00-12:00", span)
			}
		}
	}
	if len(s.Counters) == 0 {
		return wrong("counters", "nobody serves: there is none")
	}
	return nil
}

// patchPolicy is a policy that changes the queue main.
func patchPolicy(name string, patch any) Policy {
	text, err := json.Marshal(patch)
	if err != nil {
		panic(err) // it is made here
	}
	return Policy{Name: name, Queues: map[dengxu.QueueID]json.RawMessage{"main": text}}
}
