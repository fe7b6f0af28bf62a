package scenario

import (
	"cmp"
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
	s.set = blank(s.noun)
	if err := p.yaml(l, s.set); err != nil {
		return nil, err
	}
	p.known[s.noun][s.id] = true
	return s, p.settle(s)
}

// blank is settings that say nothing.
func blank(noun Noun) any {
	switch noun {
	case NounSite:
		return &dengxu.Site{}
	case NounQueue:
		return &dengxu.Queue{}
	case NounCounter:
		return &dengxu.Counter{}
	case NounKey:
	}
	return &dengxu.Key{}
}

// settle adds to settings what the story says by where they stand.
func (p *parser) settle(s setting) error {
	switch set := s.set.(type) {
	case *dengxu.Site:
		set.TimeZone = cmp.Or(set.TimeZone, "UTC")
		return p.enter(dengxu.SiteID(s.id), set.TimeZone)
	case *dengxu.Queue:
		set.Site = cmp.Or(set.Site, p.site)
		p.queue = cmp.Or(p.queue, dengxu.QueueID(s.id))
	case *dengxu.Counter:
		set.Site = cmp.Or(set.Site, p.site)
	case *dengxu.Key:
		if s.id == Holder || s.id == Public {
			return fmt.Errorf("by=%s means nobody's key", s.id)
		}
	}
	return nil
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
