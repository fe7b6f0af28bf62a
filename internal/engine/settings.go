package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// The reason words of refused settings.
const (
	reasonIfMatch  = "if_match"
	reasonInUse    = "in_use"
	reasonNotEmpty = "not_empty"
)

// maxSettings bounds the stored JSON of one object, in bytes.
const maxSettings = 256 << 10

func errInUse(what string) error {
	return dengxu.Errorf(dengxu.Conflict, "%s", what).Because(reasonInUse)
}

// amendment is one change of settings or running state, asked for by somebody.
type amendment struct {
	by     By
	site   dengxu.SiteID // where the operation is remembered
	decide func(*world) (store.Batch, error)
	// counted is what it means that something was counted that should not be
	// there; nil decides anew.
	counted func() error
}

// change commits an amendment and reports whether it was done before. A repeat
// under the same key succeeds whatever the state is now. What is refused by a
// picture that may be old is decided once more on a fresh one; so is, where
// others write too, that there is nothing to change.
func (e *Engine) change(ctx context.Context, c amendment) (replayed bool, err error) {
	fresh, part := false, partitionOfSite(c.site, e.parts)
	for range maxTries {
		res, err := e.commit(ctx, c.decide)
		seen := res.Replayed
		if err != nil {
			var lookErr error
			if seen, lookErr = e.seen(ctx, c); lookErr != nil {
				return false, lookErr
			}
		}
		if seen {
			return true, e.refreshPart(ctx, part) // the picture may be that of before the first
		}
		if err == nil {
			return false, nil
		}
		refused, ok := errors.AsType[*store.Refused](err)
		counted := ok && countOf(refused.By)
		switch {
		case errors.Is(err, errUnchanged) && (fresh || !e.shared):
			return false, e.remember(ctx, c)
		case counted && c.counted != nil:
			return false, c.counted()
		case counted:
		case ok:
			return false, storeError("change settings", err)
		case fresh || !decided(err) && !errors.Is(err, errUnchanged):
			return false, err
		default:
			if err := e.refreshPart(ctx, part); err != nil {
				return false, err
			}
			fresh = true
		}
	}
	return false, errContention("change settings")
}

