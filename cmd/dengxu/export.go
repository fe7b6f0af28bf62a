package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
	"github.com/dengxu/dengxu/internal/app"
	"github.com/dengxu/dengxu/internal/backup"
	"github.com/dengxu/dengxu/internal/ctl"
	"github.com/dengxu/dengxu/internal/place"
	"github.com/dengxu/dengxu/internal/store"
)

type exportCmd struct {
	URL    string        `xor:"of" placeholder:"URL" help:"Ask a running server, over any store; one of --url, --data, --store (DENGXU_STORE, DENGXU_DATA, DENGXU_URL: the first that is set)."`
	Data   string        `xor:"of" type:"path" placeholder:"DIR" help:"Read the data folder of a server that is stopped."`
	Store  string        `xor:"of" placeholder:"URL" help:"Read a store: pebble:DIR; or redis://, redis+sentinel://, redis+cluster:// (rediss: TLS) while servers go on."`
	Key    string        `env:"DENGXU_KEY,DENGXU_ADMIN_KEY" placeholder:"KEY" help:"Admin key, with --url."`
	Site   dengxu.SiteID `placeholder:"ID" help:"One site only, without keys; else everything."`
	Output string        `short:"o" default:"-" placeholder:"FILE" help:"Path, - for standard output, or an object such as s3://bucket/key."`
	Force  bool          `help:"Replace the file at the path, if there is one; an object is always replaced."`
}

func (c *exportCmd) of() ctl.Of {
	return ctl.Of{URL: c.URL, Data: c.Data, Store: c.Store}.OrVariables(true)
}

// Validate refuses an export of nothing.
func (c *exportCmd) Validate() error {
	if c.of().IsNothing() {
		return errors.New("export of what? --url=URL, --data=DIR or --store=URL, or DENGXU_STORE, DENGXU_DATA or DENGXU_URL")
	}
	return nil
}

// Run writes the file. Nothing is at its place unless it is whole.
func (c *exportCmd) Run(ctx context.Context, s ctl.Streams) error {
	of := c.of()
	if err := c.keepOther(); err != nil {
		return told(s, "export", of, err)
	}
	out, err := place.Create(ctx, c.Output, s.Out)
	if err != nil {
		return told(s, "export", of, err)
	}
	bar := newBar(s.Err)
	w := bufio.NewWriterSize(out, 1<<20)
	began := time.Now()
	totals, err := c.export(ctx, of, w, bar)
	bar.clear()
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = out.Commit()
	} else {
		err = errors.Join(err, out.Abort())
	}
	if err != nil {
		return told(s, "export", of, err)
	}
	_, err = fmt.Fprintf(s.Err, "exported %s in %s\n", inWords(&totals), time.Since(began).Round(100*time.Millisecond))
	return err
}

// keepOther refuses a path at which something is: an older backup may be the
// better one.
func (c *exportCmd) keepOther() error {
	if c.Force || c.Output == "-" || strings.Contains(c.Output, "://") {
		return nil
	}
	if info, err := os.Stat(c.Output); err == nil && info.Mode().IsRegular() {
		return dengxu.Fieldf(dengxu.Exists, "output", "%s is there already and is left as it is; --force replaces it", c.Output)
	}
	return nil
}

func (c *exportCmd) export(ctx context.Context, of ctl.Of, w io.Writer, bar *bar) (backup.Totals, error) {
	if of.URL != "" {
		cl, err := client.New(client.Options{URL: of.URL, Key: c.Key})
		if err != nil {
			return backup.Totals{}, err
		}
		body, err := cl.Export(ctx, c.Site)
		if err != nil {
			return backup.Totals{}, err
		}
		totals, err := backup.Copy(w, body, func(t backup.Totals) { bar.show(0, 1, "%d rows, %s", t.Rows, size(t.Bytes)) })
		return totals, errors.Join(err, body.Close())
	}
	totals, err := app.Export(ctx, app.Options{Data: of.Data, StoreURL: of.Store}, w, backup.ExportOptions{
		Site: c.Site, Now: time.Now(),
		Progress: func(p, of int, t backup.Totals) { bar.show(p, of, "%d rows, %s", t.Rows, size(t.Bytes)) },
	})
	if errors.Is(err, store.ErrUnavailable) && !strings.HasPrefix(of.Store, "redis") {
		err = fmt.Errorf("%w, or ask it (--url URL --key KEY)", err)
	}
	return totals, err
}

