package rule

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// historyKind is what a window looks back at.
type historyKind int8

const (
	missed historyKind = iota
	joined
	served
)

// histories are the functions that ask the holder's history, by name.
var histories = map[string]struct {
	kind historyKind
	name string // in the environment: how long ago
}{
	"missed_within": {missed, nameMissed},
	"joined_within": {joined, nameJoined},
	"served_within": {served, nameServed},
}

// window is one look back of a condition.
type window struct {
	kind historyKind
	long time.Duration
}

// parseWindow reads how far a condition looks back: a Go duration such as 1h30m,
// or whole days such as 7d.
func parseWindow(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		var n int
		n, err = strconv.Atoi(days)
		n = min(n, 1000) // so that it cannot overflow; too long all the same
		d = time.Duration(n) * 24 * time.Hour
	}
	if err != nil {
		return 0, fmt.Errorf("%q is not a time such as \"30m\", \"1h\" or \"7d\"", clip(s))
	}
	if d < MinWindow || d > MaxWindow || d%time.Millisecond != 0 {
		return 0, fmt.Errorf("%q must be from 1 second to 30 days", clip(s))
	}
	return d, nil
}

// add takes in what one more rule asks.
func (n *Needs) add(c compiled) {
	n.Waiting = n.Waiting || c.waiting
	n.Clock = n.Clock || c.clock
	for _, w := range c.windows {
		switch w.kind {
		case missed:
			n.Missed = max(n.Missed, w.long)
		case joined:
			n.Joined = max(n.Joined, w.long)
		case served:
			n.Served = max(n.Served, w.long)
		}
	}
}

// ago is how long ago something was, nil when it never was.
func (e *environment) ago(k historyKind) any {
	switch k {
	case missed:
		return e.Missed
	case joined:
		return e.Joined
	case served:
		return e.Served
	}
	return nil
}

// later is the environment of the same join after some time: only the history
// is older, which is what a refusal asks to wait for.
func (e *environment) later(by time.Duration) environment {
	old := func(ago any) any {
		if d, ok := ago.(time.Duration); ok {
			return d + by
		}
		return nil
	}
	out := *e
	out.Missed, out.Joined, out.Served = old(e.Missed), old(e.Joined), old(e.Served)
	return out
}
