package httpapi

import (
	"cmp"
	"slices"

	"github.com/dengxu/dengxu"
)

// scope says what of a route's path must lie in the key's scope.
type scope uint8

// The kinds of scope.
const (
	onNothing scope = iota // nothing, or the handler looks at what it answers
	onServer               // the whole server: only a key without limits
	onSite
	onQueue
	onCounter
	onToken
)

// errUnknown and errNoToken are what the engine says of what does not exist: an
// answer must not tell that something outside of the key's scope does.
func errUnknown(what, id string) error {
	return dengxu.Errorf(dengxu.NotFound, "no %s %s", what, id)
}

func errNoToken() error { return dengxu.Errorf(dengxu.NotFound, "no such token") }

// limited reports whether the key reaches only some sites or queues.
func (c *call) limited() bool {
	return c.key != nil && (len(c.key.Sites) > 0 || len(c.key.Queues) > 0)
}

// checkScope refuses, as if it were unknown, what lies outside of the key's
// scope. A key without limits costs no look-up.
func (c *call) checkScope() error {
	if !c.limited() {
		return nil
	}
	e := c.server.engine
	switch c.route.scope {
	case onNothing:
		return nil
	case onServer:
		return dengxu.Errorf(dengxu.Forbidden, "this needs a key that is not limited to sites or queues").Because("scope")
	case onSite:
		id := dengxu.SiteID(c.Param("site_id"))
		if !c.reachesSite(id) {
			return errUnknown("site", string(id))
		}
	case onQueue:
		id := dengxu.QueueID(c.Param("queue_id"))
		if site, err := e.QueueSite(c.ctx, id); err != nil {
			return c.orCreates(err)
		} else if !c.reaches(site, id) {
			return errUnknown("queue", string(id))
		}
		if counter := dengxu.CounterID(c.Param("counter_id")); counter != "" {
			return c.checkCounter(counter)
		}
	case onCounter:
		return c.checkCounter(dengxu.CounterID(c.Param("counter_id")))
	case onToken:
		site, queue, err := e.Whereabouts(c.ctx, dengxu.TokenID(c.Param("token_id")))
		if err != nil {
			return err
		}
		if !c.reaches(site, queue) {
			return errNoToken()
		}
	}
	return nil
}

// orCreates lets a PUT of something unknown through; its handler checks the
// site that it will belong to.
func (c *call) orCreates(err error) error {
	if c.route.creates && dengxu.CodeOf(err) == dengxu.NotFound {
		return nil
	}
	return err
}

// reaches reports whether a queue of a site lies in the key's scope.
func (c *call) reaches(site dengxu.SiteID, queue dengxu.QueueID) bool {
	return c.key == nil ||
		(len(c.key.Sites) == 0 || slices.Contains(c.key.Sites, site)) &&
			(len(c.key.Queues) == 0 || slices.Contains(c.key.Queues, queue))
}

// reachesSite reports whether a site, or some queue of it, lies in the key's
// scope. A key for single queues does not change the site.
func (c *call) reachesSite(site dengxu.SiteID) bool {
	if c.key == nil {
		return true
	}
	if len(c.key.Sites) > 0 && !slices.Contains(c.key.Sites, site) {
		return false
	}
	if len(c.key.Queues) == 0 {
		return true
	}
	if c.route.mutates && c.route.id != opJoinSite {
		return false
	}
	return slices.ContainsFunc(c.key.Queues, func(q dengxu.QueueID) bool {
		s, err := c.server.engine.QueueSite(c.ctx, q)
		return err == nil && s == site
	})
}

// checkCounter wants all queues of the counter in scope, because it calls from
// all of them.
func (c *call) checkCounter(id dengxu.CounterID) error {
	site, err := c.server.engine.CounterSite(c.ctx, id)
	if err != nil {
		return c.orCreates(err)
	}
	ok := len(c.key.Sites) == 0 || slices.Contains(c.key.Sites, site)
	if ok && len(c.key.Queues) > 0 {
		view, err := c.server.engine.Counter(c.ctx, id)
		if err != nil {
			return err
		}
		ok = c.reachesCounter(&view)
	}
	if !ok {
		return errUnknown("counter", string(id))
	}
	return nil
}

// reachesCounter reports whether a counter lies in the key's scope.
func (c *call) reachesCounter(v *dengxu.CounterView) bool {
	if !c.limited() {
		return true
	}
	if len(c.key.Sites) > 0 && !slices.Contains(c.key.Sites, v.Site) {
		return false
	}
	return len(c.key.Queues) == 0 || len(v.Queues) > 0 &&
		!slices.ContainsFunc(v.Queues, func(q dengxu.CounterQueue) bool { return !slices.Contains(c.key.Queues, q.ID) })
}

// mayPlace wants a new queue or counter to lie in the key's scope.
func (c *call) mayPlace(site dengxu.SiteID, queue dengxu.QueueID) error {
	site = cmp.Or(site, dengxu.DefaultSite)
	if !c.limited() || c.reaches(site, queue) {
		return nil
	}
	return dengxu.Fieldf(dengxu.NotFound, "site", "there is no site %s", site)
}
