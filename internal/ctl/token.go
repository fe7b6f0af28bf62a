package ctl

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
)

// Verbs are the commands about tokens.
type Verbs struct {
	Join     joinCmd     `cmd:"" group:"Tokens" help:"Put somebody into a queue."`
	CallNext callNextCmd `cmd:"" group:"Tokens" help:"Call the next one to a counter."`
	Call     callCmd     `cmd:"" group:"Tokens" help:"Call a given token; needs the right pick and a reason."`

	Recall   verbCmd `cmd:"" group:"Tokens" help:"Announce a called token again."`
	Start    verbCmd `cmd:"" group:"Tokens" help:"Begin the service of a called token."`
	Complete verbCmd `cmd:"" group:"Tokens" help:"End the service."`
	Miss     verbCmd `cmd:"" group:"Tokens" help:"A called person did not come."`
	Requeue  verbCmd `cmd:"" group:"Tokens" help:"Put back to the place in line."`
	Hold     verbCmd `cmd:"" group:"Tokens" help:"Park at the counter."`
	Resume   verbCmd `cmd:"" group:"Tokens" help:"Go on with a held token."`
	Cancel   verbCmd `cmd:"" group:"Tokens" help:"End without service."`
	Abandon  verbCmd `cmd:"" group:"Tokens" help:"The person went away."`
	Undo     verbCmd `cmd:"" group:"Tokens" help:"Take back the last complete, miss, cancel or transfer."`

	Reinstate placeCmd    `cmd:"" group:"Tokens" help:"Bring a missed token back."`
	Move      moveCmd     `cmd:"" group:"Tokens" help:"Give a waiting token another place; needs the right move and a --reason."`
	Transfer  transferCmd `cmd:"" group:"Tokens" help:"Send to another queue of the site."`
	Edit      editCmd     `cmd:"" group:"Tokens" help:"Change what is said of the person."`

	Defer   holderCmd `cmd:"" group:"Tokens" help:"Step back for a while, as the holder; the place is kept."`
	Confirm holderCmd `cmd:"" group:"Tokens" help:"Coming, as the called holder."`
	CheckIn holderCmd `cmd:"" group:"Tokens" help:"The holder is there."`
	Rate    rateCmd   `cmd:"" group:"Tokens" help:"Stars for a completed service, as the holder."`

	Show     showCmd     `cmd:"" group:"Tokens" help:"A token as staff see it."`
	Position positionCmd `cmd:"" group:"Tokens" help:"A token as its holder sees it."`
	Explain  explainCmd  `cmd:"" group:"Tokens" help:"Why it stands where it stands, or was called."`
	History  historyCmd  `cmd:"" group:"Tokens" help:"What it has been through."`
	Watch    watchCmd    `cmd:"" group:"Tokens" help:"Follow a token to its end."`
}

// Ref names a token by its id or, with a site, by its printed number.
type Ref struct {
	Token string        `arg:"" help:"Token id; with --of-site the printed number."`
	Of    dengxu.SiteID `name:"of-site" placeholder:"SITE" help:"TOKEN is a number of this site, such as A012."`
}

// id finds the token. A number that is not active once is an error.
func (r *Ref) id(ctx context.Context, e *Env) (dengxu.TokenID, error) {
	if r.Of == "" && looksPrinted(r.Token) {
		return "", dengxu.Fieldf(dengxu.Invalid, "token", "%s is no token id; if it is a printed number, say of which site: --of-site SITE", r.Token)
	}
	if r.Of == "" {
		return dengxu.TokenID(r.Token), nil
	}
	page, err := e.Client.SiteTokens(ctx, r.Of, dengxu.TokenFilter{Number: r.Token})
	if err != nil {
		return "", err
	}
	var found []dengxu.Token
	for _, t := range page.Items {
		if !t.State.Ended() || len(page.Items) == 1 {
			found = append(found, t)
		}
	}
	if len(found) != 1 {
		return "", dengxu.Fieldf(dengxu.NotFound, "token", "%d tokens of site %s have number %s now", len(found), r.Of, r.Token)
	}
	return found[0].ID, nil
}

// looksPrinted tells a printed number, a prefix and digits, from a token id,
// which is much longer.
func looksPrinted(token string) bool {
	return token != "" && len(token) < 20 && strings.IndexByte("0123456789", token[len(token)-1]) >= 0
}

// Said is what every verb may say.
type Said struct {
	Counter dengxu.CounterID `placeholder:"ID" help:"The counter that acts; refused when another one has the token."`
	Version uint64           `help:"Refuse when the token has another version by now."`
	Reason  string           `help:"Why; stands in the history."`
}

