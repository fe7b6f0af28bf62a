// Package replay plays a recorded day of arrivals and services through a
// running server and compares the waits. It owns the schedule, and refuses to
// know how the server orders people: that is what is being compared.
package replay

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
	"github.com/dengxu/dengxu/internal/recording"
)

// headStart is what priority 2 has in the recording, in seconds.
const headStart = 90

// Options say what to play, where and how fast.
type Options struct {
	Client *client.Client
	Rows   []recording.Row
	Speed  float64 // recorded seconds in one second; at least 1
	// Progress is told after every event; nil = nobody.
	Progress func(Progress)
}

// Progress is how far a replay is.
type Progress struct {
	Done, All int           // events
	Second    int           // of the recorded day
	Late      time.Duration // behind the schedule
}

// desk is a counter with at most one service.
type desk struct {
	id    dengxu.CounterID
	busy  bool
	ended chan error // of the complete that is on its way; nil = none
	token dengxu.Token
}

// player is one running replay. One goroutine does everything in the order of
// the schedule; only a complete may be on its way beside it, because nothing
// but the next call of its own desk has to come after it.
type player struct {
	Options
	site   dengxu.SiteID
	queue  dengxu.QueueID
	todo   *schedule
	people map[dengxu.TokenID]int // row of a token
	tokens []dengxu.TokenID       // by row; "" = not joined, or not in line any more
	named  map[string]*desk
	spare  []*desk
	unmet  []event // slots that found nobody, in order
	began  time.Time
	first  int // second of the first event
	now    int
	result *Result
}

// Play makes a site, a queue and counters of its own, plays the rows and
// returns what came of them. It leaves the site, for looking at.
//
// Every served row is a call slot: at Start its server's counter, or a spare
// one, calls whoever is next, and completes at End. Who gave up in the
// recording and is called before that leaves at once, and the slot calls
// again. A slot with nobody waiting calls at the next join.
func Play(ctx context.Context, o Options) (*Result, error) {
	if o.Speed < 1 {
		return nil, dengxu.Fieldf(dengxu.Invalid, "speed", "speed must be at least 1")
	}
	id := "replay-" + strings.ToLower(rand.Text()[:8])
	p := &player{
		Options: o, site: dengxu.SiteID(id), queue: dengxu.QueueID(id),
		todo: newSchedule(o.Rows), people: make(map[dengxu.TokenID]int, len(o.Rows)),
		tokens: make([]dengxu.TokenID, len(o.Rows)), named: make(map[string]*desk),
		result: newResult(o.Rows, id),
	}
	if err := p.setUp(ctx); err != nil {
		return nil, fmt.Errorf("set up: %w", err)
	}
	if err := p.play(ctx); err != nil {
		return nil, fmt.Errorf("at second %d of the day: %w", p.now, err)
	}
	return p.result, nil
}

