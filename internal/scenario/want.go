package scenario

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dengxu/dengxu"
)

// want is what a line says of an answer.
type want struct {
	code    dengxu.Code // refused
	reason  string      // of a refusal, or of nobody
	nobody  bool
	because bool     // a reason was given
	words   []string // numbers, names and states
	fields  []field
	zone    *time.Location
}

// codes are the refusals that a story can expect.
var codes = []dengxu.Code{
	dengxu.Unauthenticated, dengxu.Forbidden, dengxu.NotFound, dengxu.Exists, dengxu.Conflict,
	dengxu.Closed, dengxu.Full, dengxu.Invalid, dengxu.TooMany,
}

// want reads what stands after an arrow.
func (p *parser) want(w words) (*want, error) {
	if w.want != nil || len(w.bare)+len(w.fields) == 0 {
		return nil, fmt.Errorf("after an arrow stands one answer")
	}
	if len(w.bare) == 0 || w.bare[0] != "refused" && w.bare[0] != "nobody" {
		out, err := p.plain(w)
		return &out, err
	}
	first, rest := w.bare[0], w.bare[1:]
	w.bare = nil
	out, err := p.plain(w)
	if first == "nobody" {
		out.nobody = true
	} else {
		if len(rest) == 0 || !slices.Contains(codes, dengxu.Code(rest[0])) {
			return nil, fmt.Errorf("refused needs a code: one of %v", codes)
		}
		out.code, rest = dengxu.Code(rest[0]), rest[1:]
	}
	if len(rest) > 1 {
		return nil, fmt.Errorf("%q stands after the reason", rest[1])
	}
	if len(rest) == 1 {
		out.reason, out.because = rest[0], true
	}
	return &out, err
}

// plain reads what is said of an answer that came.
func (p *parser) plain(w words) (want, error) {
	out := want{words: w.bare, fields: slices.Clone(w.fields), zone: p.zone}
	for i, f := range out.fields {
		out.fields[i].key = long(f.key)
		for _, g := range out.fields[:i] {
			if g.key == out.fields[i].key && g.op == f.op && f.op == "=" {
				return out, fmt.Errorf("%s stands twice", f.key)
			}
		}
	}
	return out, nil
}

// check holds an answer or a refusal against what is wanted.
func (w *want) check(p *player, answer any, err error) error {
	if w.code != "" {
		return w.refusal(err)
	}
	if err != nil {
		return fmt.Errorf("refused: %s %s: %w", dengxu.CodeOf(err), dengxu.ReasonOf(err), err)
	}
	if outcome, ok := answer.(dengxu.CallOutcome); ok {
		switch {
		case w.nobody && outcome.Token != nil:
			return fmt.Errorf("called %s, want nobody", outcome.Token.Number)
		case w.nobody && w.because && outcome.Reason != w.reason:
			return fmt.Errorf("nobody because of %q, want %q", outcome.Reason, w.reason)
		case w.nobody:
			return nil
		case outcome.Token == nil:
			return fmt.Errorf("called nobody: %s", outcome.Reason)
		}
		answer = outcome.Token
	}
	if w.nobody {
		return fmt.Errorf("only a call can find nobody")
	}
	if list, ok := asList(answer); ok {
		return w.list(p, list)
	}
	all, err := object(answer)
	if err != nil {
		return err
	}
	if spans, ok := answer.(dengxu.History); ok {
		if err := w.spans(spans); err != nil {
			return err
		}
	} else if err := w.match(p, w.words, all); err != nil {
		return err
	}
	return w.details(all)
}

// refusal holds a refusal against the code, the reason and its details.
func (w *want) refusal(err error) error {
	switch {
	case err == nil:
		return fmt.Errorf("it was not refused, want %s %s", w.code, w.reason)
	case dengxu.CodeOf(err) != w.code, w.because && dengxu.ReasonOf(err) != w.reason:
		return fmt.Errorf("refused with %s %s, want %s %s: %w", dengxu.CodeOf(err), dengxu.ReasonOf(err), w.code, w.reason, err)
	}
	e, _ := errors.AsType[*dengxu.Error](err)
	all, err := object(struct {
		Field string        `json:"field"`
		Retry float64       `json:"retry_after_seconds"`
		Token *dengxu.Token `json:"token"`
	}{e.Field, e.RetryAfter.Seconds(), e.Token})
	if err != nil {
		return err
	}
	return w.details(all)
}

