package engine

import (
	"slices"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/rule"
	"github.com/dengxu/dengxu/internal/store"
)

// world is everything that the engine knows of settings and running state. It
// is never changed: a write makes a new one. Commits expect the versions that
// were decided on, so an old world costs a retry and never a wrong decision.
type world struct {
	sites    map[dengxu.SiteID]*site
	queues   map[dengxu.QueueID]*queue
	counters map[dengxu.CounterID]*counter
	keys     map[dengxu.KeyID]*key
	hashes   map[secretHash]*key // the same keys by the hash of their secret
}

// site is a site's settings in force.
type site struct {
	id        dengxu.SiteID
	partition store.Partition
	set       dengxu.Site // with defaults
	raw       []byte      // the settings as given, JSON
	version   uint64
	state     siteState
	stateV    uint64
	zone      *time.Location
	dayStart  int        // minutes after midnight
	hours     *hours     // nil = always open
	queues    []*queue   // by id
	counters  []*counter // by id
}

// home is the site of a queue or counter; nil of one that is not known.
func (q *queue) home() *site {
	if q == nil {
		return nil
	}
	return q.site
}

func (c *counter) home() *site {
	if c == nil {
		return nil
	}
	return c.site
}

// allQueues and allCounters are what is in the site; a site that is gone has
// nothing.
func (s *site) allQueues() []*queue {
	if s == nil {
		return nil
	}
	return s.queues
}

func (s *site) allCounters() []*counter {
	if s == nil {
		return nil
	}
	return s.counters
}

// counter finds a counter of the site; nil when it has none of that id.
func (s *site) counter(id dengxu.CounterID) *counter {
	i := slices.IndexFunc(s.counters, func(c *counter) bool { return c.id == id })
	if i < 0 {
		return nil
	}
	return s.counters[i]
}

// siteState is the running state of a site, a document of its own.
type siteState struct {
	Day     int   `json:"day"`             // business day: days since 1970-01-01 of its local date; never lowered
	DayEnds int64 `json:"day_ends"`        // ms; the first commit at or after it starts the next day
	Sweep   int   `json:"sweep,omitempty"` // generations before this one are still being closed; 0 = none
}

// queue is a queue's settings in force, in the engine's units.
type queue struct {
	id      dengxu.QueueID
	site    *site
	set     dengxu.Queue // with defaults
	raw     []byte       // the settings as given, JSON
	version uint64
	state   queueState
	stateV  uint64
	decided *asDecided

	order   order.Rule
	booking *booking // nil = the queue takes no appointments
	groups  map[string]group
	// Factors are never below the first, and max_overtake counts from the
	// second, the largest of the groups.
	leastFactor, largestFactor int32
	rules                      *rule.Set
	rulesBroken                []error // why stored rules match nobody in this version

	classes []string // declared, sorted; empty = none
	// compete maps a class to the classes that share a counter with it; nil
	// for a class means all.
	compete map[string][]string

	callTimeout, arrive, recallGap, penalty, keepMissed int64 // ms
	deferFor, askAfter, askGrace, expireWaiting         int64
	checkInWithin, rejoinAfter, retain                  int64
	maxCalls, maxMisses, maxDefers                      int
	unique                                              bool
}

// queueState is the running state of a queue, a document of its own.
type queueState struct {
	Door   dengxu.Door `json:"door"`
	Reason string      `json:"reason,omitempty"`
	Edge   int64       `json:"edge,omitempty"` // when opening hours move the door next; 0 = never
	Manual bool        `json:"manual,omitempty"`
	// Hours says on which side of the opening hours the door is, one of the
	// words of hours.go; "" = there are none.
	Hours string `json:"hours,omitempty"`
}

// group is a priority group in the engine's units.
type group struct {
	asked     int32 // thousandths, as set
	factor    int32 // thousandths, clamped by min_factor and max_overtake, rounded up to 50
	headStart int64 // ms
	clipped   bool
}

// counter is a counter's settings in force.
type counter struct {
	id         dengxu.CounterID
	site       *site
	set        dengxu.Counter // with defaults
	raw        []byte         // the settings as given, JSON
	version    uint64
	state      counterState
	stateV     uint64
	decided    *asDecided
	queues     []served
	mode       order.Mode
	maxServing int
}

// served is one queue that a counter serves.
type served struct {
	queue   *queue
	classes []string // nil = all
}

// counterState is the running state of a counter, a document of its own.
type counterState struct {
	State  dengxu.CounterState `json:"state"`
	Reason string              `json:"reason,omitempty"`
	Day    int                 `json:"day,omitempty"` // of an older day it reads as closed
}

// key is an API key: a hash, a role and a scope.
type key struct {
	id      dengxu.KeyID
	version uint64
	rec     keyRecord
}

// gen is the generation of the queue's line now: the business day where the
// line is emptied at its end, else 0.
func (q *queue) gen() int {
	if q.set.DayEnd == "expire" {
		return q.site.state.Day
	}
	return 0
}

// ordering is how the queue's line is ordered today.
func (q *queue) ordering() store.Ordering {
	return store.Ordering{Rule: q.order, Day: q.site.state.Day}
}

func (q *queue) line() store.LineKey { return store.LineKey{Queue: q.id, Gen: q.gen()} }

// shown is the counter's state today: what was set on an earlier day is over.
func (c *counter) shown() dengxu.CounterState {
	if c.state.State == "" || c.state.Day < c.site.state.Day {
		return dengxu.CounterClosed
	}
	return c.state.State
}
