package scenario_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/scenario"
	"github.com/dengxu/dengxu/internal/store"
)

// direct is a stage that asks the engine itself. It runs the loops that a
// server would run: the timers, and what follows from events.
type direct struct {
	hall   *hall
	engine *engine.Engine
	at     []store.Cursor // by partition: of what follows from events
	keys   map[string]dengxu.Key
	events []dengxu.Event
	heard  []store.Cursor // by partition: of events
}

func newDirect(t *testing.T, h *hall) *direct {
	t.Helper()
	d := &direct{hall: h, keys: map[string]dengxu.Key{}}
	err := d.open(t.Context())
	if err == nil {
		err = d.listen(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *direct) open(ctx context.Context) (err error) {
	d.engine, err = engine.Open(ctx, engine.Options{Store: d.hall.store, Loopback: true})
	return err
}

// by is what the API makes of a caller. Direct stories have no credentials:
// what keys may do is the API's to say.
func (d *direct) by(c scenario.Caller, path string, body any) engine.By {
	b := engine.By{Kind: engine.Admin, Name: "key:admin", Scope: "key/admin", Pick: true, Move: true}
	switch c.Who {
	case scenario.Staff:
	case scenario.Holder:
		b = engine.By{Kind: engine.Holder, Name: "holder", Scope: "holder/" + path}
	case scenario.Public:
		b = engine.By{Kind: engine.Public, Name: "public", Scope: "public/" + path}
	default:
		rights := d.keys[c.Who].Rights
		b = engine.By{
			Kind: engine.Operator, Name: "key:" + c.Who, Scope: "key/" + c.Who,
			Pick: slices.Contains(rights, "pick"), Move: slices.Contains(rights, "move"),
		}
	}
	b.Key = c.Key
	if b.Key != "" {
		text, err := json.Marshal(body)
		if err != nil {
			panic(err) // the API's own types
		}
		hash := sha256.Sum256(fmt.Appendf(nil, "%s\n%s", path, text))
		copy(b.Hash[:], hash[:])
	}
	return b
}

func (d *direct) Set(ctx context.Context, noun scenario.Noun, id string, settings any) (any, error) {
	by := d.by(scenario.Caller{}, "", nil)
	switch set := settings.(type) {
	case *dengxu.Site:
		return value(d.engine.PutSite(ctx, by, dengxu.SiteID(id), fresh(set), 0))
	case *dengxu.Queue:
		return value(d.engine.PutQueue(ctx, by, dengxu.QueueID(id), fresh(set), 0))
	case *dengxu.Counter:
		return value(d.engine.PutCounter(ctx, by, dengxu.CounterID(id), fresh(set), 0))
	case *dengxu.Key:
		d.keys[id] = *set
		return value(d.engine.PutKey(ctx, by, dengxu.KeyID(id), *set, 0))
	case json.RawMessage:
		switch noun {
		case scenario.NounSite:
			return value(d.engine.PatchSite(ctx, by, dengxu.SiteID(id), set, 0))
		case scenario.NounQueue:
			return value(d.engine.PatchQueue(ctx, by, dengxu.QueueID(id), set, 0))
		case scenario.NounCounter:
			return value(d.engine.PatchCounter(ctx, by, dengxu.CounterID(id), set, 0))
		case scenario.NounKey:
		}
	}
	return nil, fmt.Errorf("no such settings: %s %T", noun, settings)
}

// fresh copies settings as the API would read them: the engine cleans those
// that it is given, and a story is played in several places at once.
func fresh[T any](set *T) T {
	var c T
	text, err := json.Marshal(set)
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		panic(err) // the parser has read them from JSON
	}
	return c
}

func value[T any](done engine.Done[T], err error) (any, error) {
	return done.Value, err
}

func (d *direct) Join(ctx context.Context, by scenario.Caller, j scenario.Join) ([]dengxu.Ticket, error) {
	if j.Site != "" {
		done, err := d.engine.JoinSite(ctx, d.by(by, string(j.Site), j), j.Site,
			dengxu.SiteJoinRequest{JoinRequest: j.JoinRequest, Queues: j.Queues})
		return done.Value, err
	}
	done, err := d.engine.Join(ctx, d.by(by, string(j.Queues[0]), j), j.Queues[0], j.JoinRequest)
	return []dengxu.Ticket{done.Value}, err
}

func (d *direct) Call(ctx context.Context, by scenario.Caller, c scenario.Call) (dengxu.CallOutcome, error) {
	who := d.by(by, "call/"+string(c.Counter), c)
	if c.Token != "" {
		done, err := d.engine.CallToken(ctx, who, c.Counter, c.Token, dengxu.VerbRequest{Version: c.Version, Reason: c.Reason})
		return dengxu.CallOutcome{Token: &done.Value}, err
	}
	done, err := d.engine.CallNext(ctx, who, c.Counter, c.Queue, c.CallRequest)
	return done.Value, err
}

func (d *direct) Act(ctx context.Context, by scenario.Caller, verb dengxu.Verb, id dengxu.TokenID, body any) (any, error) {
	who := d.by(by, string(verb)+"/"+string(id), body)
	if edit, ok := body.(dengxu.TokenEdit); ok {
		return value(d.engine.Edit(ctx, who, id, fresh(&edit)))
	}
	answer, err := value(d.engine.Act(ctx, who, verb, id, body.(dengxu.VerbRequest)))
	if err == nil && (by.Who == scenario.Holder || slices.Contains(holders, verb)) {
		return d.engine.Position(ctx, id)
	}
	return answer, err
}

// holders are the verbs whose paths are the holder's, whoever asks: their
// answer is what a holder may see.
var holders = []dengxu.Verb{dengxu.VerbDefer, dengxu.VerbCheckIn, dengxu.VerbConfirm, dengxu.VerbRate}

func (d *direct) Turn(ctx context.Context, by scenario.Caller, t scenario.Turn) (any, error) {
	who := d.by(by, t.Action+"/"+t.ID, t)
	queue := t.Noun == scenario.NounQueue
	switch {
	case t.Action == "delete" && queue:
		return nil, d.engine.DeleteQueue(ctx, who, dengxu.QueueID(t.ID), 0)
	case t.Action == "delete":
		return nil, d.engine.DeleteCounter(ctx, who, dengxu.CounterID(t.ID), 0)
	case t.Action == "reapply":
		return d.engine.ReapplyRules(ctx, who, dengxu.QueueID(t.ID))
	case queue:
		return value(d.engine.SetDoor(ctx, who, dengxu.QueueID(t.ID), t.Action, t.DoorRequest))
	default:
		return value(d.engine.SetCounterState(ctx, who, dengxu.CounterID(t.ID), t.Action, t.DoorRequest))
	}
}

func (d *direct) Read(ctx context.Context, q scenario.Question) (any, error) {
	token, e := dengxu.TokenID(q.ID), d.engine
	switch q.About {
	case "site":
		return e.Site(ctx, dengxu.SiteID(q.ID))
	case "queue":
		return e.Queue(ctx, dengxu.QueueID(q.ID))
	case "counter":
		return e.Counter(ctx, dengxu.CounterID(q.ID))
	case "token":
		return e.Token(ctx, token)
	case "position":
		return e.Position(ctx, token)
	case "history":
		return e.History(ctx, token)
	case "explain":
		return e.Explain(ctx, token)
	case "estimate":
		return e.Estimate(ctx, dengxu.QueueID(q.ID), q.Like.Class, q.Like.PriorityGroup, q.Like.PartySize)
	case "line":
		return readLine(func(f dengxu.TokenFilter) (dengxu.TokenPage, error) {
			return e.QueueTokens(ctx, dengxu.QueueID(q.ID), f)
		}, func(id dengxu.TokenID) (dengxu.Token, error) { return e.Token(ctx, id) })
	}
	return nil, fmt.Errorf("nobody knows about %s", q.About)
}

func (d *direct) Event(ctx context.Context, n int) (dengxu.Event, error) {
	for p := range d.heard {
		if n < len(d.events) {
			break
		}
		page, err := d.hall.store.Events(ctx, d.heard[p], 1000)
		if err != nil {
			return dengxu.Event{}, err
		}
		for _, ev := range page.Events {
			d.events = append(d.events, d.engine.Event(d.heard[p], ev))
		}
		d.heard[p] = page.End
	}
	if n >= len(d.events) {
		return dengxu.Event{}, io.EOF
	}
	return d.events[n], nil
}

// listen makes events count from now. An unknown cursor is answered with the
// log's end.
func (d *direct) listen(ctx context.Context) error {
	d.at = make([]store.Cursor, d.hall.store.About().Partitions)
	for p := range d.at {
		page, err := d.hall.store.Events(ctx, store.Cursor{Partition: store.Partition(p)}, 1)
		if err != nil {
			return err
		}
		d.at[p] = page.End
	}
	d.heard = slices.Clone(d.at)
	return nil
}

func (d *direct) MoveTo(ctx context.Context, t time.Time, late bool) error {
	return d.hall.moveTo(ctx, t, late, d.settle)
}

// settle does all that is due, and what follows from events.
func (d *direct) settle(ctx context.Context) (time.Duration, error) {
	if _, err := d.engine.Tick(ctx); err != nil {
		return 0, err
	}
	for p := range d.at {
		if err := d.follow(ctx, &d.at[p]); err != nil {
			return 0, err
		}
	}
	return d.engine.Tick(ctx)
}

// follow does what follows from the events of a partition.
func (d *direct) follow(ctx context.Context, at *store.Cursor) error {
	for {
		page, err := d.hall.store.Events(ctx, *at, 100)
		if err != nil {
			return err
		}
		*at = page.End
		if page.Reset {
			continue
		}
		if len(page.Events) == 0 {
			return nil
		}
		d.engine.Observe(ctx, at.Partition, page.Events)
		for _, ev := range page.Events {
			if err := d.engine.OtherTokens(ctx, ev); err != nil {
				return err
			}
		}
	}
}

func (d *direct) Restart(ctx context.Context) error {
	if err := d.hall.reopen(); err != nil {
		return err
	}
	return d.open(ctx)
}
