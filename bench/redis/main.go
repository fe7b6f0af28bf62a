// Command redis measures dengxu on Redis beside the least that Redis could do
// for it (a script of HSET and ZADD) and beside asynq, all in one run on a
// redis-server of its own, and prints what was measured next to the goals.
// Read the ratios; rates belong to a machine.
//
//	go run . [-quick] [-only join,call]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/dengxu/dengxu/bench/internal/rig"
	"github.com/dengxu/dengxu/internal/redistest"
)

var (
	quick = flag.Bool("quick", false, "measure little, to see that everything runs; the figures mean nothing")
	only  = flag.String("only", "", "names of measurements, with commas: "+strings.Join(names(), ", "))
)

func main() {
	rig.Main(func(ctx context.Context, out io.Writer) error {
		s := full
		if *quick {
			s = short
		}
		var chosen []string
		if *only != "" {
			chosen = strings.Split(*only, ",")
		}
		return run(ctx, out, s, chosen)
	})
}

// sizes is how much is measured.
type sizes struct {
	callers         []int
	ops, ranks      int // at each number of callers
	yard            int // requests of redis-benchmark
	tasks           int // of asynq
	resident        int // tokens whose bytes are counted
	lone            int // operations of a single caller
	small, big      int // lengths of lines of which ranks are asked
	settle, watched time.Duration
}

var (
	full = sizes{
		callers: []int{64, 256, 1000, 2000}, ops: 80_000, ranks: 300_000, yard: 100_000, tasks: 50_000,
		resident: 200_000, lone: 3_000, small: 1_000, big: 500_000, settle: 5 * time.Second, watched: 20 * time.Second,
	}
	short = sizes{
		callers: []int{64}, ops: 1_000, ranks: 3_000, yard: 3_000, tasks: 500,
		resident: 1_000, lone: 100, small: 100, big: 2_000, settle: 100 * time.Millisecond, watched: time.Second,
	}
)

// bench is one run.
type bench struct {
	sizes
	out   io.Writer
	redis *redistest.Server
	dir   string
	table *rig.Table
	best  map[string]result // of our operations, by ratio
}

// measurement is one part of a run.
type measurement struct {
	name string
	do   func(*bench, context.Context) error
}

// measurements stand in the order in which they run. asynq is compared with
// joins and calls before it.
func measurements() []measurement {
	return []measurement{
		{"join", (*bench).joins},
		{"call", (*bench).calls},
		{"rank", (*bench).ranksOf},
		{"asynq", (*bench).asynq},
		{"memory", (*bench).memory},
		{"commands", (*bench).commands},
		{"idle", (*bench).idle},
		{"single", (*bench).single},
		{"big", (*bench).bigLine},
		{"lanes", (*bench).manyLanes},
	}
}

func names() []string {
	var out []string
	for _, m := range measurements() {
		out = append(out, m.name)
	}
	return out
}

// run does the chosen measurements, or all, and prints the table.
func run(ctx context.Context, out io.Writer, s sizes, chosen []string) (err error) {
	for _, name := range chosen {
		if !slices.Contains(names(), name) {
			return fmt.Errorf("there is no measurement %q: %s", name, strings.Join(names(), ", "))
		}
	}
	// As dengxu serve does; asynq runs in this process too.
	debug.SetGCPercent(300)
	dir, err := os.MkdirTemp("", "bench-redis")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	redis, end, err := redistest.Launch(mkdir(dir, "redis"), redistest.Options{})
	if err != nil {
		return err
	}
	defer end()
	b := &bench{
		sizes: s, out: out, redis: redis, dir: dir, best: map[string]result{},
		table: rig.NewTable("what", "measured", "goal", "met"),
	}
	for _, m := range measurements() {
		if len(chosen) > 0 && !slices.Contains(chosen, m.name) {
			continue
		}
		if _, err := redis.Do("FLUSHALL"); err != nil {
			return err
		}
		if err := m.do(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	fmt.Fprintln(out)
	b.table.Print(out)
	return nil
}

// mkdir makes a folder in one that is ours alone.
func mkdir(dir, name string) string {
	path := dir + "/" + name
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		panic(err) // nothing works then
	}
	return path
}

// stats reads a section of INFO as its fields.
func (b *bench) stats(section string) (map[string]string, error) {
	reply, err := b.redis.Do("INFO", section)
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for line := range strings.Lines(fmt.Sprint(reply)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields, nil
}

// used is the memory that Redis has in use, in bytes, without what it keeps for
// connections.
func (b *bench) used() (int, error) {
	fields, err := b.stats("memory")
	if err != nil {
		return 0, err
	}
	var all, clients int
	if _, err := fmt.Sscan(fields["used_memory"]+" "+fields["mem_clients_normal"], &all, &clients); err != nil {
		return 0, fmt.Errorf("INFO memory: %w", err)
	}
	return all - clients, nil
}

// ran is how many commands Redis has run, those in scripts included, without
// the INFO that tells it.
func (b *bench) ran() (map[string]int, error) {
	fields, err := b.stats("commandstats")
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for name, value := range fields {
		name = strings.TrimPrefix(name, "cmdstat_")
		n := 0
		if _, err := fmt.Sscanf(value, "calls=%d,", &n); err != nil {
			return nil, fmt.Errorf("commandstats: %s: %w", value, err)
		}
		if name != "info" {
			counts[name] = n
		}
	}
	return counts, nil
}

// ranSince is how many commands ran since before, and which, most often first.
func (b *bench) ranSince(before map[string]int, per float64) (total float64, which string, err error) {
	after, err := b.ran()
	if err != nil {
		return 0, "", err
	}
	for name, n := range before {
		after[name] -= n
	}
	var parts []string
	for _, name := range slices.SortedFunc(maps.Keys(after), func(x, y string) int { return after[y] - after[x] }) {
		total += float64(after[name])
		if each := float64(after[name]) / per; each >= 0.05 {
			parts = append(parts, fmt.Sprintf("%s %.1f", name, each))
		}
	}
	return total / per, strings.Join(parts, ", "), nil
}
