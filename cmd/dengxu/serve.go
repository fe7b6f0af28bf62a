package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/app"
	"github.com/dengxu/dengxu/internal/ctl"
	"github.com/dengxu/dengxu/internal/strictyaml"
)

// settings are what flags, variables and the file may say, in this order of
// strength. The JSON names are the keys of the file.
type settings struct {
	Listen       string         `json:"listen" env:"DENGXU_LISTEN" placeholder:"ADDR" help:"Address to serve on (127.0.0.1:8080)."`
	Data         string         `json:"data" env:"DENGXU_DATA" placeholder:"DIR" help:"Folder of the store (./dengxu-data)."`
	Store        string         `json:"store" env:"DENGXU_STORE" placeholder:"URL" help:"Store: pebble:DIR (under --data by default), memory:, or for several servers redis://, redis+sentinel://, redis+cluster:// (rediss: TLS)."`
	Durability   string         `json:"durability" env:"DENGXU_DURABILITY" placeholder:"HOW" help:"On Redis: fast, or replicated to wait for a replica (fast)."`
	Bare         bool           `json:"bare" env:"DENGXU_BARE" help:"Leave an empty store empty."`
	PublicURL    string         `json:"public_url" env:"DENGXU_PUBLIC_URL" placeholder:"URL" help:"Where people reach the server, for tickets."`
	TLSCert      string         `json:"tls_cert" env:"DENGXU_TLS_CERT" placeholder:"FILE" help:"TLS certificate, with --tls-key."`
	TLSKey       string         `json:"tls_key" env:"DENGXU_TLS_KEY" placeholder:"FILE" help:"Its key."`
	AdminListen  string         `json:"admin_listen" env:"DENGXU_ADMIN_LISTEN" placeholder:"ADDR" help:"Serve metrics and profiles here, without authentication."`
	TrustedProxy []netip.Prefix `json:"trusted_proxy" env:"DENGXU_TRUSTED_PROXY" placeholder:"CIDR" help:"Proxies that may say who the client is."`
	CORSOrigin   []string       `json:"cors_origin" env:"DENGXU_CORS_ORIGIN" placeholder:"ORIGIN" help:"Origins whose pages may use the API."`
	LogLevel     string         `json:"log_level" env:"DENGXU_LOG_LEVEL" placeholder:"LEVEL" help:"debug, info (every request), warn or error (warn)."`
}

type serveCmd struct {
	settings
	Config string `env:"DENGXU_CONFIG" placeholder:"FILE" help:"YAML file with these settings; an unknown key is an error."`
}

// Run serves until it is told to end, and drains. An option that cannot be
// meant is a mistake of the command line, like one that does not exist.
func (c *serveCmd) Run(ctx context.Context, s ctl.Streams) error {
	err := c.serve(ctx, s)
	if err == nil {
		return nil
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		fmt.Fprintf(s.Err, "dengxu: %v\n  is another server there? try --listen 127.0.0.1:8090, and for ctl DENGXU_URL=http://127.0.0.1:8090\n", err)
		return exit(ctl.ExitUsage)
	}
	if dengxu.CodeOf(err) == dengxu.Invalid {
		ctl.Tell(s.Err, err)
		return exit(ctl.ExitUsage)
	}
	return err
}

// gcPercent lets the heap grow to some times what is in use before it is
// collected: what is in use is small (about 0.3 KB for each one waiting), and
// at Go's default every fifth cycle of the processor goes to collecting.
const gcPercent = 300

func (c *serveCmd) serve(ctx context.Context, s ctl.Streams) error {
	set, err := c.inForce()
	if err != nil {
		return err
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(cmp.Or(set.LogLevel, "warn"))); err != nil {
		return dengxu.Fieldf(dengxu.Invalid, "log_level", "%q is not debug, info, warn or error", set.LogLevel)
	}
	log := slog.New(slog.NewTextHandler(s.Err, &slog.HandlerOptions{Level: level}))
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	a, err := app.New(app.Options{
		Listen: set.Listen, Data: set.Data, StoreURL: set.Store, Durability: set.Durability, Bare: set.Bare,
		// A flag would show the secret to everybody who lists processes.
		AdminKey:  os.Getenv("DENGXU_ADMIN_KEY"),
		PublicURL: set.PublicURL, TLSCert: set.TLSCert, TLSKey: set.TLSKey, AdminListen: set.AdminListen,
		TrustedProxies: set.TrustedProxy, CORSOrigins: set.CORSOrigin, Version: versionText(), Logger: log,
	})
	if err != nil {
		return err
	}
	if err := a.Run(ctx, func() { greet(s.Out, a, newKeyCommand(set)) }); err != nil {
		return err
	}
	fmt.Fprintln(s.Out, farewell(a))
	return nil
}

