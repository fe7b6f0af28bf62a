package engine

import (
	"cmp"
	"encoding/json"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// Bounds of what is said of a holder: people, and characters of text, as the
// API describes them.
const (
	maxParty    = 1000
	maxBusiness = 128
	maxPerson   = 256
	maxPhone    = 32
	maxNote     = 1024
	maxReason   = 256
)

// The channels that the engine names; the others are the caller's word.
const (
	channelAPI = "api"
	channelWeb = "web"
)

// checkJoin checks and cleans what a join says about its holder.
func (q *queue) checkJoin(by By, req *dengxu.JoinRequest) error {
	if req.Channel == "" {
		req.Channel = channelAPI
		if by.Kind == Public || by.Kind == Holder {
			req.Channel = channelWeb
		}
	}
	if math.IsNaN(req.DelaySeconds) || req.DelaySeconds < 0 {
		return dengxu.Fieldf(dengxu.Invalid, "delay_seconds", "a delay is not negative")
	}
	if err := firstError(
		cleanText("business_id", &req.BusinessID, maxBusiness),
		cleanPerson(&req.Name, &req.Phone, &req.Note),
		checkParty(req.PartySize),
	); err != nil {
		return err
	}
	attrs, err := parseAttrs(req.ExtAttrs)
	if err != nil {
		return err
	}
	return q.checkFields(req, attrs)
}

// cleanPerson cleans and bounds what a token says of its holder.
func cleanPerson(name, phone, note *string) error {
	return firstError(
		cleanText("name", name, maxPerson), cleanText("phone", phone, maxPhone), cleanText("note", note, maxNote))
}

func checkParty(people int) error {
	if people < 0 || people > maxParty {
		return dengxu.Fieldf(dengxu.Invalid, "party_size", "a party has 0 to %d people", maxParty)
	}
	return nil
}

// cleanText drops control, bidirectional and zero-width characters, which can
// make a name say something else on a board than in the record, and bounds the
// length in characters. nil was not given.
func cleanText(field string, s *string, most int) error {
	if s == nil {
		return nil
	}
	if !utf8.ValidString(*s) {
		return dengxu.Fieldf(dengxu.Invalid, field, "%s is not valid UTF-8", field)
	}
	*s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, *s))
	if utf8.RuneCountInString(*s) > most {
		return dengxu.Fieldf(dengxu.Invalid, field, "%s is longer than %d characters", field, most)
	}
	return nil
}

// maxAttrs bounds ext_attrs in bytes.
const maxAttrs = 8 << 10

// parseAttrs reads ext_attrs: an object of numbers, strings and booleans.
func parseAttrs(raw json.RawMessage) (map[string]any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	if len(raw) > maxAttrs {
		return nil, dengxu.Fieldf(dengxu.Invalid, "ext_attrs", "ext_attrs is larger than %d bytes", maxAttrs)
	}
	var attrs map[string]any
	if err := json.Unmarshal(raw, &attrs); err != nil {
		return nil, dengxu.Fieldf(dengxu.Invalid, "ext_attrs", "ext_attrs must be an object")
	}
	for k, v := range attrs {
		switch v.(type) {
		case string, float64, bool, nil:
		default:
			return nil, dengxu.Fieldf(dengxu.Invalid, "ext_attrs."+k, "ext_attrs holds only numbers, strings and booleans")
		}
	}
	return attrs, nil
}

// checkFields holds a join against the queue's declared fields.
func (q *queue) checkFields(req *dengxu.JoinRequest, attrs map[string]any) error {
	for _, f := range q.set.Fields {
		var value any
		switch f.Name {
		case "name":
			value = text(req.Name)
		case "phone":
			value = text(req.Phone)
		case "note":
			value = text(req.Note)
		case "party_size":
			value = party(req.PartySize)
		default:
			value = attrs[f.Name]
		}
		if err := checkField(f, value); err != nil {
			return err
		}
	}
	return nil
}

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// party is a party size as a declared field's value, nil when none was given.
func party(n int) any {
	if n == 0 {
		return nil
	}
	return float64(n)
}

