package ctl

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
)

// Apply makes a site on the server like its file.
type Apply struct {
	File   string `short:"f" required:"" type:"path" placeholder:"FILE" help:"The site's file; - reads standard input."`
	DryRun bool   `help:"Show what would change and change nothing."`
	Prune  bool   `help:"Delete queues and counters of the site that the file does not have."`
}

// Run compares, shows the difference and changes only that. Every write says
// which version it saw, so that a change by somebody else in between is a
// conflict and is not overwritten.
func (a *Apply) Run(ctx context.Context, e *Env) error {
	text, err := e.readFile(a.File)
	if err != nil {
		return err
	}
	f, err := readFile(text)
	if err != nil {
		return fmt.Errorf("%s:%w", a.File, err)
	}
	now, err := readState(ctx, e.Client, f.id)
	if err != nil {
		return err
	}
	plan, err := newPlan(f, now, a.Prune)
	if err != nil {
		return fmt.Errorf("%s:%w", a.File, err)
	}
	if e.JSON {
		if err := e.json(map[string]any{"dry_run": a.DryRun, "steps": plan}); err != nil {
			return err
		}
	} else {
		showPlan(e.Out, plan)
	}
	if a.DryRun {
		e.say("dry run: nothing was changed")
		return nil
	}
	done, err := carryOut(ctx, e.Client, plan)
	e.say("%d changed", done)
	return err
}

// readState reads what the server has of a site.
func readState(ctx context.Context, c *client.Client, id dengxu.SiteID) (state, error) {
	site, err := c.GetSite(ctx, id)
	if dengxu.CodeOf(err) == dengxu.NotFound {
		return state{}, nil
	}
	if err != nil {
		return state{}, err
	}
	now := state{site: &site}
	if now.queues, err = c.Queues(ctx, id); err != nil {
		return state{}, err
	}
	now.counters, err = c.Counters(ctx, id)
	return now, err
}

// carryOut does the steps. One that is refused because another must come first
// (a queue loses a class that a counter still names) is tried again after the
// others, for as long as that gets something done.
func carryOut(ctx context.Context, c *client.Client, plan []step) (done int, err error) {
	for len(plan) > 0 {
		var refused []step
		var first error
		for _, s := range plan {
			if s.Action == Same || s.Action == Left {
				continue
			}
			if err := do(ctx, c, s); err != nil {
				if first == nil {
					first = fmt.Errorf("%s %s: %w", s.Kind, s.ID, err)
				}
				if code := dengxu.CodeOf(err); code != dengxu.Conflict && code != dengxu.Invalid {
					return done, first
				}
				refused = append(refused, s)
				continue
			}
			done++
		}
		if len(refused) == len(plan) || first != nil && len(refused) == changes(plan) {
			return done, first
		}
		plan = refused
	}
	return done, nil
}

func changes(plan []step) (n int) {
	for _, s := range plan {
		if s.Action != Same && s.Action != Left {
			n++
		}
	}
	return n
}

func do(ctx context.Context, c *client.Client, s step) error {
	var err error
	switch set := s.set.(type) {
	case dengxu.Site:
		_, err = c.PutSite(ctx, dengxu.SiteID(s.ID), set, s.version)
	case dengxu.Queue:
		_, err = c.PutQueue(ctx, dengxu.QueueID(s.ID), set, s.version)
	case dengxu.Counter:
		_, err = c.PutCounter(ctx, dengxu.CounterID(s.ID), set, s.version)
	default:
		if s.Kind == "queue" {
			return c.DeleteQueue(ctx, dengxu.QueueID(s.ID), s.version)
		}
		return c.DeleteCounter(ctx, dengxu.CounterID(s.ID), s.version)
	}
	return err
}

var words = map[Action]string{
	Same: "as it is", Create: "new", Change: "changes", Delete: "deleted",
	Left: "not in the file, stays (--prune deletes it)",
}

func showPlan(w io.Writer, plan []step) {
	for _, s := range plan {
		fmt.Fprintf(w, "%s %s: %s\n", s.Kind, s.ID, words[s.Action])
		for _, d := range s.Differences {
			fmt.Fprintf(w, "    %s: %s → %s\n", d.Path, brief(d.From), brief(d.To))
		}
	}
}

// brief is a value in one line; absent is a dash.
func brief(v any) string {
	if v == nil {
		return "–"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// readFile reads a file, or standard input for "-".
func (e *Env) readFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(e.In)
	}
	return os.ReadFile(name)
}
