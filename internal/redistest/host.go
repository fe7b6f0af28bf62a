package redistest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"runtime"
	"testing"
)

// Ports of servers stand below those that the kernel gives to connections, so
// that no connection takes the port of a killed server. A cluster server also
// listens 10,000 above.
const (
	firstPort = 11000
	lastPort  = 21999
	busOffset = 10000
)

// Host is a machine that servers and programs run on. Nil is this one.
type Host struct {
	ip string
	// enter puts the calling thread onto the host, for good.
	enter func() error
}

// IP is the host's address.
func (h *Host) IP() string {
	if h == nil {
		return "127.0.0.1"
	}
	return h.ip
}

// Run runs a function on the host: what it listens on and dials, and what it
// starts, is there, as long as it does so in its own goroutine.
func (h *Host) Run(do func() error) error {
	if h == nil {
		return do()
	}
	result := make(chan error, 1)
	go func() {
		// The thread has left this machine. It stays locked, so that it ends
		// with the goroutine and nothing else runs on it.
		runtime.LockOSThread()
		err := h.enter()
		if err == nil {
			err = do()
		}
		result <- err
	}()
	return <-result
}

// Dial connects from the host to an IP address and port, as a program that
// runs there would. It suits the DialContext of an http.Transport and the like.
func (h *Host) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var c net.Conn
	err := h.Run(func() (err error) {
		c, err = (&net.Dialer{Timeout: patience}).DialContext(ctx, network, addr)
		return err
	})
	return c, err
}

// Listen listens on the host.
func (h *Host) Listen(ctx context.Context, network, addr string) (net.Listener, error) {
	var l net.Listener
	err := h.Run(func() (err error) {
		l, err = (&net.ListenConfig{}).Listen(ctx, network, addr)
		return err
	})
	return l, err
}

// Start starts a program on the host. It ends with the test, and with the test
// binary.
func (h *Host) Start(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	p, err := launch(cmd, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

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
	l, err := h.Listen(context.Background(), "tcp", addr)
	if err != nil {
		return err
	}
	return l.Close()
}
