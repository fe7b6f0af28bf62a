package redistest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/dengxu/dengxu/internal/redistest"
)

func TestSentinelFailsOver(t *testing.T) {
	t.Parallel()
	began := time.Now()
	s := redistest.StartSentinel(t, redistest.SentinelOptions{})
	t.Logf("started in %v", time.Since(began))
	if !strings.HasPrefix(s.URL(), "redis+sentinel://127.0.0.1:") || !strings.HasSuffix(s.URL(), "/mymaster") ||
		strings.Count(s.URL(), ",") != 2 {
		t.Errorf("URL %s", s.URL())
	}
	old := s.Master()
	if old.Addr() != s.Server(0).Addr() {
		t.Fatalf("%s is the master", old.Addr())
	}
	if _, err := old.Conn().Pipe([]any{"SET", "k", "v"}, []any{"WAIT", 1, 5000}); err != nil {
		t.Fatal(err)
	}
	began = time.Now()
	old.Kill()
	promoted := s.AwaitPromotion(old)
	t.Logf("failed over in %v", time.Since(began))
	if got := promoted.MustDo("GET", "k"); got != "v" {
		t.Errorf("the new master has %v", got)
	}
	s.Sentinel(1).Kill()
	s.Sentinel(2).Kill()
	if got := s.Master(); got.Addr() != promoted.Addr() {
		t.Errorf("the master is %s, want %s", got.Addr(), promoted.Addr())
	}
	s.Sentinel(1).Restart()
	s.Sentinel(0).Kill()
	if got := s.Master(); got.Addr() != promoted.Addr() {
		t.Errorf("a sentinel that was started again knows %s, want %s", got.Addr(), promoted.Addr())
	}
}

func TestSentinelMinReplicas(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinel(t, redistest.SentinelOptions{
		MinReplicas: 1, MaxLag: time.Second, DownAfter: time.Minute,
	})
	s.Master().MustDo("SET", "k", "v")
	s.Server(1).Stop()
	s.Master().Await("NOREPLICAS", "SET", "k", "w")
}

// TestSentinelIsCutInTwo cuts the host of the master and of one sentinel: both
// sides have a master then, and one again after it is healed.
func TestSentinelIsCutInTwo(t *testing.T) {
	t.Parallel()
	n := redistest.NewNetwork(t, 3)
	s := redistest.StartSentinel(t, redistest.SentinelOptions{Hosts: n.Hosts()})
	for i := range 3 {
		// An old master is demoted when it has been asked twice who it is, which
		// is every ten seconds, and four times this has passed.
		s.Sentinel(i).MustDo("SENTINEL", "DEBUG", "info-period", 500, "publish-period", 500)
	}
	old := s.Master()
	n.Cut(0)
	promoted := s.AwaitPromotion(old)
	old.MustDo("SET", "k", "old")
	promoted.MustDo("SET", "k", "new")
	n.Heal(0)
	old.Await("new", "GET", "k")
}
