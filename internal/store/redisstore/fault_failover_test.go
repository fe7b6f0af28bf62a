package redisstore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/redistest"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/redisstore"
)

// quick has sentinels look often: an old master that comes back is sent to the
// new one when it has been asked twice who it is, which is every ten seconds.
func quick(s *redistest.Sentinel) {
	for i := range 3 {
		s.Sentinel(i).MustDo("SENTINEL", "DEBUG", "info-period", 500, "publish-period", 500)
	}
}

func replicated(o *redisstore.Options) { o.Replicated = true }

// recovers expects that a crowd goes on within ten seconds.
func (c *crowd) recovers() {
	c.t.Helper()
	began := time.Now()
	for _, s := range c.stores {
		c.awaitAt(s, 3)
	}
	took := time.Since(began)
	c.t.Logf("recovered after %v", took)
	if took > 10*time.Second {
		c.t.Errorf("recovered after %v", took)
	}
}

// TestSentinelFailover kills masters. Two processes that live through it give no
// number twice, and count what was lost.
func TestSentinelFailover(t *testing.T) {
	t.Parallel()
	sentinel := redistest.StartSentinel(t, redistest.SentinelOptions{})
	quick(sentinel)
	s := openAt(t, sentinel.URL(), "p:")
	other := openAt(t, sentinel.URL(), "p:")
	c := newCrowd(t, s, other)
	c.start(8, 4)
	for i := range rounds(1, 5) {
		if i > 0 {
			old := sentinel.Server((i + 1) % 2) // they take turns
			old.Restart()
			old.Await("master_link_status:up", "INFO", "replication")
		}
		c.await(50)
		old := sentinel.Master()
		old.Kill()
		sentinel.AwaitPromotion(old)
		c.recovers()
	}
	c.end()
	if v := c.counted(s); v.repeated > 0 {
		t.Errorf("%d numbers were given twice by processes that lived through it", v.repeated)
	}
}

// TestReplicatedFailover kills masters while each commit waits for a replica:
// nothing that was acknowledged is lost, and nobody is called by two counters.
func TestReplicatedFailover(t *testing.T) {
	t.Parallel()
	sentinel := redistest.StartSentinel(t, redistest.SentinelOptions{})
	quick(sentinel)
	s := openAt(t, sentinel.URL(), "p:", replicated)
	other := openAt(t, sentinel.URL(), "p:", replicated)
	c := newCrowd(t, s, other)
	c.start(8, 4)
	for range rounds(1, 5) {
		c.await(50)
		old := sentinel.Master()
		old.Kill()
		sentinel.AwaitPromotion(old)
		// The new master has no replica, so nothing is acknowledged.
		if err := c.once(s, 0, "clinic"); !errors.Is(err, store.ErrUnknown) && !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("a join that no replica has: %v", err)
		}
		old.Restart()
		old.Await("master_link_status:up", "INFO", "replication")
		c.recovers()
	}
	c.end()
	c.flawless(s)
}

// spread is a crowd over some partitions of a cluster, and the slots of these.
func spread(t *testing.T, s *redisstore.Store, cluster *redistest.Cluster) (*crowd, map[store.Partition]int) {
	t.Helper()
	c, slots := newCrowd(t, s), map[store.Partition]int{}
	c.queues = map[dengxu.QueueID]store.Partition{}
	n := s.About().Partitions
	for p := range store.Partition(n) {
		c.queues[dengxu.QueueID(fmt.Sprintf("clinic-%02d", p))] = p
		slots[p] = 16384 * int(p) / n
	}
	return c, slots
}

func few(o *redisstore.Options) { o.Partitions = 6 }

// TestSlotsMove moves the slot of a partition from master to master, key by
// key, under load.
func TestSlotsMove(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, redistest.ClusterOptions{})
	s := openAt(t, cluster.URL(), "p:", few)
	c, slots := spread(t, s, cluster)
	c.start(2, 1)
	c.await(100)
	for range rounds(1, 10) {
		from := cluster.MasterOf(slots[0])
		to := cluster.MasterOf(16383)
		if from == to {
			to = cluster.MasterOf(8192)
		}
		cluster.Migrate(slots[0], from, to, nil)
		if err := c.once(s, 0, "clinic-00"); err != nil {
			t.Errorf("a join after its partition moved: %v", err)
		}
		c.await(50)
	}
	c.end()
	c.flawless(s)
}

