//go:build unix

package bench

import (
	"syscall"
	"time"
)

// settle waits until the process does next to nothing, a few seconds at most:
// until a database has flushed and compacted what its side wrote, so that the
// other side does not pay for it.
func settle() {
	const look, idle = 20 * time.Millisecond, 2 * time.Millisecond
	for range 200 {
		before := processorTime()
		time.Sleep(look)
		if processorTime()-before < idle {
			return
		}
	}
}

// processorTime is what the process has used so far of all processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
