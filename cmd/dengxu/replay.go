package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/dengxu/dengxu/internal/ctl"
	"github.com/dengxu/dengxu/internal/recording"
	"github.com/dengxu/dengxu/internal/replay"
)

type replayCmd struct {
	ctl.Connection
	CSV   string  `required:"" type:"existingfile" placeholder:"FILE" help:"Recording: date, type, priority, outcome, join_s, leave_queue_s, start_s, end_s, server."`
	Date  string  `required:"" placeholder:"DATE" help:"The day to play, as the file writes it."`
	Speed float64 `default:"60" placeholder:"N" help:"Recorded seconds in one second (${default})."`
}

// replayDiffers is the exit code when other numbers were served or gave up.
const replayDiffers exit = 1

// Run plays a day and prints it beside the file.
func (c *replayCmd) Run(ctx context.Context, s ctl.Streams) error {
	file, err := os.Open(c.CSV)
	if err != nil {
		return err
	}
	rows, err := recording.Read(file, c.Date)
	err = errors.Join(err, file.Close())
	if err != nil {
		return fmt.Errorf("%s: %w", c.CSV, err)
	}
	cl, err := c.Client()
	if err != nil {
		return err
	}
	bar := newBar(s.Err)
	began := time.Now()
	result, err := replay.Play(ctx, replay.Options{Client: cl, Rows: rows, Speed: c.Speed, Progress: bar.day})
	bar.clear()
	if err != nil {
		return err
	}
	late := time.Duration(float64(result.MostLate) * c.Speed)
	fmt.Fprintf(s.Out, "%s at %g times its speed in %s, as site %s; at most %s late, %s of the day\n", c.Date, c.Speed,
		time.Since(began).Round(time.Second), result.Site, result.MostLate.Round(time.Millisecond), late.Round(100*time.Millisecond))
	fmt.Fprintf(s.Out, "%d were called before they gave up in the file\n", result.Early)
	if err := result.Print(s.Out); err != nil {
		return err
	}
	if !result.Same() {
		fmt.Fprintln(s.Err, "dengxu: the counts differ from the file's")
		return replayDiffers
	}
	return nil
}
