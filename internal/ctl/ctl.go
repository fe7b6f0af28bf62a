// Package ctl is the command `dengxu ctl`: the API for people at a terminal,
// over the client. It owns what these commands print and the files of sites,
// and refuses everything that the client cannot do.
package ctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/alecthomas/kong"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
	"github.com/dengxu/dengxu/internal/strictyaml"
)

// Connection says which server, and as whom.
type Connection struct {
	URL string `default:"http://127.0.0.1:8080" env:"DENGXU_URL" placeholder:"URL" help:"Address of the server (${default})."`
	Key string `env:"DENGXU_KEY,DENGXU_ADMIN_KEY" placeholder:"KEY" help:"API key; better in DENGXU_KEY than in the command line."`
}

// Client returns a client of that server.
func (c Connection) Client() (*client.Client, error) {
	return client.New(client.Options{URL: c.URL, Key: c.Key})
}

// Streams are what a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Offline does what needs the store itself, with no server running.
type Offline struct {
	// NewAdminKey gives the admin key of the store in a data folder, or at a
	// store URL, a new secret.
	NewAdminKey func(ctx context.Context, data, store string) (secret string, err error)
}

// Env is what every command is run with.
type Env struct {
	Streams
	Client  *client.Client
	JSON    bool
	Offline Offline

	zones map[dengxu.SiteID]*time.Location // that were asked for
}

// Command is the grammar of `dengxu ctl`.
type Command struct {
	Connection
	JSON bool `help:"Print JSON, for scripts."`

	Apply   Apply      `cmd:"" group:"Settings" help:"Make a site like its file; shows the difference and changes only that."`
	Export  Export     `cmd:"" group:"Settings" help:"Write settings as a file that apply reads."`
	Site    SiteCmd    `cmd:"" group:"Settings" help:"Sites: list, get, put, patch, delete."`
	Queue   QueueCmd   `cmd:"" group:"Settings" help:"Queues: list, get, put, patch, delete, open, pause, close, estimate, stats."`
	Model   ModelCmd   `cmd:"" group:"Settings" help:"What a queue's wait estimates have learned: show, train, export, load, forget."`
	Rule    RuleCmd    `cmd:"" group:"Settings" help:"Rules of queues: test, reapply."`
	Counter CounterCmd `cmd:"" group:"Settings" help:"Counters: list, get, put, patch, delete, open, pause, close."`
	Key     KeyCmd     `cmd:"" group:"Settings" help:"API keys: list, get, put, delete, new."`

	Verbs
	Tokens TokensCmd `cmd:"" group:"Tokens" help:"Lists of tokens."`
	Events EventsCmd `cmd:"" group:"Tokens" help:"Print committed changes as they happen."`
}

// AfterApply makes the environment of the command that runs.
func (c *Command) AfterApply(k *kong.Context, s Streams, o Offline) error {
	cl, err := c.Client()
	if err != nil {
		return err
	}
	k.Bind(&Env{Streams: s, Client: cl, JSON: c.JSON, Offline: o})
	return nil
}

// The exit codes of commands.
const (
	ExitDone    = 0
	ExitRefused = 1 // the server said no
	ExitUsage   = 2 // the command or a file is wrong; nothing was asked
	ExitAway    = 3 // no answer, or none that is definite
)

// ExitCode is the exit code of a command that ended with err.
func ExitCode(err error) int {
	if err == nil {
		return ExitDone
	}
	if _, ok := errors.AsType[*strictyaml.Error](err); ok {
		return ExitUsage
	}
	switch dengxu.CodeOf(err) {
	case dengxu.Unavailable, dengxu.Deadline, dengxu.Canceled:
		return ExitAway
	case dengxu.Internal:
		if _, coded := errors.AsType[*dengxu.Error](err); !coded {
			return ExitUsage // a file that cannot be read, and the like
		}
	case dengxu.Unauthenticated, dengxu.Forbidden, dengxu.NotFound, dengxu.Exists, dengxu.Conflict,
		dengxu.Closed, dengxu.Full, dengxu.Invalid, dengxu.TooMany:
	}
	return ExitRefused
}

// say tells people something beside the result.
func (e *Env) say(format string, args ...any) {
	if !e.JSON {
		fmt.Fprintf(e.Out, format+"\n", args...)
	}
}

func (e *Env) json(v any) error {
	enc := json.NewEncoder(e.Out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// show prints v as JSON for scripts, else lets people print it.
func (e *Env) show(v any, people func(w io.Writer)) error {
	if e.JSON {
		return e.json(v)
	}
	var t table
	people(&t)
	return t.writeTo(e.Out)
}

// jsonLine prints v as one line of JSON.
func (e *Env) jsonLine(v any) error {
	enc := json.NewEncoder(e.Out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// unlessInterrupted drops the error of a command that was told to end.
func (e *Env) unlessInterrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}
