package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/dengxu/dengxu/bench/internal/rig"
	"github.com/dengxu/dengxu/internal/redistest"
)

// system is something that keeps a line and answers over HTTP.
type system struct {
	key, name string
	start     func(context.Context, *system) error

	// Known once it has started.
	addr  string // host:port
	about string
	parts []part
	ends  []func() // in the order of the starts
}

// part is a process of a system.
type part struct {
	name string
	pid  int
}

// end stops what was started, the last first.
func (s *system) end() {
	for _, end := range slices.Backward(s.ends) {
		end()
	}
	s.ends = nil
}

// usage is the processor time of each part.
type usage []time.Duration

func (s *system) used() usage {
	var u usage
	for _, p := range s.parts {
		u = append(u, rig.CPU(p.pid))
	}
	return u
}

// since is how many cores each part kept busy.
func (u usage) since(now usage, took time.Duration) []float64 {
	var cores []float64
	for i := range u {
		cores = append(cores, (now[i]-u[i]).Seconds()/took.Seconds())
	}
	return cores
}

// prepare builds dengxu and returns the systems, none of them started. The
// table is the first: the others are compared with it.
func prepare(ctx context.Context, dir string) ([]*system, error) {
	binary, err := rig.Build(ctx, dir)
	if err != nil {
		return nil, err
	}
	onRedis := func(fsync string) func(context.Context, *system) error {
		return func(ctx context.Context, s *system) error {
			return s.startOnRedis(ctx, binary, filepath.Join(dir, fsync), fsync)
		}
	}
	return []*system{
		{key: "table", name: "(a) table in MariaDB, SELECT … FOR UPDATE", start: func(ctx context.Context, s *system) error {
			return s.startTable(ctx, filepath.Join(dir, "mariadb"))
		}},
		{key: "everysec", name: "(b) dengxu on Redis, AOF every second", start: onRedis("everysec")},
		{key: "always", name: "(b) dengxu on Redis, AOF always", start: onRedis("always")},
		{key: "embedded", name: "(c) dengxu, its own store", start: func(ctx context.Context, s *system) error {
			s.about = "every change is synced to disk before it is answered"
			return s.serve(ctx, binary, "pebble:"+filepath.Join(dir, "pebble"))
		}},
	}, nil
}

// begun notes a process that runs now.
func (s *system) begun(name string, pid int, end func()) {
	s.parts = append(s.parts, part{name, pid})
	s.ends = append(s.ends, end)
}

// serve starts dengxu over a store.
func (s *system) serve(ctx context.Context, binary, store string) error {
	h, err := rig.Serve(ctx, binary, store)
	if err != nil {
		s.end()
		return err
	}
	s.begun("dengxu", h.Pid(), h.Stop)
	s.addr = h.Addr
	return nil
}

func (s *system) startOnRedis(ctx context.Context, binary, dir, fsync string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	redis, end, err := redistest.Launch(dir, redistest.Options{AppendOnly: true, AppendFsync: fsync})
	if err != nil {
		return err
	}
	s.about = "redis-server with appendonly yes, appendfsync " + fsync
	s.begun("redis", redis.Pid(), end)
	return s.serve(ctx, binary, redis.URL())
}

// startTable starts MariaDB with a folder of its own, and this program again as
// the service in front of it.
func (s *system) startTable(ctx context.Context, dir string) error {
	db, err := startMariaDB(ctx, dir)
	if err != nil {
		return err
	}
	s.begun("mariadbd", db.Pid(), db.Stop)
	s.about = db.about
	self, err := os.Executable()
	if err != nil {
		s.end()
		return err
	}
	addr, err := freeAddr(ctx)
	if err != nil {
		s.end()
		return err
	}
	cmd := exec.CommandContext(ctx, self) //nolint:gosec // this program
	cmd.Env = append(os.Environ(), tableDSN+"="+db.dsn, tableAddr+"="+addr)
	p, err := rig.Start(cmd)
	if err != nil {
		s.end()
		return err
	}
	s.begun("service", p.Pid(), p.Stop)
	s.addr = addr
	err = p.Await(ctx, func() error {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		return c.Close()
	})
	if err != nil {
		s.end()
	}
	return err
}

// freeAddr is an address at which nobody listens now.
func freeAddr(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	addr := l.Addr().String()
	return addr, errors.Join(err, l.Close())
}

// find finds a program that Debian keeps in a folder of root's.
func find(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	path, err = exec.LookPath("/usr/sbin/" + name)
	if err != nil {
		return "", fmt.Errorf("%w: run .ci/need mariadbd", err)
	}
	return path, nil
}
