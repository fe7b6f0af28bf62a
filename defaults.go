package dengxu

import (
	"cmp"
	"maps"
	"slices"
)

// DefaultSite is the site of queues and counters that name none.
const DefaultSite SiteID = "default"

// GroupOrdinary is the priority group of whoever has no other. It exists in
// every queue.
const GroupOrdinary = "ordinary"

// WithDefaults returns the settings in force: every absent setting takes the
// default that its documentation names. The result shares nothing with s. The
// time zone stays as it is, because only the machine knows its own.
func (s Site) WithDefaults() Site {
	s.Labels = maps.Clone(s.Labels)
	s.DayStart = cmp.Or(s.DayStart, "00:00")
	s.Languages = slices.Clone(s.Languages)
	s.OtherTokens = cmp.Or(s.OtherTokens, "keep")
	s.Covariates = maps.Clone(s.Covariates)
	if s.OpeningHours != nil {
		s.OpeningHours = &OpeningHours{
			Days:                    cloneLists(s.OpeningHours.Days),
			Dates:                   cloneLists(s.OpeningHours.Dates),
			LastTicketBeforeSeconds: s.OpeningHours.LastTicketBeforeSeconds,
		}
	}
	return s
}

// WithDefaults returns the settings in force: every absent setting takes the
// default that its documentation names, also inside groups, fields and the
// settings of misses, deferring, check-in, asking and public join. The result
// shares nothing with q.
//
// Left as they are, because nil and empty have a meaning of their own there:
// the name (then the id is shown), the prefix of a class (then the queue's
// prefix and series hold), the last number, and the site of a task queue (then
// it gets its own).
func (q Queue) WithDefaults() Queue {
	q.Kind = cmp.Or(q.Kind, KindPeople)
	if q.Kind == KindPeople {
		q.Site = cmp.Or(q.Site, DefaultSite)
		q.DayEnd = cmp.Or(q.DayEnd, "expire")
	}
	q.DayEnd = cmp.Or(q.DayEnd, "keep")
	q.Labels = maps.Clone(q.Labels)
	q.numberDefaults()
	q.orderDefaults()
	q.Unique = orNew(q.Unique, true)
	q.callDefaults()
	q.absenceDefaults()
	q.Fields = slices.Clone(q.Fields)
	for i := range q.Fields {
		q.Fields[i].Type = cmp.Or(q.Fields[i].Type, "text")
		q.Fields[i].Labels = maps.Clone(q.Fields[i].Labels)
	}
	public := deref(q.PublicJoin)
	public.Fields, public.Classes = slices.Clone(public.Fields), slices.Clone(public.Classes)
	q.PublicJoin = &public
	q.RetainSeconds = orNew(q.RetainSeconds, 172_800)
	estimates := deref(q.Estimates)
	estimates.Method = cmp.Or(estimates.Method, EstimatesAuto)
	q.Estimates = &estimates
	return q
}

func (q *Queue) numberDefaults() {
	q.Prefix = orNew(q.Prefix, "A")
	q.NumberWidth = orNew(q.NumberWidth, 3)
	q.FirstNumber = orNew(q.FirstNumber, 1)
	q.LastNumber = clone(q.LastNumber)
	q.OnLastNumber = cmp.Or(q.OnLastNumber, "widen")
	q.Series = cmp.Or(q.Series, *q.Prefix)
}

func (q *Queue) orderDefaults() {
	q.Ordering = cmp.Or(q.Ordering, "aging")
	q.MinFactor = orNew(q.MinFactor, 0.25)
	groups := make(map[string]Group, len(q.Groups)+1)
	groups[GroupOrdinary] = Group{Factor: new(1.0)}
	for name, group := range q.Groups {
		group.Factor = orNew(group.Factor, 1)
		group.Rank, group.Share = clone(group.Rank), clone(group.Share)
		groups[name] = group
	}
	q.Groups = groups
	q.disciplineDefaults()
	q.Classes = maps.Clone(q.Classes)
	for name, class := range q.Classes {
		class.Labels = maps.Clone(class.Labels)
		class.Prefix = clone(class.Prefix)
		q.Classes[name] = class
	}
	q.QueueRules = slices.Clone(q.QueueRules)
	for i := range q.QueueRules {
		q.QueueRules[i].HeadStartSeconds = clone(q.QueueRules[i].HeadStartSeconds)
	}
}

