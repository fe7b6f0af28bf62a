package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/dengxu/dengxu/client"
	"github.com/dengxu/dengxu/internal/app"
	"github.com/dengxu/dengxu/internal/ctl"
)

// The exit codes of audit.
const (
	auditFindings   exit = 1
	auditUnreadable exit = 2
)

type auditCmd struct {
	URL   string `xor:"of" placeholder:"URL" help:"Ask a running server; one of --url, --data, --store."`
	Data  string `xor:"of" type:"path" placeholder:"DIR" help:"Read the data folder of a server that is stopped."`
	Store string `xor:"of" placeholder:"URL" help:"Read a store: pebble:DIR, or redis:// while servers go on."`
	Key   string `env:"DENGXU_KEY,DENGXU_ADMIN_KEY" placeholder:"KEY" help:"Admin key, with --url."`
}

// Validate refuses an audit of nothing.
func (c *auditCmd) Validate() error {
	if c.URL == "" && c.Data == "" && c.Store == "" {
		return errors.New("audit of what? --url=URL, --data=DIR or --store=URL")
	}
	return nil
}

// Run prints what is wrong and exits with what it means.
func (c *auditCmd) Run(ctx context.Context, s ctl.Streams) error {
	found, err := c.findings(ctx)
	if err != nil {
		ctl.Tell(s.Err, fmt.Errorf("audit: %w", err))
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

func (c *auditCmd) findings(ctx context.Context) ([]client.Finding, error) {
	if c.URL != "" {
		cl, err := client.New(client.Options{URL: c.URL, Key: c.Key})
		if err != nil {
			return nil, err
		}
		return cl.Audit(ctx)
	}
	found, err := app.Audit(ctx, app.Options{Data: c.Data, StoreURL: c.Store})
	list := make([]client.Finding, len(found))
	for i, f := range found {
		list[i] = client.Finding{Kind: f.Kind, Text: f.Text}
	}
	return list, err
}
