package dengxutest_test

import (
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/dengxutest"
)

// A test takes a server of its own and moves its clock instead of waiting.
func ExampleNewServer() {
	_ = func(t *testing.T) { //nolint:thelper // it is a test, not a helper
		s := dengxutest.NewServer(t)
		ticket := s.Join("main", 1)[0]
		s.Call("1")
		s.Clock.Advance(5 * time.Minute) // nobody came: the call times out
		if got := s.State(ticket.ID); got != dengxu.StateScheduled {
			t.Errorf("after the countdown: %s", got)
		}
	}
}
