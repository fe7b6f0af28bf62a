package redistest_test

import (
	"bytes"
	"context"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/dengxu/dengxu/internal/redistest"
)

func TestNetworkCutsAndHeals(t *testing.T) {
	t.Parallel()
	n := redistest.NewNetwork(t, 2)
	s := redistest.Start(t, redistest.Options{Host: n.Host(0)})
	s.MustDo("SET", "k", "v")
	reach := func(from *redistest.Host) error {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		c, err := from.Dial(ctx, "tcp", s.Addr())
		if err == nil {
			c.Close()
		}
		return err
	}
	if err := reach(n.Host(1)); err != nil {
		t.Fatalf("one host does not reach the other: %v", err)
	}
	n.Cut(0)
	if err := reach(n.Host(1)); err == nil {
		t.Error("a cut host is reached")
	}
	if got := s.MustDo("GET", "k"); got != "v" {
		t.Errorf("a cut server answers %v where it is", got)
	}
	n.Heal(0)
	for deadline := time.Now().Add(10 * time.Second); reach(n.Host(1)) != nil; {
		if time.Now().After(deadline) {
			t.Fatal("a healed host is not reached")
		}
	}
}

// TestNetworkIsSilent holds that a cut breaks no connection: what was sent
// arrives when it is healed.
func TestNetworkIsSilent(t *testing.T) {
	t.Parallel()
	n := redistest.NewNetwork(t, 2)
	l, err := n.Host(0).Listen(t.Context(), "tcp", n.Host(0).IP()+":7")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := n.Host(1).Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	n.Cut(0)
	if _, err := c.Write([]byte("x")); err != nil {
		t.Fatalf("a write across the cut: %v", err)
	}
	buf := make([]byte, 1)
	_ = peer.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := peer.Read(buf); err == nil {
		t.Fatal("a byte crossed the cut")
	}
	n.Heal(0)
	_ = peer.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := peer.Read(buf); err != nil || buf[0] != 'x' {
		t.Errorf("after the cut: %v %q", err, buf)
	}
}

func TestNetworkRunsPrograms(t *testing.T) {
	t.Parallel()
	n := redistest.NewNetwork(t, 1)
	var out bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "ip", "-4", "-o", "addr", "show", "eth0")
	cmd.Stdout = &out
	<-n.Host(0).Start(t, cmd).Done()
	if !strings.Contains(out.String(), n.Host(0).IP()+"/24") {
		t.Errorf("on the host, ip says %q", out.String())
	}
	here, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range here {
		if strings.HasPrefix(addr.String(), "10.77.0.") {
			t.Errorf("this machine has an address of the hosts: %v", addr)
		}
	}
}
