package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/dengxu/dengxu/internal/redistest"
)

// Key is the admin key of servers that Serve starts.
const Key = "only-for-measuring"

// Counters is how many counters the hall of Serve has: c0, c1 and so on.
const Counters = 256

// patience is how long a program may take to start or to end.
const patience = 30 * time.Second

// Build builds dengxu from the tree that this module stands in.
func Build(ctx context.Context, dir string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/dengxu/dengxu").Output()
	if err != nil {
		return "", fmt.Errorf("find the tree: %w", err)
	}
	path := filepath.Join(dir, "dengxu")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/dengxu") //nolint:gosec // a path of ours
	cmd.Dir = strings.TrimSpace(string(root))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build dengxu: %w\n%s", err, out)
	}
	return path, nil
}

// Program is a process that ends, at the latest, with this one.
type Program struct {
	*redistest.Process
	name string
	out  output
}

// output keeps what a process writes.
type output struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// Start starts a program; whoever does so calls its Stop.
func Start(cmd *exec.Cmd) (*Program, error) {
	p := &Program{name: filepath.Base(cmd.Path)}
	cmd.Stdout, cmd.Stderr = &p.out, &p.out
	var err error
	if p.Process, err = redistest.Run(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	return p, nil
}

// Await waits until ready has no error.
func (p *Program) Await(ctx context.Context, ready func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-p.Done():
			return fmt.Errorf("%s has ended:\n%s", p.name, p.out.String())
		case <-ctx.Done():
			return fmt.Errorf("%s does not start: %w\n%s", p.name, err, p.out.String())
		}
	}
}

// Stop asks the program to end, waits for it, and kills it when that takes too
// long.
func (p *Program) Stop() {
	_ = p.Signal(syscall.SIGTERM) // fails when it has ended
	select {
	case <-p.Done():
	case <-time.After(patience):
		p.Kill()
	}
}

// CPU is the processor time that a process has used.
func CPU(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name, in brackets, may hold anything; utime and stime are the 14th and
	// 15th field, in ticks of which Linux has 100 a second.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	var ticks [2]int64
	for i := range ticks {
		if _, err := fmt.Sscan(fields[11+i], &ticks[i]); err != nil {
			return 0
		}
	}
	return time.Duration(ticks[0]+ticks[1]) * (time.Second / 100)
}

// Hall is a dengxu serve process with site hall, queue main and Counters
// counters that serve it.
type Hall struct {
	*Program
	Addr string // host:port
}

var serving = regexp.MustCompile(`serving http://(\S+)`)

// Serve starts dengxu on a free port over a store: a Redis URL, or pebble:DIR.
func Serve(ctx context.Context, binary, store string) (*Hall, error) {
	cmd := exec.CommandContext(ctx, binary, "serve", "--bare", "--listen", "127.0.0.1:0", "--store", store) //nolint:gosec // built by Build
	cmd.Env = append(os.Environ(), "DENGXU_ADMIN_KEY="+Key)
	p, err := Start(cmd)
	if err != nil {
		return nil, err
	}
	h := &Hall{Program: p}
	err = p.Await(ctx, func() error {
		found := serving.FindStringSubmatch(p.out.String())
		if found == nil {
			return errors.New("it does not say where it serves")
		}
		h.Addr = found[1]
		return nil
	})
	if err == nil {
		err = h.furnish(ctx, binary)
	}
	if err != nil {
		p.Stop()
		return nil, err
	}
	return h, nil
}

func (h *Hall) furnish(ctx context.Context, binary string) error {
	var file strings.Builder
	file.WriteString("site: hall\ntime_zone: UTC\nqueues:\n  main: {}\ncounters:\n")
	for i := range Counters {
		fmt.Fprintf(&file, "  c%d: {queues: [main]}\n", i)
	}
	cmd := exec.CommandContext(ctx, binary, "ctl", "apply", "-f", "-")
	cmd.Env = append(os.Environ(), "DENGXU_URL=http://"+h.Addr, "DENGXU_KEY="+Key)
	cmd.Stdin = strings.NewReader(file.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("furnish the hall: %w\n%s", err, out)
	}
	return nil
}
