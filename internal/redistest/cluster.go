package redistest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// slots is how many slots every cluster has.
const slots = 16384

// ClusterOptions say what a cluster of a test is made of.
type ClusterOptions struct {
	// Masters is how many nodes have slots; 3 when it is 0. Replicas is how
	// many replicas each of them has.
	Masters, Replicas int
	// NodeTimeout is the silence after which a node counts as failed; 1.5 s
	// when it is 0.
	NodeTimeout time.Duration
	// Node is how each node is started. Its Host and ReplicaOf do not count.
	Node Options
	// Hosts are the machines that the nodes are dealt out to, in turn; this
	// one when there are none.
	Hosts []*Host
}

// Cluster is a Redis Cluster of its own, with the slots in even ranges over
// its masters. Slots that no living node has fail alone. Its methods fail the
// test and belong in its goroutine.
type Cluster struct {
	t       testing.TB
	nodes   []*Server
	proxies []*Proxy // of the nodes, when there are any
}

// StartCluster starts a cluster and waits until all of its nodes agree on it.
// It ends with the test.
func StartCluster(t testing.TB, o ClusterOptions) *Cluster {
	t.Helper()
	o = o.orDefaults()
	dirs := make([]string, o.Masters*(1+o.Replicas))
	for i := range dirs {
		dirs[i] = t.TempDir()
	}
	nodes, err := startCluster(o, dirs)
	t.Cleanup(func() { killAll(nodes) })
	if err != nil {
		t.Fatal(err)
	}
	return clusterOf(t, nodes, false)
}

func (o ClusterOptions) orDefaults() ClusterOptions {
	o.Masters, o.NodeTimeout = cmp.Or(o.Masters, 3), cmp.Or(o.NodeTimeout, 1500*time.Millisecond)
	return o
}

func clusterOf(t testing.TB, nodes []*node, shared bool) *Cluster {
	t.Helper()
	c := &Cluster{t: t}
	for _, n := range nodes {
		c.nodes = append(c.nodes, &Server{node: n, t: t, shared: shared})
	}
	return c
}

// URL is the cluster as the product is told of it, with all nodes; when there
// are proxies, with these.
func (c *Cluster) URL() string {
	addrs := make([]string, len(c.nodes))
	for i := range c.nodes {
		addrs[i] = c.announced(i)
	}
	return "redis+cluster://" + strings.Join(addrs, ",")
}

// Proxies puts a proxy before each node, in the order of Node, and waits until
// all nodes announce the proxies to clients in place of themselves. Replicas
// would copy their masters through the proxies, which cannot follow that: it
// is for clusters without.
func (c *Cluster) Proxies() []*Proxy {
	c.t.Helper()
	if len(c.masters()) != len(c.nodes) {
		c.t.Fatal("no proxies for a cluster with replicas")
	}
	for _, s := range c.nodes {
		s.own()
		p := NewProxy(c.t, s.Addr())
		_, port, _ := strings.Cut(p.Addr(), ":")
		s.MustDo("CONFIG", "SET", "cluster-announce-port", port)
		c.proxies = append(c.proxies, p)
	}
	for i, s := range c.nodes {
		c.AwaitMaster(i*slots/len(c.nodes), s)
	}
	return slices.Clone(c.proxies)
}

// announced is the address that a node gives to clients.
func (c *Cluster) announced(i int) string {
	if c.proxies != nil {
		return c.proxies[i].Addr()
	}
	return c.nodes[i].Addr()
}

// Node returns a node: first come those that began as masters, in the order of
// their slots, then their first replicas in the same order, and so on.
func (c *Cluster) Node(i int) *Server { return c.nodes[i] }

// Nodes returns all nodes in the order of Node.
func (c *Cluster) Nodes() []*Server { return slices.Clone(c.nodes) }

// Slot returns the slot of a key.
func (c *Cluster) Slot(key string) int {
	c.t.Helper()
	n, _ := c.anyone().MustDo("CLUSTER", "KEYSLOT", key).(int64)
	return int(n)
}

// MasterOf returns the node that has a slot, by the word of a living node.
func (c *Cluster) MasterOf(slot int) *Server {
	c.t.Helper()
	s := c.anyone()
	master, err := c.masterBy(s, slot)
	if err != nil {
		c.t.Fatal(err)
	}
	return master
}

// masterBy returns the node that has a slot, by the word of a node.
func (c *Cluster) masterBy(s *Server, slot int) (*Server, error) {
	ranges, err := s.slots()
	if err != nil {
		return nil, err
	}
	for _, r := range ranges {
		if slot < r.from || r.to < slot {
			continue
		}
		for i, master := range c.nodes {
			if c.announced(i) == r.servers[0] {
				return master, nil
			}
		}
	}
	return nil, fmt.Errorf("%s knows no node of the cluster that has slot %d: %v", s.Addr(), slot, ranges)
}