func (s *Said) request() dengxu.VerbRequest {
	return dengxu.VerbRequest{Version: s.Version, CounterID: s.Counter, Reason: s.Reason}
}

// token prints a token after a verb.
func (e *Env) token(ctx context.Context, t dengxu.Token, err error) error {
	if err != nil {
		return err
	}
	return e.show(t, func(w io.Writer) { e.tokenTable(ctx, w, []dengxu.Token{t}, time.Now()) })
}

func (e *Env) tokenTable(ctx context.Context, w io.Writer, tokens []dengxu.Token, asOf time.Time) {
	fmt.Fprintln(w, "NUMBER\tSTATE\tQUEUE\tCOUNTER\tCLASS\tGROUP\tNAME\tWAIT\tJOINED\tTOKEN")
	for _, t := range tokens {
		wait := time.Duration(t.WaitSeconds * float64(time.Second)).Round(time.Second)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", t.Number, t.State, t.QueueID, dash(t.CounterID), dash(t.Class),
			dash(t.PriorityGroup), dash(t.Name), wait, clock(t.JoinedAt, e.zone(ctx, t.Site), asOf), t.ID)
	}
}

func dash[T ~string](s T) string {
	if s == "" {
		return "–"
	}
	return string(s)
}

type joinCmd struct {
	Queue         dengxu.QueueID `arg:"" help:"The queue."`
	BusinessID    string         `help:"Who it is in your system."`
	PriorityGroup string         `help:"Group, for the order."`
	Class         string         `help:"Class, for the counter."`
	Name          string         `help:"Name."`
	Phone         string         `help:"Phone."`
	Note          string         `help:"Note for staff."`
	PartySize     int            `help:"How many people."`
	Attrs         string         `placeholder:"JSON" help:"Attributes: an object of numbers, strings and booleans."`
	Delay         time.Duration  `help:"Not callable before so long has passed, such as 10m."`
	Appointment   string         `placeholder:"TIME" help:"The booked time: HH:MM today in the site's time zone, or RFC 3339, such as 2026-03-02T09:30:00+01:00."`
	Channel       string         `enum:"staff,kiosk,web,api" default:"staff" help:"How they come, for rules and check-ins: ${enum}; joins of ctl are staff unless this says otherwise."`
}

// Run joins and prints the ticket.
func (c *joinCmd) Run(ctx context.Context, e *Env) error {
	req := client.JoinRequest{
		BusinessID: c.BusinessID, PriorityGroup: c.PriorityGroup, Class: c.Class, Name: c.Name, Phone: c.Phone,
		Note: c.Note, PartySize: c.PartySize, DelaySeconds: c.Delay.Seconds(), Channel: c.Channel,
	}
	if c.Appointment != "" {
		var err error
		if req.AppointmentAt, err = e.appointment(ctx, c.Queue, c.Appointment); err != nil {
			return err
		}
	}
	if c.Attrs != "" {
		req.ExtAttrs = json.RawMessage(c.Attrs)
		if !json.Valid(req.ExtAttrs) {
			return dengxu.Fieldf(dengxu.Invalid, "ext_attrs", "%s is not JSON", c.Attrs)
		}
	}
	t, err := e.Client.Join(ctx, c.Queue, req)
	if err != nil {
		return err
	}
	return e.show(t, func(w io.Writer) {
		fmt.Fprintln(w, "NUMBER\tSTATE\tAHEAD\tESTIMATE\tTOKEN\tTICKET")
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", t.Number, t.State, ahead(t.Rank), client.Estimate{Estimate: t.Estimate}, t.ID, dash(t.TicketURL))
	})
}

func ahead(rank *int) string {
	if rank == nil {
		return "–"
	}
	return strconv.Itoa(*rank)
}

type callNextCmd struct {
	Counter dengxu.CounterID `arg:"" help:"The counter."`
	Queue   dengxu.QueueID   `help:"Only of this queue."`
	Class   string           `help:"Only of this class."`
	Current string           `enum:",complete,miss,requeue" default:"" placeholder:"WHAT" help:"What becomes of the token that the counter has: complete, miss, requeue."`
	Wait    time.Duration    `help:"Wait so long for somebody, such as 20s; at most 30s."`
}

// Run calls; nobody to call is not an error.
func (c *callNextCmd) Run(ctx context.Context, e *Env) error {
	outcome, err := e.Client.CallNext(ctx, c.Counter, client.CallOptions{
		Queue: c.Queue, Wait: c.Wait, CallRequest: dengxu.CallRequest{Class: c.Class, Current: c.Current},
	})
	if err != nil {
		return err
	}
	return e.show(outcome, func(w io.Writer) {
		if outcome.Token == nil {
			fmt.Fprintln(w, "nobody to call:", strings.ReplaceAll(outcome.Reason, "_", " "))
			return
		}
		e.tokenTable(ctx, w, []dengxu.Token{*outcome.Token}, time.Now())
	})
}

