package ctl

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/dengxu/dengxu"
)

// Tell prints why a command failed, and what to do about it where an error
// knows: when to try again, who is in line already, and how to give a key.
func Tell(w io.Writer, err error) {
	fmt.Fprintln(w, "dengxu:", err)
	e, ok := errors.AsType[*dengxu.Error](err)
	if !ok {
		return
	}
	if e.RetryAfter > 0 {
		fmt.Fprintln(w, "  try again in", span(e.RetryAfter))
	}
	if e.Code == dengxu.Exists && e.Token != nil && e.Token.Number != "" {
		fmt.Fprintf(w, "  the one in line is %s, %s\n", e.Token.Number, e.Token.State)
	}
	if e.Code == dengxu.Unauthenticated {
		fmt.Fprintln(w, "  the key is taken from --key, DENGXU_KEY or DENGXU_ADMIN_KEY, the first that is set")
	}
}

// span is a duration for people, never shorter than it is.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", math.Ceil(d.Seconds()*10)/10)
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(math.Ceil(d.Minutes())))
	}
	minutes := int(math.Ceil(d.Minutes()))
	return fmt.Sprintf("%d h %d min", minutes/60, minutes%60)
}
