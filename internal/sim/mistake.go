package sim

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/strictyaml"
)

// wrong is an Invalid of a field.
func wrong(field, format string, args ...any) *dengxu.Error {
	return dengxu.Fieldf(dengxu.Invalid, field, "%s: "+format, append([]any{field}, args...)...)
}

// mistake is an Invalid of a scenario, told with where it stands.
type mistake struct {
	text string
	path string // of the field in the scenario, such as queues.hall.groups
	err  *dengxu.Error
}

func (m *mistake) Error() string { return m.text }

// Unwrap returns the error, with its code.
func (m *mistake) Unwrap() error { return m.err }

// refused is a mistake in one field of the scenario.
func refused(field, format string, args ...any) error {
	e := wrong(field, format, args...)
	return &mistake{plain(e), field, e}
}

// plain is the text of an error without its code: people see that it is invalid.
func plain(err error) string { return strings.TrimPrefix(err.Error(), string(dengxu.Invalid)+": ") }

// of says whose setting it is that the engine refused: what its owner is called,
// and where the owner stands in the scenario.
func of(owner, path string, err error) error {
	e, ok := errors.AsType[*dengxu.Error](err)
	if !ok || e.Code != dengxu.Invalid {
		return fmt.Errorf("%s: %w", owner, err)
	}
	if e.Field != "" {
		path += "." + e.Field
	}
	return &mistake{owner + ": " + plain(err), path, e}
}

// placed puts line and column before an error of check.
func (s *Scenario) placed(err error) error {
	e, ok := errors.AsType[*dengxu.Error](err)
	if !ok {
		return err
	}
	return &mistake{s.place(e.Field) + plain(err), e.Field, e}
}

// underPolicy says under which policy a setting was refused, and where it stands:
// in the policy when that is who says it.
func (s *Scenario) underPolicy(i int, err error) error {
	name := fmt.Sprintf("policy %q: ", s.Policies[i].Name)
	m, ok := errors.AsType[*mistake](err)
	if !ok {
		return fmt.Errorf("%s%w", name, err)
	}
	path := m.path
	if there := fmt.Sprintf("policies[%d].%s", i, path); s.source != nil {
		if _, _, found := find(s.source, there); found {
			path = there
		}
	}
	return &mistake{s.place(path) + name + m.text, path, m.err}
}

// place is "file:line:column: " of a field, or of what would have it; "" when the
// scenario is of no file.
func (s *Scenario) place(field string) string {
	if s.source == nil {
		return ""
	}
	line, column, _ := find(s.source, field)
	place := fmt.Sprintf("%d:%d: ", line, column)
	if s.path != "" {
		place = s.path + ":" + place
	}
	return place
}

// find follows a field such as streams[0].queue as far as the tree goes, and
// reports whether that was to its end.
func find(n *strictyaml.Node, field string) (line, column int, found bool) {
	line, column = n.Line, n.Column
	for field != "" {
		if inside, ok := strings.CutPrefix(field, "["); ok {
			number, rest, _ := strings.Cut(inside, "]")
			i, err := strconv.Atoi(number)
			if err != nil || i < 0 || i >= len(n.List) {
				return line, column, false
			}
			n, field = n.List[i], strings.TrimPrefix(rest, ".")
			line, column = n.Line, n.Column
			continue
		}
		// Ids may have dots in them: the longest key that fits is meant.
		var best *strictyaml.Entry
		for i := range n.Entries {
			e := &n.Entries[i]
			rest, ok := strings.CutPrefix(field, e.Key)
			if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') && (best == nil || len(e.Key) > len(best.Key)) {
				best = e
			}
		}
		if best == nil {
			return line, column, false
		}
		n, field = best.Value, strings.TrimPrefix(field[len(best.Key):], ".")
		line, column = best.Line, best.Column
	}
	return line, column, true
}