// disciplineDefaults fills in what means something to the queue's ordering only.
func (q *Queue) disciplineDefaults() {
	q.EscalateAfterSeconds = clone(q.EscalateAfterSeconds)
	switch q.Ordering {
	case "strict":
		q.EscalateAfterSeconds = orNew(q.EscalateAfterSeconds, 3600)
		last := 0
		for name, group := range q.Groups {
			if name == GroupOrdinary {
				continue
			}
			group.Rank = orNew(group.Rank, 0)
			q.Groups[name], last = group, max(last, *group.Rank+1)
		}
		ordinary := q.Groups[GroupOrdinary]
		ordinary.Rank = orNew(ordinary.Rank, last)
		q.Groups[GroupOrdinary] = ordinary
	case "ratio":
		for name, group := range q.Groups {
			group.Share = orNew(group.Share, 1)
			q.Groups[name] = group
		}
	}
}

func (q *Queue) callDefaults() {
	q.CallTimeoutSeconds = orNew(q.CallTimeoutSeconds, 300)
	q.OnCallTimeout = cmp.Or(q.OnCallTimeout, "miss")
	q.ArriveSeconds = orNew(q.ArriveSeconds, 300)
	q.MaxCalls = orNew(q.MaxCalls, 3)
	q.RecallGapSeconds = orNew(q.RecallGapSeconds, 30)
}

func (q *Queue) absenceDefaults() {
	missed := deref(q.Missed)
	q.Missed = &Missed{
		Policy:         cmp.Or(missed.Policy, "requeue"),
		PenaltySeconds: orNew(missed.PenaltySeconds, 300),
		MaxMisses:      orNew(missed.MaxMisses, 2),
		KeepSeconds:    orNew(missed.KeepSeconds, 3600),
	}
	step := deref(q.Defer)
	q.Defer = &Defer{Seconds: orNew(step.Seconds, 300), Max: orNew(step.Max, 2)}
	check := deref(q.CheckIn)
	q.CheckIn = &CheckIn{Required: cmp.Or(check.Required, "none"), WithinSeconds: check.WithinSeconds}
	ask := deref(q.Ask)
	q.Ask = &Ask{
		AfterSeconds: ask.AfterSeconds,
		GraceSeconds: orNew(ask.GraceSeconds, 120),
		OnSilence:    cmp.Or(ask.OnSilence, "abandon"),
	}
	q.Appointments = q.Appointments.withDefaults()
}

// WithDefaults returns the settings in force: every absent setting takes the
// default that its documentation names. The result shares nothing with c. The
// name stays empty, because then the id is shown.
func (c Counter) WithDefaults() Counter {
	c.Site = cmp.Or(c.Site, DefaultSite)
	c.Labels = maps.Clone(c.Labels)
	c.Queues = slices.Clone(c.Queues)
	for i := range c.Queues {
		c.Queues[i].Classes = slices.Clone(c.Queues[i].Classes)
	}
	c.Pick = cmp.Or(c.Pick, "oldest")
	c.MaxServing = orNew(c.MaxServing, 1)
	c.Seats = clone(c.Seats)
	return c
}

// orNew returns a copy of what given points to, or of otherwise when it points
// to nothing.
func orNew[T any](given *T, otherwise T) *T {
	if given != nil {
		return new(*given)
	}
	return &otherwise
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

func cloneLists(m map[string][]string) map[string][]string {
	c := maps.Clone(m)
	for key, list := range c {
		c[key] = slices.Clone(list)
	}
	return c
}