type importCmd struct {
	Data   string `xor:"of" type:"path" placeholder:"DIR" help:"Into the data folder of a server that is stopped (DENGXU_DATA); it is made if it is not there."`
	Store  string `xor:"of" placeholder:"URL" help:"Into a store (DENGXU_STORE): pebble:DIR; or redis://, redis+sentinel://, redis+cluster:// (rediss: TLS)."`
	DryRun bool   `help:"Check the file and whether the store takes it; write nothing."`
	File   string `arg:"" placeholder:"FILE" help:"Path, - for standard input, or an object such as s3://bucket/key."`
}

func (c *importCmd) of() ctl.Of { return ctl.Of{Data: c.Data, Store: c.Store}.OrVariables(false) }

// Validate refuses an import into nothing.
func (c *importCmd) Validate() error {
	if c.of().IsNothing() {
		return errors.New("import into what? --data=DIR or --store=URL, or DENGXU_STORE or DENGXU_DATA")
	}
	return nil
}

// Run brings the file in.
func (c *importCmd) Run(ctx context.Context, s ctl.Streams) (err error) {
	of := c.of()
	file, err := place.Open(ctx, c.File, s.In)
	if err != nil {
		return told(s, "import", of, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	bar := newBar(s.Err)
	began := time.Now()
	did, err := app.Import(ctx, app.Options{Data: of.Data, StoreURL: of.Store}, file, backup.ImportOptions{
		DryRun: c.DryRun, Progress: func(rows, all int) { bar.show(rows, all, "%d of %d rows", rows, all) },
	})
	bar.clear()
	if err != nil {
		return told(s, "import", of, err)
	}
	return c.tell(s.Out, &did, time.Since(began))
}

func (c *importCmd) tell(w io.Writer, did *backup.Imported, took time.Duration) error {
	var b strings.Builder
	verb := "imported"
	if c.DryRun {
		verb = "would import"
	}
	fmt.Fprintf(&b, "%s %s, made %s, in %s\n", verb, inWords(&did.Totals), did.Header.Made.Format(time.RFC3339), took.Round(100*time.Millisecond))
	if did.Resumed {
		fmt.Fprintln(&b, "  an import of this file had been interrupted; this one went on")
	}
	if did.Shifted {
		fmt.Fprintln(&b, "  arrival numbers were shifted behind those that the store had given: refs are others than before")
	}
	for _, id := range did.KeptKeys {
		fmt.Fprintf(&b, "  key %s was there already and is left as it is\n", id)
	}
	if did.Dropped > 0 {
		fmt.Fprintf(&b, "  %d rows of no site were left out\n", did.Dropped)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// told tells an error, and where the name of the store came from, and gives it
// its exit code: what a file, a key or an option is wrong with, and what a store
// refuses, is not cured by repeating.
func told(s ctl.Streams, what string, of ctl.Of, err error) error {
	err = fmt.Errorf("%s: %w", what, err)
	ctl.Tell(s.Err, err)
	of.Tell(s.Err)
	switch dengxu.CodeOf(err) { //nolint:exhaustive // the others are as ever
	case dengxu.Invalid, dengxu.Exists, dengxu.NotFound, dengxu.Unauthenticated, dengxu.Forbidden:
		return exit(ctl.ExitUsage)
	}
	return exit(ctl.ExitCode(err))
}

func inWords(t *backup.Totals) string {
	return fmt.Sprintf("%s, %s, %s, %s, %s and %s archived, %s",
		many(t.Sites, "site"), many(t.Queues, "queue"), many(t.Counters, "counter"), many(t.Keys, "key"),
		many(t.Live, "token"), many(t.Archived, ""), size(t.Bytes))
}

func many(n int, noun string) string {
	switch {
	case noun == "":
		return fmt.Sprint(n)
	case n == 1:
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func size(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d B", n)
	case n < 10_000_000:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
