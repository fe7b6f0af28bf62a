package rule

import (
	"reflect"
	"strings"
	"testing"
)

// TestNames: the table of names, which the documentation shows, is what
// conditions are checked against, no more and no less, and of those types.
func TestNames(t *testing.T) {
	t.Parallel()
	told := make(map[string]string)
	for _, n := range Names {
		name, _, _ := strings.Cut(n.Name, "(")
		if told[name] != "" {
			t.Errorf("%s is told twice", name)
		}
		told[name] = n.Type
	}
	have := map[string]string{"ext_attrs.NAME": "any"}
	fields := func(prefix string, of reflect.Type) {
		for f := range of.Fields() {
			if word := words[f.Type.Kind()]; word != "" {
				have[prefix+f.Tag.Get("expr")] = word
			}
		}
	}
	fields("", reflect.TypeFor[declared]())
	fields("now.", reflect.TypeFor[clock]())
	for name, f := range checkedFunctions {
		have[name] = words[f.Types[0].Out(0).Kind()]
	}
	for name, kind := range have {
		if told[name] != kind {
			t.Errorf("%s is a %s, told as %q", name, kind, told[name])
		}
	}
	for name := range told {
		if have[name] == "" {
			t.Errorf("%s is told and is not there", name)
		}
	}
	for name := range variables {
		if have[name] == "" {
			t.Errorf("%s is let through and is not there", name)
		}
	}
	// What runs has the names of what is checked, and those of the history.
	runs := reflect.TypeFor[environment]().NumField()
	if checked := reflect.TypeFor[declared]().NumField(); runs != checked+len(histories) {
		t.Errorf("%d names are checked, %d run", checked, runs)
	}
}

var words = map[reflect.Kind]string{
	reflect.Int: "number", reflect.Float64: "number", reflect.String: "text", reflect.Bool: "truth",
}
