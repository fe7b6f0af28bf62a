package redistest_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu/internal/redistest"
)

func TestCluster(t *testing.T) {
	t.Parallel()
	began := time.Now()
	c := redistest.StartCluster(t, redistest.ClusterOptions{})
	t.Logf("started in %v", time.Since(began))
	for i, slot := range []int{0, 5461, 16383} {
		if got := c.MasterOf(slot); got.Addr() != c.Node(i).Addr() {
			t.Errorf("slot %d is at %s, want node %d at %s", slot, got.Addr(), i, c.Node(i).Addr())
		}
	}
	if n := strings.Count(c.URL(), ","); !strings.HasPrefix(c.URL(), "redis+cluster://127.0.0.1:") || n != 2 {
		t.Errorf("URL %s", c.URL())
	}
	slot := c.Slot("{a}b")
	if again := c.Slot("a"); again != slot {
		t.Errorf("a hash tag has slot %d, its key %d", again, slot)
	}
	owner := c.MasterOf(slot)
	owner.MustDo("SET", "{a}b", 1)
	for _, s := range c.Nodes() {
		if s.Addr() == owner.Addr() {
			continue
		}
		_, err := s.Do("SET", "{a}b", 2)
		if refused, ok := errors.AsType[redistest.ReplyError](err); !ok || !strings.HasSuffix(refused.Error(), owner.Addr()) {
			t.Errorf("node %s answers %v, want MOVED to %s", s.Addr(), err, owner.Addr())
		}
	}
}

func TestClusterMigrates(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{})
	keys := []string{"{q}a", "{q}b", "{q}c"}
	slot := c.Slot(keys[0])
	from := c.MasterOf(slot)
	to := c.Node(0)
	if to.Addr() == from.Addr() {
		to = c.Node(1)
	}
	for _, key := range keys {
		from.MustDo("SET", key, key)
	}
	var moved []string
	c.Migrate(slot, from, to, func(key string) {
		moved = append(moved, key)
		got, err := from.Do("GET", keys[0])
		if err != nil && !strings.HasPrefix(err.Error(), "ASK ") || err == nil && got != keys[0] {
			t.Errorf("after %q the old owner answers %v %v", key, got, err)
		}
	})
	if len(moved) != 4 || moved[0] != "" {
		t.Errorf("steps: %q", moved)
	}
	for _, key := range keys {
		if got := to.MustDo("GET", key); got != key {
			t.Errorf("the new owner has %v for %s", got, key)
		}
	}
	if got := c.MasterOf(slot); got.Addr() != to.Addr() {
		t.Errorf("the slot is at %s, want %s", got.Addr(), to.Addr())
	}
}

func TestClusterFailsOver(t *testing.T) {
	t.Parallel()
	began := time.Now()
	c := redistest.StartCluster(t, redistest.ClusterOptions{Replicas: 1, NodeTimeout: time.Second})
	t.Logf("started in %v", time.Since(began))
	slot := c.Slot("k")
	old := c.MasterOf(slot)
	conn := old.Conn()
	replies, err := conn.Pipe([]any{"SET", "k", "v"}, []any{"WAIT", 1, 5000})
	if diff := cmp.Diff([]any{"OK", int64(1)}, replies); err != nil || diff != "" {
		t.Fatalf("%v %s", err, diff)
	}
	began = time.Now()
	promoted := c.Failover(slot)
	t.Logf("failed over in %v", time.Since(began))
	promoted.Await("v", "GET", "k")
	old.Restart()
	old.Await("role:slave", "INFO", "replication")
	if got := c.MasterOf(slot); got.Addr() != promoted.Addr() {
		t.Errorf("after the old master came back, %s has the slot, want %s", got.Addr(), promoted.Addr())
	}
}

func TestClusterLosesOnlyOneShard(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{NodeTimeout: time.Second})
	dead := c.MasterOf(c.Slot("a"))
	alive := c.MasterOf(c.Slot("b"))
	if dead.Addr() == alive.Addr() {
		t.Fatal("two keys of one shard")
	}
	dead.Kill()
	alive.Await("cluster_slots_fail:54", "CLUSTER", "INFO")
	alive.MustDo("SET", "b", 1)
}

func TestSharedCluster(t *testing.T) {
	t.Parallel()
	a, b := redistest.SharedCluster(t), redistest.SharedCluster(t)
	if a.URL() != b.URL() {
		t.Fatalf("two shared clusters: %s and %s", a.URL(), b.URL())
	}
	key := redistest.Prefix(t) + "k"
	a.MasterOf(a.Slot(key)).MustDo("SET", key, 1)
	if got := b.MasterOf(b.Slot(key)).MustDo("GET", key); got != "1" {
		t.Errorf("the key of this test: %v", got)
	}
}

func TestClusterBehindProxies(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{})
	proxies := c.Proxies()
	slot := c.Slot("k")
	for i, p := range proxies {
		if !strings.Contains(c.URL(), p.Addr()) {
			t.Errorf("%s is not in %s", p.Addr(), c.URL())
		}
		_, err := through(t, p).Do("INCR", "k")
		if c.Node(i) == c.MasterOf(slot) {
			if err != nil {
				t.Errorf("the owner answers %v", err)
			}
			continue
		}
		j := slices.Index(c.Nodes(), c.MasterOf(slot))
		if refused, ok := errors.AsType[redistest.ReplyError](err); !ok || !strings.HasSuffix(refused.Error(), proxies[j].Addr()) {
			t.Errorf("node %d answers %v, want MOVED to the proxy %s", i, err, proxies[j].Addr())
		}
	}
}

func TestClusterOnHosts(t *testing.T) {
	t.Parallel()
	n := redistest.NewNetwork(t, 3)
	// Node i and its replica stand on different hosts.
	c := redistest.StartCluster(t, redistest.ClusterOptions{
		Masters: 4, Replicas: 1, NodeTimeout: time.Second, Hosts: n.Hosts(),
	})
	old, replica := c.Node(1), c.Node(5)
	n.Cut(1)
	old.Await("cluster_state:fail", "CLUSTER", "INFO")
	replica.Await("role:master", "INFO", "replication")
	n.Heal(1)
	c.AwaitMaster(4096, replica)
	old.Await("role:slave", "INFO", "replication")
}
