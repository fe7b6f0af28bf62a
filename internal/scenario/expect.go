package scenario

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/dengxu/dengxu"
)

// look asks about a thing and holds the answer against the same line.
type look struct {
	about string
	name  string // of a token
	id    string // of anything else
	like  dengxu.JoinRequest
	want  want
}

func (l look) play(p *player) (any, error) {
	q := Question{About: l.about, ID: l.id, Like: l.like}
	if l.name != "" {
		q.ID = string(p.token(l.name))
	}
	if l.about != aboutToken {
		answer, err := p.stage.Read(p.ctx, q)
		if err != nil {
			return nil, err
		}
		if tokens, ok := answer.([]dengxu.Token); ok {
			if err := inOrder(tokens); err != nil {
				return nil, err
			}
		}
		return answer, l.want.check(p, answer, nil)
	}
	return nil, l.token(p, q)
}

// token looks at a token as staff and as its holder see it. Of a field that
// both see, staff's is taken.
func (l look) token(p *player, q Question) error {
	staff, err := p.stage.Read(p.ctx, q)
	if err != nil {
		return err
	}
	q.About = aboutPosition
	holder, err := p.stage.Read(p.ctx, q)
	if err != nil {
		return err
	}
	all, err := object(holder)
	if err != nil {
		return err
	}
	own, err := object(staff)
	if err != nil {
		return err
	}
	maps.Copy(all, own)
	return l.want.check(p, all, nil)
}

// What can be looked at, beside the nouns.
const (
	aboutToken    = "token"
	aboutPosition = "position"
	aboutHistory  = "history"
	aboutExplain  = "explain"
	aboutEstimate = "estimate"
	aboutLine     = "line"
	aboutEvent    = "event"
)

// parseExpect reads expect NAME …, expect queue|counter|site ID …,
// expect history|explain NAME …, expect line QUEUE … and expect event TYPE ….
func parseExpect(p *parser, _ line, w words) (doing, error) {
	if len(w.bare) < 2 || w.want != nil {
		return nil, fmt.Errorf("write: expect NAME FIELD=VALUE …, without an arrow")
	}
	what, rest := w.bare[1], w.bare[2:]
	if what == aboutEvent {
		return p.expectEvent(rest, w.fields)
	}
	l := look{about: aboutToken, name: what}
	needs := func(noun Noun) (err error) {
		if len(rest) == 0 {
			return fmt.Errorf("write: expect %s ID", what)
		}
		l.about, l.name, l.id, rest = what, "", rest[0], rest[1:]
		if noun != "" {
			return p.declared(noun, l.id)
		}
		l.name, l.id = l.id, ""
		return nil
	}
	var err error
	switch what {
	case string(NounSite), string(NounQueue), string(NounCounter):
		err = needs(Noun(what))
	case aboutLine:
		err = needs(NounQueue)
	case aboutHistory, aboutExplain:
		err = needs("")
	}
	if err == nil && l.name != "" {
		err = p.token(l.name)
	}
	if err != nil {
		return nil, err
	}
	if len(rest)+len(w.fields) == 0 && what != aboutLine {
		return nil, fmt.Errorf("what is expected of %s?", what)
	}
	l.want, err = p.plain(words{bare: rest, fields: w.fields})
	if len(rest) > 0 && l.name == "" && what != aboutLine {
		err = fmt.Errorf("what is %q? write FIELD=VALUE", rest[0])
	}
	return l, err
}

// parseEstimate reads estimate QUEUE [FIELD=VALUE …].
func parseEstimate(p *parser, _ line, w words) (doing, error) {
	args, err := arguments(w, "QUEUE")
	if err != nil {
		return nil, err
	}
	l := look{about: aboutEstimate, id: args[0]}
	if err := p.declared(NounQueue, l.id); err != nil {
		return nil, err
	}
	err = p.fill(w, &l.like)
	return l, err
}

// heard is an event that must come after the one that was expected before.
type heard struct {
	event dengxu.EventType
	name  string
	want  want
}

// expectEvent reads an event. Those of tokens are written without token.
func (p *parser) expectEvent(rest []string, fields []field) (doing, error) {
	if len(rest) == 0 || len(rest) > 2 || p.together {
		return nil, fmt.Errorf("write: expect event TYPE [NAME] [FIELD=VALUE …], outside of a together")
	}
	p.story.Events = true
	h := heard{event: dengxu.EventType(rest[0])}
	if !strings.Contains(rest[0], ".") {
		h.event = dengxu.EventType("token." + rest[0])
	}
	if len(rest) == 2 {
		h.name = rest[1]
		if err := p.token(h.name); err != nil {
			return nil, err
		}
	}
	var err error
	h.want, err = p.plain(words{fields: fields})
	return h, err
}

// play goes through the events until one fits.
func (h heard) play(p *player) (any, error) {
	var near []string
	for {
		ev, err := p.stage.Event(p.ctx, p.events)
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("no such event came; since the last one: %s", strings.Join(near, ", "))
		}
		if err != nil {
			return nil, err
		}
		p.events++
		near = append(near, strings.TrimSpace(fmt.Sprintf("%s %s", ev.Type, ev.Number)))
		near = near[max(0, len(near)-12):]
		if ev.Type != h.event || h.name != "" && ev.TokenID != p.token(h.name) {
			continue
		}
		if h.want.check(p, ev, nil) == nil {
			return nil, nil
		}
	}
}

// inOrder sorts those who wait, the next one first.
func inOrder(tokens []dengxu.Token) error {
	for _, t := range tokens {
		if t.Rank == nil {
			return fmt.Errorf("%s waits and has no rank", t.Number)
		}
	}
	slices.SortStableFunc(tokens, func(a, b dengxu.Token) int { return *a.Rank - *b.Rank })
	return nil
}
