// Package app puts a server together: it opens the store, the engine, the feed
// and the listeners, runs the loops that the engine only offers as functions,
// and takes it all down in reverse order. It owns lifecycles and refuses any
// rule about waiting lines and any flag or environment variable.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/feed"
	"github.com/dengxu/dengxu/internal/httpapi"
	"github.com/dengxu/dengxu/internal/store"
)

// Options say what to serve. Zero values take the defaults.
type Options struct {
	Listen   string // "" = 127.0.0.1:8080; port 0 takes a free one
	Data     string // folder of the store; "" = ./dengxu-data
	StoreURL string // "pebble:DIR", "memory:" or "redis://…"; "" = pebble in Data
	// Durability of a Redis store: "fast" or "" = as its server is set up;
	// "replicated" = a change is answered when a replica has it too.
	Durability string
	// Store is used, and closed, instead of StoreURL; for tests.
	Store store.Store
	// Bare leaves an empty store empty.
	Bare bool
	// AdminKey is the secret of the admin key; "" = make one if there is none.
	AdminKey string
	// PublicURL is where people reach the server; "" = the listener's address.
	PublicURL string
	// TLSCert and TLSKey are files; both or none.
	TLSCert, TLSKey string
	// AdminListen serves metrics and profiles without authentication; "" = no.
	AdminListen string
	// TrustedProxies may say in X-Forwarded-For who the client is.
	TrustedProxies []netip.Prefix
	// CORSOrigins are origins whose pages may use the API.
	CORSOrigins []string
	Version     string
	Logger      *slog.Logger // nil = discard
	// Drain bounds how long Stop waits for requests; 0 = 30 s.
	Drain time.Duration
}

// App is one server. Start and Stop are called once each, in this order.
type App struct {
	o      Options
	log    *slog.Logger
	base   string
	store  store.Store
	engine *engine.Engine
	feed   *feed.Feed
	first  First
	addr   net.Addr
	admin  net.Addr

	loops    *loops
	cleanups []cleanup
	failed   chan error  // capacity: one error of each of two listeners
	away     atomic.Bool // the store did not answer when it was last asked whether it would
}

// cleanup undoes one step of Start.
type cleanup struct {
	name string
	run  func(context.Context) error
}

