package redistest

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A master that has just started answers nothing for two seconds: it waits for
// news of a failover that it slept through. A replica does not wait. So each
// node that is to be a master begins as a replica of a node that does not
// exist, and changes its role in one transaction, in between which nobody
// looks whether it waited.
const nodesOfReplica = `%s :0@0 myself,slave %s 0 0 0 connected
%s 127.0.0.1:1@10001 master - 0 0 0 connected 0-16383
vars currentEpoch 0 lastVoteEpoch 0
`

// startCluster starts as many nodes as there are folders and makes them a
// cluster. The nodes are returned in any case, to be killed.
func startCluster(o ClusterOptions, dirs []string) ([]*node, error) {
	nodes := make([]*node, len(dirs))
	err := eachNode(len(nodes), func(i int) (err error) {
		if i < o.Masters {
			id, nobody := strings.Repeat(fmt.Sprintf("%08x", i+1), 5), strings.Repeat("f", 40)
			text := fmt.Sprintf(nodesOfReplica, id, nobody, nobody)
			if err := os.WriteFile(filepath.Join(dirs[i], "nodes.conf"), []byte(text), 0o600); err != nil {
				return err
			}
		}
		each := o.Node
		if each.ReplicaOf, each.Host = nil, nil; len(o.Hosts) > 0 {
			each.Host = o.Hosts[i%len(o.Hosts)]
		}
		each.Config = slices.Concat([]string{
			"cluster-enabled yes", "cluster-require-full-coverage no", "cluster-replica-validity-factor 0",
			// Each replica stays with its master, wherever others fail.
			"cluster-allow-replica-migration no", "cluster-announce-ip " + each.Host.IP(),
			fmt.Sprintf("cluster-node-timeout %d", o.NodeTimeout.Milliseconds()),
		}, each.Config)
		nodes[i], err = startNode(dirs[i], each.Host, false, each.lines())
		return err
	})
	if err == nil {
		err = formCluster(nodes, o.Masters)
	}
	return nodes, err
}

// formCluster deals the slots out to the first nodes, introduces all to each
// other and makes the rest replicas.
func formCluster(nodes []*node, masters int) error {
	err := eachNode(masters, func(i int) error {
		return nodes[i].crown(i+1, i*slots/masters, (i+1)*slots/masters-1)
	})
	// Both ways: who is only met by others hears of them late, by gossip.
	for _, n := range nodes {
		for _, other := range nodes {
			if other == n {
				continue
			}
			host, port, _ := strings.Cut(other.addr, ":")
			_, refused := n.Do("CLUSTER", "MEET", host, port)
			err = errors.Join(err, refused)
		}
	}
	if err != nil {
		return err
	}
	if err := retry(patience, func() (bool, error) { return introduced(nodes) }); err != nil {
		return fmt.Errorf("the nodes do not know each other: %w", err)
	}
	err = eachNode(len(nodes)-masters, func(i int) error {
		master := nodes[i%masters]
		if err := nodes[masters+i].follow(master); err != nil {
			return err
		}
		// A replica at offset 0 is kept from clients, and this is replicated
		// even where there is nothing to delete.
		_, err := master.Do("FLUSHALL")
		return err
	})
	if err != nil {
		return err
	}
	if err := retry(patience, func() (bool, error) { return agreed(nodes, masters) }); err != nil {
		return fmt.Errorf("the nodes do not agree: %w", err)
	}
	return nil
}

// crown makes a replica of nobody the master of its slots.
func (n *node) crown(epoch, from, to int) error {
	c, err := n.dial()
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	err = n.until(func() (bool, error) {
		reply, err := c.Do("CLUSTER", "INFO")
		return strings.Contains(fmt.Sprint(reply), "cluster_state:ok"), err
	})
	if err != nil {
		return err
	}
	replies, err := c.Pipe(
		[]any{"MULTI"}, []any{"CLUSTER", "RESET"}, []any{"CLUSTER", "SET-CONFIG-EPOCH", epoch},
		[]any{"CLUSTER", "ADDSLOTSRANGE", from, to}, []any{"EXEC"},
	)
	if err != nil {
		return err
	}
	if got, want := fmt.Sprint(replies[4]), "[OK OK OK]"; got != want {
		return fmt.Errorf("dealing out slots: %v", replies)
	}
	return nil
}

// follow makes a node the replica of another and waits for the first sync.
func (n *node) follow(master *node) error {
	id, err := master.Do("CLUSTER", "MYID")
	if err != nil {
		return err
	}
	if _, err := n.Do("CLUSTER", "REPLICATE", id); err != nil {
		return err
	}
	return n.until(func() (bool, error) {
		reply, err := n.Do("INFO", "replication")
		return strings.Contains(fmt.Sprint(reply), "master_link_status:up"), err
	})
}

// introduced reports whether every node is connected to every other.
func introduced(nodes []*node) (bool, error) {
	for _, n := range nodes {
		reply, err := n.Do("CLUSTER", "NODES")
		if err != nil {
			return false, err
		}
		text := fmt.Sprint(reply)
		if strings.Count(text, " connected") != len(nodes) || strings.Contains(text, "handshake") {
			return false, fmt.Errorf("%s knows %q", n.addr, text)
		}
	}
	return true, nil
}

// agreed reports whether all nodes say that every slot is served, each by as
// many as there should be.
func agreed(nodes []*node, masters int) (bool, error) {
	for _, n := range nodes {
		info, err := n.Do("CLUSTER", "INFO")
		if err != nil {
			return false, err
		}
		ranges, err := n.slots()
		if err != nil {
			return false, err
		}
		servers := 0
		for _, r := range ranges {
			servers += len(r.servers)
		}
		text := fmt.Sprint(info)
		if !strings.Contains(text, "cluster_state:ok") || !strings.Contains(text, fmt.Sprint("cluster_slots_ok:", slots)) ||
			len(ranges) != masters || servers != len(nodes) {
			return false, fmt.Errorf("%s: %v, %q", n.addr, ranges, text)
		}
	}
	return true, nil
}

// retry asks again and again, a little less often each time, until the answer
// is yes; an error with a yes ends it too.
func retry(limit time.Duration, ask func() (bool, error)) error {
	deadline := time.Now().Add(limit)
	for pause := time.Millisecond; ; pause = min(pause*3/2, 50*time.Millisecond) {
		ok, err := ask()
		if ok {
			return err
		}
		if time.Now().After(deadline) {
			return cmp.Or(err, errors.New("not in time"))
		}
		time.Sleep(pause)
	}
}
