//go:build !unix

package bench

import "time"

// settle waits for as long as a database mostly flushes and compacts.
func settle() { time.Sleep(time.Second) }