func checkField(f dengxu.Field, value any) error {
	if value == nil {
		if f.Required {
			return dengxu.Fieldf(dengxu.Invalid, f.Name, "%s is required", f.Name)
		}
		return nil
	}
	ok := false
	switch f.Type {
	case "number":
		_, ok = value.(float64)
	case "bool":
		_, ok = value.(bool)
	default: // text, phone
		var s string
		s, ok = value.(string)
		if ok && f.Max > 0 && utf8.RuneCountInString(s) > f.Max {
			return dengxu.Fieldf(dengxu.Invalid, f.Name, "%s is longer than %d characters", f.Name, f.Max)
		}
		if ok && f.Type == "phone" && strings.Trim(s, "+0123456789 -()") != "" {
			return dengxu.Fieldf(dengxu.Invalid, f.Name, "%s is not a phone number", f.Name)
		}
	}
	if !ok {
		return dengxu.Fieldf(dengxu.Invalid, f.Name, "%s must be a %s", f.Name, f.Type)
	}
	return nil
}

// standing is the class and group in which a join would stand.
func (q *queue) standing(class, groupName string) (string, group, error) {
	class, err := q.classOf(class)
	if err != nil {
		return "", group{}, err
	}
	g, ok := q.groups[cmp.Or(groupName, dengxu.GroupOrdinary)]
	if !ok {
		return "", group{}, dengxu.Fieldf(dengxu.Invalid, "priority_group", "queue %s has no group %q", q.id, groupName)
	}
	return class, g, nil
}

// groupOf is the group of a token that comes from another queue: the one of
// the same name, else ordinary, which always exists.
func (q *queue) groupOf(name string) (string, group) {
	if g, ok := q.groups[name]; ok {
		return name, g
	}
	return dengxu.GroupOrdinary, q.groups[dengxu.GroupOrdinary]
}

// classOf finds the class of a join: the one given, else the default, else the
// only one there is.
func (q *queue) classOf(given string) (string, error) {
	switch {
	case given != "":
		if _, ok := q.set.Classes[given]; !ok {
			return "", dengxu.Fieldf(dengxu.Invalid, "class", "queue %s has no class %q", q.id, given)
		}
		return given, nil
	case len(q.classes) == 0:
		return "", nil
	case q.set.DefaultClass != "":
		return q.set.DefaultClass, nil
	case len(q.classes) == 1:
		return q.classes[0], nil
	default:
		return "", dengxu.Fieldf(dengxu.Invalid, "class", "queue %s needs a class: one of %s", q.id, strings.Join(q.classes, ", "))
	}
}

func (q *queue) prefix(class string) string {
	if c, ok := q.set.Classes[class]; ok && c.Prefix != nil {
		return *c.Prefix
	}
	return *q.set.Prefix
}

// series is where a class of the queue takes its numbers from.
func (q *queue) series(class string) *store.Series {
	name := q.set.Series
	if c, ok := q.set.Classes[class]; ok && c.Prefix != nil {
		name = *c.Prefix
	}
	if name == "" {
		name = *q.set.Prefix
	}
	s := &store.Series{Name: name, Day: q.site.state.Day, First: *q.set.FirstNumber, At: q.set.OnLastNumber}
	if q.set.LastNumber != nil {
		s.Last = *q.set.LastNumber
	}
	return s
}

// waitDue is when a token that begins to wait is asked whether it still comes,
// or leaves; 0 = never.
func (q *queue) waitDue() int64 {
	after := q.askAfter
	if q.expireWaiting > 0 && (after == 0 || q.expireWaiting < after) {
		after = q.expireWaiting
	}
	if after == 0 {
		return 0
	}
	return store.Now + after
}
