package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dengxu/dengxu"
)

// Auditor finds contradictions between the records, the counts and the log of
// a partition, whatever store they come from. It is fed everything, records
// first, and then asked for its findings.
type Auditor struct {
	// Engine says that the engine wrote the records: every change but
	// archiving is in the log, every number comes from a series, every join is
	// counted, and nobody is called to nowhere.
	Engine bool
	// Series names the series of a token's number, the day it was given on,
	// and whether the series begins anew when it is used up; "" leaves the
	// token out. nil takes what most queues have: the prefix, and the
	// generation where the line is not kept.
	Series func(t *Token) (name string, day int, wraps bool)

	found   []Finding
	left    int // findings that were not kept
	records map[dengxu.TokenID]audited
	holders map[HolderKey]dengxu.TokenID
	seqs    map[uint64]dengxu.TokenID
	highest map[seriesDay]int64
	// joins are those of each queue since its site's day began, of sites
	// whose day began within the log.
	joins map[siteQueue]int64
	today map[dengxu.SiteID]bool
	first uint64 // the number of the first event
	next  uint64 // the number of the next event, 0 = any
}

type siteQueue struct {
	site  dengxu.SiteID
	queue dengxu.QueueID
}

// audited is what an Auditor remembers of a record.
type audited struct {
	version  uint64
	told     uint64 // version told by the last event
	archived bool
}

type seriesDay struct {
	site dengxu.SiteID
	name string
	day  int
}

// maxFindings is how many findings an audit keeps; a damaged store may have
// millions.
const maxFindings = 1000

// Report adds a finding.
func (a *Auditor) Report(kind, format string, args ...any) {
	if len(a.found) == maxFindings {
		a.left++
		return
	}
	a.found = append(a.found, Finding{Kind: kind, Text: fmt.Sprintf(format, args...)})
}

// reportOf adds a finding about a token, whose mask others share.
func (a *Auditor) reportOf(id dengxu.TokenID, kind, format string, args ...any) {
	kept := len(a.found)
	a.Report(kind, format, args...)
	if len(a.found) > kept {
		a.found[kept].Token = id
	}
}

// Token takes in a record.
func (a *Auditor) Token(t *Token, archived bool) {
	if a.records == nil {
		a.records = make(map[dengxu.TokenID]audited)
		a.holders = make(map[HolderKey]dengxu.TokenID)
		a.seqs = make(map[uint64]dengxu.TokenID)
		a.highest = make(map[seriesDay]int64)
	}
	a.records[t.ID] = audited{version: t.Version, archived: archived}
	if archived {
		return
	}
	id := t.ID.Mask()
	ix := t.Indexes()
	if ix.Holder.Business != "" {
		if by, taken := a.holders[ix.Holder]; taken {
			a.reportOf(t.ID, "holders", "%s and %s hold the same mark in %v", by.Mask(), id, ix.Holder.Line)
		}
		a.holders[ix.Holder] = t.ID
	}
	if by, taken := a.seqs[t.Seq]; taken {
		a.reportOf(t.ID, "lanes", "%s and %s have the seq %d", by.Mask(), id, t.Seq)
	}
	a.seqs[t.Seq] = t.ID
	if a.Engine && t.State.AtCounter() && t.Counter == "" {
		a.reportOf(t.ID, "counters", "%s is %s at no counter", id, t.State)
	}
	if a.Engine && ix.InLane && t.Lane.Group != "" && t.Lane.K != 0 {
		a.reportOf(t.ID, "lanes", "%s waits in lane %+v, by group and by factor", id, t.Lane)
	}
	if !t.State.Valid() || t.Version == 0 {
		a.reportOf(t.ID, "records", "%s has version %d in state %q", id, t.Version, t.State)
	}
	a.number(t)
}

// number takes in the number of a token.
func (a *Auditor) number(t *Token) {
	name, day, wraps := t.Prefix, t.Gen, false
	if a.Series != nil {
		name, day, wraps = a.Series(t)
	}
	if name == "" || day == 0 || wraps {
		return
	}
	k := seriesDay{t.Site, name, day}
	a.highest[k] = max(a.highest[k], t.Number)
}