// newKeyCommand is what to run when the admin key is lost.
func newKeyCommand(set settings) string {
	if strings.HasPrefix(set.Store, "redis") {
		return "run: dengxu ctl key new --store URL"
	}
	return "stop the server and run: dengxu ctl key new --data " + cmp.Or(set.Data, "./dengxu-data")
}

// farewell says what is left after the end.
func farewell(a *app.App) string {
	if a.About().Kind == "pebble" {
		return "stopped: all acknowledged changes are on disk"
	}
	return "stopped"
}

// inForce lays flags and variables over the file.
func (c *serveCmd) inForce() (settings, error) {
	set := c.settings
	if c.Config == "" {
		return set, nil
	}
	text, err := os.ReadFile(c.Config)
	if err != nil {
		return set, fmt.Errorf("configuration: %w", err)
	}
	var file settings
	root, err := strictyaml.Parse(text)
	if err == nil {
		err = root.Decode(&file)
	}
	if err != nil {
		return set, fmt.Errorf("%s:%w", c.Config, err)
	}
	set.Listen = cmp.Or(set.Listen, file.Listen)
	set.Data = cmp.Or(set.Data, file.Data)
	set.Store = cmp.Or(set.Store, file.Store)
	set.Durability = cmp.Or(set.Durability, file.Durability)
	set.Bare = set.Bare || file.Bare
	set.PublicURL = cmp.Or(set.PublicURL, file.PublicURL)
	set.TLSCert = cmp.Or(set.TLSCert, file.TLSCert)
	set.TLSKey = cmp.Or(set.TLSKey, file.TLSKey)
	set.AdminListen = cmp.Or(set.AdminListen, file.AdminListen)
	set.LogLevel = cmp.Or(set.LogLevel, file.LogLevel)
	if len(set.TrustedProxy) == 0 {
		set.TrustedProxy = file.TrustedProxy
	}
	if len(set.CORSOrigin) == 0 {
		set.CORSOrigin = file.CORSOrigin
	}
	return set, nil
}

// greet tells what serves, what the first start made and what to do next.
func greet(out io.Writer, a *app.App, newKey string) {
	w := new(strings.Builder)
	about, first := a.About(), a.First()
	fmt.Fprintf(w, "dengxu %s\n", versionText())
	fmt.Fprintf(w, "store: %s (%s). %s\n", about.Kind, about.Durability, about.Text)
	if first.Site != "" {
		fmt.Fprintf(w, "first start: site %s (%s), queue %s (5 min a person assumed), counter %s\n", first.Site, first.Zone, first.Queue, first.Counter)
		for _, warning := range first.Warnings {
			fmt.Fprintln(w, "  warning:", warning)
		}
	}
	if first.AdminKey != "" {
		fmt.Fprintf(w, "admin key, shown this once: %s\n  lost it? %s\n", first.AdminKey, newKey)
	}
	fmt.Fprintf(w, "serving %s\n  API for people %s/docs, for programs %s/openapi.json\n", a.URL(), a.URL(), a.URL())
	if a.AdminAddr() != nil {
		fmt.Fprintf(w, "  metrics http://%s/metrics\n", a.AdminAddr())
	}
	if first.Site != "" {
		fmt.Fprintf(w, "try:\n  curl -X POST %s/queue/%s/join\n", a.URL(), first.Queue)
		fmt.Fprintf(w, "  export DENGXU_KEY=%s\n", cmp.Or(first.AdminKey, "$DENGXU_ADMIN_KEY"))
		fmt.Fprintf(w, "  curl -X POST -H \"Authorization: Bearer $DENGXU_KEY\" %s/queue/%s/counter/%s/call_next\n", a.URL(), first.Queue, first.Counter)
	}
	_, _ = io.WriteString(out, w.String()) // in one piece: others may read along
}
