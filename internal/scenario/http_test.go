package scenario_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
	"github.com/dengxu/dengxu/internal/app"
	"github.com/dengxu/dengxu/internal/scenario"
)

const adminKey = "the-admin-key-of-all-stories"

// remote is a stage that speaks to a whole server over HTTP by the client. The
// server's own loops run too: at most they are earlier than the story.
type remote struct {
	hall    *hall
	wires   *http.Transport
	server  *app.App
	secrets map[string]string
	record  *recording // nil = the story asks for no events
}

func newRemote(t *testing.T, h *hall, events bool) *remote {
	t.Helper()
	r := &remote{
		hall: h, secrets: map[string]string{scenario.Staff: adminKey},
		wires: &http.Transport{MaxIdleConnsPerHost: 64},
	}
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
	if err := r.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if events {
		r.record = &recording{grown: make(chan struct{})}
		if err := r.listen(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func (r *remote) start(ctx context.Context) (err error) {
	r.server, err = app.New(app.Options{
		Listen: "127.0.0.1:0", Store: keep{r.hall.store}, Bare: true, AdminKey: adminKey,
	})
	if err != nil {
		return err
	}
	return r.server.Start(ctx)
}

func (r *remote) stop() error {
	if r.record != nil {
		r.record.stop()
	}
	r.wires.CloseIdleConnections()
	return r.server.Stop(context.Background())
}

// as is the client of whoever asks.
func (r *remote) as(who string) (*client.Client, error) {
	return client.New(client.Options{
		URL: r.server.URL(), Key: r.secrets[who], HTTP: &http.Client{Transport: r.wires},
	})
}

// ask does something as the caller.
func ask[T any](ctx context.Context, r *remote, by scenario.Caller, do func(context.Context, *client.Client) (T, error)) (T, error) {
	c, err := r.as(by.Who)
	if err != nil {
		var none T
		return none, err
	}
	if by.Key != "" {
		ctx = client.WithKey(ctx, by.Key)
	}
	return do(ctx, c)
}

func (r *remote) Set(ctx context.Context, noun scenario.Noun, id string, settings any) (any, error) {
	return ask(ctx, r, scenario.Caller{}, func(ctx context.Context, c *client.Client) (any, error) {
		switch set := settings.(type) {
		case *dengxu.Site:
			return c.PutSite(ctx, dengxu.SiteID(id), *set, 0)
		case *dengxu.Queue:
			return c.PutQueue(ctx, dengxu.QueueID(id), *set, 0)
		case *dengxu.Counter:
			return c.PutCounter(ctx, dengxu.CounterID(id), *set, 0)
		case *dengxu.Key:
			view, err := c.PutKey(ctx, dengxu.KeyID(id), *set, 0)
			r.secrets[id] = view.Secret
			return view, err
		case json.RawMessage:
			switch noun {
			case scenario.NounSite:
				return c.PatchSite(ctx, dengxu.SiteID(id), set, 0)
			case scenario.NounQueue:
				return c.PatchQueue(ctx, dengxu.QueueID(id), set, 0)
			case scenario.NounCounter:
				return c.PatchCounter(ctx, dengxu.CounterID(id), set, 0)
			case scenario.NounKey:
			}
		}
		return nil, fmt.Errorf("no such settings: %s %T", noun, settings)
	})
}

func (r *remote) Join(ctx context.Context, by scenario.Caller, j scenario.Join) ([]dengxu.Ticket, error) {
	return ask(ctx, r, by, func(ctx context.Context, c *client.Client) ([]dengxu.Ticket, error) {
		if j.Site != "" {
			return c.JoinSite(ctx, j.Site, client.SiteJoinRequest{JoinRequest: j.JoinRequest, Queues: j.Queues})
		}
		t, err := c.Join(ctx, j.Queues[0], j.JoinRequest)
		return []dengxu.Ticket{t}, err
	})
}

func (r *remote) Call(ctx context.Context, by scenario.Caller, call scenario.Call) (dengxu.CallOutcome, error) {
	return ask(ctx, r, by, func(ctx context.Context, c *client.Client) (dengxu.CallOutcome, error) {
		if call.Token != "" {
			t, err := c.Call(ctx, call.Counter, call.Token, dengxu.VerbRequest{Version: call.Version, Reason: call.Reason})
			return dengxu.CallOutcome{Token: &t}, err
		}
		return c.CallNext(ctx, call.Counter, client.CallOptions{Queue: call.Queue, CallRequest: call.CallRequest})
	})
}

func (r *remote) Act(ctx context.Context, by scenario.Caller, verb dengxu.Verb, id dengxu.TokenID, body any) (any, error) {
	return ask(ctx, r, by, func(ctx context.Context, c *client.Client) (any, error) {
		if edit, ok := body.(dengxu.TokenEdit); ok {
			return c.Edit(ctx, id, edit)
		}
		req := body.(dengxu.VerbRequest)
		switch verb { //nolint:exhaustive // the others are staff's alone
		case dengxu.VerbDefer:
			return c.Defer(ctx, id, req)
		case dengxu.VerbCheckIn:
			return c.CheckIn(ctx, id, req)
		case dengxu.VerbConfirm:
			return c.Confirm(ctx, id, req)
		case dengxu.VerbRate:
			return c.Rate(ctx, id, req.Stars)
		case dengxu.VerbCancel:
			if by.Who == scenario.Holder {
				return c.CancelTicket(ctx, id, req)
			}
		}
		return c.Act(ctx, verb, id, req)
	})
}

func (r *remote) Turn(ctx context.Context, by scenario.Caller, t scenario.Turn) (any, error) {
	return ask(ctx, r, by, func(ctx context.Context, c *client.Client) (any, error) {
		queue, counter := dengxu.QueueID(t.ID), dengxu.CounterID(t.ID)
		switch string(t.Noun) + " " + t.Action {
		case "queue open":
			return c.OpenQueue(ctx, queue)
		case "queue pause":
			return c.PauseQueue(ctx, queue, t.Reason)
		case "queue close":
			return c.CloseQueue(ctx, queue, t.DoorRequest)
		case "queue reapply":
			return c.ReapplyRules(ctx, queue)
		case "queue delete":
			return nil, c.DeleteQueue(ctx, queue, 0)
		case "counter open":
			return c.OpenCounter(ctx, counter)
		case "counter pause":
			return c.PauseCounter(ctx, counter, t.Reason)
		case "counter close":
			return c.CloseCounter(ctx, counter, t.Current)
		case "counter delete":
			return nil, c.DeleteCounter(ctx, counter, 0)
		}
		return nil, fmt.Errorf("nobody can %s a %s", t.Action, t.Noun)
	})
}

func (r *remote) Read(ctx context.Context, q scenario.Question) (any, error) {
	return ask(ctx, r, scenario.Caller{}, func(ctx context.Context, c *client.Client) (any, error) {
		token := dengxu.TokenID(q.ID)
		switch q.About {
		case "site":
			return c.GetSite(ctx, dengxu.SiteID(q.ID))
		case "queue":
			return c.GetQueue(ctx, dengxu.QueueID(q.ID))
		case "counter":
			return c.GetCounter(ctx, dengxu.CounterID(q.ID))
		case "token":
			return c.Token(ctx, token)
		case "position":
			holder, err := r.as(scenario.Holder)
			if err != nil {
				return nil, err
			}
			return holder.Position(ctx, token)
		case "history":
			return c.History(ctx, token)
		case "explain":
			return c.Explain(ctx, token)
		case "estimate":
			return c.Estimate(ctx, dengxu.QueueID(q.ID), q.Like)
		case "line":
			return readLine(func(f dengxu.TokenFilter) (dengxu.TokenPage, error) {
				return c.QueueTokens(ctx, dengxu.QueueID(q.ID), f)
			}, func(id dengxu.TokenID) (dengxu.Token, error) { return c.Token(ctx, id) })
		}
		return nil, fmt.Errorf("nobody knows about %s", q.About)
	})
}

func (r *remote) MoveTo(ctx context.Context, t time.Time, late bool) error {
	return r.hall.moveTo(ctx, t, late, r.server.Settle)
}

func (r *remote) Restart(ctx context.Context) error {
	if err := r.stop(); err != nil {
		return err
	}
	if err := r.hall.reopen(); err != nil {
		return err
	}
	if err := r.start(ctx); err != nil || r.record == nil {
		return err
	}
	return r.listen(ctx)
}

// recording is what the stream of events brought.
type recording struct {
	stop func()

	mu     sync.Mutex // guards what follows
	from   string     // cursor of the last event
	events []dengxu.Event
	grown  chan struct{} // closed, and made anew, at each event
	err    error         // that ended it
}

// listen follows the events, from the last one that came.
func (r *remote) listen(ctx context.Context) error {
	c, err := r.as(scenario.Staff)
	if err != nil {
		return err
	}
	rec := r.record
	if rec.from == "" {
		if rec.from, err = c.Cursor(ctx, ""); err != nil {
			return err
		}
	}
	after := rec.from
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for ev, err := range c.Events(ctx, "", after) {
			rec.add(ev, err)
		}
	})
	rec.stop = func() { cancel(); done.Wait() }
	return nil
}

func (rec *recording) add(ev dengxu.Event, err error) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if err != nil {
		rec.err = err
	} else {
		rec.events, rec.from = append(rec.events, ev), ev.ID
	}
	close(rec.grown)
	rec.grown = make(chan struct{})
}

// wait returns the n-th event, once it has come; io.EOF after so long.
func (rec *recording) wait(ctx context.Context, n int, long time.Duration) (dengxu.Event, error) {
	late := time.NewTimer(long)
	defer late.Stop()
	for {
		rec.mu.Lock()
		events, grown, err := rec.events, rec.grown, rec.err
		rec.mu.Unlock()
		switch {
		case n < len(events):
			return events[n], nil
		case err != nil && !errors.Is(err, context.Canceled):
			return dengxu.Event{}, err
		}
		select {
		case <-grown:
		case <-late.C:
			return dengxu.Event{}, io.EOF
		case <-ctx.Done():
			return dengxu.Event{}, ctx.Err()
		}
	}
}

func (r *remote) Event(ctx context.Context, n int) (dengxu.Event, error) {
	return r.record.wait(ctx, n, 10*time.Second)
}
