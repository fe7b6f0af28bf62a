package redistest

import (
	"crypto/rand"
	"errors"
	"os"
	"sync"
	"testing"
)

// common are the servers that all tests of a binary share.
var common struct {
	server, cluster lasting

	mu     sync.Mutex // guards inMain
	inMain bool       // whether Main will stop them
}

// lasting is a server or a cluster that lasts until Main stops it.
type lasting struct {
	once  sync.Once
	dirs  []string
	nodes []*node
	err   error
}

// Shared returns the one server of this test binary, for tests that need no
// more than keys of their own (see Prefix). It is started at first use. The
// binary's TestMain must use Main.
func Shared(t testing.TB) *Server {
	t.Helper()
	nodes := common.server.get(t, 1, func(dirs []string) ([]*node, error) {
		n, err := startNode(dirs[0], nil, false, Options{}.lines())
		return []*node{n}, err
	})
	return &Server{node: nodes[0], t: t, shared: true}
}

// SharedCluster is Shared for a cluster of three masters.
func SharedCluster(t testing.TB) *Cluster {
	t.Helper()
	o := ClusterOptions{}.orDefaults()
	nodes := common.cluster.get(t, o.Masters, func(dirs []string) ([]*node, error) { return startCluster(o, dirs) })
	return clusterOf(t, nodes, true)
}

// Prefix returns a key prefix that no other test has, with no character that
// means something to Redis.
func Prefix(testing.TB) string { return "t" + rand.Text() + ":" }

// get starts what it is at first use.
func (l *lasting) get(t testing.TB, count int, start func(dirs []string) ([]*node, error)) []*node {
	t.Helper()
	common.mu.Lock()
	ours := common.inMain
	common.mu.Unlock()
	if !ours {
		t.Fatal("shared servers need redistest.Main in TestMain")
	}
	l.once.Do(func() {
		for range count {
			dir, err := os.MkdirTemp("", "redistest") //nolint:usetesting // it outlives the test
			l.dirs, l.err = append(l.dirs, dir), errors.Join(l.err, err)
		}
		if l.err == nil {
			l.nodes, l.err = start(l.dirs)
		}
	})
	if l.err != nil {
		t.Fatal(l.err)
	}
	return l.nodes
}

// stop ends what it is, if it was started.
func (l *lasting) stop() error {
	killAll(l.nodes)
	err := l.err
	for _, dir := range l.dirs {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// Runner is what TestMain is given: a *testing.M.
type Runner interface{ Run() int }

// Main runs the tests and then stops the shared servers, before leaks are
// looked for:
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(redistest.Main(m)) }
func Main(m Runner) Runner { return sharing{m} }

type sharing struct{ tests Runner }

// Run runs the tests.
func (s sharing) Run() int {
	common.mu.Lock()
	common.inMain = true
	common.mu.Unlock()
	code := s.tests.Run()
	err := errors.Join(common.server.stop(), common.cluster.stop())
	if code == 0 && err != nil {
		return 1
	}
	return code
}
