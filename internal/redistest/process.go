package redistest

import (
	"os/exec"
	"runtime"
	"syscall"
)

// process is a child process that ends, at the latest, with this one.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
}

// launch starts a command. enter puts the calling thread where the child is to
// live; nil is here.
func launch(cmd *exec.Cmd, enter func() error) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	dieWithParent(cmd)
	started := make(chan error)
	go func() {
		defer close(p.done)
		// The kernel ends the child with the thread that started it, not with
		// the process: this thread waits for the child and does nothing else.
		runtime.LockOSThread()
		if enter == nil {
			defer runtime.UnlockOSThread()
		} else if err := enter(); err != nil {
			// The thread may be anywhere now; it ends with this goroutine,
			// because it stays locked.
			started <- err
			return
		}
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended stands in its own log
		}
	}()
	return p, <-started
}

// pid is the process id.
func (p *process) pid() int { return p.cmd.Process.Pid }

// signal sends a signal to the process, if it still runs.
func (p *process) signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// kill ends the process, stopped or not, and waits for its end.
func (p *process) kill() {
	_ = p.signal(syscall.SIGKILL) // fails when it has ended
	<-p.done
}

// ended reports whether the process has ended.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}
