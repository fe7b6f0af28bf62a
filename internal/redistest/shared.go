package redistest

import (
	"crypto/rand"
	"errors"
	"os"
	"sync"
	"testing"
)

// common is the server that all tests of a binary share.
var common struct {
	mu     sync.Mutex // guards the fields below
	inMain bool       // whether Main will stop it
	node   *node
	err    error
}

// Shared returns the one server of this test binary, for tests that need no
// more than keys of their own (see Prefix). It is started at first use. The
// binary's TestMain must use Main.
func Shared(t testing.TB) *Server {
	t.Helper()
	common.mu.Lock()
	defer common.mu.Unlock()
	switch {
	case !common.inMain:
		t.Fatal("redistest.Shared needs redistest.Main in TestMain")
	case common.node == nil && common.err == nil:
		dir, err := os.MkdirTemp("", "redistest") //nolint:usetesting // it outlives the test
		if err == nil {
			common.node, err = startNode(dir, nil, false, Options{}.lines())
		}
		common.err = err
	}
	if common.err != nil {
		t.Fatal(common.err)
	}
	return &Server{node: common.node, t: t, shared: true}
}

// Prefix returns a key prefix that no other test has.
func Prefix(testing.TB) string { return "t" + rand.Text() + ":" }

// Runner is what TestMain is given: a *testing.M.
type Runner interface{ Run() int }

// Main runs the tests and then stops the shared server, before leaks are
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
	common.mu.Lock()
	defer common.mu.Unlock()
	if common.node != nil {
		common.node.kill()
		if err := os.RemoveAll(common.node.dir); err != nil {
			common.err = errors.Join(common.err, err)
		}
	}
	if code == 0 && common.err != nil {
		return 1
	}
	return code
}
