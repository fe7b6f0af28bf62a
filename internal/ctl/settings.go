package ctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/strictyaml"
)

// List prints one line each.
type List struct {
	Site dengxu.SiteID `help:"Only of this site." placeholder:"ID"`
}

// ID names one thing.
type ID struct {
	ID string `arg:"" help:"Its id."`
}

// Match is the version that the caller saw.
type Match struct {
	IfMatch uint64 `help:"Refuse when the version is another one by now." placeholder:"VERSION"`
}

// Put replaces settings.
type Put struct {
	ID
	Match
	File     string `short:"f" type:"path" placeholder:"FILE" help:"Settings as YAML or JSON; - reads standard input."`
	Settings string `arg:"" optional:"" help:"Settings as YAML or JSON; absent ones take their default."`
}

// read decodes the settings strictly.
func (p *Put) read(e *Env, into any) error {
	text, name := []byte(p.Settings), "settings"
	if p.File != "" {
		var err error
		if text, err = e.readFile(p.File); err != nil {
			return err
		}
		name = p.File
	}
	n, err := strictyaml.Parse(text)
	if err == nil {
		err = n.Decode(into)
	}
	if err != nil {
		return fmt.Errorf("%s:%w", name, err)
	}
	return nil
}

// Patch merges into settings.
type Patch struct {
	ID
	Match
	File  string `short:"f" type:"path" placeholder:"FILE" help:"Settings to change as YAML or JSON; - reads standard input."`
	Patch string `arg:"" optional:"" help:"Settings to change as YAML or JSON; null resets one."`
}

func (p *Patch) read(e *Env) (json.RawMessage, error) {
	text, name := []byte(p.Patch), "patch"
	switch {
	case p.Patch != "" && p.File != "":
		return nil, errors.New("patch with what? either a text or --file, not both")
	case p.Patch == "" && p.File == "":
		return nil, errors.New("patch with what? settings as a text, or --file=FILE")
	case p.File != "":
		var err error
		if text, err = e.readFile(p.File); err != nil {
			return nil, err
		}
		name = p.File
	}
	n, err := strictyaml.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	return json.Marshal(n.Value())
}

// Remove deletes.
type Remove struct {
	ID
	Match
}

// view prints a view: JSON for scripts, else the same as YAML, and warnings.
func (e *Env) view(v any, warnings []string, err error) error {
	if err != nil {
		return err
	}
	if e.JSON {
		return e.json(v)
	}
	m, err := ordered(v)
	if err != nil {
		return err
	}
	text, err := yaml.Marshal(m)
	if err != nil {
		return err
	}
	if _, err = e.Out.Write(text); err != nil {
		return err
	}
	for _, w := range warnings {
		fmt.Fprintln(e.Err, "warning:", w)
	}
	return nil
}

// SiteCmd is `ctl site`.
type SiteCmd struct {
	List   siteList   `cmd:"" help:"Every site."`
	Get    siteGet    `cmd:"" help:"Settings in force and state."`
	Put    sitePut    `cmd:"" help:"Make or replace."`
	Patch  sitePatch  `cmd:"" help:"Change some settings."`
	Delete siteDelete `cmd:"" help:"Delete, when nothing is in it."`
}

type (
	siteList   struct{}
	siteGet    struct{ ID }
	sitePut    struct{ Put }
	sitePatch  struct{ Patch }
	siteDelete struct{ Remove }
)

// Run prints every site.
func (*siteList) Run(ctx context.Context, e *Env) error {
	sites, err := e.Client.Sites(ctx)
	if err != nil {
		return err
	}
	return e.show(sites, func(w io.Writer) {
		fmt.Fprintln(w, "ID\tNAME\tTIME ZONE\tDAY\tQUEUES\tCOUNTERS")
		for _, s := range sites {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\n", s.ID, s.Name, s.TimeZone, s.Day, len(s.Queues), len(s.Counters))
		}
	})
}

// Run prints one site.
func (c *siteGet) Run(ctx context.Context, e *Env) error {
	v, err := e.Client.GetSite(ctx, dengxu.SiteID(c.ID.ID))
	return e.view(v, v.Warnings, err)
}

