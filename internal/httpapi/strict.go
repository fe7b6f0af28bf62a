package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a body.
const maxDepth = 32

// unmarshalStrict reads JSON into an *any for huma's validation. Beside what
// encoding/json refuses, it refuses two keys of the same name in one object,
// which different readers would take differently, invalid UTF-8, half of a
// surrogate pair, and more than 32 levels.
func unmarshalStrict(data []byte, v any) error {
	into, ok := v.(*any)
	if !ok {
		return json.Unmarshal(data, v)
	}
	p := parser{data: data}
	p.space()
	value, err := p.value(0)
	if err != nil {
		return err
	}
	if p.space(); p.at < len(data) {
		return p.malformed()
	}
	*into = value
	return nil
}

// parser reads one JSON text from left to right.
type parser struct {
	data []byte
	at   int
}

func (p *parser) malformed() error {
	if p.at >= len(p.data) {
		return errors.New("malformed JSON: it ends too early")
	}
	return fmt.Errorf("malformed JSON at byte %d", p.at+1)
}

func (p *parser) space() {
	for p.at < len(p.data) {
		switch p.data[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// next reports whether c follows, and goes past it and the space after it.
func (p *parser) next(c byte) bool {
	if p.at >= len(p.data) || p.data[p.at] != c {
		return false
	}
	p.at++
	p.space()
	return true
}

func (p *parser) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("malformed JSON: more than %d levels", maxDepth)
	}
	if p.at >= len(p.data) {
		return nil, p.malformed()
	}
	switch c := p.data[p.at]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		return p.text()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	switch rest := p.data[p.at:]; {
	case bytes.HasPrefix(rest, []byte("true")):
		p.at += 4
		return true, nil
	case bytes.HasPrefix(rest, []byte("false")):
		p.at += 5
		return false, nil
	case bytes.HasPrefix(rest, []byte("null")):
		p.at += 4
		return nil, nil
	}
	return nil, p.malformed()
}

func (p *parser) object(depth int) (any, error) {
	p.next('{')
	object := make(map[string]any)
	for more := !p.next('}'); more; {
		if p.at >= len(p.data) || p.data[p.at] != '"' {
			return nil, p.malformed()
		}
		key, err := p.text()
		if err != nil {
			return nil, err
		}
		if _, twice := object[key]; twice {
			return nil, fmt.Errorf("the key %q is given twice", key)
		}
		if p.space(); !p.next(':') {
			return nil, p.malformed()
		}
		if object[key], err = p.value(depth + 1); err != nil {
			return nil, err
		}
		p.space()
		if more = p.next(','); !more && !p.next('}') {
			return nil, p.malformed()
		}
	}
	return object, nil
}

func (p *parser) array(depth int) (any, error) {
	p.next('[')
	array := []any{}
	for more := !p.next(']'); more; {
		value, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		array = append(array, value)
		p.space()
		if more = p.next(','); !more && !p.next(']') {
			return nil, p.malformed()
		}
	}
	return array, nil
}

// text reads a string literal. Only one with escapes is decoded by the library.
func (p *parser) text() (string, error) {
	start := p.at
	escaped := false
	for p.at++; p.at < len(p.data); p.at++ {
		switch c := p.data[p.at]; {
		case c == '\\':
			escaped = true
			p.at++
		case c == '"':
			p.at++
			literal := p.data[start:p.at]
			if !utf8.Valid(literal) {
				return "", errors.New("malformed JSON: a string is not valid UTF-8")
			}
			if !escaped {
				return string(literal[1 : len(literal)-1]), nil
			}
			var s string
			if err := json.Unmarshal(literal, &s); err != nil {
				return "", errors.New("malformed JSON: a string has a wrong escape")
			}
			if loneSurrogate(literal) {
				return "", errors.New("malformed JSON: a string has half of a surrogate pair")
			}
			return s, nil
		case c < ' ':
			return "", p.malformed()
		}
	}
	return "", p.malformed()
}

// loneSurrogate reports whether a string literal with valid escapes names half
// of a surrogate pair, which the library reads as U+FFFD: two different
// strings would become one.
func loneSurrogate(literal []byte) bool {
	high := false // the escape just before was the first half
	for i := 0; i < len(literal); i++ {
		half := rune(0)
		if literal[i] == '\\' {
			i++
			if literal[i] == 'u' {
				n, _ := strconv.ParseUint(string(literal[i+1:i+5]), 16, 16)
				half, i = rune(n), i+4
			}
		}
		second := half >= 0xDC00 && half <= 0xDFFF
		if high != second {
			return true
		}
		high = half >= 0xD800 && half <= 0xDBFF
	}
	return high
}

func (p *parser) number() (any, error) {
	start := p.at
	digits := func() bool {
		from := p.at
		for p.at < len(p.data) && p.data[p.at] >= '0' && p.data[p.at] <= '9' {
			p.at++
		}
		return p.at > from
	}
	is := func(set string) bool {
		for i := range len(set) {
			if p.at < len(p.data) && p.data[p.at] == set[i] {
				p.at++
				return true
			}
		}
		return false
	}
	is("-")
	if !is("0") && !digits() || is(".") && !digits() {
		return nil, p.malformed()
	}
	if is("eE") {
		if is("+-"); !digits() {
			return nil, p.malformed()
		}
	}
	v, err := strconv.ParseFloat(string(p.data[start:p.at]), 64)
	if err != nil {
		return nil, errors.New("malformed JSON: a number is too large")
	}
	return v, nil
}
