package redistest

import (
	"fmt"
	"testing"
)

// Network is a few hosts on one switch, each in a network namespace, with
// programs of this machine. Its methods fail the test and belong in its
// goroutine.
type Network struct {
	t     testing.TB
	hosts []*Host
	wires *Host // where the switch stands
}

// NewNetwork makes a network, which is gone with the test, and with the test
// binary. It needs root, network namespaces and the command ip. Where one is
// missing, the test is left out, which make test says at its end; under make
// torture it fails.
func NewNetwork(t testing.TB, hosts int) *Network {
	t.Helper()
	n, err := wire(t, hosts)
	switch {
	case err == nil:
		return n
	case torture():
		t.Fatalf("no network of hosts: %v", err)
	default:
		// The one thing that not every machine can do; what is lost by it is
		// tested wherever torture runs.
		t.Skipf("left out, and insisted on by make torture: no network of hosts: %v", err)
	}
	return nil
}

// Host returns a host, counted from 0.
func (n *Network) Host(i int) *Host { return n.hosts[i] }

// Hosts returns all hosts.
func (n *Network) Hosts() []*Host { return n.hosts }

// Cut takes a host off the switch. Nothing reaches it or leaves it, and nobody
// is told. Servers on it still answer this package, which asks from there.
func (n *Network) Cut(i int) {
	n.t.Helper()
	n.ip(n.wires, fmt.Sprintf("link set port%d nomaster", i))
}

// Heal puts a host back.
func (n *Network) Heal(i int) {
	n.t.Helper()
	n.ip(n.wires, fmt.Sprintf("link set port%d master switch", i))
}

func (n *Network) ip(h *Host, lines ...string) {
	n.t.Helper()
	if err := h.runIP(lines...); err != nil {
		n.t.Fatal(err)
	}
}