// TestShardIsDown kills one master that has no replica: only its partitions
// fail, and soon; the others go on.
func TestShardIsDown(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, redistest.ClusterOptions{
		Node: redistest.Options{AppendOnly: true, AppendFsync: "always"},
	})
	s := openAt(t, cluster.URL(), "p:", few)
	c, slots := spread(t, s, cluster)
	c.start(2, 1)
	c.await(100)
	down := cluster.MasterOf(slots[0])
	theirs := map[store.Partition]bool{}
	for p, slot := range slots {
		theirs[p] = cluster.MasterOf(slot) == down
	}
	down.Kill()
	until := time.Now().Add(2 * time.Second)
	for time.Now().Before(until) {
		for queue, p := range c.queues {
			err := c.once(s, p, queue)
			if lost := errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrUnknown); lost != theirs[p] {
				t.Errorf("partition %d, its shard down: %v: %v", p, theirs[p], err)
			}
		}
	}
	c.await(100) // of the others
	if err := c.once(s, 0, "clinic-00"); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a join of a shard that is down: %v", err)
	}
	down.Restart()
	began := time.Now()
	for c.once(s, 0, "clinic-00") != nil {
		if time.Since(began) > 10*time.Second {
			t.Fatal("a shard that was started again is not used within 10 s")
		}
	}
	c.end()
	for p := range c.failed {
		if !theirs[p] {
			t.Errorf("commits of partition %d failed: %d", p, c.failed[p])
		}
	}
	c.flawless(s)
}

// TestClusterFailover kills a master that has a replica.
func TestClusterFailover(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, redistest.ClusterOptions{Replicas: 1})
	s := openAt(t, cluster.URL(), "p:", few)
	c, slots := spread(t, s, cluster)
	c.start(2, 1)
	for range rounds(1, 5) {
		c.await(100)
		old := cluster.MasterOf(slots[0])
		cluster.Failover(slots[0])
		began := time.Now()
		for c.once(s, 0, "clinic-00") != nil {
			if time.Since(began) > 10*time.Second {
				t.Fatal("a new master is not used within 10 s")
			}
		}
		old.Restart()
		old.Await("master_link_status:up", "INFO", "replication")
	}
	c.end()
	c.counted(s)
}

// TestReplicatedSlotsMove moves a slot while each commit waits for a replica,
// over connections that do not follow it by themselves.
func TestReplicatedSlotsMove(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, redistest.ClusterOptions{Replicas: 1})
	s := openAt(t, cluster.URL(), "p:", few, replicated)
	c, slots := spread(t, s, cluster)
	c.start(2, 1)
	c.await(50)
	from, to := cluster.MasterOf(slots[0]), cluster.MasterOf(16383)
	moved := false
	cluster.Migrate(slots[0], from, to, func(key string) {
		if strings.HasSuffix(key, "live") { // some keys are here, some there: nobody can commit
			if err := c.once(s, 0, "clinic-00"); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("a join of half a partition: %v", err)
			}
			moved = true
		}
	})
	if !moved {
		t.Error("no key was moved")
	}
	if err := c.once(s, 0, "clinic-00"); err != nil {
		t.Errorf("a join after its partition moved: %v", err)
	}
	c.await(50)
	c.end()
	c.flawless(s)
}

// cutInTwo cuts the master's host off while a process on each side goes on, and
// heals it when the other side has a master of its own. It returns the crowd and
// the store of the side that won.
func cutInTwo(t *testing.T, edits ...func(*redisstore.Options)) (*crowd, *redisstore.Store) {
	t.Helper()
	network := redistest.NewNetwork(t, 3)
	sentinel := redistest.StartSentinel(t, redistest.SentinelOptions{Hosts: network.Hosts(), Replicas: 2})
	quick(sentinel)
	at := func(host int) *redisstore.Store {
		dial := func(o *redisstore.Options) { o.Dial = network.Host(host).Dial }
		return openAt(t, sentinel.URL(), "p:", append(edits, dial)...)
	}
	left, right := at(0), at(2)
	c := newCrowd(t, left, right)
	c.pace = 20 * time.Millisecond
	c.start(4, 4)
	for range rounds(1, 3) {
		c.await(50)
		old := sentinel.Master()
		if old.Addr() != sentinel.Server(0).Addr() {
			break // it has not come back to the host that is cut
		}
		network.Cut(0)
		sentinel.AwaitPromotion(old)
		began := time.Now()
		c.awaitAt(right, 50)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("recovered after %v", took)
		}
		network.Heal(0)
		old.Await("master_link_status:up", "INFO", "replication")
		c.recovers()
	}
	c.await(100)
	// Each process looks once more, so that it finds what it lost.
	for _, s := range c.stores {
		if _, err := s.View(t.Context(), store.Ask{}); err != nil {
			t.Error(err)
		}
	}
	c.end()
	return c, right
}

// TestCutInTwo has both sides give numbers and call: what is lost, and what was
// given twice, is counted.
func TestCutInTwo(t *testing.T) {
	t.Parallel()
	c, s := cutInTwo(t)
	v := c.counted(s)
	if v.lost == 0 || v.repeated == 0 {
		t.Errorf("nothing was lost or repeated, so nothing was tried: %+v", v)
	}
	if sum, err := s.Losses(t.Context()); err != nil || sum.Times == 0 {
		t.Errorf("the store says %+v, %v", sum, err)
	}
}

// TestReplicatedCutInTwo is the same with a replica for each commit: nothing is
// lost, and nobody is called by two counters.
func TestReplicatedCutInTwo(t *testing.T) {
	t.Parallel()
	c, s := cutInTwo(t, replicated)
	c.flawless(s)
}
