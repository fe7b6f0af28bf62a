package ctl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

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
	if a.DryRun {
		if err := e.dryRun(ctx, plan, now); err != nil {
			return err
		}
	} else {
		err = carryOut(ctx, e.Client, plan, e.tell)
		e.say("%d changed", done(plan))
	}
	if e.JSON {
		err = errors.Join(err, e.json(map[string]any{"dry_run": a.DryRun, "steps": plan}))
	}
	return err
}

// dryRun tells a plan, with what the server would refuse as far as that can be
// known beforehand.
func (e *Env) dryRun(ctx context.Context, plan []step, now state) error {
	if err := foresee(ctx, e.Client, plan, now); err != nil {
		return err
	}
	hindered := 0
	for i := range plan {
		e.tell(&plan[i])
		if s := &plan[i]; !s.idle() && s.Hindrance != "" {
			hindered++
		}
	}
	if hindered > 0 {
		e.say("dry run: nothing was changed, and %d would be refused now", hindered)
		return nil
	}
	e.say("dry run: nothing was changed")
	return nil
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

// carryOut does the steps and tells of each that is done, or needs nothing. One
// that is refused because another must come first (a queue loses a class that a
// counter still names) is tried again after the others, for as long as that
// gets something done.
func carryOut(ctx context.Context, c *client.Client, plan []step, tell func(*step)) error {
	for again := false; ; again = true {
		var first error
		progress := false
		for i := range plan {
			s := &plan[i]
			switch {
			case s.idle():
				if !again {
					tell(s)
				}
				continue
			case s.Done:
				continue
			}
			if err := do(ctx, c, *s); err != nil {
				err = fmt.Errorf("%s %s: %w", s.Kind, s.ID, err)
				if code := dengxu.CodeOf(err); code != dengxu.Conflict && code != dengxu.Invalid {
					return err
				}
				first = cmp.Or(first, err)
				continue
			}
			s.Done, progress = true, true
			tell(s)
		}
		if first == nil || !progress {
			return first
		}
	}
}

// done counts what was changed.
func done(plan []step) (n int) {
	for _, s := range plan {
		if s.Done {
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

// What a step is called before and after it is done.
var (
	planned = map[Action]string{
		Same: "as it is", Create: "would be made", Change: "would change", Delete: "would be deleted",
		Left: "not in the file, stays (--prune deletes it)",
	}
	carriedOut = map[Action]string{
		Same: planned[Same], Create: "new", Change: "changed", Delete: "deleted", Left: planned[Left],
	}
)

// tell prints one step to people: as done only when it is.
func (e *Env) tell(s *step) {
	text := planned[s.Action]
	if s.Done {
		text = carriedOut[s.Action]
	} else if s.Hindrance != "" {
		text += ", but " + s.Hindrance
	}
	e.say("%s %s: %s", s.Kind, s.ID, text)
	for _, d := range s.Differences {
		e.say("    %s: %s → %s", d.Path, brief(d.From), brief(d.To))
	}
}

// brief is a value in one line; absent is a dash.
func brief(v any) string {
	if v == nil {
		return "–"
	}
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // conditions are full of < and &
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// readFile reads a file, or standard input for "-".
func (e *Env) readFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(e.In)
	}
	return os.ReadFile(name)
}
