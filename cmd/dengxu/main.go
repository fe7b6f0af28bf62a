// Command dengxu serves waiting lines and works with a server from a terminal.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	_ "time/tzdata" // sites are in zones that the machine may not know

	"github.com/alecthomas/kong"

	"github.com/dengxu/dengxu/internal/app"
	"github.com/dengxu/dengxu/internal/ctl"
)

// version is set by the release build; "" takes what the module says.
var version string

func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

type commands struct {
	Serve    serveCmd    `cmd:"" help:"Serve waiting lines."`
	Ctl      ctl.Command `cmd:"" help:"Settings, counters and tokens of a server, at the terminal."`
	Replay   replayCmd   `cmd:"" help:"Play a day of arrivals and services from a CSV through a server and compare the waits."`
	Sim      simCmd      `cmd:"" help:"Simulate a line: who waits how long under which ordering, and how many counters it takes."`
	Evaluate evaluateCmd `cmd:"" help:"Forecast recorded days from a CSV, or what a queue has learned from, and say how right that was."`
	Train    trainCmd    `cmd:"" help:"Learn how long people wait, from a CSV or on a server, and say how each method did."`
	Audit    auditCmd    `cmd:"" help:"Compare a store's indexes with its records: 0 clean, 1 findings, 2 unreadable."`
	Doctor   doctorCmd   `cmd:"" help:"Say what a store survives and what to change: 0 fine, 1 warnings, 2 refused."`
	Export   exportCmd   `cmd:"" help:"Write everything that a store or a server keeps into a file: a backup, or the way to another store."`
	Import   importCmd   `cmd:"" help:"Bring such a file into a store that has none of its sites."`
	Version  versionCmd  `cmd:"" help:"Print the version."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := run(ctx, os.Args[1:], ctl.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}

// exit is an error that has its own exit code and was told already.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// run parses args, runs the command and returns the exit code.
func run(ctx context.Context, args []string, s ctl.Streams) int {
	var done exit
	left := false
	var grammar commands
	parser, err := kong.New(&grammar,
		kong.Name("dengxu"), kong.Description("等序: waiting lines for people and tasks."),
		kong.Writers(s.Out, s.Err), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Exit(func(code int) { done, left = exit(code), true }),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(s, ctl.Offline{NewAdminKey: func(ctx context.Context, data, store string) (string, error) {
			return app.NewAdminKey(ctx, app.Options{Data: data, StoreURL: store})
		}}),
	)
	if err != nil {
		panic(err) // the grammar is wrong
	}
	k, err := parser.Parse(args)
	if left { // --help was printed
		return int(done)
	}
	if err == nil {
		err = k.Run()
	} else {
		if p, ok := errors.AsType[*kong.ParseError](err); ok && p.Context != nil {
			fmt.Fprintf(s.Err, "dengxu: %v\n  all about it: %s --help\n", err, named(p.Context))
			return ctl.ExitUsage
		}
	}
	if code, ok := errors.AsType[exit](err); ok {
		return int(code)
	}
	if err != nil {
		ctl.Tell(s.Err, err)
	}
	return ctl.ExitCode(err)
}

// named is the last command that a command line named.
func named(k *kong.Context) string {
	words := []string{"dengxu"}
	for _, p := range k.Path {
		if p.Command != nil {
			words = append(words, p.Command.Name)
		}
	}
	return strings.Join(words, " ")
}

type versionCmd struct{}

// Run prints the version.
func (*versionCmd) Run(s ctl.Streams) error {
	_, err := fmt.Fprintln(s.Out, "dengxu", versionText())
	return err
}