// list holds several answers against as many words.
func (w *want) list(p *player, list []any) error {
	var got []string
	for _, item := range list {
		all, err := object(item)
		if err != nil {
			return err
		}
		got = append(got, text(all["number"]))
	}
	if len(list) != len(w.words) {
		return fmt.Errorf("there are %d: %s; want %d", len(list), strings.Join(got, " "), len(w.words))
	}
	for i, item := range list {
		all, err := object(item)
		if err != nil {
			return err
		}
		if err := w.match(p, w.words[i:i+1], all); err != nil {
			return fmt.Errorf("in %s: %w", strings.Join(got, " "), err)
		}
	}
	if len(w.fields) > 0 {
		return fmt.Errorf("fields cannot be asked of several answers")
	}
	return nil
}

// spans holds a history against the states that it went through.
func (w *want) spans(h dengxu.History) error {
	var got []string
	for _, s := range h.Spans {
		got = append(got, string(s.State))
	}
	if !slices.Equal(got, w.words) {
		return fmt.Errorf("went through %s, want %s", strings.Join(got, " "), strings.Join(w.words, " "))
	}
	return nil
}

// match holds one answer against words: the name of a token, a state, or else
// a number.
func (w *want) match(p *player, words []string, all map[string]any) error {
	for _, word := range words {
		key, wanted := "number", word
		if id, ok := p.lookup(word); ok {
			key, wanted = "token_id", string(id)
		} else if dengxu.State(word).Valid() {
			key = "state"
		}
		if got := text(all[key]); got != wanted {
			return fmt.Errorf("it is %s, %s; want %s", cmp.Or(text(all["number"]), "nothing with a number"), text(all["state"]), word)
		}
	}
	return nil
}

// details holds the fields of one answer.
func (w *want) details(all map[string]any) error {
	for _, f := range w.fields {
		got := w.text(lookup(all, f.key), f.value)
		fits := false
		switch f.op {
		case "~":
			fits = strings.Contains(got, f.value)
		default:
			fits = equal(got, f.value) == (f.op == "=")
		}
		if !fits {
			return fmt.Errorf("%s is %s, want %s%s", f.key, got, f.op, f.value)
		}
	}
	return nil
}

func equal(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX == nil && errY == nil {
		return x == y
	}
	return a == b
}

// text writes a value as stories do; a time as the wanted one is written.
func (w *want) text(v any, wanted string) string {
	s := text(v)
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || w.zone == nil {
		return s
	}
	for _, layout := range []string{minuteOnly, secondOnly, dayAndMinute, dayAndSecond} {
		if _, err := time.Parse(layout, wanted); err == nil {
			at = at.In(w.zone)
			if at.Second() != 0 && (layout == minuteOnly || layout == dayAndMinute) {
				layout += ":05"
			}
			return at.Format(layout)
		}
	}
	return s
}

// text writes a value: none for what is absent, a list as its members with
// commas, a token as its number.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return none
	case string:
		if v == "" {
			return none
		}
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case []any:
		var parts []string
		for _, part := range v {
			parts = append(parts, text(part))
		}
		if len(parts) == 0 {
			return none
		}
		return strings.Join(parts, ",")
	case map[string]any:
		if number, ok := v["number"]; ok {
			return text(number)
		}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// none is how stories write that something is absent, empty or null.
const none = "none"

// lookup finds a field by its path, in which a number is a place in a list. A
// state's name finds how many are in it.
func lookup(all map[string]any, path string) any {
	if counts, ok := all["counts"].(map[string]any); ok && dengxu.State(path).Valid() {
		if n, ok := counts[path]; ok {
			return n
		}
		return json.Number("0")
	}
	var at any = all
	for part := range strings.SplitSeq(path, ".") {
		switch inside := at.(type) {
		case map[string]any:
			at = inside[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(inside) {
				return nil
			}
			at = inside[i]
		default:
			return nil
		}
	}
	return at
}

// object is an answer as its JSON says it.
func object(v any) (map[string]any, error) {
	if all, ok := v.(map[string]any); ok {
		return all, nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	all := map[string]any{}
	return all, d.Decode(&all)
}

// asList is an answer of several tokens.
func asList(v any) ([]any, bool) {
	var list []any
	switch v := v.(type) {
	case []dengxu.Ticket:
		for _, t := range v {
			list = append(list, t)
		}
	case []dengxu.Token:
		for _, t := range v {
			list = append(list, t)
		}
	default:
		return nil, false
	}
	return list, true
}