type callCmd struct {
	Counter dengxu.CounterID `arg:"" help:"The counter."`
	Ref
	Version uint64 `help:"Refuse when the token has another version by now."`
	Reason  string `required:"" help:"Why this one."`
}

// Run calls one given token.
func (c *callCmd) Run(ctx context.Context, e *Env) error {
	id, err := c.id(ctx, e)
	if err != nil {
		return err
	}
	t, err := e.Client.Call(ctx, c.Counter, id, dengxu.VerbRequest{Version: c.Version, Reason: c.Reason})
	return e.token(ctx, t, err)
}

// verbCmd is any verb that needs nothing but the token; its name is the
// command's.
type verbCmd struct {
	Ref
	Said
}

func verbOf(k *kong.Context) dengxu.Verb {
	return dengxu.Verb(strings.ReplaceAll(k.Selected().Name, "-", "_"))
}

// Run does the verb.
func (c *verbCmd) Run(ctx context.Context, e *Env, k *kong.Context) error {
	id, err := c.id(ctx, e)
	if err != nil {
		return err
	}
	t, err := e.Client.Act(ctx, verbOf(k), id, c.request())
	return e.token(ctx, t, err)
}

type placeCmd struct {
	Ref
	Said
	Place string `default:"original" help:"original, tail, or how many of those waiting now stay ahead."`
}

func parsePlace(s string) (*dengxu.Place, error) {
	if n, err := strconv.Atoi(s); err == nil && n >= 0 {
		return &dengxu.Place{After: &n}, nil
	}
	if s != dengxu.PlaceOriginal && s != dengxu.PlaceTail {
		return nil, dengxu.Fieldf(dengxu.Invalid, "place", "%q is not original, tail or a number", s)
	}
	return &dengxu.Place{At: s}, nil
}

// Run puts the token there.
func (c *placeCmd) Run(ctx context.Context, e *Env, k *kong.Context) error {
	req := c.request()
	var err error
	if req.Place, err = parsePlace(c.Place); err != nil {
		return err
	}
	id, err := c.id(ctx, e)
	if err != nil {
		return err
	}
	t, err := e.Client.Act(ctx, verbOf(k), id, req)
	return e.token(ctx, t, err)
}

type moveCmd struct {
	Ref
	Version uint64 `help:"Refuse when the token has another version by now."`
	Reason  string `required:"" help:"Why; stands in the history and in what explain says."`
	Place   string `default:"original" help:"original, tail, or how many of those waiting now stay ahead."`
}

// Run moves the token.
func (c *moveCmd) Run(ctx context.Context, e *Env, k *kong.Context) error {
	same := placeCmd{Ref: c.Ref, Said: Said{Version: c.Version, Reason: c.Reason}, Place: c.Place}
	return same.Run(ctx, e, k)
}

type transferCmd struct {
	Ref
	To    dengxu.QueueID `required:"" help:"The queue."`
	Class string         `help:"The class there."`
	Place string         `help:"original, tail, or how many of those waiting there stay ahead."`
	Said
}

// Run transfers.
func (c *transferCmd) Run(ctx context.Context, e *Env) error {
	req := c.request()
	req.QueueID, req.Class = c.To, c.Class
	if c.Place != "" {
		var err error
		if req.Place, err = parsePlace(c.Place); err != nil {
			return err
		}
	}
	id, err := c.id(ctx, e)
	if err != nil {
		return err
	}
	t, err := e.Client.Transfer(ctx, id, req)
	return e.token(ctx, t, err)
}

type editCmd struct {
	Ref
	Version   uint64  `help:"Refuse when the token has another version by now."`
	Name      *string `help:"Name."`
	Phone     *string `help:"Phone."`
	Note      *string `help:"Note for staff."`
	Class     *string `help:"Class."`
	PartySize *int    `help:"How many people."`
}

// Run edits.
func (c *editCmd) Run(ctx context.Context, e *Env) error {
	id, err := c.id(ctx, e)
	if err != nil {
		return err
	}
	t, err := e.Client.Edit(ctx, id, dengxu.TokenEdit{
		Version: c.Version, Name: c.Name, Phone: c.Phone, Note: c.Note, Class: c.Class, PartySize: c.PartySize,
	})
	return e.token(ctx, t, err)
}
