package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dengxu/dengxu/internal/redistest"
)

// want runs a command and expects an exit code and some of what it tells.
func want(t *testing.T, code int, text string, args ...string) {
	t.Helper()
	got, out, errs := command(t, args...)
	if got != code || !strings.Contains(out+errs, text) {
		t.Errorf("dengxu %s: exit %d, want %d and %q in:\n%s%s", strings.Join(args, " "), got, code, text, out, errs)
	}
}

// TestFromAFolderToRedisAndBack is the way that operations.md tells.
func TestFromAFolderToRedisAndBack(t *testing.T) {
	t.Setenv("DENGXU_ADMIN_KEY", testKey)
	dir := t.TempDir()
	data, live, cold := filepath.Join(dir, "data"), filepath.Join(dir, "live.jsonl"), filepath.Join(dir, "cold.jsonl")
	redis := redistest.Shared(t).URL() + "?partitions=4&prefix=" + redistest.Prefix(t)

	s := serve(t, "--data", data)
	status, ticket := s.ask(http.MethodPost, "/queue/main/join", "")
	if status != http.StatusCreated {
		t.Fatalf("join: %d %v", status, ticket)
	}
	position := "/queue/token/" + ticket["token_id"].(string) + "/position"
	want(t, 0, "exported 1 site, 1 queue, 1 counter, 1 key, 1 token", "export", "--url", s.url, "--key", testKey, "-o", live)
	want(t, 2, "unauthenticated", "export", "--url", s.url, "--key", "dx_wrong", "-o", filepath.Join(dir, "none"))
	want(t, 2, "site nowhere", "export", "--url", s.url, "--key", testKey, "--site", "nowhere", "-o", filepath.Join(dir, "none"))
	want(t, 2, "stop that server first, or ask it", "export", "--data", data, "-o", filepath.Join(dir, "none"))
	want(t, 2, "is in use by another dengxu; stop that server first", "import", "--data", data, live)
	s.stop()

	want(t, 0, "exported 1 site", "export", "--data", data, "-o", cold)
	want(t, 0, "would import 1 site", "import", "--store", redis, "--dry-run", cold)
	want(t, 0, "imported 1 site, 1 queue, 1 counter, 1 key, 1 token", "import", "--store", redis, cold)
	want(t, 2, "site main exists already", "import", "--store", redis, cold)
	want(t, 0, "clean", "audit", "--store", redis)

	s = serve(t, "--store", redis)
	s.await(http.MethodGet, position, "", http.StatusOK)
	want(t, 2, "left as it is; --force", "export", "--url", s.url, "--key", testKey, "-o", live)
	want(t, 0, "1 token", "export", "--url", s.url, "--key", testKey, "--force", "-o", live)
	s.stop()

	back := filepath.Join(dir, "back")
	want(t, 0, "imported 1 site", "import", "--data", back, live)
	want(t, 0, "clean", "audit", "--data", back)
	s = serve(t, "--data", back)
	s.await(http.MethodGet, position, "", http.StatusOK)
	s.stop()

	whole, err := os.ReadFile(live)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other")
	for what, bad := range map[string][]byte{
		"is cut off": whole[:len(whole)-10], "was changed": bytes.Replace(whole, []byte(`"n":1`), []byte(`"n":2`), 1),
	} {
		if err := os.WriteFile(live, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		want(t, 2, what, "import", "--data", other, live)
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("a store was made for a damaged file")
	}
	if left, err := filepath.Glob(filepath.Join(dir, "none*")); err != nil || len(left) > 0 {
		t.Errorf("failed exports left %v, %v", left, err)
	}
}

func TestExportOfWhat(t *testing.T) {
	t.Parallel()
	want(t, 2, "export of what?", "export")
	want(t, 2, "import into what?", "import", "file")
	want(t, 2, "gone with its server", "export", "--store", "memory:")
	want(t, 2, "there is no store in", "export", "--data", filepath.Join(t.TempDir(), "none"))
}

// TestVariablesNameTheStoreEverywhere: what serve takes from a variable, the
// commands beside it take too, and a flag is stronger.
func TestVariablesNameTheStoreEverywhere(t *testing.T) {
	t.Setenv("DENGXU_ADMIN_KEY", testKey)
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "all.jsonl")
	s := serve(t, "--data", data)
	t.Setenv("DENGXU_URL", s.url)
	want(t, 0, "clean", "audit")
	want(t, 0, "exported 1 site", "export", "-o", file)
	want(t, 2, "import into what?", "import", file)
	t.Setenv("DENGXU_KEY", "dx_wrong")
	want(t, 2, "taken from DENGXU_URL", "audit")
	want(t, 2, "taken from DENGXU_URL", "export", "-o", filepath.Join(dir, "none"))
	t.Setenv("DENGXU_KEY", "")
	s.stop()

	t.Setenv("DENGXU_DATA", data)
	want(t, 0, "clean", "audit")
	want(t, 0, "", "ctl", "key", "new")
	redis := redistest.Shared(t).URL() + "?prefix=" + redistest.Prefix(t)
	t.Setenv("DENGXU_STORE", redis)
	want(t, 2, "taken from DENGXU_STORE", "audit")
	want(t, 2, "taken from DENGXU_STORE", "ctl", "key", "new")
	want(t, 0, "imported 1 site", "import", file)
	want(t, 0, "clean", "audit")
	want(t, 0, "dx_admin_", "ctl", "key", "new")
	want(t, 0, "exported 1 site", "export", "-o", filepath.Join(dir, "again.jsonl"))
	want(t, 1, "a store of format 1", "doctor")
	want(t, 0, "format 1", "doctor", "--data", data)
	want(t, 0, "clean", "audit", "--data", data)
}