// remember keeps an operation under its key although it found nothing to
// change, so that a repeat after other changes has no effect either.
func (e *Engine) remember(ctx context.Context, c amendment) error {
	if c.by.Key == "" {
		return nil
	}
	_, err := e.commit(ctx, func(w *world) (store.Batch, error) {
		s := w.sites[c.site]
		if s == nil {
			return store.Batch{}, errUnchanged
		}
		touch, err := s.touch()
		return store.Batch{
			Partition: s.partition, Site: s.id, Op: c.by.op("unchanged"), Docs: []store.DocWrite{touch},
		}, err
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return storeError("remember an operation", err)
}

// countOf reports whether an expectation counts tokens.
func countOf(by store.Expectation) bool {
	switch by.(type) {
	case store.CountBelow, store.RoomAt:
		return true
	default:
		return false
	}
}

// decided reports whether err is the engine's own judgement of the picture.
func decided(err error) bool {
	return slices.Contains([]dengxu.Code{
		dengxu.NotFound, dengxu.Conflict, dengxu.Exists, dengxu.Invalid, dengxu.Closed, dengxu.Full, dengxu.TooMany,
	}, dengxu.CodeOf(err))
}

// seen reports whether the operation was done before.
func (e *Engine) seen(ctx context.Context, c amendment) (bool, error) {
	if c.by.Key == "" {
		return false, nil
	}
	v, err := e.view(ctx, store.Ask{Partition: partitionOfSite(c.site, e.parts), Op: c.by.op("")})
	switch {
	case err != nil:
		return false, err
	case v.Op == nil:
		return false, nil
	case v.Op.Reused:
		return false, errKeyReused()
	}
	return true, nil
}

// goneBefore answers a deletion of something unknown: nil when it is the repeat
// of one that succeeded, else err. Whose it was is not known any more, so every
// partition is asked. Its id is freed, should the first have failed to.
func (e *Engine) goneBefore(ctx context.Context, by By, id store.DocKey, err error) error {
	if by.Key == "" {
		return err
	}
	for p := range e.parts {
		v, lookErr := e.view(ctx, store.Ask{Partition: store.Partition(p), Op: by.op("")})
		switch {
		case lookErr != nil:
			return lookErr
		case v.Op == nil:
		case v.Op.Reused:
			return errKeyReused()
		default:
			e.release(ctx, id)
			return nil
		}
	}
	return err
}

// checkMatch holds If-Match against a version; 0 is "not given" and "absent".
func checkMatch(ifMatch, version uint64) error {
	if ifMatch != 0 && ifMatch != version {
		return dengxu.Errorf(dengxu.Conflict, "the settings have version %d, not %d", version, ifMatch).Because(reasonIfMatch)
	}
	return nil
}

// encode makes the stored form of settings.
func encode(set any) ([]byte, error) {
	raw, err := json.Marshal(set)
	if err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	if len(raw) > maxSettings {
		return nil, dengxu.Errorf(dengxu.Invalid, "the settings are larger than %d bytes", maxSettings)
	}
	return raw, nil
}

// changedEvent tells that settings were written. The version lets a process
// see whether it knows them already.
func changedEvent(event dengxu.EventType, version uint64, by By) store.EventSpec {
	return store.EventSpec{Type: event, Actor: by.Name, Data: fmt.Appendf(nil, `{"version":%d}`, version)}
}

// touch rewrites the site's running state as it is. Every change of a queue's
// or counter's settings does, so that changes of one site that must agree with
// each other are serial, and none slips into a site that is being deleted.
func (s *site) touch() (store.DocWrite, error) { return s.writeState(s.state) }

// patched applies an RFC 7396 merge patch to stored settings and reads the
// result strictly: an unknown field or a wrong type is Invalid, with the path
// of the field.
func patched[T any](raw []byte, patch json.RawMessage) (set T, err error) {
	if len(patch) > maxSettings {
		return set, dengxu.Errorf(dengxu.Invalid, "the patch is larger than %d bytes", maxSettings)
	}
	change, err := decodeObject(patch)
	if err != nil {
		return set, err
	}
	stored, err := decodeObject(raw)
	if err != nil {
		return set, fmt.Errorf("stored settings: %w", err)
	}
	if field := unknownField(change, reflect.TypeFor[T](), ""); field != "" {
		return set, dengxu.Fieldf(dengxu.Invalid, field, "unknown field %q", field)
	}
	merged, err := json.Marshal(merge(stored, change))
	if err != nil {
		return set, fmt.Errorf("merge settings: %w", err)
	}
	err = json.Unmarshal(merged, &set)
	return set, dengxu.JSONError(err)
}

// decodeObject reads one JSON object, numbers as they are written.
func decodeObject(text []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var object map[string]any
	if err := d.Decode(&object); err != nil || object == nil || d.More() {
		return nil, dengxu.Errorf(dengxu.Invalid, "a merge patch is a JSON object")
	}
	return object, nil
}

// merge is the algorithm of RFC 7396, section 2, for two objects.
func merge(target, patch map[string]any) map[string]any {
	for name, value := range patch {
		inner, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(target, name)
		case isObject:
			old, ok := target[name].(map[string]any)
			if !ok {
				old = make(map[string]any)
			}
			target[name] = merge(old, inner)
		default:
			target[name] = value
		}
	}
	return target
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// unknownField returns the path of the first field of value that the type does
// not have; "" when it has them all. Names are compared exactly, which
// encoding/json does not do. Types that read themselves judge themselves.
func unknownField(value any, t reflect.Type, path string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return ""
	}
	if list, ok := value.([]any); ok && t.Kind() == reflect.Slice {
		for i := range list {
			if field := unknownField(list[i], t.Elem(), fmt.Sprintf("%s[%d].", strings.TrimSuffix(path, "."), i)); field != "" {
				return field
			}
		}
	}
	object, ok := value.(map[string]any)
	if !ok {
		return ""
	}
	known := fieldTypes(t)
	for _, name := range sortedKeys(object) {
		inner := known(name)
		if inner == nil {
			return path + name
		}
		if field := unknownField(object[name], inner, path+name+"."); field != "" {
			return field
		}
	}
	return ""
}

// fieldTypes finds the type of a JSON field of t, nil for one it does not
// have. A map has all.
func fieldTypes(t reflect.Type) func(name string) reflect.Type {
	switch t.Kind() {
	case reflect.Map:
		return func(string) reflect.Type { return t.Elem() }
	case reflect.Struct:
		fields := make(map[string]reflect.Type, t.NumField())
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			fields[name] = f.Type
		}
		return func(name string) reflect.Type { return fields[name] }
	default:
		// The wrong type is told when it is read.
		return func(string) reflect.Type { return t }
	}
}
