package sim

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// Options say how a scenario is played.
type Options struct {
	// Workers is how many runs are played side by side; 0 = one for each processor.
	Workers int
	// Progress is told how many people have come, of how many runs; nil =
	// nobody. It is called by one goroutine at a time.
	Progress func(Progress)
}

// Progress is how far it is.
type Progress struct {
	Done, All int // runs of one policy
	People    int64
}

// Play plays every run under every policy. The error is that of ctx, of a
// setting that the engine refuses, with its field, or of a file; ErrBroken is a
// defect of the engine.
func Play(ctx context.Context, s *Scenario, o Options) (*Report, error) {
	p, err := s.plan()
	if err != nil {
		return nil, err
	}
	if err := p.checkSettings(ctx); err != nil {
		return nil, err
	}
	results, err := p.playPolicies(ctx, o)
	if err != nil {
		return nil, err
	}
	return p.report(results), nil
}

// checkSettings makes the hall of every policy once, empty: what the engine or a
// stream gets wrong is told before anything is played.
func (p *plan) checkSettings(ctx context.Context) error {
	field := func(i int, name string) string { return fmt.Sprintf("streams[%d].%s", i, name) }
	if p.Recording != nil {
		field = func(priority int, _ string) string { return fmt.Sprintf("recording.groups.%d", priority) }
	}
	for i := range p.Policies {
		r := &run{plan: p, base: p.start.UnixMilli(), desks: p.desksOf(0), joining: nobody, called: nobody}
		hall, err := p.newHall(ctx, &p.Policies[i], r.desks, r)
		if err == nil {
			err = cmp.Or(hall.checkStreams(p.streams, field), hall.store.Close())
		}
		if err != nil {
			return p.underPolicy(i, err)
		}
	}
	return nil
}

// playPolicies plays everything, side by side, and returns the measures by policy
// and run.
func (p *plan) playPolicies(ctx context.Context, o Options) ([][]*measures, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results := make([][]*measures, len(p.Policies))
	for i := range results {
		results[i] = make([]*measures, len(p.runs))
	}
	all := len(p.Policies) * len(p.runs)
	var next, done, people atomic.Int64
	var telling sync.Mutex
	tell := func(n int) {
		now := people.Add(int64(n))
		if o.Progress == nil {
			return
		}
		telling.Lock()
		defer telling.Unlock()
		o.Progress(Progress{Done: int(done.Load()), All: all, People: now})
	}
	workers := o.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var wg sync.WaitGroup
	for range min(workers, all) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < all && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				// Runs first: a mistake in a policy is found at once.
				run, policy := i/len(p.Policies), i%len(p.Policies)
				m, err := p.play(ctx, &p.Policies[policy], run, tell)
				if err != nil {
					cancel(fmt.Errorf("policy %q, %s: %w", p.Policies[policy].Name, p.runs[run], err))
					return
				}
				results[policy][run] = m
				done.Add(1)
			}
		})
	}
	wg.Wait()
	return results, context.Cause(ctx)
}

// String names a run.
func (r runName) String() string {
	if r.Date != "" {
		return r.Date
	}
	return fmt.Sprintf("seed %d", r.Seed)
}
