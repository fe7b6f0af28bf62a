package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/ctl"
	"github.com/dengxu/dengxu/internal/evaluate"
	"github.com/dengxu/dengxu/internal/recording"
)

type evaluateCmd struct {
	ctl.Connection
	CSV        string         `xor:"of" required:"" type:"path" placeholder:"FILE" help:"Recording: date, type, priority, outcome, join_s, leave_queue_s, start_s, end_s, server; queued if it is known."`
	Queue      dengxu.QueueID `xor:"of" required:"" placeholder:"QUEUE" help:"Of a running server: what it has learned from, the older part learned from, the newest scored; needs an admin key."`
	Train      string         `placeholder:"DAYS" help:"With --csv: days of the month to learn from: 1-20."`
	Test       string         `placeholder:"DAYS" help:"With --csv: days of the month to forecast and score: 21-28."`
	TrainShare float64        `default:"0.8" placeholder:"SHARE" help:"With --queue: share to learn from (${default})."`
	HeadStart  float64        `default:"90" placeholder:"SECONDS" help:"By how much people of priority 2 are ahead of their arrival (${default})."`
	Check      bool           `help:"Compare with the targets for the bank of February: 1 when one is missed, 2 when the file is absent."`
	Rows       string         `placeholder:"FILE" help:"Also write features, waits and what was said as CSV, replacing the file."`
	JSON       bool           `help:"Print JSON, for scripts."`
}

// Validate refuses options that do not go together.
func (c *evaluateCmd) Validate() error {
	switch {
	case c.CSV != "" && (c.Train == "" || c.Test == ""):
		return errors.New("--csv needs --train=DAYS and --test=DAYS")
	case c.Queue != "" && (c.Train != "" || c.Test != "" || c.Check):
		return errors.New("--train, --test and --check go with --csv")
	case !(c.TrainShare > 0 && c.TrainShare < 1):
		return errors.New("--train-share is above 0 and below 1")
	}
	return nil
}

// The exit codes of evaluate and, where a file is absent, of train.
const (
	evaluateMissed exit = 1
	evaluateAbsent exit = 2
)

// Run forecasts what is to be scored and prints how right that was.
func (c *evaluateCmd) Run(ctx context.Context, s ctl.Streams) error {
	report, err := c.evaluate(ctx, s)
	if err != nil {
		return err
	}
	met := !c.Check || report.Check()
	if c.Rows != "" {
		if err := c.writeRows(report); err != nil {
			return err
		}
	}
	if c.JSON {
		err = report.WriteJSON(s.Out)
	} else if err = report.Print(s.Out); err == nil && c.Check {
		fmt.Fprintln(s.Out)
		report.PrintTargets(s.Out)
	}
	if err == nil && !met {
		fmt.Fprintln(s.Err, "dengxu: a target is missed")
		return evaluateMissed
	}
	return err
}

func (c *evaluateCmd) evaluate(ctx context.Context, s ctl.Streams) (*evaluate.Report, error) {
	if c.Queue != "" {
		lessons, err := c.lessons(ctx)
		if err != nil {
			return nil, err
		}
		return evaluate.RunLessons(lessons, c.TrainShare)
	}
	train, errTrain := evaluate.ParseSpan(c.Train)
	test, errTest := evaluate.ParseSpan(c.Test)
	if err := errors.Join(errTrain, errTest); err != nil {
		ctl.Tell(s.Err, err)
		return nil, exit(ctl.ExitUsage)
	}
	days, err := recorded(s, "evaluate", c.CSV)
	if err != nil {
		return nil, err
	}
	return evaluate.Run(evaluate.Options{Days: days, Train: train, Test: test, HeadStart: c.HeadStart})
}

// recorded reads a recording; one that is absent has an exit code of its own.
func recorded(s ctl.Streams, command, path string) ([]recording.Day, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		ctl.Tell(s.Err, fmt.Errorf("%s: %w", command, err))
		return nil, evaluateAbsent
	}
	if err != nil {
		return nil, err
	}
	days, err := recording.ReadAll(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return days, nil
}

// lessons asks a server for what a queue has learned from.
func (c *evaluateCmd) lessons(ctx context.Context) ([]dengxu.Lesson, error) {
	cl, err := c.Client()
	if err != nil {
		return nil, err
	}
	var all []dengxu.Lesson
	for l, err := range cl.Lessons(ctx, c.Queue) {
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

func (c *evaluateCmd) writeRows(r *evaluate.Report) error {
	file, err := os.Create(c.Rows)
	if err != nil {
		return err
	}
	return errors.Join(r.WriteRows(file), file.Close())
}
