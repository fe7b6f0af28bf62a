package ctl

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
)

func TestTellSaysWhatToDo(t *testing.T) {
	t.Parallel()
	late := dengxu.Errorf(dengxu.TooMany, "not yet")
	late.RetryAfter = 2830 * time.Millisecond
	closed := dengxu.Errorf(dengxu.Closed, "closed")
	closed.RetryAfter = 14*time.Hour + 4*time.Minute + time.Second
	exists := dengxu.Errorf(dengxu.Exists, "already in this queue")
	exists.Token = &dengxu.Token{Number: "A007", State: dengxu.StateScheduled}
	for _, row := range []struct {
		err  error
		want string
	}{
		{late, "dengxu: too_many: not yet\n  try again in 2.9 s\n"},
		{closed, "dengxu: closed: closed\n  try again in 14 h 5 min\n"},
		{exists, "dengxu: exists: already in this queue\n  the one in line is A007, scheduled\n"},
		{errors.New("no file"), "dengxu: no file\n"},
		{dengxu.Errorf(dengxu.Unauthenticated, "no"), "DENGXU_KEY"},
	} {
		var out strings.Builder
		Tell(&out, row.err)
		if !strings.Contains(out.String(), row.want) {
			t.Errorf("%v:\n%s", row.err, out.String())
		}
	}
}
