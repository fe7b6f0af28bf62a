// Command mysql tells the story of a restaurant's line that broke at six
// o'clock: joins and calls at a rate that does not wait for answers, on a table
// in MariaDB with SELECT … FOR UPDATE, and on dengxu over Redis and over its own
// store, one after the other on the same machine, over HTTP.
//
//	go run . [-quick] [-rate 2000] [-conns 2000] [-lasts 30s] [-only table,embedded]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dengxu/dengxu/bench/internal/rig"
)

var (
	quick = flag.Bool("quick", false, "measure little, to see that everything runs; the figures mean nothing")
	rate  = flag.Int("rate", full.rate, "requests a second of the story, half of them joins, half calls")
	conns = flag.Int("conns", full.conns, "connections that they come over")
	lasts = flag.Duration("lasts", full.lasts, "how long the story lasts")
	step  = flag.Duration("step", full.step, "how long each rate of the search for the highest lasts")
	most  = flag.Int("most", full.highest, "the highest rate that is tried")
	only  = flag.String("only", "", "names of systems, with commas: table, everysec, always, embedded")
)

func main() {
	if isTable() {
		rig.Main(serveTable)
		return
	}
	rig.Main(func(ctx context.Context, out io.Writer) error {
		p := full
		p.rate, p.conns, p.lasts, p.step, p.highest = *rate, *conns, *lasts, *step, *most
		if *quick {
			p = short
		}
		var chosen []string
		if *only != "" {
			chosen = strings.Split(*only, ",")
		}
		return run(ctx, out, p, chosen)
	})
}

// plan is how much is measured.
type plan struct {
	rate, conns int
	lasts       time.Duration
	// The search for the highest rate: it doubles from the lowest as long as the
	// rate holds, to the highest at most, and then halves the distance some times.
	lowest, highest, halvings int
	step                      time.Duration
	waiting                   int // in line before anything is measured
	pause                     time.Duration
}

var (
	full = plan{
		rate: 2000, conns: 2000, lasts: 30 * time.Second, lowest: 250, highest: 64_000, halvings: 3,
		step: 8 * time.Second, waiting: 5000, pause: 2 * time.Second,
	}
	short = plan{
		rate: 200, conns: 100, lasts: time.Second, lowest: 200, highest: 400, halvings: 1,
		step: time.Second, waiting: 300, pause: 100 * time.Millisecond,
	}
)

// What a rate that is held means.
const (
	heldP99   = 100 * time.Millisecond
	heldShare = 0.999
	// goal is how many times as long the table may take at the rate at which it
	// breaks.
	goal = 50
)

// account is what was found of one system.
type account struct {
	*system
	story figures
	held  int // the highest rate that holds; 0 = none
	broke int // the first rate of those that double which does not; 0 = none
	there figures
}

// run measures the chosen systems, or all, and prints what was found.
func run(ctx context.Context, out io.Writer, p plan, chosen []string) (err error) {
	dir, err := os.MkdirTemp("", "bench-mysql")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	systems, err := prepare(ctx, dir)
	if err != nil {
		return err
	}
	var accounts []*account
	for _, s := range systems {
		if len(chosen) > 0 && !slices.Contains(chosen, s.key) {
			continue
		}
		broke := 0 // of the table, which is the first
		if len(accounts) > 0 {
			broke = accounts[0].broke
		}
		a, err := p.measure(ctx, out, s, broke)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		accounts = append(accounts, a)
	}
	if len(accounts) == 0 {
		return fmt.Errorf("%q names no system", chosen)
	}
	report(out, p, accounts)
	return nil
}

// measure starts a system, lets the story happen to it, looks for the highest
// rate that it holds, and lets the rate happen at which the table broke, or at
// which it breaks itself.
func (p plan) measure(ctx context.Context, out io.Writer, s *system, broke int) (*account, error) {
	if err := s.start(ctx, s); err != nil {
		return nil, err
	}
	defer s.end()
	fmt.Fprintf(out, "%s: %s\n", s.name, s.about)
	a := &account{system: s}
	if err := p.fill(ctx, s); err != nil {
		return nil, err
	}
	var err error
	if a.story, err = p.play(ctx, out, s, p.rate, p.lasts); err != nil {
		return nil, err
	}
	if a.held, a.broke, err = p.search(ctx, out, s); err != nil {
		return nil, err
	}
	if broke == 0 {
		broke = a.broke
	}
	if broke > 0 {
		a.there, err = p.play(ctx, out, s, broke, p.lasts)
	}
	return a, err
}

// fill joins some before anything is measured, so that calls find somebody.
func (p plan) fill(ctx context.Context, s *system) error {
	const gently = 1000 // a second
	f, err := load{
		addr: s.addr, conns: min(p.conns, 100), rate: gently, joinsOnly: true,
		lasts: time.Duration(p.waiting) * time.Second / gently, waits: time.Minute,
	}.run(ctx)
	if err == nil && f.ok < f.all() {
		err = fmt.Errorf("of %d people before the start, %d could join: %v", f.all(), f.ok, f.failures)
	}
	return err
}

// play lets requests come for a while, after a rest.
func (p plan) play(ctx context.Context, out io.Writer, s *system, rate int, lasts time.Duration) (figures, error) {
	select {
	case <-time.After(p.pause):
	case <-ctx.Done():
		return figures{}, ctx.Err()
	}
	before := s.used()
	f, err := load{addr: s.addr, conns: p.conns, rate: rate, lasts: lasts, waits: 10 * time.Second}.run(ctx)
	if err != nil {
		return f, err
	}
	f.cpu = append([]float64{f.own}, before.since(s.used(), f.took)...)
	fmt.Fprintf(out, "  %d a second: P50 %s, P99 %s, success %s, sent late by %s (P99), cores %s%s\n", rate,
		rig.Short(f.p(0.5)), rig.Short(f.p(0.99)), percent(f.share()), rig.Short(f.late), f.cores(s), f.why())
	return f, nil
}

// search finds the highest rate that holds, and the first of those that double
// which does not.
func (p plan) search(ctx context.Context, out io.Writer, s *system) (held, broke int, err error) {
	holds := func(rate int) (bool, error) {
		// A machine has bad moments: what fails gets a second try.
		for range 2 {
			f, err := p.play(ctx, out, s, rate, p.step)
			if err != nil || f.p(0.99) < heldP99 && f.share() >= heldShare {
				return err == nil, err
			}
		}
		return false, nil
	}
	for rate := p.lowest; rate <= p.highest && broke == 0; rate *= 2 {
		ok, err := holds(rate)
		switch {
		case err != nil:
			return 0, 0, err
		case ok:
			held = rate
		default:
			broke = rate
		}
	}
	if broke == 0 {
		return held, 0, nil
	}
	low, high := held, broke
	for range p.halvings {
		middle := (low + high) / 2
		ok, err := holds(middle)
		switch {
		case err != nil:
			return 0, 0, err
		case ok:
			low = middle
		default:
			high = middle
		}
	}
	return low, broke, nil
}
