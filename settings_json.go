package dengxu

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"time"
)

// Keys of OpeningHours that are not days.
const (
	keyDates      = "dates"
	keyLastTicket = "last_ticket_before_seconds"
	wordClosed    = "closed"
	wordLoopback  = "loopback"
)

// The fields that errors of this file blame.
const (
	fieldHours      = "opening_hours"
	fieldQueues     = "queues"
	fieldPublicJoin = "public_join"
)

// maxLastTicket is the longest last_ticket_before_seconds: a day, more would
// close every day before it opens.
const maxLastTicket = 24 * 60 * 60

// MarshalJSON writes the flat form that OpeningHours describes. It refuses,
// with Invalid, what UnmarshalJSON would refuse.
func (h OpeningHours) MarshalJSON() ([]byte, error) {
	if err := h.Check(); err != nil {
		return nil, err
	}
	flat := make(map[string]any, len(h.Days)+2)
	for key, spans := range h.Days {
		flat[key] = append([]string{}, spans...)
	}
	if len(h.Dates) > 0 {
		dates := make(map[string]any, len(h.Dates))
		for date, spans := range h.Dates {
			if len(spans) == 0 {
				dates[date] = wordClosed
				continue
			}
			dates[date] = spans
		}
		flat[keyDates] = dates
	}
	if h.LastTicketBeforeSeconds != 0 {
		flat[keyLastTicket] = h.LastTicketBeforeSeconds
	}
	return json.Marshal(flat)
}

// UnmarshalJSON reads the flat form that OpeningHours describes. Anything else
// is refused with Invalid and the path of the field, such as
// opening_hours.mon-fri[0].
func (h *OpeningHours) UnmarshalJSON(b []byte) error {
	flat, err := object(b, fieldHours)
	if err != nil {
		return err
	}
	var read OpeningHours
	for key, raw := range flat {
		switch key {
		case keyDates:
			read.Dates, err = readDates(raw)
		case keyLastTicket:
			err = number(raw, fieldHours+"."+key, &read.LastTicketBeforeSeconds)
		default:
			if read.Days == nil {
				read.Days = make(map[string][]string)
			}
			read.Days[key], err = texts(raw, fieldHours+"."+key)
		}
		if err != nil {
			return err
		}
	}
	if err := read.Check(); err != nil {
		return err
	}
	*h = read
	return nil
}

func readDates(raw json.RawMessage) (map[string][]string, error) {
	const field = fieldHours + "." + keyDates
	flat, err := object(raw, field)
	if err != nil || len(flat) == 0 {
		return nil, err
	}
	dates := make(map[string][]string, len(flat))
	for date, value := range flat {
		if string(bytes.TrimSpace(value)) == `"`+wordClosed+`"` {
			dates[date] = []string{}
			continue
		}
		if dates[date], err = texts(value, field+"."+date); err != nil {
			return nil, err
		}
	}
	return dates, nil
}

// Check reports whether every key, date and span of h can be read, no day of
// the week is named twice, and the last ticket lies between 0 and a day before
// closing. The error is Invalid with the path of the field at fault.
func (h OpeningHours) Check() error {
	var named [7]string
	for _, key := range sortedKeys(h.Days) {
		field := fieldHours + "." + key
		days, err := ParseDays(key)
		if err != nil {
			return Fieldf(Invalid, field, "unknown key %q: a day is mon, tue, wed, thu, fri, sat, sun, or two of them with a dash", key)
		}
		for _, day := range days {
			if named[day] != "" {
				return Fieldf(Invalid, field, "%q and %q name the same day", named[day], key)
			}
			named[day] = key
		}
		if err := checkSpans(field, h.Days[key]); err != nil {
			return err
		}
	}
	for _, date := range sortedKeys(h.Dates) {
		field := fieldHours + "." + keyDates + "." + date
		if _, err := time.Parse(time.DateOnly, date); err != nil {
			return Fieldf(Invalid, field, "%q is not a date such as 2026-10-01", date)
		}
		if err := checkSpans(field, h.Dates[date]); err != nil {
			return err
		}
	}
	// Written so that NaN is refused too.
	if !(h.LastTicketBeforeSeconds >= 0 && h.LastTicketBeforeSeconds <= maxLastTicket) {
		return Fieldf(Invalid, fieldHours+"."+keyLastTicket, "must be from 0 to %d seconds", maxLastTicket)
	}
	return nil
}

// MarshalJSON writes the id alone when there are no classes, else an object.
func (q CounterQueue) MarshalJSON() ([]byte, error) {
	if len(q.Classes) == 0 {
		return json.Marshal(q.ID)
	}
	return json.Marshal(map[string]any{"id": q.ID, "classes": q.Classes})
}

