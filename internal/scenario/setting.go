package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/strictyaml"
)

// setting writes settings of a site, queue, counter or key.
type setting struct {
	noun Noun
	id   string
	set  any
}

func (s setting) play(p *player) (any, error) {
	return p.stage.Set(p.ctx, s.noun, s.id, s.set)
}

// parseSettings reads the settings below site, queue, counter and key.
func parseSettings(p *parser, l line, w words) (doing, error) {
	args, err := arguments(w, "ID")
	if err != nil {
		return nil, err
	}
	s := setting{noun: Noun(w.bare[0]), id: args[0]}
	if p.together {
		return nil, fmt.Errorf("settings stand outside of a together")
	}
	if s.noun != NounSite && s.noun != NounKey && p.site == "" {
		return nil, fmt.Errorf("a site stands before its queues and counters")
	}
	switch s.noun {
	case NounSite:
		set := &dengxu.Site{}
		if err := p.yaml(l, set); err != nil {
			return nil, err
		}
		if set.TimeZone == "" {
			set.TimeZone = "UTC"
		}
		s.set = set
		err = p.enter(dengxu.SiteID(s.id), set.TimeZone)
	case NounQueue:
		set := &dengxu.Queue{}
		err = p.yaml(l, set)
		if set.Site == "" {
			set.Site = p.site
		}
		if p.queue == "" {
			p.queue = dengxu.QueueID(s.id)
		}
		s.set = set
	case NounCounter:
		set := &dengxu.Counter{}
		err = p.yaml(l, set)
		if set.Site == "" {
			set.Site = p.site
		}
		s.set = set
	case NounKey:
		set := &dengxu.Key{}
		err = p.yaml(l, set)
		s.set = set
		if s.id == Holder || s.id == Public {
			err = fmt.Errorf("by=%s means nobody's key", s.id)
		}
	}
	p.known[s.noun][s.id] = true
	return s, err
}

// enter makes a site the one that the story is about. The first one's zone
// says when the story starts.
func (p *parser) enter(id dengxu.SiteID, zone string) error {
	at, err := time.LoadLocation(zone)
	if err != nil {
		return fmt.Errorf("time_zone: %w", err)
	}
	first := p.site == ""
	p.site, p.zone = id, at
	if !first {
		return nil
	}
	begin := p.begin
	if begin == "" {
		begin = defaultStart.Format(dayAndMinute)
	}
	start, err := p.time(begin)
	if err == nil && (start.Year() < minYear || start.Year() > maxYear) {
		err = fmt.Errorf("a story begins from %d to %d", minYear, maxYear)
	}
	p.now, p.story.Starts = start, start
	return err
}

// yaml reads the block of a line as settings.
func (p *parser) yaml(l line, into any) error {
	node, err := p.node(l)
	if err == nil {
		err = node.Decode(into)
	}
	return p.placed(l, err)
}

// node parses the block at its place in the file, so that mistakes keep their
// line.
func (p *parser) node(l line) (*strictyaml.Node, error) {
	var text strings.Builder
	at := 1
	for _, b := range l.block {
		for ; at < b.n; at++ {
			text.WriteByte('\n')
		}
		text.WriteString(b.text)
	}
	return strictyaml.Parse([]byte(text.String()))
}

// placed gives a mistake in a block its line.
func (p *parser) placed(l line, err error) error {
	if err == nil {
		return nil
	}
	n := l.n
	if mistake, ok := errors.AsType[*strictyaml.Error](err); ok {
		// YAML counts a lone carriage return as a line too, a story does not.
		n, err = max(n, min(mistake.Line, l.last())), errors.New(mistake.Message)
	}
	return &Error{p.story.Name, n, err}
}

// parseChange reads a merge patch of settings.
func parseChange(p *parser, l line, w words) (doing, error) {
	args, err := arguments(w, "site|queue|counter", "ID")
	if err != nil {
		return nil, err
	}
	noun, id := Noun(args[0]), args[1]
	if _, ok := p.known[noun]; !ok || noun == NounKey {
		return nil, fmt.Errorf("a change is of a site, a queue or a counter")
	}
	if err := p.declared(noun, id); err != nil {
		return nil, err
	}
	node, err := p.node(l)
	if err != nil {
		return nil, p.placed(l, err)
	}
	patch, err := json.Marshal(node.Value())
	return setting{noun, id, json.RawMessage(patch)}, p.placed(l, err)
}
