package scenario

import (
	"fmt"
	"time"
)

// How times are written in stories, in the site's zone.
const (
	dayAndMinute = "2006-01-02 15:04"
	dayAndSecond = "2006-01-02 15:04:05"
	minuteOnly   = "15:04"
	secondOnly   = "15:04:05"
)

// clock lets time pass until an instant.
type clock struct {
	at   time.Time
	late bool
}

func (c clock) play(p *player) (any, error) { return nil, p.stage.MoveTo(p.ctx, c.at, c.late) }

// time reads "2026-03-02 09:00", "2026-03-02 09:00:30", "09:00" or "09:00:30".
// A time alone is of the day that the story has come to.
func (p *parser) time(text string) (time.Time, error) {
	for _, layout := range []string{dayAndMinute, dayAndSecond} {
		if at, err := time.ParseInLocation(layout, text, p.zone); err == nil {
			return at, nil
		}
	}
	for _, layout := range []string{minuteOnly, secondOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			now := p.now.In(p.zone)
			return time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), at.Second(), 0, p.zone), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time: write 09:00, 09:00:30 or 2026-03-02 09:00", text)
}

// parseAt reads at [DATE] TIME [before timers].
func parseAt(p *parser, _ line, w words) (doing, error) {
	args, late := w.bare[1:], false
	if n := len(args); n > 2 && args[n-2] == "before" && args[n-1] == "timers" {
		args, late = args[:n-2], true
	}
	text := ""
	switch len(args) {
	case 1:
		text = args[0]
	case 2:
		text = args[0] + " " + args[1]
	default:
		return nil, fmt.Errorf("write: at [DATE] TIME [before timers]")
	}
	at, err := p.time(text)
	if err != nil {
		return nil, err
	}
	return p.moveTo(at, late, w)
}

// parseAfter reads after DURATION [before timers].
func parseAfter(p *parser, _ line, w words) (doing, error) {
	args, late := w.bare[1:], false
	if n := len(args); n == 3 && args[1] == "before" && args[2] == "timers" {
		args, late = args[:1], true
	}
	if len(args) != 1 {
		return nil, fmt.Errorf("write: after 90s [before timers]")
	}
	d, err := time.ParseDuration(args[0])
	if err != nil || d <= 0 || d > 366*24*time.Hour {
		return nil, fmt.Errorf("%q is no time to pass: write 30s, 5m or 2h", args[0])
	}
	return p.moveTo(p.now.Add(d), late, w)
}

// The clock of a story stays within what the API can tell.
const (
	minYear = 1972
	maxYear = 2200
)

func (p *parser) moveTo(at time.Time, late bool, w words) (doing, error) {
	switch {
	case p.together:
		return nil, fmt.Errorf("time stands in a together")
	case p.site == "":
		return nil, fmt.Errorf("write begin for when the story starts; %s stands after the site", w.bare[0])
	case w.want != nil || len(w.fields) > 0:
		return nil, fmt.Errorf("time has no answer")
	case at.Before(p.now):
		return nil, fmt.Errorf("it is %s already", p.now.In(p.zone).Format(dayAndSecond))
	case at.Year() > maxYear:
		return nil, fmt.Errorf("that is too late")
	}
	p.now = at
	return clock{at, late}, nil
}

// restart ends the server and starts it again.
type restart struct{}

func (restart) play(p *player) (any, error) { return nil, p.stage.Restart(p.ctx) }

func parseRestart(p *parser, _ line, w words) (doing, error) {
	if len(w.bare) > 1 || len(w.fields) > 0 || w.want != nil || p.together {
		return nil, fmt.Errorf("restart stands alone")
	}
	return restart{}, nil
}
