package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dengxu/dengxu/internal/app"
	"github.com/dengxu/dengxu/internal/ctl"
)

// The exit codes of doctor, by the gravest remark.
const (
	doctorWarnings exit = 1
	doctorRefused  exit = 2
)

type doctorCmd struct {
	Data       string `xor:"of" type:"path" placeholder:"DIR" help:"The data folder of a server, running or not (DENGXU_DATA)."`
	Store      string `xor:"of" placeholder:"URL" help:"A store (DENGXU_STORE): pebble:DIR; or redis://, redis+sentinel://, redis+cluster:// (rediss: TLS)."`
	Durability string `env:"DENGXU_DURABILITY" placeholder:"HOW" help:"On Redis: what servers run with, fast or replicated (fast)."`
	JSON       bool   `help:"Print JSON, for scripts."`
}

// Run prints what a store is like and what to change, and exits with how grave
// that is. It changes nothing.
func (c *doctorCmd) Run(ctx context.Context, s ctl.Streams) error {
	of := ctl.Of{Data: c.Data, Store: c.Store}.OrVariables(false)
	x, err := app.Examine(ctx, app.Options{Data: of.Data, StoreURL: of.Store, Durability: c.Durability})
	if err != nil {
		ctl.Tell(s.Err, fmt.Errorf("doctor: %w", err))
		of.Tell(s.Err)
		return doctorRefused
	}
	if c.JSON {
		enc := json.NewEncoder(s.Out)
		enc.SetIndent("", "  ")
		if err := enc.Encode(x); err != nil {
			return err
		}
	} else {
		printExamination(s.Out, x)
	}
	switch x.Worst() {
	case app.LevelWarn:
		return doctorWarnings
	case app.LevelRefuse:
		return doctorRefused
	case app.LevelOK:
	}
	return nil
}

func printExamination(out io.Writer, x *app.Examination) {
	w := new(strings.Builder)
	fmt.Fprintf(w, "%s\n%s. %s\n", x.Store, x.Durability, x.DurabilityText)
	switch {
	case x.Kind == "redis" && x.Exists:
		fmt.Fprintf(w, "a store of format %s, %s, %s\n", x.Format, count(x.Partitions, "partition"), epochs(x.Epochs))
		fmt.Fprintf(w, "enrolled: %d (processes over it; one that was killed stays for a day or two)\n", x.Processes)
	case x.Kind == "redis" && len(x.Epochs) == 0 && x.Worst() != app.LevelRefuse:
		fmt.Fprintln(w, "no store yet; the first start makes it")
	}
	if x.Exists && x.Lost != nil && x.Lost.Times == 0 {
		fmt.Fprintln(w, "no loss was ever found")
	}
	for _, r := range x.Remarks {
		fmt.Fprintf(w, "%-7s", r.Level)
		if r.Where != "" {
			fmt.Fprintf(w, "%s: ", r.Where)
		}
		fmt.Fprintln(w, r.What)
		if r.Why != "" {
			fmt.Fprintln(w, "         because:", r.Why)
		}
		if r.Change != "" {
			fmt.Fprintln(w, "         do:     ", r.Change)
		}
	}
	_, _ = io.WriteString(out, w.String())
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// epochs tells how often each partition's log began anew: the same for all, or
// from the least to the most.
func epochs(of []uint64) string {
	if len(of) == 0 {
		return "no epoch"
	}
	least, most := slices.Min(of), slices.Max(of)
	if least == most {
		return fmt.Sprintf("epoch %d", least)
	}
	return fmt.Sprintf("epochs %d to %d", least, most)
}
