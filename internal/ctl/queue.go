package ctl

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
)

// QueueCmd is `ctl queue`.
type QueueCmd struct {
	List     queueList     `cmd:"" help:"Every queue."`
	Get      queueGet      `cmd:"" help:"Settings in force and state."`
	Put      queuePut      `cmd:"" help:"Make or replace."`
	Patch    queuePatch    `cmd:"" help:"Change some settings."`
	Delete   queueDelete   `cmd:"" help:"Delete, when it is empty."`
	Open     queueOpen     `cmd:"" help:"Join and call."`
	Pause    queuePause    `cmd:"" help:"Neither join nor call."`
	Close    queueClose    `cmd:"" help:"No more joins; closed when empty."`
	Estimate queueEstimate `cmd:"" help:"How long somebody who joins now would wait."`
	Stats    queueStats    `cmd:"" help:"The recent past."`
}

type (
	queueList   struct{ List }
	queueGet    struct{ ID }
	queuePut    struct{ Put }
	queuePatch  struct{ Patch }
	queueDelete struct{ Remove }
	queueOpen   struct{ ID }
	queuePause  struct {
		ID
		Reason string `help:"Shown to people."`
	}
	queueClose struct {
		ID
		Now    bool   `help:"At once, whoever waits."`
		Reason string `help:"Shown to people."`
	}
	queueEstimate struct {
		ID
		Class         string `help:"Of this class."`
		PriorityGroup string `help:"Of this group."`
		PartySize     int    `help:"So many people."`
	}
	queueStats struct {
		ID
		From   time.Time     `help:"Since (RFC 3339)."`
		To     time.Time     `help:"Until (RFC 3339)."`
		Bucket time.Duration `help:"Width of a line, such as 1h."`
	}
)

// Run prints every queue.
func (c *queueList) Run(ctx context.Context, e *Env) error {
	queues, err := e.Client.Queues(ctx, c.Site)
	if err != nil {
		return err
	}
	return e.show(queues, func(w io.Writer) {
		fmt.Fprintln(w, "ID\tSITE\tNAME\tDOOR\tWAITING\tSERVING\tTODAY\tLAST CALLED")
		for _, q := range queues {
			last := "–"
			if q.LastCalled != nil {
				last = q.LastCalled.Number + " → " + string(q.LastCalled.CounterID)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%s\n", q.ID, q.Site, q.Name, q.Door,
				q.Counts[dengxu.StateWaiting], q.Counts[dengxu.StateCalling]+q.Counts[dengxu.StateServing], q.JoinsToday, last)
		}
	})
}

// Run prints one queue.
func (c *queueGet) Run(ctx context.Context, e *Env) error {
	v, err := e.Client.GetQueue(ctx, dengxu.QueueID(c.ID.ID))
	return e.view(v, v.Warnings, err)
}

// Run replaces a queue's settings.
func (c *queuePut) Run(ctx context.Context, e *Env) error {
	var set dengxu.Queue
	if err := c.read(e, &set); err != nil {
		return err
	}
	v, err := e.Client.PutQueue(ctx, dengxu.QueueID(c.ID.ID), set, c.IfMatch)
	return e.view(v, v.Warnings, err)
}

// Run changes some of a queue's settings.
func (c *queuePatch) Run(ctx context.Context, e *Env) error {
	patch, err := c.read(e)
	if err != nil {
		return err
	}
	v, err := e.Client.PatchQueue(ctx, dengxu.QueueID(c.ID.ID), patch, c.IfMatch)
	return e.view(v, v.Warnings, err)
}

// Run deletes a queue.
func (c *queueDelete) Run(ctx context.Context, e *Env) error {
	return e.Client.DeleteQueue(ctx, dengxu.QueueID(c.ID.ID), c.IfMatch)
}

// Run opens a queue's door.
func (c *queueOpen) Run(ctx context.Context, e *Env) error {
	v, err := e.Client.OpenQueue(ctx, dengxu.QueueID(c.ID.ID))
	return e.door(v, err)
}

// Run pauses a queue.
func (c *queuePause) Run(ctx context.Context, e *Env) error {
	v, err := e.Client.PauseQueue(ctx, dengxu.QueueID(c.ID.ID), c.Reason)
	return e.door(v, err)
}

// Run closes a queue.
func (c *queueClose) Run(ctx context.Context, e *Env) error {
	v, err := e.Client.CloseQueue(ctx, dengxu.QueueID(c.ID.ID), dengxu.DoorRequest{Now: c.Now, Reason: c.Reason})
	return e.door(v, err)
}

func (e *Env) door(v dengxu.QueueView, err error) error {
	if err != nil {
		return err
	}
	return e.show(v, func(w io.Writer) {
		fmt.Fprintf(w, "queue %s is %s%s\n", v.ID, v.Door, because(v.DoorReason))
	})
}

// because adds the reason that somebody gave, if any.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// Run prints an estimate.
func (c *queueEstimate) Run(ctx context.Context, e *Env) error {
	like := client.JoinRequest{Class: c.Class, PriorityGroup: c.PriorityGroup, PartySize: c.PartySize}
	a, err := e.Client.Estimate(ctx, dengxu.QueueID(c.ID.ID), like)
	if err != nil {
		return err
	}
	return e.show(a, func(w io.Writer) {
		door := ""
		if a.Door != dengxu.DoorOpen {
			door = "; the queue is " + string(a.Door) + ", nobody can join"
		}
		fmt.Fprintf(w, "%d ahead, %s%s\n", a.Rank, client.Estimate{Estimate: a.Estimate}, door)
	})
}