// New builds an app without touching disk or network. Options that contradict
// each other are Invalid.
func New(o Options) (*App, error) {
	if (o.TLSCert == "") != (o.TLSKey == "") {
		return nil, dengxu.Errorf(dengxu.Invalid, "a TLS certificate and its key come together")
	}
	if o.PublicURL != "" {
		u, err := url.Parse(o.PublicURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return nil, dengxu.Fieldf(dengxu.Invalid, "public_url", "%q is not an http or https address", o.PublicURL)
		}
	}
	for _, origin := range o.CORSOrigins {
		if err := http.NewCrossOriginProtection().AddTrustedOrigin(origin); err != nil {
			return nil, dengxu.Fieldf(dengxu.Invalid, "cors_origin", "%q is not an origin such as https://tickets.example", origin)
		}
	}
	if err := checkStore(o.StoreURL, o.Durability); err != nil {
		return nil, err
	}
	o.Listen = cmp.Or(o.Listen, "127.0.0.1:8080")
	o.Data = cmp.Or(o.Data, "./dengxu-data")
	o.Drain = cmp.Or(o.Drain, 30*time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &App{o: o, log: o.Logger, failed: make(chan error, 2)}, nil
}

// URL returns where the server is reached, without a slash at its end.
func (a *App) URL() string { return a.base }

// Addr returns the address of the public listener.
func (a *App) Addr() net.Addr { return a.addr }

// AdminAddr returns the address of the admin listener, nil without one.
func (a *App) AdminAddr() net.Addr { return a.admin }

// First tells what the start made.
func (a *App) First() First { return a.first }

// About describes the store.
func (a *App) About() store.About { return a.store.About() }

// Start opens and serves. When it fails, everything it opened is closed again.
func (a *App) Start(ctx context.Context) error {
	err := a.start(ctx)
	if err != nil {
		return errors.Join(err, a.Stop(context.WithoutCancel(ctx)))
	}
	return nil
}

func (a *App) start(ctx context.Context) error {
	listener, err := a.listen(ctx)
	if err != nil {
		return err
	}
	if err := a.openStore(ctx); err != nil {
		return err
	}
	loopback := a.loopback(listener.Addr())
	a.engine, err = engine.Open(ctx, engine.Options{
		Store: a.store, Logger: a.log, Loopback: loopback,
		TicketURL: func(id dengxu.TokenID) string { return a.base + "/t/" + url.PathEscape(string(id)) },
	})
	if err != nil {
		return fmt.Errorf("open the engine: %w", err)
	}
	if a.first, err = firstStart(ctx, a.engine, a.o); err != nil {
		return err
	}
	endFeed, err := a.runLoops(ctx)
	if err != nil {
		return err
	}
	m := newMetrics(a.store, a.engine, a.o.Version)
	if err := a.serveAdmin(ctx, m); err != nil {
		return err
	}
	return a.serve(listener, httpapi.New(httpapi.Options{
		Engine: a.engine, Feed: a.feed, Ready: a.ready, Logger: a.log, Version: a.o.Version, PublicURL: a.o.PublicURL,
		TrustedProxies: a.o.TrustedProxies, CORSOrigins: a.o.CORSOrigins, Done: m.observe, Export: a.export,
	}), endFeed)
}

// openStore takes the given store or opens the one that StoreURL names.
func (a *App) openStore(ctx context.Context) (err error) {
	a.store = a.o.Store
	if a.store == nil {
		if a.store, err = openStore(ctx, a.o); err != nil {
			return err
		}
	}
	a.atStop("store", func(context.Context) error { return a.store.Close() })
	return nil
}

// runLoops starts the feed and everything that happens by itself. The returned
// function ends the feed's subscriptions, which answers long polls and closes
// streams.
func (a *App) runLoops(ctx context.Context) (endFeed func(), err error) {
	a.loops = newLoops(a.engine, a.store, a.log)
	if err := a.loops.begin(ctx); err != nil {
		return nil, err
	}
	a.feed = feed.New(feed.Options{
		Store: a.store, Event: a.engine.Event, Observe: a.engine.Observe, Moved: a.loops.wake,
		Refresh: a.engine.RefreshPartition, PartitionOf: a.engine.PartitionOf, Logger: a.log,
	})
	feedCtx, endFeed := context.WithCancel(context.Background())
	a.background("feed", endFeed, func() {
		if err := a.feed.Run(feedCtx); err != nil {
			a.log.Error("the feed ended", "error", err)
		}
	})
	a.atStop("what the loops keep", a.loops.end)
	loopsCtx, endLoops := context.WithCancel(context.Background())
	a.background("loops", endLoops, func() { a.loops.run(loopsCtx) })
	return endFeed, nil
}

// background runs a loop until Stop, which waits for its end.
func (a *App) background(name string, cancel context.CancelFunc, loop func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		loop()
	}()
	a.atStop(name, func(ctx context.Context) error {
		cancel()
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

func (a *App) atStop(name string, run func(context.Context) error) {
	a.cleanups = append(a.cleanups, cleanup{name, run})
}

// Settle does everything that is due now before it returns: timers, and what
// follows from events. It returns how long until the next thing is due by the
// store's clock; 0 = nothing is known. The loops do the same by themselves, a
// little later; this is for tests that move the store's clock.
func (a *App) Settle(ctx context.Context) (wait time.Duration, err error) { return a.loops.settle(ctx) }

// Stop drains: no new connections, long polls answered, streams closed,
// requests finished, loops ended, the store closed. Requests that outlast
// Options.Drain are cut. It goes through every step, whatever fails.
func (a *App) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, a.o.Drain+10*time.Second)
	defer cancel()
	var errs []error
	for _, c := range slices.Backward(a.cleanups) {
		if err := c.run(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", c.name, err))
		}
	}
	a.cleanups = nil
	return errors.Join(errs...)
}

// Run starts, serves until ctx ends or a listener fails, and stops. It returns
// nil after a clean drain.
func (a *App) Run(ctx context.Context, started func()) error {
	if err := a.Start(ctx); err != nil {
		return err
	}
	if started != nil {
		started()
	}
	var err error
	select {
	case <-ctx.Done():
		a.log.Info("draining")
	case err = <-a.failed:
	}
	return errors.Join(err, a.Stop(context.WithoutCancel(ctx)))
}

// loopback reports whether nobody but this machine can reach the server. A
// public address means that a proxy on this machine lets others in.
func (a *App) loopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || !tcp.IP.IsLoopback() {
		return false
	}
	u, err := url.Parse(a.base)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || (err == nil && ip.IsLoopback())
}
