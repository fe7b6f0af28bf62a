package redisstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"github.com/dengxu/dengxu/internal/store"
)

// Level says how grave a finding about a server is.
type Level string

// The levels.
const (
	LevelOK     Level = "ok"
	LevelWarn   Level = "warn"   // it works, and may lose or stall what it need not
	LevelRefuse Level = "refuse" // the store does not open
)

// Remark is one thing that was found out about a server.
type Remark struct {
	Level  Level
	Server string // address
	What   string // what is so
	Why    string // what follows from it; "" when all is well
	Change string // what to change; "" = nothing
}

// Report is what the servers say about themselves. The class is never better
// than what was read.
type Report struct {
	Durability store.Durability
	Text       string // the class in one sentence
	Remarks    []Remark
	Lost       Losses // in the life of the store
	Replicas   int    // that are connected to the masters, together
}

// Refusal is the error of a report whose remarks do not let the store open, or
// nil.
func (r *Report) Refusal() error {
	for _, m := range r.Remarks {
		if m.Level == LevelRefuse {
			return fmt.Errorf("redis %s: %s: %s; %s", m.Server, m.What, m.Why, m.Change)
		}
	}
	return nil
}

// Unreplicated is the error of servers that are to replicate every commit and
// have no replica at all, or nil. A store opens all the same, and can be read.
func (r *Report) Unreplicated() error {
	if r.Replicas > 0 {
		return nil
	}
	var servers []string
	for _, m := range r.Remarks {
		if m.What == noReplica {
			servers = append(servers, m.Server)
		}
	}
	return fmt.Errorf("redis %s: %s, and with --durability replicated no change can be acknowledged; connect one, or run without: %w",
		strings.Join(servers, ", "), noReplica, store.ErrUnavailable)
}

// Check asks every master how it keeps what it is given. It fails when none
// can be asked; a server that forbids CONFIG is taken to do no better than is
// known.
func (s *Store) Check(ctx context.Context) (*Report, error) {
	r, err := s.inspect(ctx)
	if err == nil && len(s.parts) > 0 {
		r.Lost, err = s.Losses(ctx)
	}
	return r, err
}

// inspect is Check without what was lost.
func (s *Store) inspect(ctx context.Context) (*Report, error) {
	servers, silent, err := s.masters(ctx)
	if err != nil {
		return nil, err
	}
	r := &Report{Durability: store.D3Replica}
	for _, addr := range silent {
		r.Remarks = append(r.Remarks, Remark{LevelWarn, addr, "the node does not answer", "were it a master, its queues would be down", "look at the node"})
	}
	for _, m := range servers {
		c := checking{report: r, master: m, replicated: s.opts.Replicated}
		c.check()
	}
	if r.Durability == store.D3Replica && !s.opts.Replicated {
		r.Durability = store.D2Commit
	}
	r.Text = classText[r.Durability]
	if s.opts.Replicated && r.Durability != store.D3Replica {
		r.Text += " A commit is also received by a replica before it is acknowledged."
	}
	return r, nil
}

var classText = map[store.Durability]string{
	store.D0Memory:   "Redis keeps everything in memory; a crash of it loses what no snapshot has.",
	store.D1Interval: "Redis writes its log every second; a crash of it, also kill -9, loses up to two seconds.",
	store.D2Commit:   "Redis has written its log to disk before a commit is acknowledged; a failover can lose what no replica has.",
	store.D3Replica:  "Redis has written its log to disk and a replica has received it before a commit is acknowledged.",
}

// master is what one server says.
type master struct {
	addr   string
	info   map[string]string
	config map[string]string // nil when it is forbidden
}

// masters asks all masters; silent are nodes of a cluster that do not answer.
func (s *Store) masters(ctx context.Context) (found []master, silent []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	nodes := s.client().Nodes()
	for _, addr := range slices.Sorted(maps.Keys(nodes)) {
		m, err := ask(ctx, addr, nodes[addr])
		if err != nil {
			if len(nodes) > 1 {
				silent = append(silent, addr)
				continue
			}
			return nil, nil, fmt.Errorf("%w: %w", store.ErrUnavailable, err)
		}
		if m.info["role"] != "slave" {
			found = append(found, m)
		}
	}
	if len(found) == 0 {
		return nil, nil, fmt.Errorf("%w: no master of redis answers", store.ErrUnavailable)
	}
	return found, silent, nil
}

// settings are what of CONFIG is looked at.
var settings = []string{
	"appendfsync", "no-appendfsync-on-rewrite", "aof-load-truncated", "save", "min-replicas-to-write",
	"cluster-require-full-coverage", "auto-aof-rewrite-percentage", "auto-aof-rewrite-min-size", "maxmemory",
	"busy-reply-threshold", "timeout",
}

func ask(ctx context.Context, addr string, c rueidis.Client) (master, error) {
	m := master{addr: addr, info: make(map[string]string)}
	text, err := c.Do(ctx, c.B().Info().Build()).ToString()
	if err != nil {
		return m, fmt.Errorf("INFO of %s: %w", addr, err)
	}
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			m.info[k] = v
		}
	}
	config, err := c.Do(ctx, c.B().ConfigGet().Parameter(settings...).Build()).AsStrMap()
	if _, refused := rueidis.IsRedisErr(err); refused {
		return m, nil
	}
	if err != nil {
		return m, fmt.Errorf("CONFIG GET of %s: %w", addr, err)
	}
	m.config = config
	return m, nil
}

// number reads a number of INFO.
func (m *master) number(name string) int64 {
	n, _ := strconv.ParseInt(m.info[name], 10, 64) // 0 where there is none
	return n
}

// assess inspects the servers, warns of what is worse than before, and returns the
// refusal if there is one.
func (s *Store) assess(ctx context.Context) error {
	r, err := s.inspect(ctx)
	if err != nil {
		return err
	}
	old := s.report.Swap(r)
	for _, m := range r.Remarks {
		if m.Level == LevelWarn && (old == nil || !slices.Contains(old.Remarks, m)) {
			s.opts.Logger.Warn("redis is not set up as it should be", "what", m.What, "server", m.Server, "why", m.Why, "change", m.Change)
		}
	}
	if old != nil && old.Durability != r.Durability {
		s.opts.Logger.Warn("redis keeps data in another way now", "was", old.Durability, "is", r.Durability)
	}
	return r.Refusal()
}
