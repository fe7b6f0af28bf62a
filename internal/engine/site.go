package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// PutSite replaces a site's settings, or makes the site. ifMatch is the version
// that must stand; 0 means any. Codes: invalid with the field, conflict with
// reason if_match. A new time zone, day start or opening hours move the end of
// the day and the doors in the same commit.
func (e *Engine) PutSite(ctx context.Context, by By, id dengxu.SiteID, set dengxu.Site, ifMatch uint64) (Done[dengxu.SiteView], error) {
	return e.setSite(ctx, by, id, ifMatch, func(*site) (dengxu.Site, error) { return set, nil })
}

// PatchSite applies an RFC 7396 merge patch to a site's settings as given.
// Codes: those of PutSite, and not_found.
func (e *Engine) PatchSite(ctx context.Context, by By, id dengxu.SiteID, patch json.RawMessage, ifMatch uint64) (Done[dengxu.SiteView], error) {
	return e.setSite(ctx, by, id, ifMatch, func(s *site) (dengxu.Site, error) {
		if s == nil {
			return dengxu.Site{}, errNoSite(id)
		}
		return patched[dengxu.Site](s.raw, patch)
	})
}

func (e *Engine) setSite(ctx context.Context, by By, id dengxu.SiteID, ifMatch uint64, wanted func(*site) (dengxu.Site, error)) (done Done[dengxu.SiteView], err error) {
	if err := dengxu.CheckID("id", string(id)); err != nil {
		return done, err
	}
	done.Replayed, err = e.change(ctx, amendment{by: by, site: id, decide: func(w *world) (store.Batch, error) {
		old := w.sites[id]
		set, err := wanted(old)
		if err != nil {
			return store.Batch{}, err
		}
		if old == nil {
			return e.newSite(ctx, by, id, set, ifMatch)
		}
		return e.replaceSite(ctx, by, old, set, ifMatch)
	}})
	if err != nil {
		return done, err
	}
	done.Value, err = e.Site(ctx, id)
	return done, err
}

// newSite makes a site and its first day.
func (e *Engine) newSite(ctx context.Context, by By, id dengxu.SiteID, set dengxu.Site, ifMatch uint64) (store.Batch, error) {
	if err := checkMatch(ifMatch, 0); err != nil {
		return store.Batch{}, err
	}
	p := partitionOfSite(id, e.parts)
	v, err := e.view(ctx, store.Ask{Partition: p})
	if err != nil {
		return store.Batch{}, err
	}
	b := store.Batch{Partition: p, Site: id, Op: by.op("site")}
	_, err = e.addSite(&b, by, id, set, v.Now)
	return b, err
}

// addSite adds the making of a site to a batch and returns it as it will be.
func (e *Engine) addSite(b *store.Batch, by By, id dengxu.SiteID, set dengxu.Site, now int64) (*site, error) {
	set.TimeZone = cmp.Or(set.TimeZone, machineZone())
	s := &site{id: id, partition: partitionOfSite(id, e.parts)}
	if err := s.check(&set); err != nil {
		return nil, err
	}
	raw, err := encode(set)
	if err != nil {
		return nil, err
	}
	s.state.Day, s.state.DayEnds = dayAt(s.zone, s.dayStart, now)
	state, err := s.writeState(s.state)
	if err != nil {
		return nil, err
	}
	b.Docs = append(b.Docs, rawWrite(store.DocSite, string(id), id, raw, 0), state)
	b.Events = append(b.Events, changedEvent(dengxu.EventSiteChanged, 1, by))
	return s, nil
}

// rawWrite writes a document of settings.
func rawWrite(kind store.DocKind, id string, site dengxu.SiteID, raw []byte, expect uint64) store.DocWrite {
	return store.DocWrite{
		Doc:    store.Doc{Key: store.DocKey{Kind: kind, ID: id}, Site: site, Body: raw},
		Expect: expect,
	}
}

// check cleans and checks settings of a site and compiles them into s. The
// error is Invalid with the field.
func (s *site) check(set *dengxu.Site) error {
	if err := firstError(
		cleanName("name", &set.Name),
		cleanLabels("labels", set.Labels),
		checkOneOf("other_tokens", set.OtherTokens, "keep", "hold", "cancel"),
		checkCovariates(set.Covariates),
	); err != nil {
		return err
	}
	if len(set.Languages) > maxLabels {
		return dengxu.Fieldf(dengxu.Invalid, "languages", "more than %d languages", maxLabels)
	}
	for i, language := range set.Languages {
		if err := checkLanguage(fmt.Sprintf("languages[%d]", i), language); err != nil {
			return err
		}
	}
	return s.compile(*set)
}