// setUp makes the site, the queue and the counters that will be needed.
func (p *player) setUp(ctx context.Context) error {
	if _, err := p.Client.PutSite(ctx, p.site, dengxu.Site{Name: "replay", TimeZone: "UTC"}, 0); err != nil {
		return err
	}
	queue := dengxu.Queue{
		Site: p.site, DayEnd: "keep",
		// A recorded service is longer than any countdown, and never late.
		CallTimeoutSeconds: new(7 * 86_400.0),
		Groups: map[string]dengxu.Group{
			"0": {}, "1": {}, "2": {HeadStartSeconds: headStart / p.Speed},
		},
	}
	if _, err := p.Client.PutQueue(ctx, p.queue, queue, 0); err != nil {
		return err
	}
	for _, r := range p.Rows {
		if r.Server != "" && p.named[r.Server] == nil {
			d, err := p.newDesk(ctx, len(p.named)+1, "server "+r.Server)
			if err != nil {
				return err
			}
			p.named[r.Server] = d
		}
	}
	for range spares(p.Rows) {
		if err := p.addSpare(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) newDesk(ctx context.Context, n int, name string) (*desk, error) {
	d := &desk{id: dengxu.CounterID(fmt.Sprintf("%s-%d", p.site, n))}
	_, err := p.Client.PutCounter(ctx, d.id, dengxu.Counter{
		Site: p.site, Name: name, Queues: []dengxu.CounterQueue{{ID: p.queue}},
	}, 0)
	return d, err
}

func (p *player) addSpare(ctx context.Context) error {
	d, err := p.newDesk(ctx, len(p.named)+len(p.spare)+1, "spare")
	p.spare = append(p.spare, d)
	return err
}

// play does the events at their time, or at once when it is behind.
func (p *player) play(ctx context.Context) error {
	p.first = p.todo.events[0].at
	p.now = p.first
	p.began = time.Now()
	all, done := 2*len(p.Rows)+p.result.recorded[everybody].Served, 0
	for e, ok := p.todo.next(); ok; e, ok = p.todo.next() {
		due := time.Duration(float64(e.at-p.first) / p.Speed * float64(time.Second))
		if err := sleepUntil(ctx, p.began.Add(due)); err != nil {
			return err
		}
		p.now = max(p.now, e.at)
		late := max(0, time.Since(p.began)-due)
		p.result.MostLate = max(p.result.MostLate, late)
		if err := p.do(ctx, e); err != nil {
			return err
		}
		done++
		if p.Progress != nil {
			p.Progress(Progress{Done: done, All: all, Second: p.now, Late: late})
		}
	}
	return p.allEnded()
}

func (p *player) do(ctx context.Context, e event) error {
	switch e.kind {
	case end:
		p.end(ctx, e.desk)
		return nil
	case join:
		return p.join(ctx, e)
	case leave:
		return p.leave(ctx, e.row)
	case slot:
		return p.slot(ctx, e)
	}
	panic(fmt.Sprintf("replay: kind %d", e.kind))
}

func (p *player) join(ctx context.Context, e event) error {
	ticket, err := p.Client.Join(ctx, p.queue, client.JoinRequest{PriorityGroup: fmt.Sprint(p.Rows[e.row].Priority)})
	if err != nil {
		return fmt.Errorf("join: %w", err)
	}
	p.people[ticket.ID], p.tokens[e.row] = e.row, ticket.ID
	if len(p.unmet) == 0 {
		return nil
	}
	s := p.unmet[0]
	p.unmet = p.unmet[1:]
	return p.slot(ctx, s)
}

// leave is somebody who gives up in line.
func (p *player) leave(ctx context.Context, row int) error {
	if p.tokens[row] == "" {
		return nil // called before, and left then
	}
	return p.abandon(ctx, p.tokens[row], row)
}

func (p *player) abandon(ctx context.Context, id dengxu.TokenID, row int) error {
	if _, err := p.Client.Abandon(ctx, id, dengxu.VerbRequest{Reason: "gave up"}); err != nil {
		return fmt.Errorf("abandon: %w", err)
	}
	p.tokens[row] = ""
	p.result.left(p.Rows[row].Priority)
	return nil
}

// slot calls the next one to a free desk and lets the service end as recorded.
func (p *player) slot(ctx context.Context, e event) error {
	d, err := p.freeDesk(ctx, p.Rows[e.row].Server)
	if err != nil {
		return err
	}
	for {
		outcome, err := p.Client.CallNext(ctx, d.id, client.CallOptions{Queue: p.queue})
		if err != nil {
			return fmt.Errorf("call next: %w", err)
		}
		if outcome.Token == nil {
			p.unmet = append(p.unmet, e)
			return nil
		}
		row, known := p.people[outcome.Token.ID]
		if !known {
			return fmt.Errorf("token %s was called, which nobody here joined with", outcome.Token.Number)
		}
		if !p.Rows[row].Served {
			if err := p.abandon(ctx, outcome.Token.ID, row); err != nil {
				return err
			}
			p.result.Early++
			continue
		}
		p.tokens[row] = ""
		d.busy, d.token = true, *outcome.Token
		wait := outcome.Token.CalledAt.Sub(outcome.Token.JoinedAt).Seconds() * p.Speed
		p.result.called(p.Rows[row].Priority, wait)
		p.todo.add(event{at: max(p.now, p.Rows[e.row].End), kind: end, desk: d})
		return nil
	}
}

// freeDesk is the server's own desk or, when it is busy or nobody's, a spare.
func (p *player) freeDesk(ctx context.Context, server string) (*desk, error) {
	d := p.named[server]
	for i := 0; d == nil || d.busy; i++ {
		if i == len(p.spare) {
			if err := p.addSpare(ctx); err != nil {
				return nil, fmt.Errorf("one more counter: %w", err)
			}
		}
		d = p.spare[i]
	}
	return d, d.wait()
}

// end sends the complete on its way.
func (p *player) end(ctx context.Context, d *desk) {
	d.busy = false
	d.ended = make(chan error, 1) // so that it is never waited for in vain
	go func(ended chan<- error, id dengxu.TokenID, req dengxu.VerbRequest) {
		_, err := p.Client.Complete(ctx, id, req)
		ended <- err
	}(d.ended, d.token.ID, dengxu.VerbRequest{Version: d.token.Version, CounterID: d.id})
}

// wait returns when the desk's last complete was answered.
func (d *desk) wait() error {
	if d.ended == nil {
		return nil
	}
	err := <-d.ended
	d.ended = nil
	if err != nil {
		return fmt.Errorf("complete: %w", err)
	}
	return nil
}

func (p *player) allEnded() error {
	var errs []error
	for _, d := range p.named {
		errs = append(errs, d.wait())
	}
	for _, d := range p.spare {
		errs = append(errs, d.wait())
	}
	return errors.Join(errs...)
}

// sleepUntil returns at once when t has passed.
func sleepUntil(ctx context.Context, t time.Time) error {
	wait := time.Until(t)
	if wait <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
