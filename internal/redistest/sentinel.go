package redistest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// MasterName is what every Sentinel of this package calls its master.
const MasterName = "mymaster"

// sentinels is how many there are; two of them can decide.
const sentinels, quorum = 3, 2

// SentinelOptions say what a Sentinel of a test is made of.
type SentinelOptions struct {
	// Replicas is how many replicas the master has; 1 when it is 0.
	Replicas int
	// DownAfter is the silence after which a server counts as down; 1 s when it
	// is 0.
	DownAfter time.Duration
	// MinReplicas is how many replicas a master must have heard from within
	// MaxLag, in whole seconds, to accept writes; 0 asks for none.
	MinReplicas int
	MaxLag      time.Duration
	// Node is how each server is started. Its Host and ReplicaOf do not count.
	Node Options
	// Hosts are the machines that the servers, the master first, and then the
	// three sentinels are dealt out to, each from the first on; this one when
	// there are none.
	Hosts []*Host
}

// Sentinel is a master with its replicas, watched by three sentinels of which
// two decide. Its methods fail the test and belong in its goroutine.
type Sentinel struct {
	t         testing.TB
	servers   []*Server
	sentinels []*Server
}

// StartSentinel starts a master, its replicas and three sentinels, and waits
// until they all know each other. It ends with the test.
func StartSentinel(t testing.TB, o SentinelOptions) *Sentinel {
	t.Helper()
	o.Replicas, o.DownAfter = cmp.Or(o.Replicas, 1), cmp.Or(o.DownAfter, time.Second)
	s := &Sentinel{t: t}
	host := func(i int) *Host {
		if len(o.Hosts) == 0 {
			return nil
		}
		return o.Hosts[i%len(o.Hosts)]
	}
	for i := range 1 + o.Replicas {
		each := o.Node
		each.Host, each.ReplicaOf = host(i), nil
		if i > 0 {
			each.ReplicaOf = s.servers[0]
		}
		each.Config = slices.Concat([]string{
			fmt.Sprintf("min-replicas-to-write %d", o.MinReplicas),
			fmt.Sprintf("min-replicas-max-lag %d", int(o.MaxLag.Seconds())),
			// A replica says on its own every second how far it is; a master
			// that has nothing to say is heard as often.
			"repl-ping-replica-period 1",
		}, each.Config)
		s.servers = append(s.servers, Start(t, each))
	}
	for i := range sentinels {
		n, err := startNode(t.TempDir(), host(i), true, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.kill)
		s.sentinels = append(s.sentinels, &Server{node: n, t: t})
	}
	s.watch(o)
	return s
}

// watch has the sentinels watch the master, and introduces them to each other.
func (s *Sentinel) watch(o SentinelOptions) {
	s.t.Helper()
	master := s.servers[0]
	ip, port, _ := strings.Cut(master.Addr(), ":")
	down := o.DownAfter.Milliseconds()
	for _, each := range s.sentinels {
		each.MustDo("SENTINEL", "MONITOR", MasterName, ip, port, quorum)
		// A sentinel that lost two seconds, on a machine with much to do,
		// stands aside for thirty.
		each.MustDo("SENTINEL", "DEBUG", "tilt-period", 2*down)
		// A failover that came to nothing is tried again after twice this.
		each.MustDo("SENTINEL", "SET", MasterName, "down-after-milliseconds", down, "failover-timeout", 3*down)
	}
	// Each sentinel greets the others over the master, for the first time after
	// two seconds. The same greeting is sent for it as soon as all can hear it.
	const hello = "__sentinel__:hello"
	master.Await(fmt.Sprintf("[%s %d]", hello, sentinels), "PUBSUB", "NUMSUB", hello)
	for _, each := range s.sentinels {
		host, own, _ := strings.Cut(each.Addr(), ":")
		master.MustDo("PUBLISH", hello, fmt.Sprintf("%s,%s,%v,0,%s,%s,%s,0",
			host, own, each.MustDo("SENTINEL", "MYID"), MasterName, ip, port))
	}
	for _, each := range s.sentinels {
		each.Await(fmt.Sprintf("slaves=%d,sentinels=%d", o.Replicas, sentinels), "INFO", "sentinel")
		each.Await(fmt.Sprintf("OK %d usable", sentinels), "SENTINEL", "CKQUORUM", MasterName)
		// They promote no replica that they have not heard from.
		each.Await("master-link-status ok", "SENTINEL", "REPLICAS", MasterName)
	}
}

// URL is the Sentinel as the product is told of it, with all sentinels.
func (s *Sentinel) URL() string {
	addrs := make([]string, len(s.sentinels))
	for i, each := range s.sentinels {
		addrs[i] = each.Addr()
	}
	return "redis+sentinel://" + strings.Join(addrs, ",") + "/" + MasterName
}

// Server returns a server: 0 began as the master.
func (s *Sentinel) Server(i int) *Server { return s.servers[i] }

// Sentinel returns one of the three sentinels.
func (s *Sentinel) Sentinel(i int) *Server { return s.sentinels[i] }

// Master returns the server that is the master by the newest word of a living
// sentinel.
func (s *Sentinel) Master() *Server {
	s.t.Helper()
	newest, addr := int64(-1), ""
	for _, word := range s.words() {
		if word.epoch > newest {
			newest, addr = word.epoch, word.master
		}
	}
	return s.at(addr)
}

// AwaitPromotion waits until two sentinels name the same other server than the
// old one, and it acts as the master. It returns that.
func (s *Sentinel) AwaitPromotion(old *Server) *Server {
	s.t.Helper()
	var promoted *Server
	err := retry(4*patience, func() (bool, error) {
		votes := map[string]int{}
		words := s.words()
		for _, word := range words {
			votes[word.master]++
			if votes[word.master] < quorum || word.master == old.Addr() {
				continue
			}
			promoted = s.at(word.master)
			role, err := promoted.Do("INFO", "replication")
			return strings.Contains(fmt.Sprint(role), "role:master"), err
		}
		return false, fmt.Errorf("the sentinels say %v", words)
	})
	if err != nil {
		s.t.Fatalf("no failover from %s: %v", old.Addr(), err)
	}
	return promoted
}

// word is what a sentinel says: who is the master, and since which failover.
type word struct {
	master string
	epoch  int64
}

// words asks the living sentinels.
func (s *Sentinel) words() []word {
	var words []word
	for _, each := range s.sentinels {
		if !each.running() {
			continue
		}
		reply, err := each.Do("SENTINEL", "MASTER", MasterName)
		if err != nil {
			continue // it is on its way to the grave or from it
		}
		fields, list := map[string]string{}, anyList(reply)
		for i := 0; i+1 < len(list); i += 2 {
			fields[fmt.Sprint(list[i])] = fmt.Sprint(list[i+1])
		}
		epoch, _ := strconv.ParseInt(fields["config-epoch"], 10, 64)
		words = append(words, word{fields["ip"] + ":" + fields["port"], epoch})
	}
	return words
}

func (s *Sentinel) at(addr string) *Server {
	s.t.Helper()
	for _, each := range s.servers {
		if each.Addr() == addr {
			return each
		}
	}
	s.t.Fatalf("no server at %q", addr)
	return nil
}

// anyList is a reply that is a list, or nothing.
func anyList(reply any) []any {
	list, _ := reply.([]any)
	return list
}
