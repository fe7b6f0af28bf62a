package ctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
)

// holderCmd is a holder's verb; its name is the command's.
type holderCmd struct{ Ref }

// Run does the verb and prints the position after it.
func (c *holderCmd) Run(ctx context.Context, e *Env, k *kong.Context) error {
	id, err := c.id(ctx, e)
	if err != nil {
		return err
	}
	do := e.Client.Defer
	switch verbOf(k) { //nolint:exhaustive // the grammar has these three
	case dengxu.VerbConfirm:
		do = e.Client.Confirm
	case dengxu.VerbCheckIn:
		do = e.Client.CheckIn
	}
	return e.position(do(ctx, id, dengxu.VerbRequest{}))
}

type rateCmd struct {
	Ref
	Stars int `arg:"" help:"1 to 5."`
}

// Run rates.
func (c *rateCmd) Run(ctx context.Context, e *Env) error {
	id, err := c.id(ctx, e)
	if err != nil {
		return err
	}
	return e.position(e.Client.Rate(ctx, id, c.Stars))
}

type (
	showCmd     struct{ Ref }
	positionCmd struct{ Ref }
	explainCmd  struct {
		Ref
		Lang string `enum:"en,zh-CN" default:"en" help:"Language of the words: en or zh-CN."`
	}
	historyCmd struct{ Ref }
	watchCmd   struct{ Ref }
)

// Run prints a token.
func (c *showCmd) Run(ctx context.Context, e *Env) error {
	id, err := c.id(ctx, e)
	if err != nil {
		return err
	}
	t, err := e.Client.Token(ctx, id)
	return e.view(t, nil, err)
}

// Run prints a position.
func (c *positionCmd) Run(ctx context.Context, e *Env) error {
	id, err := c.id(ctx, e)
	if err != nil {
		return err
	}
	return e.position(e.Client.Position(ctx, id))
}

func (e *Env) position(p dengxu.Position, err error) error {
	if err != nil {
		return err
	}
	return e.show(p, func(w io.Writer) {
		fmt.Fprintln(w, "NUMBER\tSTATE\tAHEAD\tESTIMATE\tQUEUE\tCOUNTER\tMAY")
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", p.Number, whereabouts(p), ahead(p.Rank), client.Estimate{Estimate: p.Estimate},
			p.QueueName, dash(p.CounterName), strings.Trim(fmt.Sprint(p.Actions), "[]"))
	})
}

// whereabouts is the state, and of somebody who is away the time of coming
// back, or until when to check in.
func whereabouts(p dengxu.Position) string {
	zone := namedZone(p.TimeZone)
	switch {
	case p.State != dengxu.StateScheduled:
	case !p.CheckInBy.IsZero():
		return "scheduled, check in by " + clock(p.CheckInBy, zone, p.ServerTime)
	case !p.NotBefore.IsZero():
		return "scheduled until " + clock(p.NotBefore, zone, p.ServerTime)
	}
	return string(p.State)
}

// Run prints why.
func (c *explainCmd) Run(ctx context.Context, e *Env) error {
	id, err := c.id(ctx, e)
	if err != nil {
		return err
	}
	x, err := e.Client.Explain(ctx, id)
	if err != nil {
		return err
	}
	if text := x.Text[c.Lang]; text != "" && !e.JSON {
		fmt.Fprintln(e.Out, text)
		return nil
	}
	return e.view(x, nil, nil)
}

// Run prints the spans.
func (c *historyCmd) Run(ctx context.Context, e *Env) error {
	id, err := c.id(ctx, e)
	if err != nil {
		return err
	}
	h, err := e.Client.History(ctx, id)
	if err != nil {
		return err
	}
	zone := time.UTC
	if !e.JSON {
		t, err := e.Client.Token(ctx, id)
		if err != nil {
			return err
		}
		zone = e.zone(ctx, t.Site)
	}
	return e.show(h, func(w io.Writer) {
		now := time.Now()
		fmt.Fprintln(w, "FROM\tTO\tSTATE\tQUEUE\tCOUNTER\tENDED BY")
		for _, s := range h.Spans {
			to := "now"
			if !s.To.IsZero() {
				to = clock(s.To, zone, now)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", clock(s.From, zone, now), to, s.State, dash(s.QueueID), dash(s.CounterID),
				strings.TrimSpace(string(s.Verb)+" "+s.Actor))
		}
	})
}

