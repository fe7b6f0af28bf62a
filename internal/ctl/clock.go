package ctl

import (
	"context"
	"time"

	"github.com/dengxu/dengxu"
)

// zone is the time zone of a site, so that what is printed agrees with the
// clock on its wall. It is UTC where the key may not ask or this machine does
// not know the zone; every time says in which zone it is.
func (e *Env) zone(ctx context.Context, id dengxu.SiteID) *time.Location {
	if zone := e.zones[id]; zone != nil {
		return zone
	}
	zone := time.UTC
	if id == "" { // an event of no site
		return zone
	}
	if s, err := e.Client.GetSite(ctx, id); err == nil {
		zone = namedZone(s.TimeZone)
	}
	if e.zones == nil {
		e.zones = make(map[dengxu.SiteID]*time.Location)
	}
	e.zones[id] = zone
	return zone
}

func namedZone(name string) *time.Location {
	if zone, err := time.LoadLocation(name); err == nil {
		return zone
	}
	return time.UTC
}

// clock is a time of day with the name of its zone, and with its date when that
// is another one than at asOf.
func clock(t time.Time, zone *time.Location, asOf time.Time) string {
	t, asOf = t.In(zone), asOf.In(zone)
	if t.Format(time.DateOnly) != asOf.Format(time.DateOnly) {
		return t.Format("2006-01-02 15:04:05 MST")
	}
	return t.Format("15:04:05 MST")
}

// appointment reads a booked time: RFC 3339, or HH:MM of today in the zone of
// the queue's site, for which the server is asked. Codes: invalid, and those of
// the questions.
func (e *Env) appointment(ctx context.Context, q dengxu.QueueID, text string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	hm, err := time.Parse("15:04", text)
	if err != nil {
		return time.Time{}, dengxu.Fieldf(dengxu.Invalid, "appointment",
			"the appointment %q is neither HH:MM, today in the site's time zone, nor a time such as 2026-03-02T09:30:00+01:00", text)
	}
	queue, err := e.Client.GetQueue(ctx, q)
	if err != nil {
		return time.Time{}, err
	}
	site, err := e.Client.GetSite(ctx, queue.Site)
	if err != nil {
		return time.Time{}, err
	}
	zone, err := time.LoadLocation(site.TimeZone)
	if err != nil {
		return time.Time{}, dengxu.Fieldf(dengxu.Invalid, "appointment",
			"this machine does not know the time zone %s: give the appointment with its date and offset, such as 2026-03-02T09:30:00+01:00", site.TimeZone)
	}
	today := queue.AsOf.In(zone)
	return time.Date(today.Year(), today.Month(), today.Day(), hm.Hour(), hm.Minute(), 0, 0, zone), nil
}