// Run replaces a site's settings.
func (c *sitePut) Run(ctx context.Context, e *Env) error {
	var set dengxu.Site
	if err := c.read(e, &set); err != nil {
		return err
	}
	v, err := e.Client.PutSite(ctx, dengxu.SiteID(c.ID.ID), set, c.IfMatch)
	return e.view(v, v.Warnings, err)
}

// Run changes some of a site's settings.
func (c *sitePatch) Run(ctx context.Context, e *Env) error {
	patch, err := c.read(e)
	if err != nil {
		return err
	}
	v, err := e.Client.PatchSite(ctx, dengxu.SiteID(c.ID.ID), patch, c.IfMatch)
	return e.view(v, v.Warnings, err)
}

// Run deletes a site.
func (c *siteDelete) Run(ctx context.Context, e *Env) error {
	return e.Client.DeleteSite(ctx, dengxu.SiteID(c.ID.ID), c.IfMatch)
}

// KeyCmd is `ctl key`.
type KeyCmd struct {
	List   keyList   `cmd:"" help:"Every key."`
	Get    keyGet    `cmd:"" help:"One key, without its secret."`
	Put    keyPut    `cmd:"" help:"Make or replace; a new key's secret is printed once."`
	Delete keyDelete `cmd:"" help:"Make a key unknown at once."`
	New    keyNew    `cmd:"" help:"A new secret for the admin key, when it is lost; a server over a folder must be stopped."`
}

type (
	keyList   struct{}
	keyGet    struct{ ID }
	keyPut    struct{ Put }
	keyDelete struct{ Remove }
	keyNew    struct {
		Data  string `type:"path" xor:"of" placeholder:"DIR" help:"The server's data folder (DENGXU_DATA); or --store."`
		Store string `xor:"of" placeholder:"URL" help:"The server's store (DENGXU_STORE): pebble:DIR; or redis://, redis+sentinel://, redis+cluster:// (rediss: TLS) while servers go on."`
	}
)

func (c *keyNew) of() Of { return Of{Data: c.Data, Store: c.Store}.OrVariables(false) }

// Validate refuses a key of nothing.
func (c *keyNew) Validate() error {
	if c.of().IsNothing() {
		return errors.New("the key of which store? --data=DIR or --store=URL, or DENGXU_STORE or DENGXU_DATA")
	}
	return nil
}

// Run prints every key.
func (*keyList) Run(ctx context.Context, e *Env) error {
	keys, err := e.Client.Keys(ctx)
	if err != nil {
		return err
	}
	return e.show(keys, func(w io.Writer) {
		fmt.Fprintln(w, "ID\tNAME\tROLE\tSITES\tQUEUES\tRIGHTS\tEXPIRES")
		for _, k := range keys {
			expires := "never"
			if !k.ExpiresAt.IsZero() {
				expires = k.ExpiresAt.Format("2006-01-02 15:04 MST")
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Name, k.Role,
				orAll(k.Sites), orAll(k.Queues), strings.Join(k.Rights, " "), expires)
		}
	})
}

func orAll[T ~string](ids []T) string {
	if len(ids) == 0 {
		return "all"
	}
	return strings.Trim(fmt.Sprint(ids), "[]")
}

// Run prints one key.
func (c *keyGet) Run(ctx context.Context, e *Env) error {
	v, err := e.Client.GetKey(ctx, dengxu.KeyID(c.ID.ID))
	return e.view(v, v.Warnings, err)
}

// Run makes or replaces a key.
func (c *keyPut) Run(ctx context.Context, e *Env) error {
	var set dengxu.Key
	if err := c.read(e, &set); err != nil {
		return err
	}
	v, err := e.Client.PutKey(ctx, dengxu.KeyID(c.ID.ID), set, c.IfMatch)
	return e.view(v, v.Warnings, err)
}

// Run deletes a key.
func (c *keyDelete) Run(ctx context.Context, e *Env) error {
	return e.Client.DeleteKey(ctx, dengxu.KeyID(c.ID.ID), c.IfMatch)
}

// Run makes a new secret for the admin key.
func (c *keyNew) Run(ctx context.Context, e *Env) error {
	of := c.of()
	secret, err := e.Offline.NewAdminKey(ctx, of.Data, of.Store)
	if err != nil {
		of.Tell(e.Err)
		return err
	}
	return e.show(map[string]string{"id": "admin", "secret": secret}, func(w io.Writer) { fmt.Fprintln(w, secret) })
}
