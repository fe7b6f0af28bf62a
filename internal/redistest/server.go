package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Options is what a server of a test does that others do not. The zero value
// is the fastest: a server that keeps nothing on disk.
type Options struct {
	// AppendOnly keeps the data over Kill and Restart, as AppendFsync says:
	// always, everysec (as when empty) or no.
	AppendOnly  bool
	AppendFsync string
	// MaxMemory, in bytes or with a unit such as "8mb", and what is done when
	// it is reached; the default is noeviction.
	MaxMemory, Policy string
	// ReplicaOf makes this server a replica; Start waits for its first sync.
	ReplicaOf *Server
	// Config are further lines of redis.conf, which win over all others.
	Config []string
	// Host is the machine to run on; nil is this one.
	Host *Host
}

// Server is a redis-server of its own. Its methods are safe for concurrent
// use; those that return no error fail the test instead and belong in its
// goroutine.
type Server struct {
	*node
	t      testing.TB
	shared bool
}

// node is a process that can be killed and started again at the same address
// and in the same folder.
type node struct {
	dir, addr string
	host      *Host
	sentinel  bool

	mu      sync.Mutex // guards process and frozen
	process *Process   // nil when killed
	frozen  bool

	// doing guards conn. A command to a frozen server holds it for long, so it
	// is not mu; where both are held, mu was taken first.
	doing sync.Mutex
	conn  *Conn // of Do; nil when there is none
}

// Start starts a server and waits until it serves. It ends with the test.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	s, end, err := Launch(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	s.t = t
	t.Cleanup(end)
	if o.ReplicaOf != nil {
		s.Await("master_link_status:up", "INFO", "replication")
	}
	return s
}

// Launch is Start for programs that are no tests: in an empty folder of
// theirs, until they call end. They may use what returns an error, and Addr,
// URL and Pid; a replica may not have its first sync yet.
func Launch(dir string, o Options) (s *Server, end func(), err error) {
	n, err := startNode(dir, o.Host, false, o.lines())
	if err != nil {
		return nil, nil, err
	}
	return &Server{node: n}, n.kill, nil
}

func (o Options) lines() []string {
	lines := []string{
		`save ""`, "repl-diskless-sync-delay 0", "enable-debug-command yes",
		"appendonly " + map[bool]string{true: "yes", false: "no"}[o.AppendOnly],
	}
	for name, value := range map[string]string{
		"appendfsync": o.AppendFsync, "maxmemory": o.MaxMemory, "maxmemory-policy": o.Policy,
	} {
		if value != "" {
			lines = append(lines, name+" "+value)
		}
	}
	if o.ReplicaOf != nil {
		host, port, _ := strings.Cut(o.ReplicaOf.Addr(), ":")
		lines = append(lines, "replicaof "+host+" "+port)
	}
	return append(lines, o.Config...)
}

// startNode starts a process in an empty folder, at a free port.
func startNode(dir string, host *Host, sentinel bool, lines []string) (*node, error) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		return nil, fmt.Errorf("%w: run make deps", err)
	}
	var failed error
	// Another process may take the port before the server does.
	for range 5 {
		addr, err := host.freeAddr()
		if err != nil {
			return nil, err
		}
		n := &node{dir: dir, addr: addr, host: host, sentinel: sentinel}
		if err := n.configure(lines); err != nil {
			return nil, err
		}
		err = n.start()
		if err == nil {
			return n, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, failed
}

// configure writes the file that the process reads, and, where it is a
// sentinel or told to, writes anew.
func (n *node) configure(lines []string) error {
	ip, port, err := net.SplitHostPort(n.addr)
	if err != nil {
		return err
	}
	head := []string{
		"port " + port, "bind " + ip, "dir " + n.dir, "logfile " + filepath.Join(n.dir, "log"),
		"protected-mode no", "daemonize no",
	}
	text := strings.Join(append(head, lines...), "\n") + "\n"
	return os.WriteFile(n.conf(), []byte(text), 0o600)
}

func (n *node) conf() string { return filepath.Join(n.dir, "redis.conf") }

// start starts the process and waits until it serves, which after a start with
// data on disk is when that is loaded.
func (n *node) start() error {
	if err := n.spawn(); err != nil {
		return err
	}
	err := n.until(func() (bool, error) {
		info, err := n.Do("INFO", "all")
		if err != nil {
			return false, err
		}
		text, _ := info.(string)
		if !strings.Contains(text, fmt.Sprintf("\r\nprocess_id:%d\r\n", n.Pid())) {
			return false, errors.New("another server answers at this port")
		}
		return !strings.Contains(text, "\r\nloading:1\r\n"), nil
	})
	if err != nil {
		n.kill()
		return fmt.Errorf("redis-server at %s: %w; its log ends with:\n%s", n.addr, err, n.log())
	}
	return nil
}

// spawn starts the process and waits for nothing.
func (n *node) spawn() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	args := []string{n.conf()}
	if n.sentinel {
		args = append(args, "--sentinel")
	}
	// The process ends by kill; a test's context ends before its clean-up.
	cmd := exec.CommandContext(context.Background(), "redis-server", args...) //nolint:gosec // a file of this package
	started, err := launch(cmd, n.host)
	if err != nil {
		return err
	}
	n.process, n.frozen = started, false
	return nil
}

