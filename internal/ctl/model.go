package ctl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/dengxu/dengxu"
)

// ModelCmd is `ctl model`: what a queue's wait estimates have learned.
type ModelCmd struct {
	Show   modelShow   `cmd:"" help:"What was learned, from what, and how each method did on waits that it had not seen."`
	Train  modelTrain  `cmd:"" help:"Learn now from all resolved tokens; needs an admin key."`
	Export modelExport `cmd:"" help:"Print the model, for load."`
	Load   modelLoad   `cmd:"" help:"Go by a model that was exported, of this or another queue; needs an admin key."`
	Forget modelForget `cmd:"" help:"Go by position and rate until the next training; needs an admin key."`
}

type (
	ofQueue struct {
		Queue dengxu.QueueID `arg:"" help:"Whose estimates."`
	}
	modelShow   struct{ ofQueue }
	modelTrain  struct{ ofQueue }
	modelExport struct{ ofQueue }
	modelForget struct{ ofQueue }
	modelLoad   struct {
		ofQueue
		File string `short:"f" required:"" type:"path" placeholder:"FILE" help:"What export or dengxu train wrote; - reads standard input."`
	}
)

// Run prints what was learned.
func (c *modelShow) Run(ctx context.Context, e *Env) error {
	m, err := e.Client.Model(ctx, c.Queue)
	return e.model(m, err)
}

// Run learns.
func (c *modelTrain) Run(ctx context.Context, e *Env) error {
	m, err := e.Client.TrainModel(ctx, c.Queue)
	return e.model(m, err)
}

// Run prints the model itself.
func (c *modelExport) Run(ctx context.Context, e *Env) error {
	m, err := e.Client.ExportModel(ctx, c.Queue)
	if err != nil {
		return err
	}
	_, err = e.Out.Write(append(m.Model, '\n'))
	return err
}

// Run loads a model.
func (c *modelLoad) Run(ctx context.Context, e *Env) error {
	text, err := e.readFile(c.File)
	if err != nil {
		return err
	}
	if text = bytes.TrimSpace(text); !json.Valid(text) {
		return fmt.Errorf("%s: %w", c.File, errors.New("this is no model: it is not JSON"))
	}
	m, err := e.Client.LoadModel(ctx, c.Queue, text)
	return e.model(m, err)
}

// Run forgets.
func (c *modelForget) Run(ctx context.Context, e *Env) error {
	if err := e.Client.ForgetModel(ctx, c.Queue); err != nil {
		return err
	}
	e.say("%s goes by position and rate", c.Queue)
	return nil
}

func (e *Env) model(m dengxu.Model, err error) error {
	if err != nil {
		return err
	}
	if e.JSON {
		return e.json(m)
	}
	return PrintModel(e.Out, m)
}

// PrintModel prints for people what was learned, and the verdicts on each method.
func PrintModel(w io.Writer, m dengxu.Model) error {
	day := func(at time.Time) string { return at.UTC().Format(time.DateOnly) }
	var t table
	switch {
	case m.Rows > 0:
		fmt.Fprintf(&t, "%s, learned from %d tokens, %s to %s", m.Method, m.Rows, day(m.From), day(m.To))
	case len(m.Verdicts) > 0:
		fmt.Fprintf(&t, "%s: nothing beat position and rate", m.Method)
	case m.TrainedAt.IsZero():
		fmt.Fprintf(&t, "%s: nothing was learned yet", m.Method)
	default:
		fmt.Fprintf(&t, "%s: what was learned is forgotten", m.Method)
	}
	if !m.TrainedAt.IsZero() {
		fmt.Fprintf(&t, "; version %d of %s", m.Version, m.TrainedAt.UTC().Format("2006-01-02 15:04 UTC"))
	}
	fmt.Fprintf(&t, "; %d to learn from\n", m.Lessons)
	if len(m.Verdicts) > 0 {
		fmt.Fprintf(&t, "on the newest %d, not seen before, and before calibration:\n", m.Verdicts[0].N)
		fmt.Fprintln(&t, "METHOD\tPIN10 S\tPIN50 S\tPIN90 S\tCOV10\tCOV50\tCOV90\t")
	}
	for _, v := range m.Verdicts {
		kept := ""
		if v.Kept {
			kept = "kept"
		}
		p, c := v.Pinball, v.Coverage
		fmt.Fprintf(&t, "%s\t%.2f\t%.2f\t%.2f\t%.3f\t%.3f\t%.3f\t%s\n", v.Method, p[0], p[1], p[2], c[0], c[1], c[2], kept)
	}
	return t.writeTo(w)
}

// promises prints what holders were told and what it came to.
func promises(w io.Writer, s *dengxu.EstimateStats) error {
	var t table
	line := func(name string, e *dengxu.EstimateScore, floor string) {
		fmt.Fprintf(&t, "%s\t%d\t%.3f\t%.3f\t%.3f\t%s\t%+.0f\t%.3f\t%s\n", name, e.N, e.Coverage[0], e.Coverage[1], e.Coverage[2],
			seconds(&e.MeanWait), e.BiasSeconds, e.WAPE, floor)
	}
	fmt.Fprintln(&t, "\nwhat holders were told, and the shares of waits up to it: 0.1, 0.5 and 0.9 are promised")
	fmt.Fprintln(&t, "AHEAD\tTOLD\tLOW\tRECOMMENDED\tHIGH\tMEAN WAIT\tBIAS S\tWAPE\tFLOOR")
	for i := range s.ByPosition {
		p := &s.ByPosition[i]
		line(p.Ahead, p, fmt.Sprintf("%.3f", p.FloorWAPE))
	}
	line("all", &s.EstimateScore, "–")
	if err := t.writeTo(w); err != nil || s.Free == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "%d found a counter free; until the call it took %s in the mean\n", s.Free, seconds(&s.FreeWait))
	return err
}
