package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/url"

	"github.com/dengxu/dengxu"
)

// ErrReset is what Events yields when the log no longer reaches back to the
// cursor: events are missing. The event beside it has the cursor from which it
// goes on. Read anew whatever was built from events, then continue or stop.
var ErrReset = errors.New("events were missed: read everything anew")

// eventReset is the name of the message that carries a new cursor.
const eventReset = "reset"

// Events yields committed changes of a site in order, without gap or repeat,
// from after (the ID of the last event seen; "" = from now). Without a site it
// tells of all sites, for admins. It reconnects for as long as ctx lives and
// goes on where it was. An error other than ErrReset ends it: ctx's, the
// server's decision, or that the server never answered within the budget.
func (c *Client) Events(ctx context.Context, s dengxu.SiteID, after string) iter.Seq2[dengxu.Event, error] {
	return func(yield func(dengxu.Event, error) bool) {
		f := &follower{c: c, site: s, cursor: after, yield: yield}
		left := c.newBudget() // until the first answer
		for {
			heard, err := f.follow(ctx)
			switch {
			case f.over:
				return
			case ctx.Err() != nil:
				err = ended(ctx)
			case !lasting(err) && !errors.Is(err, errNoStream):
				if heard {
					f.answered, f.pause = true, backoff{}
				}
				if f.answered && sleep(ctx, f.pause.step(retryAfterOf(err))) {
					continue
				}
				if !f.answered && left.wait(ctx, retryAfterOf(err)) {
					continue
				}
				if ctx.Err() != nil {
					err = ended(ctx)
				}
			}
			yield(dengxu.Event{}, err)
			return
		}
	}
}

// Cursor returns the position of the events of a site now. To keep a copy of
// what a server has: take the cursor, read everything, then follow Events after
// the cursor; nothing is missed in between.
func (c *Client) Cursor(ctx context.Context, s dengxu.SiteID) (string, error) {
	left := c.newBudget()
	query := url.Values{}
	set(query, "site", string(s))
	for {
		var last error
		for m, err := range c.stream(ctx, "/events", query, "") {
			if m.id != "" {
				return m.id, nil
			}
			last = err
		}
		if !lasting(last) && !errors.Is(last, errNoStream) && left.wait(ctx, retryAfterOf(last)) {
			continue
		}
		if ctx.Err() != nil {
			return "", ended(ctx)
		}
		return "", last
	}
}

// follower is one running Events.
type follower struct {
	c        *Client
	site     dengxu.SiteID
	cursor   string
	yield    func(dengxu.Event, error) bool
	pause    backoff
	answered bool // the server has answered before
	over     bool // the consumer stopped
}

// follow reads one connection to its end. heard reports whether anything came.
func (f *follower) follow(ctx context.Context) (heard bool, err error) {
	query := url.Values{}
	set(query, "site", string(f.site))
	set(query, "after", f.cursor)
	for m, err := range f.c.stream(ctx, "/events", query, f.cursor) {
		if err != nil {
			return heard, err
		}
		heard = true
		if !f.take(m) {
			f.over = true
			return heard, nil
		}
	}
	return heard, nil
}

// take yields one message. It returns false when the consumer stops.
func (f *follower) take(m message) bool {
	if m.id != "" {
		f.cursor = m.id
	}
	if m.event == eventReset {
		var told struct {
			Cursor string `json:"cursor"`
		}
		if json.Unmarshal([]byte(m.data), &told) == nil && told.Cursor != "" {
			f.cursor = told.Cursor
		}
		return f.yield(dengxu.Event{ID: f.cursor}, ErrReset)
	}
	var e dengxu.Event
	if json.Unmarshal([]byte(m.data), &e) != nil || e.Type == "" {
		return true // a kind of message that this client does not know
	}
	if e.ID == "" {
		e.ID = m.id
	}
	f.cursor = e.ID
	return f.yield(e, nil)
}
