//go:build !linux

package redistest

import "os/exec"

// dieWithParent does nothing here: other kernels have no such signal, and a
// killed test binary leaves its servers behind.
func dieWithParent(*exec.Cmd) {}
