package torture

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dengxu/dengxu/client"
	"github.com/dengxu/dengxu/internal/app"
	"github.com/dengxu/dengxu/internal/redistest"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/pebblestore"
)

// The environment of a test binary that is to be a server instead.
const (
	childData   = "DENGXU_TORTURE_CHILD"
	childStore  = "DENGXU_TORTURE_STORE" // "" = in the folder
	childListen = "DENGXU_TORTURE_LISTEN"
)

// childKey is the admin key of child servers.
const childKey = "dx_torture_of_a_child_server"

// readyLine is what a child says when it serves.
const readyLine = "ready"

// serveAsChild serves until it is killed, or until its parent is gone.
func serveAsChild(data string) int {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // ends when the parent does
		cancel()
	}()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	a, err := app.New(app.Options{
		Listen: os.Getenv(childListen), Data: data, StoreURL: os.Getenv(childStore), Bare: true, AdminKey: childKey, Logger: log,
	})
	if err == nil {
		err = a.Run(ctx, func() { fmt.Println(readyLine) })
	}
	if err != nil {
		fmt.Println("failed:", err)
		return 1
	}
	return 0
}

// child is a server process on a folder, or on a store that others share, that a
// test kills and starts again at the same address.
type child struct {
	data, addr string
	store      string // "" = in the folder
	http       *http.Client

	mu    sync.Mutex // guards up and cmd
	up    chan struct{}
	cmd   *exec.Cmd
	stdin io.Closer
}

// grounds are what servers stand on that are killed. Redis goes on.
var grounds = map[string]func(t *testing.T) (url string){
	"pebblestore": func(*testing.T) string { return "" },
	"redisstore": func(t *testing.T) string {
		t.Helper()
		return redistest.Start(t, redistest.Options{}).URL()
	},
}

// newChild starts the first process, on a store of its own when url is "".
func newChild(t *testing.T, url string) *child {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &child{
		data: t.TempDir(), store: url, addr: listener.Addr().String(), up: make(chan struct{}),
		http: &http.Client{Transport: &http.Transport{MaxIdleConns: 256, MaxIdleConnsPerHost: 256}},
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	c.start(t)
	t.Cleanup(func() {
		c.kill(t)
		c.http.CloseIdleConnections()
	})
	return c
}

// start starts a process and waits until it serves.
func (c *child) start(t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0])
	cmd.Env = append(os.Environ(), childData+"="+c.data, childStore+"="+c.store, childListen+"="+c.addr)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if strings.TrimSpace(line) != readyLine {
		_ = cmd.Process.Kill()
		t.Fatalf("the server did not start: %q %v", line, errors.Join(err, cmd.Wait()))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cmd, c.stdin = cmd, stdin
	close(c.up)
}

// kill ends the process as a power cut of its machine would, except that the
// machine goes on.
func (c *child) kill(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cmd == nil {
		return
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Errorf("kill: %v", err)
	}
	_ = c.cmd.Wait() // "signal: killed"
	_ = c.stdin.Close()
	c.cmd, c.up = nil, make(chan struct{})
}

// serving waits until a process serves.
func (c *child) serving(ctx context.Context) {
	c.mu.Lock()
	up := c.up
	c.mu.Unlock()
	select {
	case <-up:
	case <-ctx.Done():
	}
}

// client returns a client of the child that sends each request as often.
func (c *child) client(t *testing.T, attempts int) *client.Client {
	t.Helper()
	cl, err := client.New(client.Options{
		URL: "http://" + c.addr, Key: childKey, HTTP: c.http, Attempts: attempts, Budget: time.Minute, Timeout: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	return cl
}

// audit reads the folder of the killed server, or the store that others may go
// on with.
func (c *child) audit(t *testing.T, seed uint64) {
	t.Helper()
	if c.store != "" {
		found, err := app.Audit(t.Context(), app.Options{StoreURL: c.store})
		if err != nil {
			t.Fatalf("seed %d: audit of the store: %v", seed, err)
		}
		for _, f := range found {
			t.Errorf("seed %d: audit of the store: %s: %s", seed, f.Kind, f.Text)
		}
		return
	}
	found, err := pebblestore.AuditDir(pebblestore.Options{Dir: filepath.Join(c.data, "store")}, store.Auditor{})
	if err != nil {
		t.Fatalf("seed %d: audit of the folder: %v", seed, err)
	}
	for _, f := range found {
		t.Errorf("seed %d: audit of the folder: %s: %s", seed, f.Kind, f.Text)
	}
}

// auditLive asks the running server.
func auditLive(t *testing.T, seed uint64, cl *client.Client) {
	t.Helper()
	found, err := cl.Audit(t.Context())
	if err != nil {
		t.Fatalf("seed %d: audit of the running server: %v", seed, err)
	}
	for _, f := range found {
		t.Errorf("seed %d: audit of the running server: %s: %s", seed, f.Kind, f.Text)
	}
}
