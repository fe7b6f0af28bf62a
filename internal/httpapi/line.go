package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/feed"
)

// maxWait bounds wait_seconds of long polls.
const maxWait = 30 * time.Second

// The ids in paths. They are exported because huma reads embedded structs only
// so.
type (
	// QueuePath names a queue.
	QueuePath struct {
		QueueID dengxu.QueueID `path:"queue_id" pattern:"^[A-Za-z0-9_.-]{1,64}$"`
	}
	// SitePath names a site.
	SitePath struct {
		SiteID dengxu.SiteID `path:"site_id" pattern:"^[A-Za-z0-9_.-]{1,64}$"`
	}
	// CounterPath names a counter.
	CounterPath struct {
		CounterID dengxu.CounterID `path:"counter_id" pattern:"^[A-Za-z0-9_.-]{1,64}$"`
	}
	// KeyPath names a key.
	KeyPath struct {
		KeyID dengxu.KeyID `path:"key_id" pattern:"^[A-Za-z0-9_.-]{1,64}$"`
	}
	// TokenPath names a token; on a holder's path it is the credential.
	TokenPath struct {
		TokenID dengxu.TokenID `path:"token_id" maxLength:"64"`
	}
)

func (s *server) join(c *call, p *QueuePath, b *dengxu.JoinRequest) (*dengxu.Ticket, error) {
	if c.key == nil {
		if err := c.public(p.QueueID, b); err != nil {
			return nil, err
		}
	} else if err := c.desk(p.QueueID, b); err != nil {
		return nil, err
	}
	by := c.by()
	if c.key == nil {
		by.Check = func() error { return c.public(p.QueueID, b) }
	}
	done, err := s.engine.Join(c.ctx, by, p.QueueID, *b)
	if err != nil {
		return nil, err
	}
	c.replayed(done.Replayed)
	return &done.Value, nil
}

func (s *server) joinSite(c *call, p *SitePath, b *dengxu.SiteJoinRequest) (*dengxu.List[dengxu.Ticket], error) {
	for _, q := range b.Queues {
		var err error
		switch {
		case c.key == nil:
			err = c.public(q, &b.JoinRequest)
		case !c.reaches(p.SiteID, q):
			err = dengxu.Fieldf(dengxu.NotFound, "queues", "there is no queue %s", q)
		default:
			err = c.desk(q, &b.JoinRequest)
		}
		if err != nil {
			return nil, err
		}
	}
	by := c.by()
	if c.key == nil {
		by.Check = func() error { return c.publicAll(b) }
	}
	done, err := s.engine.JoinSite(c.ctx, by, p.SiteID, *b)
	if err != nil {
		return nil, err
	}
	c.replayed(done.Replayed)
	return &dengxu.List[dengxu.Ticket]{Items: done.Value}, nil
}

// desk applies what a key's role says about joining: a kiosk's joins are the
// kiosk's, a worker joins tasks.
func (c *call) desk(q dengxu.QueueID, b *dengxu.JoinRequest) error {
	switch c.key.Role {
	case dengxu.RoleKiosk:
		if b.Channel == "" {
			b.Channel = "kiosk"
		}
	case dengxu.RoleWorker:
		view, err := c.server.engine.Queue(c.ctx, q)
		if err != nil {
			return err
		}
		if view.Kind != dengxu.KindTask {
			return dengxu.Errorf(dengxu.Forbidden, "a worker joins task queues only").Because("role")
		}
	case dengxu.RoleAdmin, dengxu.RoleOperator, dengxu.RoleDisplay: // nothing more
	}
	return nil
}

// publicAll is public for every queue of a join.
func (c *call) publicAll(b *dengxu.SiteJoinRequest) error {
	for _, q := range b.Queues {
		if err := c.public(q, &b.JoinRequest); err != nil {
			return err
		}
	}
	return nil
}

// public refuses what a join without a key may not say, and makes its channel
// web.
func (c *call) public(q dengxu.QueueID, b *dengxu.JoinRequest) error {
	allowed, err := c.server.engine.PublicJoin(c.ctx, q)
	if err != nil {
		return err
	}
	switch {
	case allowed.Allowed:
		if err := c.onlyNamed(q, allowed, b); err != nil {
			return err
		}
	case allowed.Loopback && fromHere(c.request): // the engine tells it only while it holds
	default:
		return errNoKey("joining this queue needs a key")
	}
	b.Channel = "web"
	return nil
}

