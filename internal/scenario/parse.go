package scenario

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dengxu/dengxu"
)

// Story is one parsed story.
type Story struct {
	Name   string
	Only   string    // "direct" or "http": played so alone; "" = both
	Starts time.Time // what the clock says at first
	Events bool      // it asks for events
	Steps  []Step
}

// Step is one line of a story with its block.
type Step struct {
	Line  int
	times int // how often in a together, at the same time
	do    doing
	want  *want // nil = it must succeed
	oneOf []outcomes
}

// doing is what a step does. Answer is one of the API's types, or nil.
type doing interface {
	play(p *player) (answer any, err error)
}

// defaultStart is when a story starts that does not say: a Monday morning.
var defaultStart = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// parser is what is known of a story at the line that is being read.
type parser struct {
	story *Story
	begin string // local time, as given
	zone  *time.Location
	now   time.Time
	site  dengxu.SiteID  // the last one
	queue dengxu.QueueID // the first one
	known map[Noun]map[string]bool
	names map[string]bool
	// together is set inside of such a block, where time stands.
	together bool
}

// word is one word of the language that begins a line.
type word func(p *parser, l line, w words) (doing, error)

// language is every word. It is filled by init, because blocks read it again.
var language map[string]word

func init() {
	language = map[string]word{
		"site": parseSettings, "queue": parseSettings, "counter": parseSettings, "key": parseSettings,
		"change": parseChange,
		"at":     parseAt, "after": parseAfter, "restart": parseRestart,
		"join": parseJoin, "call": parseCall, "edit": parseEdit, "estimate": parseEstimate,
		"open": parseTurn, "pause": parseTurn, "close": parseTurn, "delete": parseTurn, actionReapply: parseTurn,
		"expect": parseExpect, "together": parseTogether,
	}
	for _, verb := range verbs {
		language[string(verb)] = parseVerb
	}
}

// Words are all words that begin a line, sorted.
func Words() []string {
	return slices.Sorted(maps.Keys(language))
}

// verbs are done to one named token.
var verbs = []dengxu.Verb{
	dengxu.VerbRecall, dengxu.VerbStart, dengxu.VerbComplete, dengxu.VerbMiss, dengxu.VerbRequeue,
	dengxu.VerbHold, dengxu.VerbResume, dengxu.VerbTransfer, dengxu.VerbReinstate, dengxu.VerbMove,
	dengxu.VerbCancel, dengxu.VerbAbandon, dengxu.VerbUndo,
	dengxu.VerbDefer, dengxu.VerbCheckIn, dengxu.VerbConfirm, dengxu.VerbRate,
}

// Parse reads a story. The error is an *Error with the line of the first
// mistake.
func Parse(name, text string) (*Story, error) {
	if len(text) > maxStory {
		return nil, &Error{name, 1, fmt.Errorf("a story has at most %d bytes", maxStory)}
	}
	p := &parser{
		story: &Story{Name: name, Starts: defaultStart}, zone: time.UTC, now: defaultStart,
		known: map[Noun]map[string]bool{NounSite: {}, NounQueue: {}, NounCounter: {}, NounKey: {}},
		names: map[string]bool{},
	}
	lines := split(text)
	if len(lines) == 0 {
		return nil, &Error{name, 1, fmt.Errorf("the story is empty")}
	}
	for i := 0; i < len(lines); i++ {
		step, used, err := p.step(lines[i:])
		if err != nil {
			if _, placed := err.(*Error); !placed { //nolint:errorlint // never wrapped here
				err = &Error{name, lines[i].n, err}
			}
			return nil, err
		}
		if step != nil {
			p.story.Steps = append(p.story.Steps, *step)
		}
		i += used - 1
	}
	return p.story, nil
}

// step reads one step and how many lines it took.
func (p *parser) step(lines []line) (step *Step, used int, err error) {
	l := lines[0]
	first, rest, _ := strings.Cut(l.text, " ")
	switch first {
	case "begin", "only":
		if len(p.story.Steps) > 0 {
			return nil, 1, fmt.Errorf("%s stands before everything else", first)
		}
		if first == "begin" {
			p.begin = strings.TrimSpace(rest)
			return nil, 1, nil
		}
		how, _, _ := strings.Cut(strings.TrimSpace(rest), " ") // the reason follows
		if how != "direct" && how != "http" {
			return nil, 1, fmt.Errorf("a story is played only direct or only http, not %q", how)
		}
		p.story.Only = how
		return nil, 1, nil
	}
	step, err = p.line(l)
	if err != nil {
		return nil, 1, err
	}
	if first != "together" {
		return step, 1, nil
	}
	if len(lines) > 1 && lines[1].text == "one of" {
		step.oneOf, err = p.oneOf(lines[1])
		return step, 2, err
	}
	return step, 1, nil
}

// line reads one line that does or expects something.
func (p *parser) line(l line) (*Step, error) {
	w, err := scan(l.text)
	if err != nil {
		return nil, err
	}
	if len(w.bare) == 0 {
		return nil, fmt.Errorf("a line begins with a word")
	}
	step := &Step{Line: l.n, times: 1}
	if len(w.bare) > 2 && w.bare[1] == "times" {
		step.times, err = strconv.Atoi(w.bare[0])
		if err != nil || step.times < 1 || step.times > maxTimes || !p.together {
			return nil, fmt.Errorf("%q: from 1 to %d times, in a together", w.bare[0]+" times", maxTimes)
		}
		w.bare = w.bare[2:]
	}
	parse, ok := language[w.bare[0]]
	if !ok {
		return nil, fmt.Errorf("unknown word %q: a line begins with one of begin, only, %s",
			w.bare[0], strings.Join(Words(), ", "))
	}
	if step.do, err = parse(p, l, w); err != nil {
		return nil, err
	}
	if len(l.block) > 0 && !hasBlock(step.do) {
		return nil, &Error{p.story.Name, l.block[0].n, fmt.Errorf("nothing may be indented below %s", w.bare[0])}
	}
	if w.want != nil {
		step.want, err = p.want(*w.want)
	}
	return step, err
}

func hasBlock(do doing) bool {
	switch do.(type) {
	case setting, together:
		return true
	default:
		return false
	}
}

// name is the name of a token in a story: not a state, so that an answer can
// tell them apart.
var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_.-]{0,31}$`)

func (p *parser) bind(name string) error {
	if !namePattern.MatchString(name) || dengxu.State(name).Valid() {
		return fmt.Errorf("%q is no name for a token: small letters, and not a state", name)
	}
	p.names[name] = true
	return nil
}

// token is a name that an earlier line gave.
func (p *parser) token(name string) error {
	if !p.names[name] {
		return fmt.Errorf("nobody is called %q yet", name)
	}
	return nil
}

// declared refuses ids that no earlier line made. Stories about unknown ids
// are tests of the API.
func (p *parser) declared(noun Noun, id string) error {
	if !p.known[noun][id] {
		return fmt.Errorf("there is no %s %q yet", noun, id)
	}
	return nil
}

// arguments takes the words after the first, which must be so many.
func arguments(w words, names ...string) ([]string, error) {
	if len(w.bare)-1 != len(names) {
		return nil, fmt.Errorf("write: %s %s", w.bare[0], strings.Join(names, " "))
	}
	return w.bare[1:], nil
}

// parsed is where a step stands in its story, for messages.
func (s *Story) at(line int, err error) error {
	if err == nil {
		return nil
	}
	if placed, ok := err.(*Error); ok { //nolint:errorlint // never wrapped here
		return placed
	}
	return &Error{s.Name, line, err}
}
