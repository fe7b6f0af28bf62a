package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/ctl"
	"github.com/dengxu/dengxu/internal/evaluate"
)

type trainCmd struct {
	ctl.Connection
	CSV       string         `xor:"of" required:"" type:"path" placeholder:"FILE" help:"From a recording, as evaluate takes it."`
	Queue     dengxu.QueueID `xor:"of" required:"" placeholder:"QUEUE" help:"Have a running server learn from all resolved tokens of a queue; needs an admin key."`
	Train     string         `placeholder:"DAYS" help:"With --csv: days of the month to learn from: 1-20."`
	HeadStart float64        `default:"90" placeholder:"SECONDS" help:"By how much people of priority 2 are ahead of their arrival (${default})."`
	Out       string         `short:"o" type:"path" placeholder:"FILE" help:"Write the model for ctl model load, replacing the file."`
	JSON      bool           `help:"Print JSON, for scripts."`
}

// Validate refuses options that do not go together.
func (c *trainCmd) Validate() error {
	if (c.CSV != "") != (c.Train != "") {
		return errors.New("--csv and --train=DAYS go together")
	}
	return nil
}

// trainedNothing is the exit code when nothing beat position and rate, and there
// is no model to write.
const trainedNothing exit = 1

// Run learns and prints the verdicts on each method.
func (c *trainCmd) Run(ctx context.Context, s ctl.Streams) error {
	learned, err := c.train(ctx, s)
	if err != nil {
		return err
	}
	model := learned.Model
	learned.Model = nil
	if c.JSON {
		e := json.NewEncoder(s.Out)
		e.SetIndent("", "  ")
		err = e.Encode(learned)
	} else {
		err = ctl.PrintModel(s.Out, learned)
	}
	if err != nil || c.Out == "" {
		return err
	}
	if len(model) == 0 {
		fmt.Fprintln(s.Err, "dengxu: nothing beat position and rate, so no model is written")
		return trainedNothing
	}
	return os.WriteFile(c.Out, append(model, '\n'), 0o644) //nolint:gosec // it names nobody
}

func (c *trainCmd) train(ctx context.Context, s ctl.Streams) (dengxu.Model, error) {
	if c.Queue != "" {
		cl, err := c.Client()
		if err != nil {
			return dengxu.Model{}, err
		}
		learned, err := cl.TrainModel(ctx, c.Queue)
		if err == nil && c.Out != "" && learned.Rows > 0 {
			var full dengxu.Model
			full, err = cl.ExportModel(ctx, c.Queue)
			learned.Model = full.Model
		}
		return learned, err
	}
	span, err := evaluate.ParseSpan(c.Train)
	if err != nil {
		ctl.Tell(s.Err, err)
		return dengxu.Model{}, exit(ctl.ExitUsage)
	}
	days, err := recorded(s, "train", c.CSV)
	if err != nil {
		return dengxu.Model{}, err
	}
	return evaluate.Train(evaluate.Options{Days: days, Train: span, HeadStart: c.HeadStart})
}
