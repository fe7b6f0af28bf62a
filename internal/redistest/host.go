package redistest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports of servers stand below those that the kernel gives to connections, so
// that no connection takes the port of a killed server. A cluster server also
// listens 10,000 above.
const (
	firstPort = 11000
	lastPort  = 21999
	busOffset = 10000
)

// Host is a machine that servers run on. Nil is this one.
type Host struct{ ip string }

// IP is the host's address.
func (h *Host) IP() string {
	if h == nil {
		return "127.0.0.1"
	}
	return h.ip
}

// Dial connects from the host, as a program that runs on it would.
func (h *Host) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: patience}
	return d.DialContext(ctx, network, addr)
}

// enterer returns what puts a thread onto the host; nil is here.
func (h *Host) enterer() func() error { return nil }

// freeAddr returns an address of the host at which nobody listens now.
func (h *Host) freeAddr() (string, error) {
	var failed error
	for range 100 {
		n := firstPort + rand.IntN(lastPort-firstPort+1)
		addr := fmt.Sprintf("%s:%d", h.IP(), n)
		err := errors.Join(h.free(addr), h.free(fmt.Sprintf("%s:%d", h.IP(), n+busOffset)))
		if err == nil {
			return addr, nil
		}
		failed = err
	}
	return "", fmt.Errorf("no free port: %w", failed)
}

func (h *Host) free(addr string) error {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return err
	}
	return l.Close()
}