// ownFields are fields of a queue that a join gives by their own name, never in
// ext_attrs.
var ownFields = []string{"name", "phone", "note", "party_size", "appointment_at"}

// onlyNamed holds a public join to the fields and classes that the queue names.
func (c *call) onlyNamed(q dengxu.QueueID, allowed dengxu.PublicJoin, b *dengxu.JoinRequest) error {
	refused := func(field string) error {
		return dengxu.Fieldf(dengxu.Forbidden, field, "a join without a key may not give %s", field).Because("public_join")
	}
	named := func(field string) bool { return slices.Contains(allowed.Fields, field) }
	switch {
	case b.BusinessID != "": // who somebody is is not the public's to say
		return refused("business_id")
	case b.PriorityGroup != "":
		return refused("priority_group")
	case b.Note != "" && !named("note"):
		return refused("note")
	case b.DelaySeconds != 0:
		return refused("delay_seconds")
	case !b.RunAt.IsZero():
		return refused("run_at")
	case !b.AppointmentAt.IsZero() && !named("appointment_at"):
		return refused("appointment_at")
	case b.Channel != "" && b.Channel != "web":
		return refused("channel")
	case b.Name != "" && !named("name"):
		return refused("name")
	case b.Phone != "" && !named("phone"):
		return refused("phone")
	case b.PartySize != 0 && !named("party_size"):
		return refused("party_size")
	}
	if b.Class != "" && !slices.Contains(allowed.Classes, b.Class) {
		view, err := c.server.engine.Queue(c.ctx, q)
		if err != nil {
			return err
		}
		if len(allowed.Classes) > 0 || view.DefaultClass != b.Class {
			return refused("class")
		}
	}
	var attrs map[string]json.RawMessage
	if len(b.ExtAttrs) > 0 && json.Unmarshal(b.ExtAttrs, &attrs) != nil {
		return dengxu.Fieldf(dengxu.Invalid, "ext_attrs", "ext_attrs must be an object")
	}
	for field := range attrs {
		if !named(field) || slices.Contains(ownFields, field) {
			return refused("ext_attrs." + field)
		}
	}
	return nil
}

// fromHere reports whether a request was made to this machine by its own name
// and by no proxy: behind one, a loopback listener serves the world.
func fromHere(r *http.Request) bool {
	for _, h := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if r.Header.Get(h) != "" {
			return false
		}
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback()
}

type positionParams struct {
	TokenPath
	IfNoneMatch string `header:"If-None-Match" doc:"the ETag of an answer that is still at hand"`
}

func (s *server) position(c *call, p *positionParams, _ *nothing) (*dengxu.Position, error) {
	at, err := s.engine.Position(c.ctx, p.TokenID)
	if err != nil {
		return nil, err
	}
	tag := positionTag(at)
	c.SetHeader("ETag", tag)
	c.SetHeader("Cache-Control", "private, no-cache")
	if p.IfNoneMatch != "" && slices.ContainsFunc(strings.Split(p.IfNoneMatch, ","), func(t string) bool {
		return strings.TrimSpace(t) == tag
	}) {
		c.status = http.StatusNotModified
	}
	return &at, nil
}

// positionTag names what a position says beside the time of asking. It is
// weak: two answers of the same tag differ in that time, and in an estimate by
// less than people read.
func positionTag(p dengxu.Position) string {
	p.ServerTime, p.AsOf = time.Time{}, time.Time{}
	if p.Estimate.Known {
		p.Estimate.LowSeconds, p.Estimate.RecommendedSeconds, p.Estimate.HighSeconds = nil, nil, nil
		p.Estimate.Position, p.Estimate.AsOf, p.EstimatedWaitSeconds = 0, time.Time{}, nil
	}
	h := fnv.New64a()
	// Encoding cannot fail: a position has no type that does.
	_ = json.NewEncoder(h).Encode(p)
	return fmt.Sprintf(`W/"%x"`, h.Sum64())
}