// Run prints the recent past.
func (c *queueStats) Run(ctx context.Context, e *Env) error {
	s, err := e.Client.Stats(ctx, dengxu.QueueID(c.ID.ID), client.StatsRange{From: c.From, To: c.To, Bucket: c.Bucket})
	if err != nil {
		return err
	}
	zone := time.UTC
	if !e.JSON {
		q, err := e.Client.GetQueue(ctx, s.QueueID)
		if err != nil {
			return err
		}
		zone = e.zone(ctx, q.Site)
	}
	if err := e.show(s, func(w io.Writer) {
		fmt.Fprintln(w, "FROM\tJOINED\tCALLED\tCOMPLETED\tMISSED\tCANCELLED\tABANDONED\tMEAN WAIT\tMAX WAIT\tMEAN SERVICE")
		for _, b := range s.Buckets {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\n", b.From.In(zone).Format("2006-01-02 15:04 MST"), b.Joined, b.Called,
				b.Completed, b.Missed, b.Cancelled, b.Abandoned, seconds(b.MeanWaitSeconds), seconds(b.MaxWaitSeconds), seconds(b.MeanServiceSeconds))
		}
	}); err != nil || e.JSON || s.Estimates == nil {
		return err
	}
	return promises(e.Out, s.Estimates)
}

func seconds(v *float64) string {
	if v == nil {
		return "–"
	}
	return time.Duration(*v * float64(time.Second)).Round(time.Second).String()
}

// CounterCmd is `ctl counter`.
type CounterCmd struct {
	List   counterList   `cmd:"" help:"Every counter."`
	Get    counterGet    `cmd:"" help:"Settings in force, state and tokens."`
	Put    counterPut    `cmd:"" help:"Make or replace."`
	Patch  counterPatch  `cmd:"" help:"Change some settings."`
	Delete counterDelete `cmd:"" help:"Delete, when it has no token."`
	Open   counterOpen   `cmd:"" help:"Let it call."`
	Pause  counterPause  `cmd:"" help:"Make it refuse to call."`
	Close  counterClose  `cmd:"" help:"Close it."`
}

type (
	counterList   struct{ List }
	counterGet    struct{ ID }
	counterPut    struct{ Put }
	counterPatch  struct{ Patch }
	counterDelete struct{ Remove }
	counterOpen   struct{ ID }
	counterPause  struct {
		ID
		Reason string `help:"Shown to people."`
	}
	counterClose struct {
		ID
		Current string `enum:",complete,miss,requeue,hold" default:"" placeholder:"WHAT" help:"What becomes of its tokens: complete, miss, requeue, hold."`
	}
)

// Run prints every counter.
func (c *counterList) Run(ctx context.Context, e *Env) error {
	counters, err := e.Client.Counters(ctx, c.Site)
	if err != nil {
		return err
	}
	return e.show(counters, func(w io.Writer) {
		fmt.Fprintln(w, "ID\tSITE\tNAME\tSTATE\tQUEUES\tTOKENS")
		for _, k := range counters {
			queues := make([]string, len(k.Queues))
			for i, q := range k.Queues {
				queues[i] = string(q.ID)
				if len(q.Classes) > 0 {
					queues[i] += "(" + strings.Join(q.Classes, ",") + ")"
				}
			}
			tokens := make([]string, len(k.Tokens))
			for i, t := range k.Tokens {
				tokens[i] = t.Number + " " + string(t.State)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Site, k.Name, k.State, strings.Join(queues, " "), strings.Join(tokens, ", "))
		}
	})
}

// Run prints one counter.
func (c *counterGet) Run(ctx context.Context, e *Env) error {
	v, err := e.Client.GetCounter(ctx, dengxu.CounterID(c.ID.ID))
	return e.view(v, v.Warnings, err)
}

// Run replaces a counter's settings.
func (c *counterPut) Run(ctx context.Context, e *Env) error {
	var set dengxu.Counter
	if err := c.read(e, &set); err != nil {
		return err
	}
	v, err := e.Client.PutCounter(ctx, dengxu.CounterID(c.ID.ID), set, c.IfMatch)
	return e.view(v, v.Warnings, err)
}

// Run changes some of a counter's settings.
func (c *counterPatch) Run(ctx context.Context, e *Env) error {
	patch, err := c.read(e)
	if err != nil {
		return err
	}
	v, err := e.Client.PatchCounter(ctx, dengxu.CounterID(c.ID.ID), patch, c.IfMatch)
	return e.view(v, v.Warnings, err)
}

// Run deletes a counter.
func (c *counterDelete) Run(ctx context.Context, e *Env) error {
	return e.Client.DeleteCounter(ctx, dengxu.CounterID(c.ID.ID), c.IfMatch)
}

// Run opens a counter.
func (c *counterOpen) Run(ctx context.Context, e *Env) error {
	v, err := e.Client.OpenCounter(ctx, dengxu.CounterID(c.ID.ID))
	return e.counterState(v, err)
}

// Run pauses a counter.
func (c *counterPause) Run(ctx context.Context, e *Env) error {
	v, err := e.Client.PauseCounter(ctx, dengxu.CounterID(c.ID.ID), c.Reason)
	return e.counterState(v, err)
}

// Run closes a counter.
func (c *counterClose) Run(ctx context.Context, e *Env) error {
	v, err := e.Client.CloseCounter(ctx, dengxu.CounterID(c.ID.ID), c.Current)
	return e.counterState(v, err)
}

func (e *Env) counterState(v dengxu.CounterView, err error) error {
	if err != nil {
		return err
	}
	return e.show(v, func(w io.Writer) {
		fmt.Fprintf(w, "counter %s is %s%s\n", v.ID, v.State, because(v.StateReason))
	})
}