// replaceSite writes new settings over old ones. The recorded time zone stays
// when none is given. The day's number stays; its end and the doors follow the
// new calendar at once.
func (e *Engine) replaceSite(ctx context.Context, by By, old *site, set dengxu.Site, ifMatch uint64) (store.Batch, error) {
	b := store.Batch{Partition: old.partition, Site: old.id, Op: by.op("site")}
	if err := checkMatch(ifMatch, old.version); err != nil {
		return b, err
	}
	set.TimeZone = cmp.Or(set.TimeZone, old.set.TimeZone)
	next := new(*old)
	if err := next.check(&set); err != nil {
		return b, err
	}
	raw, err := encode(set)
	if err != nil {
		return b, err
	}
	if bytes.Equal(raw, old.raw) {
		return b, errUnchanged
	}
	next.state.DayEnds = dayBegin(next.zone, next.dayStart, next.state.Day+1)
	state, err := next.writeState(next.state)
	if err != nil {
		return b, err
	}
	b.Docs = append(b.Docs, rawWrite(store.DocSite, string(old.id), old.id, raw, old.version), state)
	b.Events = append(b.Events, changedEvent(dengxu.EventSiteChanged, old.version+1, by))
	err = e.turnDoors(ctx, &b, old, next)
	return b, err
}

// turnDoors lets the opening hours of next speak to all doors of a site.
func (e *Engine) turnDoors(ctx context.Context, b *store.Batch, old, next *site) error {
	ask := store.Ask{Partition: old.partition}
	for _, q := range old.queues {
		ask.Lines = append(ask.Lines, q.line())
	}
	v, err := e.view(ctx, ask)
	if err != nil {
		return err
	}
	for i, q := range old.queues {
		turned := next.turnDoor(q.state, v.Now)
		if turned == q.state {
			continue
		}
		m := doorMove{next: turned, now: v.Now, actor: timerName}.emptied(v.Lines[i])
		door, err := q.doorBatch(m)
		if err != nil {
			return err
		}
		b.Docs = append(b.Docs, door.Docs...)
		b.Expect = append(b.Expect, door.Expect...)
		b.Events = append(b.Events, door.Events...)
	}
	return nil
}

// DeleteSite removes a site without queues and counters. Codes: not_found,
// conflict with reason if_match or in_use.
func (e *Engine) DeleteSite(ctx context.Context, by By, id dengxu.SiteID, ifMatch uint64) error {
	_, err := e.change(ctx, amendment{by: by, site: id, decide: func(w *world) (store.Batch, error) {
		s := w.sites[id]
		if s == nil {
			return store.Batch{}, errNoSite(id)
		}
		if err := checkMatch(ifMatch, s.version); err != nil {
			return store.Batch{}, err
		}
		if len(s.queues)+len(s.counters) > 0 {
			return store.Batch{}, errInUse("the site still has queues or counters")
		}
		b := store.Batch{Partition: s.partition, Site: id, Op: by.op("delete_site")}
		b.Docs = append(b.Docs, deletion(store.DocSite, string(id), id, s.version))
		if s.stateV > 0 {
			b.Docs = append(b.Docs, deletion(store.DocSiteState, string(id), id, s.stateV))
		}
		b.Events = append(b.Events, changedEvent(dengxu.EventSiteChanged, 0, by))
		return b, nil
	}})
	return err
}

// deletion removes a document.
func deletion(kind store.DocKind, id string, site dengxu.SiteID, version uint64) store.DocWrite {
	return store.DocWrite{
		Doc:    store.Doc{Key: store.DocKey{Kind: kind, ID: id}, Site: site},
		Expect: version, Delete: true,
	}
}

// Site returns a site's settings in force and its day. Codes: not_found,
// unavailable.
func (e *Engine) Site(ctx context.Context, id dengxu.SiteID) (dengxu.SiteView, error) {
	return one(ctx, e, func(w *world) *site { return w.sites[id] }, errNoSite(id), e.siteViews)
}

// siteViews shows sites, and reads only whether they are as others left them.
func (e *Engine) siteViews(ctx context.Context, sites []*site) (views []dengxu.SiteView, old []store.Partition, err error) {
	for _, s := range sites {
		views = append(views, s.view())
		if !e.shared {
			continue
		}
		ask := store.Ask{Partition: s.partition}
		var known checks
		known.site(&ask, s)
		v, err := e.view(ctx, ask)
		if err != nil {
			return nil, nil, err
		}
		if !known.hold(v.Docs) {
			old = append(old, s.partition)
		}
	}
	return views, old, nil
}

// Sites returns all sites by id.
func (e *Engine) Sites(context.Context) ([]dengxu.SiteView, error) {
	w := e.world.Load()
	views := make([]dengxu.SiteView, 0, len(w.sites))
	for _, id := range sortedKeys(w.sites) {
		views = append(views, w.sites[id].view())
	}
	return views, nil
}

func (s *site) view() dengxu.SiteView {
	v := dengxu.SiteView{
		ID: s.id, Version: s.version, Site: s.set,
		Day: dayText(s.state.Day), DayEndsAt: at(s.state.DayEnds),
		Queues: make([]dengxu.QueueID, 0, len(s.queues)), Counters: make([]dengxu.CounterID, 0, len(s.counters)),
		Warnings: s.warnings(),
	}
	for _, q := range s.queues {
		v.Queues = append(v.Queues, q.id)
	}
	for _, c := range s.counters {
		v.Counters = append(v.Counters, c.id)
	}
	return v
}
