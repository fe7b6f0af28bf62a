package httpapi

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestRoutesRegister registers the whole table, which panics on two patterns
// that conflict, and holds the rows against each other.
func TestRoutesRegister(t *testing.T) {
	t.Parallel()
	s := New(Options{Version: "test"}).(*server)
	ids, paths := map[string]bool{}, map[string]bool{}
	for i := range s.routes {
		r := &s.routes[i]
		if ids[r.id] || paths[r.method+r.path] {
			t.Errorf("%s %s (%s) stands twice", r.method, r.path, r.id)
		}
		ids[r.id], paths[r.method+r.path] = true, true
		if len(r.roles) == 0 && !r.public && !r.holder {
			t.Errorf("%s: nobody may ask", r.id)
		}
		if r.mutates == (r.method == http.MethodGet) {
			t.Errorf("%s: method %s, mutates %v", r.id, r.method, r.mutates)
		}
		for placeholder, kind := range map[string]scope{"{site_id}": onSite, "{queue_id}": onQueue, "{token_id}": onToken, "{key_id}": onServer} {
			if strings.Contains(r.path, placeholder) && len(r.roles) > 0 && r.scope != kind && r.scope != onCounter {
				t.Errorf("%s names %s and checks scope %d", r.id, placeholder, r.scope)
			}
		}
		if r.summary == "" || r.tag == "" {
			t.Errorf("%s is not described", r.id)
		}
	}
}

func TestOpenAPIGolden(t *testing.T) {
	t.Parallel()
	h := New(Options{Version: "test"})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	if !json.Valid(w.Body.Bytes()) {
		t.Fatal("the description is not JSON")
	}
	if bytes.Contains(w.Body.Bytes(), []byte("ErrorModel")) {
		t.Error("the description tells of huma's own errors")
	}
	golden := filepath.Join("testdata", "openapi.json")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, w.Body.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), w.Body.String()); diff != "" {
		t.Errorf("the description changed; look at it, then run with -update\n%s", diff)
	}
}

// TestDocsHaveNoOutsideAssets: the page shows every operation and loads
// nothing, and its policy lets in the one style that it has.
func TestDocsHaveNoOutsideAssets(t *testing.T) {
	t.Parallel()
	s := New(Options{Version: "test"}).(*server)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/docs", nil))
	page := w.Body.String()
	for i := range s.routes {
		if !strings.Contains(page, `id="`+s.routes[i].id+`"`) {
			t.Errorf("%s is not on the page", s.routes[i].id)
		}
	}
	for _, outside := range []string{"http://", "https://", "<script", "<link", "<img", "@import", "ZgotmplZ"} {
		if strings.Contains(page, outside) {
			t.Errorf("the page has %s", outside)
		}
	}
	if p := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'none'; style-src 'sha256-") {
		t.Errorf("policy %q", p)
	}
}