// UnmarshalJSON reads an id or {"id", "classes"}. Anything else, an id that
// CheckID refuses, and an empty or repeated class are Invalid, field queues.
func (q *CounterQueue) UnmarshalJSON(b []byte) error {
	var read CounterQueue
	if id, ok := text(b); ok {
		read.ID = QueueID(id)
	} else {
		flat, err := object(b, fieldQueues)
		if err != nil {
			return Fieldf(Invalid, fieldQueues, `a queue of a counter is an id or {"id", "classes"}`)
		}
		for key, raw := range flat {
			field := fieldQueues + "." + key
			switch key {
			case "id":
				id, ok := text(raw)
				if !ok {
					return Fieldf(Invalid, field, "id must be a string")
				}
				read.ID = QueueID(id)
			case "classes":
				if read.Classes, err = names(raw, field); err != nil {
					return err
				}
			default:
				return Fieldf(Invalid, field, "unknown field %q", key)
			}
		}
	}
	if err := CheckID(fieldQueues, string(read.ID)); err != nil {
		return err
	}
	*q = read
	return nil
}

// MarshalJSON writes false, "loopback" or {"fields", "classes"}. It refuses,
// with Invalid, a value that is two of them at once.
func (p PublicJoin) MarshalJSON() ([]byte, error) {
	lists := len(p.Fields) > 0 || len(p.Classes) > 0
	switch {
	case p.Loopback && (p.Allowed || lists), !p.Allowed && lists:
		return nil, Fieldf(Invalid, fieldPublicJoin, "fields and classes belong to an allowed public join that is not loopback")
	case p.Loopback:
		return json.Marshal(wordLoopback)
	case !p.Allowed:
		return json.Marshal(false)
	}
	return json.Marshal(struct {
		Fields  []string `json:"fields,omitempty"`
		Classes []string `json:"classes,omitempty"`
	}{p.Fields, p.Classes})
}

// UnmarshalJSON reads false, "loopback" or {"fields", "classes"}. Anything
// else is Invalid with the path of the field; true is refused because it does
// not say what may be told.
func (p *PublicJoin) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	if string(b) == "false" {
		*p = PublicJoin{}
		return nil
	}
	if word, ok := text(b); ok && word == wordLoopback {
		*p = PublicJoin{Loopback: true}
		return nil
	}
	flat, err := object(b, fieldPublicJoin)
	if err != nil {
		return Fieldf(Invalid, fieldPublicJoin, `must be false, "loopback" or {"fields", "classes"}`)
	}
	read := PublicJoin{Allowed: true}
	for key, raw := range flat {
		field := fieldPublicJoin + "." + key
		switch key {
		case "fields":
			read.Fields, err = names(raw, field)
		case "classes":
			read.Classes, err = names(raw, field)
		default:
			err = Fieldf(Invalid, field, "unknown field %q", key)
		}
		if err != nil {
			return err
		}
	}
	*p = read
	return nil
}

// JSONError gives a code to what encoding/json says of a text from outside:
// Invalid, with the field when only its type is wrong. An error that has a code
// stays as it is, and nil is nil.
func JSONError(err error) error {
	if err == nil {
		return nil
	}
	if coded, ok := errors.AsType[*Error](err); ok {
		return coded
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return Fieldf(Invalid, wrong.Field, "%s cannot be a %s", wrong.Field, wrong.Value)
	}
	return Errorf(Invalid, "malformed JSON: %w", err)
}

// object reads a JSON object; null is none.
func object(b []byte, field string) (map[string]json.RawMessage, error) {
	var flat map[string]json.RawMessage
	if err := json.Unmarshal(b, &flat); err != nil || flat == nil {
		return nil, Fieldf(Invalid, field, "must be an object")
	}
	return flat, nil
}

// text reads a JSON string; null is none.
func text(b []byte) (string, bool) {
	var s *string
	if err := json.Unmarshal(b, &s); err != nil || s == nil {
		return "", false
	}
	return *s, true
}

// texts reads a JSON list of strings; null, alone or inside, is none.
func texts(b []byte, field string) ([]string, error) {
	var list []*string
	if err := json.Unmarshal(b, &list); err != nil || list == nil || slices.Contains(list, nil) {
		return nil, Fieldf(Invalid, field, "must be a list of strings")
	}
	read := make([]string, 0, len(list))
	for _, s := range list {
		read = append(read, *s)
	}
	return read, nil
}

// names reads a list of different, non-empty strings; an empty list is nil.
func names(b []byte, field string) ([]string, error) {
	list, err := texts(b, field)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	for i, s := range list {
		if s == "" || slices.Contains(list[:i], s) {
			return nil, Fieldf(Invalid, field, "%q is empty or named twice", s)
		}
	}
	return list, nil
}

// number reads a JSON number; null is none.
func number(b []byte, field string, into *float64) error {
	var n *float64
	if err := json.Unmarshal(b, &n); err != nil || n == nil {
		return Fieldf(Invalid, field, "must be a number")
	}
	*into = *n
	return nil
}
