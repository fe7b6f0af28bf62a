package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/feed"
)

// streamWrite is how long one write to a stream may take; a reader who is
// slower is dropped and reconnects.
const streamWrite = 10 * time.Second

// sse writes server-sent events.
type sse struct {
	call *call
	ctrl *http.ResponseController
	buf  bytes.Buffer
}

func newSSE(c *call) *sse {
	h := c.writer.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // proxies that hold answers back would hold these for ever
	c.writer.WriteHeader(http.StatusOK)
	return &sse{call: c, ctrl: http.NewResponseController(c.writer)}
}

// open sends how soon to reconnect, and the cursor of a stream that may be
// cut before its first event.
func (o *sse) open(cursor string) error {
	o.buf.WriteString("retry: 2000\n")
	o.line("id", cursor)
	return o.flush()
}

// message sends one event. Data is one line, as JSON is.
func (o *sse) message(event, id string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	o.line("event", event)
	o.line("id", id)
	o.line("data", string(text))
	return o.flush()
}

// heartbeat tells the reader that the stream lives, and where a quiet one is.
func (o *sse) heartbeat(cursor string) error {
	o.buf.WriteString(": \n")
	o.line("id", cursor)
	return o.flush()
}

func (o *sse) line(name, value string) {
	if value != "" {
		o.buf.WriteString(name + ": " + value + "\n")
	}
}

func (o *sse) flush() error {
	o.buf.WriteByte('\n')
	_ = o.ctrl.SetWriteDeadline(time.Now().Add(streamWrite))
	_, err := o.call.writer.Write(o.buf.Bytes())
	o.buf.Reset()
	if err != nil {
		return err
	}
	return o.ctrl.Flush()
}

// eventParams select the events of a stream.
type eventParams struct {
	Site        dengxu.SiteID `query:"site" maxLength:"64"`
	After       string        `query:"after" maxLength:"8192" doc:"cursor: go on after this event; absent = from now"`
	LastEventID string        `header:"Last-Event-ID" doc:"the same as after, sent by browsers when they reconnect"`
}

func (s *server) events(c *call, p *eventParams) (func(*sse), error) {
	filter, err := c.eventFilter(p.Site)
	if err != nil {
		return nil, err
	}
	var after feed.Cursor
	if text := cmp.Or(p.LastEventID, p.After); text != "" {
		if after, err = feed.ParseCursor(text); err != nil {
			return nil, err
		}
	}
	sub, err := s.subscribe(c.ctx, filter, after)
	if err != nil {
		return nil, err
	}
	return func(out *sse) {
		defer sub.Close()
		// Whatever ends a stream, its reader comes back with the last cursor.
		_ = s.pump(c, sub, out)
	}, nil
}

// subscribe reads the feed, which it waits for no longer than a request may
// take.
func (s *server) subscribe(ctx context.Context, f feed.Filter, after feed.Cursor) (*feed.Subscription, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Deadline)
	defer cancel()
	sub, err := s.Feed.Subscribe(ctx, f, after)
	return sub, feedError(err)
}

// feedError gives a code to what the feed fails with.
func feedError(err error) error {
	switch {
	case errors.Is(err, feed.ErrStopped):
		return dengxu.Errorf(dengxu.Unavailable, "the server is stopping")
	case errors.Is(err, context.DeadlineExceeded):
		return dengxu.Errorf(dengxu.Unavailable, "the event log cannot be read at the moment")
	}
	return err
}

// eventFilter is what the caller may see of the site, or without one of the
// whole server.
func (c *call) eventFilter(site dengxu.SiteID) (feed.Filter, error) {
	if site == "" {
		if c.key.Role != dengxu.RoleAdmin {
			return feed.Filter{}, dengxu.Fieldf(dengxu.Forbidden, "site", "without a site only an admin may read events")
		}
		return feed.Filter{Sites: c.key.Sites, Queues: c.key.Queues}, nil
	}
	if _, err := c.server.engine.Site(c.ctx, site); err != nil {
		return feed.Filter{}, err
	}
	if !c.reachesSite(site) {
		return feed.Filter{}, errUnknown("site", string(site))
	}
	return feed.Filter{Site: site, Queues: c.key.Queues}, nil
}

// pump writes a subscription to a stream until either ends. A key that was
// taken away or changed meanwhile ends it too.
func (s *server) pump(c *call, sub *feed.Subscription, out *sse) error {
	if err := out.open(sub.Cursor().String()); err != nil {
		return err
	}
	display, version := c.key.Role == dengxu.RoleDisplay, c.key.Version
	for {
		ctx, cancel := context.WithTimeout(c.ctx, s.Heartbeat)
		it, err := sub.Next(ctx)
		cancel()
		quiet := errors.Is(err, context.DeadlineExceeded) && c.ctx.Err() == nil
		if err != nil && !quiet {
			return err
		}
		c.key = nil
		if err := c.authenticate(); err != nil || c.key == nil || c.key.Version != version {
			return err
		}
		switch {
		case quiet:
			err = out.heartbeat(sub.Cursor().String())
		case it.Reset:
			err = out.message("reset", it.Cursor, struct {
				Cursor string `json:"cursor"`
			}{it.Cursor})
		default:
			if display {
				withoutCredentials(&it.Event)
			}
			err = out.message(string(it.Event.Type), it.Cursor, &it.Event)
		}
		if err != nil {
			return err
		}
	}
}

// withoutCredentials leaves of an event what a display may show.
func withoutCredentials(e *dengxu.Event) {
	if e.Ref != "" { // reasons of tokens are words about people
		e.Reason = ""
	}
	e.TokenID, e.Actor, e.Data = "", "", nil
}

type actionParams struct {
	SiteQuery
	Actor string `query:"actor" maxLength:"128" doc:"one actor, such as key:front"`
}

// staffActor is how the actors of staff begin.
const staffActor = "key:"

func (s *server) actions(c *call, p *actionParams, _ *nothing) (*dengxu.List[dengxu.Event], error) {
	filter, err := c.eventFilter(p.Site)
	if err != nil {
		return nil, err
	}
	var before feed.Cursor
	if p.Cursor != "" {
		if before, err = feed.ParseCursor(p.Cursor); err != nil {
			return nil, dengxu.Fieldf(dengxu.Invalid, "cursor", "this is not a cursor").Because("cursor")
		}
	}
	items, next, err := s.Feed.Back(c.ctx, filter, func(e *dengxu.Event) bool {
		return strings.HasPrefix(e.Actor, staffActor) && (p.Actor == "" || p.Actor == e.Actor)
	}, before, cmp.Or(p.Limit, pageSize))
	if err != nil {
		return nil, err
	}
	list := &dengxu.List[dengxu.Event]{Items: items}
	if list.Items == nil {
		list.Items = []dengxu.Event{}
	}
	if next != nil {
		list.NextCursor = next.String()
	}
	return list, nil
}
