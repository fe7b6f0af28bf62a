package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/dengxu/dengxu"
)

// TestVerbsAreDescribedByWhatTheyTake holds the bodies in the description
// against the engine: it refuses the fields that are left out, and judges no
// other before it has looked for the token.
func TestVerbsAreDescribedByWhatTheyTake(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		"queue_id": `"open"`, "class": `"first"`, "place": `{"after":1}`, "stars": "5",
	}
	r := newRig(t)
	api := New(Options{Version: "test"}).(*server).api.OpenAPI()
	for _, row := range routes() {
		if row.verb == "" {
			continue
		}
		schema := operationOf(api, &row).RequestBody.Content["application/json"].Schema
		described := api.Components.Schemas.SchemaFromRef(schema.Ref).Properties
		path := strings.NewReplacer("{token_id}", "unknown", "{counter_id}", "1").Replace(row.path)
		for field, value := range values {
			body := `{"reason":"test","` + field + `":` + value + `}`
			want := dengxu.Invalid
			if described[field] != nil {
				want = dengxu.NotFound // there is no such token
			}
			if p := r.refused("admin", post, path, body, want); want == dengxu.Invalid && p.Field != field {
				t.Errorf("%s %s blames %q", row.id, body, p.Field)
			}
		}
	}
}

func TestAFormIsToldInItsWords(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, row := range []struct{ method, path, body, want string }{
		{post, "/token/unknown/move", `{"reason":"x","place":{"behind":1}}`, `{"after": 1}`},
		{put, "/counter/3", `{"site":"hall","queues":[1]}`, `a queue's id or {`},
		{put, "/queue/side", `{"site":"hall","prefix":"B","public_join":"always"}`, `"loopback"`},
	} {
		if p := r.refused("admin", row.method, row.path, row.body, dengxu.Invalid); !strings.Contains(p.Detail, row.want) {
			t.Errorf("%s: %s (%s)", row.body, p.Detail, p.Field)
		}
	}
}

func TestDocsShowLimits(t *testing.T) {
	t.Parallel()
	h := New(Options{Version: "test"})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/docs", nil))
	for _, want := range []string{"integer, 1 to 200", "integer, 0 to 30"} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %q on the page", want)
		}
	}
}

// TestABrowserFindsTheDocs: who opens the address of the server in a browser is
// sent to the documentation, a program is told that nothing is there.
func TestABrowserFindsTheDocs(t *testing.T) {
	t.Parallel()
	h := New(Options{Version: "test"})
	for accept, status := range map[string]int{"text/html,*/*": http.StatusFound, "*/*": http.StatusNotFound} {
		req := httptest.NewRequest(http.MethodGet, "/", nil)
		req.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		if w.Code != status || status == http.StatusFound && w.Header().Get("Location") != "/docs" {
			t.Errorf("Accept %s: %d %v", accept, w.Code, w.Header())
		}
	}
}
