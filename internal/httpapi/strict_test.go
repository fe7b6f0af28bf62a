package httpapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
)

// FuzzStrict holds the parser to encoding/json: what it takes has the same
// value there, and what it refuses is refused there too, or is one of the
// things that it is stricter about.
func FuzzStrict(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-2.5e3,true,false,null,"x\u00e9\n"]}`, ` [ ] `, `{}`, `0`, `01`, `-`, `1.`, `1e`, `"\q"`, `"`, `{"a":1,}`, `[1,]`,
		`{"a":1,"a":2}`, `{"a":1 "b":2}`, "\"\xff\"", `nul`, `truex`, strings.Repeat("[", 40), `{"a"}`, `{1:2}`, `1e400`, "\"\x01\"", `{"\u0061":1,"a":2}`,
		`"\ud83d\ude00"`, `"\ud83d"`, `"\ude00\ud83d"`, `"\ud83dx"`, `"\\ud83d"`, `"\ud83d\u0041"`, `"\ud83d\ud83d\ude00"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got, want any
		err := unmarshalStrict(data, &got)
		wrong := json.Unmarshal(data, &want)
		if err == nil {
			if wrong != nil {
				t.Fatalf("%q was taken; encoding/json: %v", data, wrong)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%q: %s", data, diff)
			}
			return
		}
		stricter := strings.Contains(err.Error(), "twice") || strings.Contains(err.Error(), "levels") ||
			strings.Contains(err.Error(), "UTF-8") && !utf8.Valid(data) ||
			strings.Contains(err.Error(), "surrogate") && strings.Contains(fmt.Sprint(want), "\ufffd")
		if wrong == nil && !stricter {
			t.Fatalf("%q was refused: %v", data, err)
		}
	})
}

// TestHalfASurrogate: two business ids that differ in it only would become one.
func TestHalfASurrogate(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, text := range []string{`\ud800`, `\udfff`, `\udc00\ud800`, `a\uD83Db`, `\ud800\ud800\udc00`} {
		r.refused("admin", post, "/queue/main/join", `{"business_id":"`+text+`"}`, dengxu.Invalid)
		r.refused("admin", post, "/queue/main/join", `{"ext_attrs":{"`+text+`":1}}`, dengxu.Invalid)
	}
	var got any
	if err := unmarshalStrict([]byte(`"\ud83d\ude00\\ud800\u0041"`), &got); err != nil || got != "\U0001F600\\ud800A" {
		t.Errorf("a whole pair and a backslash: %q %v", got, err)
	}
}

// TestFieldsAreNamedExactly: encoding/json takes Name for name, so that a second
// spelling would go past what the schema says of the first.
func TestFieldsAreNamedExactly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, req := range []struct{ method, path, body, field string }{
		{post, "/queue/main/join", `{"Name":"Anna"}`, "Name"},
		{post, "/queue/main/join", `{"channel":"web","Channel":"anything"}`, "Channel"},
		{post, "/queue/main/join", "{\"bu\u017finess_id\":\"1\"}", "bu\u017finess_id"},
		{put, "/queue/side", `{"site":"hall","Prefix":"B"}`, "Prefix"},
		{put, "/queue/side", `{"site":"hall","prefix":"B","missed":{"Max_misses":3}}`, "missed.Max_misses"},
		{post, "/counter/1/call_next", `{"Current":"complete"}`, "Current"},
	} {
		if p := r.refused("admin", req.method, req.path, req.body, dengxu.Invalid); p.Field != req.field {
			t.Errorf("%s blames %q, want %q", req.body, p.Field, req.field)
		}
	}
}
