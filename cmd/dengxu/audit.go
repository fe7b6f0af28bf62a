package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dengxu/dengxu/client"
	"github.com/dengxu/dengxu/internal/app"
	"github.com/dengxu/dengxu/internal/ctl"
	"github.com/dengxu/dengxu/internal/store"
)

// The exit codes of audit.
const (
	auditFindings   exit = 1
	auditUnreadable exit = 2
)

type auditCmd struct {
	URL   string `xor:"of" placeholder:"URL" help:"Ask a running server; one of --url, --data, --store (DENGXU_STORE, DENGXU_DATA, DENGXU_URL: the first that is set)."`
	Data  string `xor:"of" type:"path" placeholder:"DIR" help:"Read the data folder of a server that is stopped."`
	Store string `xor:"of" placeholder:"URL" help:"Read a store: pebble:DIR; or redis://, redis+sentinel://, redis+cluster:// (rediss: TLS) while servers go on."`
	Key   string `env:"DENGXU_KEY,DENGXU_ADMIN_KEY" placeholder:"KEY" help:"Admin key, with --url."`
}

func (c *auditCmd) of() ctl.Of {
	return ctl.Of{URL: c.URL, Data: c.Data, Store: c.Store}.OrVariables(true)
}

// Validate refuses an audit of nothing.
func (c *auditCmd) Validate() error {
	if c.of().IsNothing() {
		return errors.New("audit of what? --url=URL, --data=DIR or --store=URL, or DENGXU_STORE, DENGXU_DATA or DENGXU_URL")
	}
	return nil
}

// Run prints what is wrong and exits with what it means.
func (c *auditCmd) Run(ctx context.Context, s ctl.Streams) error {
	of := c.of()
	found, err := c.findings(ctx, of)
	if err != nil {
		ctl.Tell(s.Err, fmt.Errorf("audit: %w", err))
		of.Tell(s.Err)
		return auditUnreadable
	}
	for _, f := range found {
		fmt.Fprintf(s.Out, "%s: %s\n", f.Kind, f.Text)
	}
	if len(found) > 0 {
		fmt.Fprintf(s.Out, "%d findings\n", len(found))
		return auditFindings
	}
	fmt.Fprintln(s.Out, "clean: indexes and records agree")
	return nil
}

func (c *auditCmd) findings(ctx context.Context, of ctl.Of) ([]client.Finding, error) {
	if of.URL != "" {
		cl, err := client.New(client.Options{URL: of.URL, Key: c.Key})
		if err != nil {
			return nil, err
		}
		return cl.Audit(ctx)
	}
	found, err := app.Audit(ctx, app.Options{Data: of.Data, StoreURL: of.Store})
	if errors.Is(err, store.ErrUnavailable) && !strings.HasPrefix(of.Store, "redis") {
		err = fmt.Errorf("%w, or ask it (--url URL --key KEY)", err)
	}
	list := make([]client.Finding, len(found))
	for i, f := range found {
		list[i] = client.Finding{Kind: f.Kind, Text: f.Text}
	}
	return list, err
}
