package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/dengxu/dengxu/internal/httpapi"
)

// listen opens the public listener and works out the address to show.
func (a *App) listen(ctx context.Context) (net.Listener, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", a.o.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", a.o.Listen, err)
	}
	// A server closes its listener itself; until one has it, Stop does.
	a.atStop("listener", func(context.Context) error {
		if err := listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	})
	a.addr = listener.Addr()
	a.base = strings.TrimRight(a.o.PublicURL, "/")
	if a.base == "" {
		a.base = shownURL(listener.Addr(), a.o.TLSCert != "")
	}
	return listener, nil
}

// shownURL is the address of a listener as a browser on this machine takes it.
func shownURL(addr net.Addr, secure bool) string {
	scheme, host := "http", addr.String()
	if secure {
		scheme = "https"
	}
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		host = fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return scheme + "://" + host
}

// serve answers on listener until Stop. endFeed is called when the drain
// begins: a server waits for open streams and long polls, and these wait for
// the feed.
func (a *App) serve(listener net.Listener, h http.Handler, endFeed func()) error {
	server := httpapi.NewServer(h, a.log)
	if a.o.TLSCert != "" { // read now, so that a wrong file stops the start
		pair, err := tls.LoadX509KeyPair(a.o.TLSCert, a.o.TLSKey)
		if err != nil {
			return fmt.Errorf("TLS certificate: %w", err)
		}
		server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	}
	a.background("server", func() {}, func() {
		var err error
		if a.o.TLSCert != "" {
			err = server.ServeTLS(listener, "", "")
		} else {
			err = server.Serve(listener)
		}
		if !errors.Is(err, http.ErrServerClosed) {
			a.failed <- fmt.Errorf("serve: %w", err)
		}
	})
	a.atStop("requests", func(ctx context.Context) error {
		endFeed()
		return a.drain(ctx, server)
	})
	return nil
}

// drain waits for requests, then cuts what is left.
func (a *App) drain(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, a.o.Drain)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("requests were cut: %w", err), server.Close())
	}
	return nil
}

// serveAdmin opens the admin listener, if one is asked for.
func (a *App) serveAdmin(ctx context.Context, m *metrics) error {
	if a.o.AdminListen == "" {
		return nil
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", a.o.AdminListen)
	if err != nil {
		return fmt.Errorf("listen for the admin on %s: %w", a.o.AdminListen, err)
	}
	a.admin = listener.Addr()
	server := httpapi.NewServer(adminHandler(m), a.log)
	a.background("admin server", func() {}, func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			a.failed <- fmt.Errorf("serve the admin: %w", err)
		}
	})
	a.atStop("admin requests", func(ctx context.Context) error { return a.drain(ctx, server) })
	return nil
}
