package redistest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// wire makes the namespaces and connects them.
func wire(t testing.TB, hosts int) (*Network, error) {
	t.Helper()
	n := &Network{t: t}
	// What holds a namespace is an open file of this process: when that ends
	// for whatever reason, the namespaces are gone.
	paths := make([]string, 1+hosts)
	for i := range paths {
		file, err := newNamespace()
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = file.Close() })
		paths[i] = fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), file.Fd())
		h := &Host{ip: fmt.Sprintf("10.77.0.%d", i), enter: func() error {
			return unix.Setns(int(file.Fd()), unix.CLONE_NEWNET)
		}}
		if i == 0 {
			n.wires = h
			continue
		}
		n.hosts = append(n.hosts, h)
	}
	lines := []string{"link add switch type bridge", "link set switch up"}
	for i := range n.hosts {
		lines = append(lines,
			fmt.Sprintf("link add port%d type veth peer name eth0 netns %s", i, paths[1+i]),
			fmt.Sprintf("link set port%d master switch up", i))
	}
	err := n.wires.runIP(lines...)
	for _, h := range n.hosts {
		err = errors.Join(err, h.runIP("link set lo up", "addr add "+h.ip+"/24 dev eth0", "link set eth0 up"))
	}
	return n, err
}

// newNamespace makes a network namespace, which is there as long as the file
// is open.
func newNamespace() (*os.File, error) {
	var file *os.File
	h := &Host{enter: func() error { return syscall.Unshare(syscall.CLONE_NEWNET) }}
	err := h.Run(func() (err error) {
		file, err = os.Open("/proc/thread-self/ns/net")
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("a new network namespace: %w", err)
	}
	return file, nil
}

// runIP gives the command ip its lines on the host.
func (h *Host) runIP(lines ...string) error {
	path, err := exec.LookPath("ip")
	if err != nil {
		return err
	}
	return h.Run(func() error {
		cmd := exec.CommandContext(context.Background(), path, "-batch", "-")
		cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("ip: %w: %s", err, out)
		}
		return nil
	})
}
