package scenario

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Bounds of a story, so that a strange file costs little.
const (
	maxStory = 1 << 20 // bytes
	maxTimes = 10_000  // repeats of one step
)

// Error is a mistake in a story, or where playing it went wrong.
type Error struct {
	File string
	Line int // from 1
	Err  error
}

// Error returns "file:line: message".
func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns what went wrong.
func (e *Error) Unwrap() error { return e.Err }

// line is one line of a story and the indented lines below it.
type line struct {
	n     int
	text  string // without indentation
	block []line
}

// last is the number of the last line of the block.
func (l *line) last() int {
	if len(l.block) == 0 {
		return l.n
	}
	return l.block[len(l.block)-1].n
}

// split turns a text into its lines at the margin, each with its block. Empty
// lines and lines of a comment vanish.
func split(text string) []line {
	var lines []line
	for i, raw := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(raw)
		if trimmed == "" || trimmed[0] == '#' {
			continue
		}
		indented := raw[0] == ' ' || raw[0] == '\t'
		if indented && len(lines) > 0 {
			last := &lines[len(lines)-1]
			last.block = append(last.block, line{n: i + 1, text: strings.TrimRight(raw, " \t\r")})
			continue
		}
		lines = append(lines, line{n: i + 1, text: trimmed})
	}
	return lines
}

// field is key=value, key!=value or key~value.
type field struct{ key, op, value string }

// words is a line taken apart: bare words, fields, and what stands after the
// arrow.
type words struct {
	bare   []string
	fields []field
	want   *words // nil = no arrow
}

var keyPattern = regexp.MustCompile(`^([a-z_][a-zA-Z_.0-9-]*)(!=|=|~)`)

// scan takes a line apart. A word that begins with # ends it.
func scan(text string) (words, error) {
	var all words
	into := &all
	for text = skip(text); text != "" && text[0] != '#'; text = skip(text) {
		if rest, ok := cutArrow(text); ok {
			if all.want != nil {
				return all, fmt.Errorf("there are two arrows")
			}
			all.want = new(words)
			into, text = all.want, rest
			continue
		}
		m := keyPattern.FindStringSubmatch(text)
		if m == nil {
			value, rest, err := value(text)
			if err != nil {
				return all, err
			}
			into.bare, text = append(into.bare, value), rest
			continue
		}
		value, rest, err := value(text[len(m[0]):])
		if err != nil {
			return all, fmt.Errorf("%s: %w", m[1], err)
		}
		into.fields, text = append(into.fields, field{m[1], m[2], value}), rest
	}
	return all, nil
}

func skip(text string) string { return strings.TrimLeft(text, " \t\r") }

// cutArrow takes an arrow off, which stands as a word of its own.
func cutArrow(text string) (rest string, ok bool) {
	for _, arrow := range []string{"→", "->"} {
		if rest, ok := strings.CutPrefix(text, arrow); ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t') {
			return rest, true
		}
	}
	return text, false
}

// value takes one value off: a quoted string, JSON in braces or brackets, or
// everything up to the next space.
func value(text string) (value, rest string, err error) {
	if text == "" || text[0] == ' ' || text[0] == '\t' {
		return "", text, nil
	}
	switch text[0] {
	case '"':
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return "", text, fmt.Errorf("a quote is not closed")
		}
		value, err = strconv.Unquote(quoted)
		return value, text[len(quoted):], err
	case '{', '[':
		d := json.NewDecoder(strings.NewReader(text))
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return "", text, fmt.Errorf("this is not JSON: %w", err)
		}
		return string(raw), text[d.InputOffset():], nil
	}
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return text[:i], text[i:], nil
	}
	return text, "", nil
}
