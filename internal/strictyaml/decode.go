package strictyaml

import (
	"encoding"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/dengxu/dengxu"
)

// Decode checks n against the JSON shape of what into points to, and fills it.
// A key that the shape does not know, a value of another type, and what a
// type's own UnmarshalJSON refuses are errors with line and column.
func (n *Node) Decode(into any) error {
	if err := n.Check(into); err != nil {
		return err
	}
	text, err := json.Marshal(n.Value())
	if err != nil {
		return n.Errorf("%v", err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return n.Errorf("%v", err)
	}
	return nil
}

// Check checks n against the JSON shape of like, or of what it points to.
func (n *Node) Check(like any) error { return n.check(reflect.TypeOf(like), "") }

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// check compares n with t. name is the key under which n stands, for messages.
func (n *Node) check(t reflect.Type, name string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return n.checkOwn(t)
	}
	if reflect.PointerTo(t).Implements(textUnmarshaler) {
		if n.kind != aString {
			return n.wants(aString, name)
		}
		return n.checkOwn(t)
	}
	switch t.Kind() {
	case reflect.Struct:
		return n.checkStruct(t, name)
	case reflect.Map:
		if n.kind == nothing {
			return nil
		}
		if n.kind != aMapping {
			return n.wants(aMapping, name)
		}
		for _, e := range n.Entries {
			if err := e.Value.check(t.Elem(), e.Key); err != nil {
				return err
			}
		}
		return nil
	case reflect.Slice, reflect.Array:
		if n.kind != aList {
			return n.wants(aList, name)
		}
		for _, item := range n.List {
			if err := item.check(t.Elem(), name); err != nil {
				return err
			}
		}
		return nil
	case reflect.Interface:
		return nil
	default:
		return n.checkScalar(t, name)
	}
}

func (n *Node) wants(k kind, name string) error {
	if k == aString && (n.kind == aNumber || n.kind == aBool) {
		return n.Errorf("%s must be a string: put it in quotes", name)
	}
	return n.Errorf("%s must be %s, not %s", name, k, n.kind)
}

func (n *Node) checkScalar(t reflect.Type, name string) error {
	var want kind
	switch t.Kind() {
	case reflect.String:
		want = aString
	case reflect.Bool:
		want = aBool
	default:
		want = aNumber
	}
	if n.kind != want {
		return n.wants(want, name)
	}
	text, err := json.Marshal(n.scalar)
	if err == nil {
		err = json.Unmarshal(text, reflect.New(t).Interface())
	}
	if err != nil { // a fraction or a sign where a whole number stands
		return n.Errorf("%s cannot be %s", name, text)
	}
	return nil
}

func (n *Node) checkStruct(t reflect.Type, name string) error {
	if n.kind == nothing {
		return nil
	}
	if n.kind != aMapping {
		return n.wants(aMapping, name)
	}
	fields := jsonFields(t)
	for _, e := range n.Entries {
		field, ok := fields[e.Key]
		if !ok {
			return &Error{e.Line, e.Column, unknown(e.Key, name)}
		}
		if err := e.Value.check(field, e.Key); err != nil {
			return err
		}
	}
	return nil
}

func unknown(key, inside string) string {
	if inside == "" {
		return "unknown key " + key
	}
	return "unknown key " + key + " in " + inside
}

// checkOwn lets a type judge its part of the tree itself. Where its error
// names a field, the place is the field's.
func (n *Node) checkOwn(t reflect.Type) error {
	text, err := json.Marshal(n.Value())
	if err != nil {
		return n.Errorf("%v", err)
	}
	err = json.Unmarshal(text, reflect.New(t).Interface())
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*dengxu.Error](err)
	if !ok {
		return n.Errorf("%v", err)
	}
	// The first element is the key of this node.
	path := strings.FieldsFunc(e.Field, func(r rune) bool { return strings.ContainsRune(".[]", r) })
	return n.find(path[min(1, len(path)):]).Errorf("%s", e.Message)
}

// find follows path as far as it goes. A key that it ends with is where the
// error is shown, not its value.
func (n *Node) find(path []string) *Node {
	for len(path) > 0 {
		if i := slices.IndexFunc(n.Entries, func(e Entry) bool { return e.Key == path[0] }); i >= 0 {
			e := n.Entries[i]
			if len(path) == 1 {
				return &Node{Line: e.Line, Column: e.Column}
			}
			n, path = e.Value, path[1:]
			continue
		}
		return n
	}
	return n
}

// jsonFields returns the types of a struct's fields by their JSON names, those
// of embedded structs too.
func jsonFields(t reflect.Type) map[string]reflect.Type {
	fields := make(map[string]reflect.Type, t.NumField())
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			maps.Copy(fields, jsonFields(f.Type))
		case name != "" && name != "-":
			fields[name] = f.Type
		}
	}
	return fields
}
