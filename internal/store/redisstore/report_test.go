package redisstore_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dengxu/dengxu/internal/redistest"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/redisstore"
)

// TestClassIsWhatServersSay sets servers up in all ways.
func TestClassIsWhatServersSay(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		server     redistest.Options
		replica    bool
		replicated bool
		want       store.Durability
		warn       []string // what is warned of, in part
	}{
		"memory":     {want: store.D0Memory, warn: []string{"appendonly is off", "no replica"}},
		"everysec":   {server: redistest.Options{AppendOnly: true, AppendFsync: "everysec"}, want: store.D1Interval, warn: []string{"appendfsync is everysec", "no replica"}},
		"always":     {server: redistest.Options{AppendOnly: true, AppendFsync: "always"}, want: store.D2Commit, warn: []string{"no replica"}},
		"never":      {server: redistest.Options{AppendOnly: true, AppendFsync: "no"}, want: store.D0Memory, warn: []string{"appendfsync is no", "no replica"}},
		"on rewrite": {server: redistest.Options{AppendOnly: true, AppendFsync: "always", Config: []string{"no-appendfsync-on-rewrite yes", "auto-aof-rewrite-percentage 0"}}, want: store.D0Memory, warn: []string{"no-appendfsync-on-rewrite", "no replica", "rewritten"}},
		"replicated": {server: redistest.Options{AppendOnly: true, AppendFsync: "always"}, replica: true, replicated: true, want: store.D3Replica},
		"a replica that is not waited for": {
			server: redistest.Options{AppendOnly: true, AppendFsync: "always"}, replica: true, want: store.D2Commit, warn: []string{"min-replicas-to-write"},
		},
		"replicated without a log": {replica: true, replicated: true, want: store.D0Memory, warn: []string{"appendonly is off"}},
		"replicated to nobody":     {server: redistest.Options{AppendOnly: true, AppendFsync: "always"}, replicated: true, want: store.D2Commit, warn: []string{"no replica"}},
		"in a renamed world":       {server: redistest.Options{AppendOnly: true, AppendFsync: "always", Config: []string{`rename-command CONFIG ""`}}, want: store.D0Memory, warn: []string{"CONFIG GET is forbidden", "no replica"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t, x.server)
			if x.replica {
				redistest.Start(t, redistest.Options{ReplicaOf: server})
			}
			s := openAt(t, server.URL(), "p:", func(o *redisstore.Options) { o.Replicated = x.replicated })
			if about := s.About(); about.Durability != x.want || about.Text == "" || !about.Shared {
				t.Errorf("about %+v, want %s", about, x.want)
			}
			r, err := s.Check(t.Context())
			if err != nil || r.Refusal() != nil {
				t.Fatal(err, r.Refusal())
			}
			for _, m := range r.Remarks {
				warned := slices.ContainsFunc(x.warn, func(part string) bool { return strings.Contains(m.What+m.Why, part) })
				if (m.Level == redisstore.LevelWarn) != warned {
					t.Errorf("%s: %s (%s)", m.Level, m.What, m.Why)
				}
				if m.Level == redisstore.LevelWarn && (m.Why == "" || m.Change == "") {
					t.Errorf("%q does not say why, or what to change", m.What)
				}
			}
			for _, part := range x.warn {
				if !slices.ContainsFunc(r.Remarks, func(m redisstore.Remark) bool { return strings.Contains(m.What+m.Why, part) }) {
					t.Errorf("nothing is said of %q", part)
				}
			}
		})
	}
}

// TestClassFollows has a server change its mind while the store is open.
func TestClassFollows(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{AppendOnly: true, AppendFsync: "always"})
	s := openAt(t, server.URL(), "p:")
	server.MustDo("CONFIG", "SET", "appendfsync", "everysec")
	if err := s.Recheck(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := s.About().Durability; d != store.D1Interval {
		t.Errorf("class %s", d)
	}
}

func TestClusterCoverageIsWarnedOf(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, redistest.ClusterOptions{Node: redistest.Options{Config: []string{"cluster-require-full-coverage yes"}}})
	s := openAt(t, cluster.URL(), "p:", few)
	r, err := s.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	warned := map[string]bool{}
	for _, m := range r.Remarks {
		if strings.Contains(m.What, "cluster-require-full-coverage") {
			warned[m.Server] = true
		}
	}
	if len(warned) != 3 {
		t.Errorf("of three masters, warned of %v", warned)
	}
}

// TestEvictionIsRefused opens no store where Redis may forget people.
func TestEvictionIsRefused(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{MaxMemory: "100mb", Policy: "allkeys-lru"})
	_, err := redisstore.Open(t.Context(), redisstore.Options{URL: server.URL()})
	if err == nil || !strings.Contains(err.Error(), "maxmemory-policy") || !strings.Contains(err.Error(), "noeviction") {
		t.Errorf("open: %v", err)
	}
}