// Run prints a line whenever the position changes.
func (c *watchCmd) Run(ctx context.Context, e *Env) error {
	id, err := c.id(ctx, e)
	if err != nil {
		return err
	}
	for p, err := range e.Client.Watch(ctx, id) {
		if err != nil {
			return e.unlessInterrupted(ctx, err)
		}
		if e.JSON {
			if err := e.jsonLine(p.Position); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(e.Out, "%s  %s  %-9s  ahead %-4s %s %s\n", clock(p.ServerTime, namedZone(p.TimeZone), p.ServerTime), p.Number, whereabouts(p.Position), p.Ahead, p.Estimate, p.CounterName)
	}
	return nil
}

// TokensCmd is `ctl tokens`.
type TokensCmd struct {
	List tokensList `cmd:"" help:"Tokens of a queue or a site."`
}

type tokensList struct {
	Queue   dengxu.QueueID   `xor:"of" placeholder:"ID" help:"Of this queue: this or --site."`
	Site    dengxu.SiteID    `xor:"of" placeholder:"ID" help:"Of this site: this or --queue."`
	State   []dengxu.State   `help:"Only in these states."`
	Number  string           `help:"Only with this number."`
	Counter dengxu.CounterID `placeholder:"ID" help:"Only at this counter."`
	Text    string           `short:"q" help:"Part of name, phone, business id or number."`
	Limit   int              `default:"50" placeholder:"N" help:"At most so many (${default})."`
	All     bool             `help:"All of them, whatever --limit says."`
	Cursor  string           `placeholder:"CURSOR" help:"Go on where a list with more ended."`
}

// Validate refuses a list of nothing.
func (c *tokensList) Validate() error {
	switch {
	case c.Queue == "" && c.Site == "":
		return errors.New("tokens of what? --queue=ID or --site=ID")
	case c.Limit < 1:
		return errors.New("--limit is at least 1")
	}
	return nil
}

// maxPage is how many tokens the server gives at once.
const maxPage = 200

// Run prints tokens, and how to go on when there are more.
func (c *tokensList) Run(ctx context.Context, e *Env) error {
	f := dengxu.TokenFilter{States: c.State, Number: c.Number, CounterID: c.Counter, Text: c.Text, Cursor: c.Cursor}
	list := dengxu.TokenPage{Items: []dengxu.Token{}}
	for c.All || len(list.Items) < c.Limit {
		f.Limit = maxPage
		if !c.All {
			f.Limit = min(c.Limit-len(list.Items), maxPage)
		}
		var page dengxu.TokenPage
		var err error
		if c.Queue != "" {
			page, err = e.Client.QueueTokens(ctx, c.Queue, f)
		} else {
			page, err = e.Client.SiteTokens(ctx, c.Site, f)
		}
		if err != nil {
			return err
		}
		list.Items, list.AsOf = append(list.Items, page.Items...), page.AsOf
		f.Cursor, list.NextCursor = page.NextCursor, page.NextCursor
		if f.Cursor == "" {
			break
		}
	}
	if err := e.show(list, func(w io.Writer) { e.tokenTable(ctx, w, list.Items, list.AsOf) }); err != nil {
		return err
	}
	if list.NextCursor != "" {
		e.say("more: --cursor %s, or --all", list.NextCursor)
	}
	return nil
}

// EventsCmd is `ctl events`.
type EventsCmd struct {
	Site  dengxu.SiteID `placeholder:"ID" help:"Of this site; all sites for admins."`
	After string        `placeholder:"CURSOR" help:"Go on after this event instead of now."`
}

// Run prints events until it is interrupted.
func (c *EventsCmd) Run(ctx context.Context, e *Env) error {
	for ev, err := range e.Client.Events(ctx, c.Site, c.After) {
		switch {
		case errors.Is(err, client.ErrReset):
			fmt.Fprintln(e.Err, "some events were missed; going on at", ev.ID)
		case err != nil:
			return e.unlessInterrupted(ctx, err)
		case e.JSON:
			if err := e.jsonLine(ev); err != nil {
				return err
			}
		default:
			fmt.Fprintf(e.Out, "%s  %-22s %s\n", clock(ev.At, e.zone(ctx, ev.Site), time.Now()), ev.Type, eventText(ev))
		}
	}
	return nil
}

func eventText(ev dengxu.Event) string {
	var parts []string
	for _, p := range []string{
		ev.Number, string(ev.State), string(ev.QueueID), string(ev.CounterID), ev.Reason, ev.Actor,
	} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "  ")
}
