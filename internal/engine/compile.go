package engine

import (
	"maps"
	"slices"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/rule"
)

// compile takes settings of a site into the engine's units. It returns Invalid
// with the field for a zone, day start or hours that cannot be read.
func (s *site) compile(set dengxu.Site) (err error) {
	s.set = set.WithDefaults()
	if s.zone, err = loadZone(s.set.TimeZone); err != nil {
		return err
	}
	if s.dayStart, err = parseDayStart(s.set.DayStart); err != nil {
		return err
	}
	s.hours, err = compileHours(s.set.OpeningHours, s.zone, s.dayStart)
	return err
}

// loadZone finds a time zone by its IANA name.
func loadZone(name string) (*time.Location, error) {
	// The empty name and Local would silently mean UTC and this machine.
	if name == "" || name == "Local" {
		return nil, dengxu.Fieldf(dengxu.Invalid, "time_zone", "%q is not the name of a time zone", name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, dengxu.Fieldf(dengxu.Invalid, "time_zone", "%q is not the name of a time zone", name)
	}
	return zone, nil
}

// parseDayStart reads "HH:MM" into minutes after midnight.
func parseDayStart(text string) (int, error) {
	minute, ok := dengxu.ParseClock(text)
	if !ok || minute == dayMinutes { // 24:00 is the start of the next day
		return 0, dengxu.Fieldf(dengxu.Invalid, "day_start", `%q is not a time such as "04:00"`, text)
	}
	return minute, nil
}

// compile takes settings that were checked into the engine's units.
func (q *queue) compile(set dengxu.Queue) {
	q.set = set.WithDefaults()
	s := &q.set
	q.compileOrder()
	q.compileGroups()
	q.compileBooking()
	q.rules, q.rulesBroken = rule.Load(s.QueueRules)
	q.classes = slices.Sorted(maps.Keys(s.Classes))
	q.callTimeout, q.arrive, q.recallGap = ms(*s.CallTimeoutSeconds), ms(*s.ArriveSeconds), ms(*s.RecallGapSeconds)
	q.penalty, q.keepMissed = ms(*s.Missed.PenaltySeconds), ms(*s.Missed.KeepSeconds)
	q.deferFor, q.askAfter, q.askGrace = ms(*s.Defer.Seconds), ms(s.Ask.AfterSeconds), ms(*s.Ask.GraceSeconds)
	q.expireWaiting, q.checkInWithin = ms(s.ExpireWaitingSeconds), ms(s.CheckIn.WithinSeconds)
	q.rejoinAfter, q.retain = ms(s.RejoinAfterSeconds), ms(*s.RetainSeconds)
	q.maxCalls, q.maxMisses, q.maxDefers = *s.MaxCalls, *s.Missed.MaxMisses, *s.Defer.Max
	q.unique = *s.Unique
}

// compileGroups rounds and clamps the groups' factors, always upward: a factor
// rounded down would pass others by more than the queue promises.
func (q *queue) compileGroups() {
	q.largestFactor, q.leastFactor = 0, order.RoundFactor(thousandths(*q.set.MinFactor))
	for _, g := range q.set.Groups {
		q.largestFactor = max(q.largestFactor, order.RoundFactor(thousandths(*g.Factor)))
	}
	q.groups = make(map[string]group, len(q.set.Groups))
	for name, set := range q.set.Groups {
		g := group{asked: thousandths(*set.Factor), headStart: ms(set.HeadStartSeconds)}
		g.factor, g.clipped = q.clamp(g.asked)
		q.groups[name] = g
	}
}

// clamp is the factor in force of one that was asked for, both in thousandths.
func (q *queue) clamp(asked int32) (factor int32, clipped bool) {
	rounded := order.RoundFactor(asked)
	factor = max(order.ClampOvertake(rounded, q.largestFactor, q.set.MaxOvertake), q.leastFactor)
	return factor, factor != rounded || asked <= 0 || asked > rounded
}

// thousandths rounds up, but takes back what a decimal fraction gains in
// binary: 0.35 is 350, not 351.
func thousandths(factor float64) int32 {
	t := int32(factor * 1000)
	if factor*1000-float64(t) > 1e-6 {
		t++
	}
	return t
}

// compile takes settings that were checked into the engine's units. The queues
// are linked later.
func (c *counter) compile(set dengxu.Counter) {
	c.set = set.WithDefaults()
	c.mode = order.Oldest
	if c.set.Pick == "listed" {
		c.mode = order.Listed
	}
	c.maxServing = *c.set.MaxServing
}

// linkClasses works out which classes compete for the same counters.
func (s *site) linkClasses() {
	for _, q := range s.queues {
		q.compete = nil
		if len(q.classes) == 0 {
			continue
		}
		q.compete = make(map[string][]string, len(q.classes))
		for _, class := range q.classes {
			q.compete[class] = q.sharing(class, s.counters)
		}
	}
}

// sharing returns the classes of q that share a counter with class, sorted;
// nil when they are all. A class always competes with itself.
func (q *queue) sharing(class string, counters []*counter) []string {
	found := map[string]bool{class: true}
	for _, c := range counters {
		for _, s := range c.queues {
			switch {
			case s.queue.id != q.id:
			case s.classes == nil:
				return nil
			case slices.Contains(s.classes, class):
				for _, other := range s.classes {
					found[other] = true
				}
			}
		}
	}
	for _, declared := range q.classes {
		if !found[declared] {
			return slices.Sorted(maps.Keys(found))
		}
	}
	return nil
}
