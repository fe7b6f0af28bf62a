package scenario

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// short are the words that stories write for the API's field names.
var short = map[string]string{
	"group": "priority_group", "business": "business_id", "party": "party_size",
	"queue": "queue_id", "counter": "counter_id", "delay": "delay_seconds", "attrs": "ext_attrs",
	"joins": "joins_today", "booked": "appointment_at",
}

// long is the API's name of a field, for each part of a path.
func long(key string) string {
	parts := strings.Split(key, ".")
	for i, part := range parts {
		if name, ok := short[part]; ok {
			parts[i] = name
		}
	}
	return strings.Join(parts, ".")
}

// take takes a field out of a line; "" when it is not there.
func (w *words) take(key string) string {
	i := slices.IndexFunc(w.fields, func(f field) bool { return f.key == key && f.op == "=" })
	if i < 0 {
		return ""
	}
	value := w.fields[i].value
	w.fields = slices.Delete(slices.Clone(w.fields), i, i+1)
	return value
}

// caller takes who asks.
func (p *parser) caller(w *words) (Caller, error) {
	c := Caller{Who: w.take("by"), Key: w.take("key")}
	if c.Who == Staff || c.Who == Holder || c.Who == Public {
		return c, nil
	}
	return c, p.declared(NounKey, c.Who)
}

// fill sets the fields of a request, by their JSON names, to what the rest of
// the line says.
func (p *parser) fill(w words, into any) error {
	types := map[string]reflect.Type{}
	jsonTypes(reflect.TypeOf(into).Elem(), types)
	body := map[string]json.RawMessage{}
	for _, f := range w.fields {
		name := long(f.key)
		t, known := types[name]
		switch {
		case f.op != "=":
			return fmt.Errorf("%s%s%s: before the arrow only = makes sense", f.key, f.op, f.value)
		case !known:
			return fmt.Errorf("%s does not know %q", w.bare[0], f.key)
		case body[name] != nil:
			return fmt.Errorf("%s stands twice", f.key)
		}
		raw, err := p.raw(t, f.value)
		if err != nil {
			return fmt.Errorf("%s: %w", f.key, err)
		}
		body[name] = raw
	}
	text, err := json.Marshal(body)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	return err
}

// raw is the JSON of a value for a field of type t.
func (p *parser) raw(t reflect.Type, value string) (json.RawMessage, error) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		at, err := p.time(value)
		if err != nil {
			return nil, err
		}
		return json.Marshal(at)
	case t.Kind() == reflect.String:
		return json.Marshal(value)
	case !json.Valid([]byte(value)):
		return nil, fmt.Errorf("%q is no %s", value, t.Kind())
	}
	return json.RawMessage(value), nil
}

// jsonTypes collects the types of a struct's fields by JSON name.
func jsonTypes(t reflect.Type, into map[string]reflect.Type) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			jsonTypes(f.Type, into)
		case name != "" && name != "-":
			into[name] = f.Type
		}
	}
}