// holderVerb is a verb that a holder may do with the token id alone. The
// answer is the position, which says what a holder may know.
func holderVerb(verb dengxu.Verb) func(*server, *call, *TokenPath, *dengxu.VerbRequest) (*dengxu.Position, error) {
	return func(s *server, c *call, p *TokenPath, b *dengxu.VerbRequest) (*dengxu.Position, error) {
		done, err := s.engine.Act(c.ctx, c.by(), verb, p.TokenID, *b)
		if err != nil {
			return nil, err
		}
		c.replayed(done.Replayed)
		at, err := s.engine.Position(c.ctx, p.TokenID)
		return &at, err
	}
}

// CallParams are the parameters of call_next.
type CallParams struct {
	CounterPath
	WaitSeconds int `query:"wait_seconds" minimum:"0" maximum:"30" doc:"how long to wait for somebody"`
}

type queueCallParams struct {
	QueuePath
	CallParams
}

type callTokenParams struct {
	CounterPath
	TokenPath
}

func (s *server) callNext(c *call, p *CallParams, b *dengxu.CallRequest) (*dengxu.Token, error) {
	return s.call(c, p, "", b)
}

func (s *server) callNextOfQueue(c *call, p *queueCallParams, b *dengxu.CallRequest) (*dengxu.Token, error) {
	return s.call(c, &p.CallParams, p.QueueID, b)
}

// call calls the next token, and waits for one when there is nobody.
func (s *server) call(c *call, p *CallParams, q dengxu.QueueID, b *dengxu.CallRequest) (*dengxu.Token, error) {
	wait := time.Duration(p.WaitSeconds) * time.Second
	var changes <-chan struct{}
	if wait > 0 {
		// It listens before it looks, so that nobody comes in between.
		hints, stop, err := s.listen(c, p.CounterID, q)
		if err != nil {
			return nil, err
		}
		defer stop()
		changes = hints
	}
	ctx, cancel := context.WithTimeout(c.ctx, wait)
	defer cancel()
	req := *b
	for {
		done, err := s.engine.CallNext(c.ctx, c.by(), p.CounterID, q, req)
		if err != nil {
			return nil, err
		}
		if done.Value.Token != nil {
			c.replayed(done.Replayed)
			return done.Value.Token, nil
		}
		if wait == 0 || !changed(ctx, changes) {
			c.SetHeader(headerReason, done.Value.Reason)
			return nil, nil
		}
		// What became of the current token is done; only the call is repeated.
		req = dengxu.CallRequest{Class: b.Class}
	}
}

// callable are the events after which a counter may find somebody.
var callable = []dengxu.EventType{
	dengxu.EventJoined, dengxu.EventDue, dengxu.EventCheckedIn, dengxu.EventReinstated, dengxu.EventRequeued,
	dengxu.EventTransferred, dengxu.EventMoved, dengxu.EventEdited, dengxu.EventReleased, dengxu.EventUndone,
	dengxu.EventDoorChanged, dengxu.EventQueueChanged, dengxu.EventCounterChanged, dengxu.EventCounterState,
	dengxu.EventSiteChanged, dengxu.EventDayStarted,
}

func (s *server) listen(c *call, counter dengxu.CounterID, q dengxu.QueueID) (<-chan struct{}, func(), error) {
	site, err := s.engine.CounterSite(c.ctx, counter)
	if err != nil {
		return nil, nil, err
	}
	f := feed.Filter{Site: site, Types: callable}
	if q != "" {
		f.Queues = []dengxu.QueueID{q}
	}
	hints, stop, err := s.Feed.Hint(c.ctx, f)
	return hints, stop, feedError(err)
}

// changed waits for a change after which it is worth to look again. It returns
// false when the time is over or the server stops.
func changed(ctx context.Context, changes <-chan struct{}) bool {
	select {
	case _, more := <-changes:
		return more
	case <-ctx.Done():
		return false
	}
}

func (s *server) callToken(c *call, p *callTokenParams, b *dengxu.VerbRequest) (*dengxu.Token, error) {
	if c.limited() {
		site, queue, err := s.engine.Whereabouts(c.ctx, p.TokenID)
		if err != nil {
			return nil, err
		}
		if !c.reaches(site, queue) {
			return nil, errNoToken()
		}
	}
	done, err := s.engine.CallToken(c.ctx, c.by(), p.CounterID, p.TokenID, *b)
	if err != nil {
		return nil, err
	}
	c.replayed(done.Replayed)
	return &done.Value, nil
}