// Migrate moves a slot to another master, key by key. between is called with
// "" when the slot stands open at both, and after each key with it; nil is
// allowed.
func (c *Cluster) Migrate(slot int, from, to *Server, between func(key string)) {
	c.t.Helper()
	if between == nil {
		between = func(string) {}
	}
	to.MustDo("CLUSTER", "SETSLOT", slot, "IMPORTING", from.MustDo("CLUSTER", "MYID"))
	from.MustDo("CLUSTER", "SETSLOT", slot, "MIGRATING", to.MustDo("CLUSTER", "MYID"))
	between("")
	host, port, _ := strings.Cut(to.Addr(), ":")
	for {
		keys, _ := from.MustDo("CLUSTER", "GETKEYSINSLOT", slot, 1).([]any)
		if len(keys) == 0 {
			break
		}
		key := fmt.Sprint(keys[0])
		from.MustDo("MIGRATE", host, port, key, 0, patience.Milliseconds())
		between(key)
	}
	// The new owner first: the old one, once it has let go, sends all there.
	for _, s := range slices.Concat([]*Server{to, from}, c.masters()) {
		s.MustDo("CLUSTER", "SETSLOT", slot, "NODE", to.MustDo("CLUSTER", "MYID"))
	}
	c.AwaitMaster(slot, to)
}

// Failover kills the node that has a slot and returns the replica that took
// its place, once all living nodes know it.
func (c *Cluster) Failover(slot int) *Server {
	c.t.Helper()
	old := c.MasterOf(slot)
	old.Kill()
	return c.AwaitPromotion(slot, old)
}

// AwaitPromotion waits until all living nodes know another master of the slot
// than the old one, and returns it.
func (c *Cluster) AwaitPromotion(slot int, old *Server) *Server {
	c.t.Helper()
	return c.await(slot, "another than "+old.Addr(), func(s *Server) bool { return s != old })
}

// AwaitMaster waits until all living nodes know the slot's master to be this.
func (c *Cluster) AwaitMaster(slot int, s *Server) {
	c.t.Helper()
	c.await(slot, s.Addr(), func(master *Server) bool { return master == s })
}

// await waits until all living nodes name the same master of the slot, and it
// is one that is asked for.
func (c *Cluster) await(slot int, what string, is func(master *Server) bool) *Server {
	c.t.Helper()
	var agreed *Server
	err := retry(3*patience, func() (bool, error) {
		agreed = nil
		for _, s := range c.living() {
			master, err := c.masterBy(s, slot)
			if err != nil {
				return false, err
			}
			if !is(master) || agreed != nil && master != agreed {
				return false, fmt.Errorf("%s says %s", s.Addr(), master.Addr())
			}
			agreed = master
		}
		return agreed != nil, nil
	})
	if err != nil {
		c.t.Fatalf("not all nodes know the master of slot %d to be %s: %v", slot, what, err)
	}
	return agreed
}

// masters returns the living nodes that are masters.
func (c *Cluster) masters() []*Server {
	c.t.Helper()
	return slices.DeleteFunc(c.living(), func(s *Server) bool {
		role, _ := s.MustDo("ROLE").([]any)
		return len(role) == 0 || role[0] != "master"
	})
}

// living returns the nodes that run and are not frozen.
func (c *Cluster) living() []*Server {
	return slices.DeleteFunc(c.Nodes(), func(s *Server) bool { return !s.running() })
}

func (c *Cluster) anyone() *Server {
	c.t.Helper()
	living := c.living()
	if len(living) == 0 {
		c.t.Fatal("no node lives")
	}
	return living[0]
}

// slotRange is a range of slots and the addresses that have it, the master's
// first.
type slotRange struct {
	from, to int
	servers  []string
}

// slots asks a node who has what.
func (n *node) slots() ([]slotRange, error) {
	reply, err := n.Do("CLUSTER", "SLOTS")
	if err != nil {
		return nil, err
	}
	var ranges []slotRange
	list, _ := reply.([]any)
	for _, each := range list {
		parts, _ := each.([]any)
		if len(parts) < 3 {
			return nil, fmt.Errorf("CLUSTER SLOTS: %v", reply)
		}
		var r slotRange
		for i, bound := range []*int{&r.from, &r.to} {
			*bound, err = strconv.Atoi(fmt.Sprint(parts[i]))
			if err != nil {
				return nil, err
			}
		}
		for _, server := range parts[2:] {
			fields, _ := server.([]any)
			if len(fields) < 2 {
				return nil, fmt.Errorf("CLUSTER SLOTS: %v", reply)
			}
			r.servers = append(r.servers, fmt.Sprintf("%v:%v", fields[0], fields[1]))
		}
		ranges = append(ranges, r)
	}
	return ranges, nil
}

// killAll ends the nodes that were started.
func killAll(nodes []*node) {
	for _, n := range nodes {
		if n != nil {
			n.kill()
		}
	}
}

// eachNode does something to all nodes at once.
func eachNode(count int, do func(i int) error) error {
	failed := make(chan error)
	for i := range count {
		go func() { failed <- do(i) }()
	}
	var all error
	for range count {
		all = errors.Join(all, <-failed)
	}
	return all
}
