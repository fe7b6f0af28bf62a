package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/dengxu/dengxu/internal/ctl"
	"github.com/dengxu/dengxu/internal/evaluate"
	"github.com/dengxu/dengxu/internal/recording"
)

type evaluateCmd struct {
	CSV       string  `required:"" type:"path" placeholder:"FILE" help:"Recording: date, type, priority, outcome, join_s, leave_queue_s, start_s, end_s, server; queued if it is known."`
	Train     string  `required:"" placeholder:"DAYS" help:"Days of the month to learn from: 1-20."`
	Test      string  `required:"" placeholder:"DAYS" help:"Days of the month to forecast and score: 21-28."`
	HeadStart float64 `default:"90" placeholder:"SECONDS" help:"By how much people of priority 2 are ahead of their arrival (${default})."`
	Check     bool    `help:"Compare with the targets for the bank of February: 1 when one is missed, 2 when the file is absent."`
	Rows      string  `placeholder:"FILE" help:"Also write features, waits and what was said as CSV, replacing the file."`
	JSON      bool    `help:"Print JSON, for scripts."`
}

// The exit codes of evaluate.
const (
	evaluateMissed exit = 1
	evaluateAbsent exit = 2
)

// Run forecasts the days of the test and prints how right that was.
func (c *evaluateCmd) Run(s ctl.Streams) error {
	train, errTrain := evaluate.ParseSpan(c.Train)
	test, errTest := evaluate.ParseSpan(c.Test)
	if err := errors.Join(errTrain, errTest); err != nil {
		ctl.Tell(s.Err, err)
		return exit(ctl.ExitUsage)
	}
	file, err := os.Open(c.CSV)
	if errors.Is(err, os.ErrNotExist) {
		ctl.Tell(s.Err, fmt.Errorf("evaluate: %w", err))
		return evaluateAbsent
	}
	if err != nil {
		return err
	}
	days, err := recording.ReadAll(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("%s: %w", c.CSV, err)
	}
	report, err := evaluate.Run(evaluate.Options{Days: days, Train: train, Test: test, HeadStart: c.HeadStart})
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

func (c *evaluateCmd) writeRows(r *evaluate.Report) error {
	file, err := os.Create(c.Rows)
	if err != nil {
		return err
	}
	return errors.Join(r.WriteRows(file), file.Close())
}
