package sim

import (
	"os"
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // as the command does: little lives long, and much is made
	goleak.VerifyTestMain(m)
}

// torture reports whether the long form is asked for.
func torture() bool { return os.Getenv("DENGXU_TORTURE") == "1" }