// Numbers takes in the last arrival number and event number given.
func (a *Auditor) Numbers(arrival, event uint64) {
	for seq, id := range a.seqs {
		if seq > arrival {
			a.reportOf(id, "arrivals", "%s has seq %d, but the last one given is %d", id.Mask(), seq, arrival)
		}
	}
	if a.next != 0 && a.next != event+1 {
		a.Report("events", "the log ends at event %d, not %d", a.next-1, event)
	}
}

// SeriesCount takes in the last number that a series gave on a day.
func (a *Auditor) SeriesCount(site dengxu.SiteID, name string, day int, n int64) {
	if high := a.highest[seriesDay{site, name, day}]; a.Engine && high > n {
		a.Report("series", "%s of %s gave number %d on day %d, but says that its last is %d", name, site, high, day, n)
	}
}

// Event takes in an event, in the order of the log.
func (a *Auditor) Event(ev *Event) {
	// What a store lost leaves a gap, which the event behind it tells of.
	if a.next != 0 && ev.Number != a.next && (ev.Type != dengxu.EventWritesLost || ev.Number < a.next) {
		a.Report("events", "event %d stands where %d should", ev.Number, a.next)
	}
	if a.next == 0 {
		a.first = ev.Number
		a.joins, a.today = make(map[siteQueue]int64), make(map[dengxu.SiteID]bool)
	}
	a.next = ev.Number + 1
	a.day(ev)
	if ev.Token == "" {
		return
	}
	r, known := a.records[ev.Token]
	if !known {
		kept := len(a.found)
		a.reportOf(ev.Token, "versions", "event %d is about %s, which has no record", ev.Number, ev.Token.Mask())
		if len(a.found) > kept {
			a.found[kept].Missing = true
		}
		return
	}
	r.told = max(r.told, ev.Version)
	a.records[ev.Token] = r
}

// day counts the joins of the day.
func (a *Auditor) day(ev *Event) {
	if ev.Type == dengxu.EventDayStarted {
		a.today[ev.Site] = true
		maps.DeleteFunc(a.joins, func(k siteQueue, _ int64) bool { return k.site == ev.Site })
	}
	// A log that was never cut has the whole first day of each site.
	if ev.Type == dengxu.EventJoined && (a.first == 1 || a.today[ev.Site]) {
		a.joins[siteQueue{ev.Site, ev.Queue}]++
	}
}

// TallyCount takes in a daily count, after the log.
func (a *Auditor) TallyCount(name string, n int64) {
	if IsOwed(name) {
		a.owed(name, n)
		return
	}
	queue, ok := strings.CutPrefix(name, joinsTally)
	if !ok || !a.Engine {
		return
	}
	for k, joins := range a.joins {
		if string(k.queue) == queue && joins > n {
			a.Report("tallies", "%s is %d, but the log has %d joins today", name, n, joins)
		}
	}
}

// maxOwed is what a call costs at most: the least common multiple of all shares
// that a group may have, 1 to 20.
const maxOwed = 232_792_560

// owed checks what a group owes: from nothing to the cost of one call, and of
// somebody.
func (a *Auditor) owed(name string, n int64) {
	if n < 0 || n > maxOwed {
		a.Report("tallies", "%q is %d, but nobody owes less than nothing or more than %d", name, n, maxOwed)
	}
	if strings.Count(name, "\x00") != 2 {
		a.Report("tallies", "%q names no class and group of a queue", name)
	}
}

// Findings compares the versions of records with those that the log told, and
// returns all findings.
func (a *Auditor) Findings() []Finding {
	kept := *a // so that asking twice tells the same
	a = &kept
	a.found = slices.Clone(a.found)
	for id, r := range a.records {
		told := r.told
		if r.archived && a.Engine && told != 0 {
			told++ // archiving is no event
		}
		if told > r.version || a.Engine && told != 0 && told != r.version {
			a.reportOf(id, "versions", "%s has version %d, but its last event tells %d", id.Mask(), r.version, r.told)
		}
	}
	if a.left > 0 {
		a.found = append(a.found, Finding{Kind: "more", Text: fmt.Sprintf("%d more findings", a.left)})
	}
	return a.found
}