// until retries as long as the process runs.
func (n *node) until(ask func() (bool, error)) error {
	return retry(patience, func() (bool, error) {
		ok, err := ask()
		if !ok && n.ended() {
			return true, errors.Join(errors.New("the process has ended"), err)
		}
		return ok, err
	})
}

func (n *node) ended() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.process == nil || n.process.ended()
}

// running reports whether the process can answer.
func (n *node) running() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.process != nil && !n.process.ended() && !n.frozen
}

// log returns the end of the process's log.
func (n *node) log() string {
	text, err := os.ReadFile(filepath.Join(n.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-2000):])
}

func (n *node) kill() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.process != nil {
		n.process.Kill()
		n.process = nil
	}
	// A command under way has failed by now.
	n.doing.Lock()
	defer n.doing.Unlock()
	n.hangUp()
}

// hangUp closes the connection of Do; n.doing is held.
func (n *node) hangUp() {
	if n.conn != nil {
		_ = n.conn.Close()
		n.conn = nil
	}
}

// Addr is the server's address, host:port.
func (n *node) Addr() string { return n.addr }

// Pid is the process id; 0 while the server is killed.
func (n *node) Pid() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.process == nil {
		return 0
	}
	return n.process.Pid()
}

// Do sends a command and returns the reply: a string, an int64, a []any or
// nil. The error is a ReplyError when the server refused. One command at a
// time goes over one connection; for a second connection there is Conn.
func (n *node) Do(args ...any) (any, error) {
	n.doing.Lock()
	defer n.doing.Unlock()
	if n.conn == nil {
		c, err := n.dial()
		if err != nil {
			return nil, err
		}
		n.conn = c
	}
	reply, err := n.conn.Do(args...)
	if _, refused := errors.AsType[ReplyError](err); err != nil && !refused {
		n.hangUp()
	}
	return reply, err
}

func (n *node) dial() (*Conn, error) {
	return dialWith(context.Background(), n.host.Dial, n.addr)
}

// URL is the server as the product is told of it.
func (s *Server) URL() string { return "redis://" + s.addr }

// MustDo is Do for a command that must not fail.
func (s *Server) MustDo(args ...any) any {
	s.t.Helper()
	reply, err := s.Do(args...)
	if err != nil {
		s.t.Fatalf("%v: %v", args, err)
	}
	return reply
}

// Conn opens a connection that ends with the test.
func (s *Server) Conn() *Conn {
	s.t.Helper()
	c, err := s.dial()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// Await repeats a command, LOADING and other refusals included, until its
// reply or refusal contains the text, for half a minute at most.
func (s *Server) Await(text string, command ...any) {
	s.t.Helper()
	last := ""
	err := retry(3*patience, func() (bool, error) {
		reply, err := s.Do(command...)
		last = fmt.Sprint(reply, err)
		return strings.Contains(last, text), nil
	})
	if err != nil {
		s.t.Fatalf("%v does not answer %q: %v; last answer %s", command, text, err, last)
	}
}

// Kill ends the process by SIGKILL and waits for its end.
func (s *Server) Kill() {
	s.t.Helper()
	s.own()
	s.kill()
}

// Restart starts a server again with the same port, folder and configuration,
// killing it first where it runs, and waits until it serves.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	if err := s.start(); err != nil {
		s.t.Fatal(err)
	}
}

// RestartLoading is Restart without the wait: at first the server refuses
// connections, then it answers LOADING until its data is read.
func (s *Server) RestartLoading() {
	s.t.Helper()
	s.Kill()
	if err := s.spawn(); err != nil {
		s.t.Fatal(err)
	}
}

// Stop freezes the process by SIGSTOP: connections stay open and nothing is
// answered.
func (s *Server) Stop() {
	s.t.Helper()
	s.signal(syscall.SIGSTOP)
}

// Cont lets a frozen process go on.
func (s *Server) Cont() {
	s.t.Helper()
	s.signal(syscall.SIGCONT)
}

func (s *Server) signal(which syscall.Signal) {
	s.t.Helper()
	s.own()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		s.t.Fatalf("signal %v to a server that was killed", which)
	}
	if err := s.process.Signal(which); err != nil {
		s.t.Fatalf("signal %v: %v", which, err)
	}
	s.frozen = which == syscall.SIGSTOP
}

// own fails the test when others use the server too.
func (s *Server) own() {
	s.t.Helper()
	if s.shared {
		s.t.Fatal("the shared server is everybody's: Start one to disturb it")
	}
}
