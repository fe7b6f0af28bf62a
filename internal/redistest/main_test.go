package redistest_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dengxu/dengxu/internal/redistest"
)

// orphaned is the environment of a test binary that is to start a server and
// be killed.
const orphaned = "DENGXU_REDISTEST_ORPHANED"

func TestMain(m *testing.M) { goleak.VerifyTestMain(redistest.Main(m)) }

func TestServerDiesWithTheTestBinary(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // die_other.go says why
	}
	if os.Getenv(orphaned) != "" {
		s := redistest.Start(t, redistest.Options{})
		s.Stop() // the hardest to end
		fmt.Fprintf(os.Stderr, "pid=%d\n", s.Pid())
		_, _ = io.Copy(io.Discard, os.Stdin) // until killed
		return
	}
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), orphaned+"=1", "TMPDIR="+t.TempDir())
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stderr).ReadString('\n')
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	text, found := strings.CutPrefix(strings.TrimSpace(line), "pid=")
	pid, wrong := strconv.Atoi(text)
	if !found || wrong != nil {
		t.Fatalf("the binary said %q: %v", line, err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for running(pid) {
		if time.Now().After(deadline) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatalf("process %d outlives the binary that started it", pid)
		}
		time.Sleep(time.Millisecond)
	}
}

// running reports whether a process has not ended; one that nobody waits for
// has.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}
