package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/ctl"
	"github.com/dengxu/dengxu/internal/sim"
)

type simCmd struct {
	Scenario string `arg:"" optional:"" type:"existingfile" placeholder:"FILE" help:"Scenario in YAML: docs/simulation.md. Or a recording with --csv, or one line with --per-hour."`

	CSV  string   `group:"A recording" type:"existingfile" placeholder:"FILE" help:"Recorded days, as replay reads them, under first come first served, a head start and factors."`
	Date []string `group:"A recording" placeholder:"DATE" help:"A day of it, as the file writes it; repeat for several (all)."`

	PerHour   float64  `group:"One line" placeholder:"N" help:"People who come in an hour."`
	Service   string   `group:"One line" default:"exponential:120" placeholder:"LAW" help:"Seconds of service: exponential:120, lognormal:120:0.8 (mean, cv), constant:90 (${default})."`
	Patience  string   `group:"One line" placeholder:"LAW" help:"Seconds until people give up (never)."`
	NoShow    float64  `group:"One line" placeholder:"SHARE" help:"Share of calls to which nobody comes (0)."`
	Counters  int      `group:"One line" default:"1" placeholder:"N" help:"How many serve (${default})."`
	Customers int      `group:"One line" default:"20000" placeholder:"N" help:"How many come in a run; a tenth of the time is not measured (${default})."`
	Group     []string `group:"One line" sep:"none" placeholder:"GROUP" help:"NAME=SHARE[,factor=F][,head_start=SECONDS], such as VIP=0.2,factor=0.5; repeat for several."`

	Seed uint64 `placeholder:"N" help:"Seed of the first run (the scenario's, or 1)."`
	Runs int    `placeholder:"N" help:"How many runs, each with the next seed (the scenario's, or 10)."`

	FindCounters string `placeholder:"AIM" help:"The fewest counters that keep an aim: p90<15m, mean<300s, p90[VIP]<5m, gave_up<5%."`
	Vary         string `placeholder:"ID" help:"Which counters of the scenario are varied (the first)."`

	Estimates bool `help:"Also tell everybody who comes how long the wait will be, as a server does, and score it."`

	HTML string `placeholder:"FILE" help:"Also write a page with pictures, replacing the file."`
	JSON bool   `help:"Print JSON, for scripts."`
}

// simBroken is the exit code when a call broke what the ordering promises.
const simBroken exit = 1

// maxRuns is how many runs a scenario may have too.
const maxRuns = 10_000

// simGCPercent lets a simulation use more memory for less work: it makes little
// that lives long, and much of it.
const simGCPercent = 400

// Validate refuses several things to play, and nothing.
func (c *simCmd) Validate() error {
	n := 0
	for _, given := range []bool{c.Scenario != "", c.CSV != "", c.PerHour != 0} {
		if given {
			n++
		}
	}
	switch {
	case n != 1:
		return errors.New("simulate what? A scenario file, --csv or --per-hour, one of them")
	case len(c.Date) > 0 && c.CSV == "":
		return errors.New("--date is of a recording: --csv")
	case len(c.Group) > 0 && c.PerHour == 0:
		return errors.New("--group is of one line: --per-hour")
	case c.Vary != "" && c.FindCounters == "":
		return errors.New("--vary is of --find-counters")
	case c.Runs < 0 || c.Runs > maxRuns:
		return fmt.Errorf("--runs are from 1 to %d", maxRuns)
	case c.CSV != "" && c.Estimates:
		return errors.New("a recording does not say when counters are open, so that nobody can be told a wait: use dengxu evaluate")
	case c.CSV != "" && (c.FindCounters != "" || c.Seed != 0 || c.Runs != 0):
		return errors.New("a recording has its own servers and its own days: no --find-counters, --seed or --runs")
	}
	return c.checkPage()
}

// checkPage refuses a page that could not be written, before anything is played.
func (c *simCmd) checkPage() error {
	if c.HTML == "" {
		return nil
	}
	folder := filepath.Dir(c.HTML)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return fmt.Errorf("--html: there is no folder %s", folder)
	}
	if info, err := os.Stat(c.HTML); err == nil && info.IsDir() {
		return fmt.Errorf("--html: %s is a folder", c.HTML)
	}
	return nil
}

// Run plays the scenario and prints what it came to.
func (c *simCmd) Run(ctx context.Context, s ctl.Streams) error {
	defer debug.SetGCPercent(debug.SetGCPercent(simGCPercent))
	report, err := c.play(ctx, s)
	switch {
	case errors.Is(err, sim.ErrBroken):
		fmt.Fprintf(s.Err, "dengxu: %v\n", err)
		return simBroken
	case dengxu.CodeOf(err) == dengxu.Invalid && err != nil:
		ctl.Tell(s.Err, err)
		return exit(ctl.ExitUsage)
	case err != nil:
		return err
	}
	if c.HTML != "" {
		if err := c.writePage(report); err != nil {
			return err
		}
	}
	if c.JSON {
		return report.WriteJSON(s.Out)
	}
	return report.Print(s.Out)
}

func (c *simCmd) play(ctx context.Context, s ctl.Streams) (*sim.Report, error) {
	scenario, err := c.scenario()
	if err != nil {
		return nil, err
	}
	bar := newBar(s.Err)
	defer bar.clear()
	began := time.Now()
	options := sim.Options{Progress: func(p sim.Progress) {
		rate := float64(p.People) / time.Since(began).Seconds()
		bar.show(p.Done, p.All, "%d people, %.0f/s", p.People, rate)
	}}
	if c.FindCounters == "" {
		return sim.Play(ctx, scenario, options)
	}
	aim, err := sim.ParseAim(c.FindCounters)
	if err != nil {
		return nil, err
	}
	var tries []sim.Try
	report, err := sim.Find(ctx, scenario, aim, c.Vary, options, func(t sim.Try) { tries = append(tries, t) })
	if err != nil { // the report would have them
		bar.clear()
		for _, t := range tries {
			fmt.Fprintln(s.Err, t)
		}
	}
	return report, err
}

// scenario reads or makes what is played.
func (c *simCmd) scenario() (scenario *sim.Scenario, err error) {
	switch {
	case c.Scenario != "":
		scenario, err = sim.ReadFile(c.Scenario)
	case c.CSV != "":
		scenario, err = sim.Recorded(c.CSV, c.Date)
	default:
		scenario, err = sim.Quick{
			PerHour: c.PerHour, Service: c.Service, Patience: c.Patience, NoShow: c.NoShow,
			Counters: c.Counters, Customers: c.Customers, Groups: c.Group,
		}.Scenario()
	}
	if err != nil {
		return nil, err
	}
	if c.Seed != 0 {
		scenario.Seed = c.Seed
	}
	if c.Runs != 0 {
		scenario.Runs = c.Runs
	}
	scenario.Estimates = scenario.Estimates || c.Estimates
	return scenario, nil
}

func (c *simCmd) writePage(r *sim.Report) error {
	var page strings.Builder
	if err := r.WriteHTML(&page); err != nil {
		return err
	}
	file, err := os.Create(c.HTML)
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, page.String())
	return errors.Join(err, file.Close())
}
