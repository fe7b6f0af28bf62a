package redistest

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Process is a child process that ends, at the latest, with this one.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
}

// launch starts a command on a host.
func launch(cmd *exec.Cmd, h *Host) (*Process, error) {
	p := &Process{cmd: cmd, done: make(chan struct{})}
	dieWithParent(cmd)
	started := make(chan error, 1)
	go func() {
		defer close(p.done)
		// The kernel ends the child with the thread that started it, not with
		// the process: this thread waits for the child and does nothing else.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := h.Run(func() error {
			err := cmd.Start()
			started <- err
			if err == nil {
				_ = cmd.Wait() // how it ended stands in its own log
			}
			return nil
		})
		if err != nil {
			started <- err
		}
	}()
	return p, <-started
}

// Run starts a program that is no test's, on this machine.
func Run(cmd *exec.Cmd) (*Process, error) { return launch(cmd, nil) }

// Pid is the process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Signal sends a signal to the process; it fails when that has ended.
func (p *Process) Signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// Kill ends the process by SIGKILL, frozen or not, and waits for its end.
func (p *Process) Kill() {
	_ = p.Signal(syscall.SIGKILL) // fails when it has ended
	<-p.done
}

// ended reports whether the process has ended.
func (p *Process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}
