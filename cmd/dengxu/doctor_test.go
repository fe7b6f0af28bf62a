package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dengxu/dengxu/internal/app"
	"github.com/dengxu/dengxu/internal/redistest"
)

// examine runs doctor for a program and for people, and returns what it said.
func examine(t *testing.T, code int, args ...string) (x app.Examination, text string) {
	t.Helper()
	got, out, errs := command(t, append([]string{"doctor", "--json"}, args...)...)
	if got != code {
		t.Fatalf("doctor %v: exit %d, want %d: %s%s", args, got, code, out, errs)
	}
	if err := json.Unmarshal([]byte(out), &x); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if got, text, _ = command(t, append([]string{"doctor"}, args...)...); got != code {
		t.Errorf("doctor %v: exit %d without --json, and %d with it", args, got, code)
	}
	return x, text
}

// TestDoctorTellsTheClass: what a store survives is what its servers say, and
// the exit code is as grave as what is to be changed.
func TestDoctorTellsTheClass(t *testing.T) {
	t.Setenv("DENGXU_ADMIN_KEY", testKey)
	always := redistest.Options{AppendOnly: true, AppendFsync: "always"}
	kept := redistest.Start(t, always)
	redistest.Start(t, redistest.Options{ReplicaOf: kept})
	evicting := redistest.Start(t, redistest.Options{Policy: "allkeys-lru"})
	for _, row := range []struct {
		what, class string
		code        int
		args, want  []string
	}{
		{"a log synced at every commit, and a replica waited for", "D3", 0, []string{"--store", kept.URL(), "--durability", "replicated"}, nil},
		{"a replica waited for that is not there", "D0", 2, []string{"--store", redistest.Start(t, redistest.Options{}).URL(), "--durability", "replicated"}, []string{"refuse", "no master has a replica", "run without"}},
		{"the same and not waited for", "D2", 1, []string{"--store", kept.URL()}, []string{"min-replicas-to-write"}},
		{"nothing kept", "D0", 1, []string{"--store", redistest.Start(t, redistest.Options{}).URL()}, []string{"appendonly is off", "no replica"}},
		{"a log synced each second", "D1", 1, []string{"--store", redistest.Start(t, redistest.Options{AppendOnly: true}).URL()}, []string{"up to two seconds", "appendfsync always"}},
		{"a server that evicts", "D0", 2, []string{"--store", evicting.URL()}, []string{"refuse", "noeviction"}},
		{"nobody there", "D0", 2, []string{"--store", "redis://:hunter2@127.0.0.1:9"}, []string{"cannot be looked at"}},
	} {
		x, text := examine(t, row.code, row.args...)
		if string(x.Durability) != row.class || x.Kind != "redis" || x.Exists {
			t.Errorf("%s: %+v", row.what, x)
		}
		for _, want := range row.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", row.what, want, text)
			}
		}
		if strings.Contains(text, "hunter2") {
			t.Errorf("%s: the password is shown:\n%s", row.what, text)
		}
	}
	if code, _, errs := command(t, "serve", "--listen", "127.0.0.1:0", "--store", evicting.URL()); code != 2 || !strings.Contains(errs, "noeviction") {
		t.Errorf("serve over a server that evicts: exit %d, %s", code, errs)
	}
	alone := redistest.Start(t, redistest.Options{})
	want(t, 3, "redis "+strings.TrimPrefix(alone.URL(), "redis://")+": no replica is connected", "serve", "--listen", "127.0.0.1:0", "--store", alone.URL(), "--durability", "replicated")
	if code, _, errs := command(t, "doctor", "--store", "redis://h/x"); code != 2 || !strings.Contains(errs, "database") {
		t.Errorf("a wrong URL: exit %d, %s", code, errs)
	}
}

// TestAStoreInRedisFromTheCommandLine: it is not made by being looked at, and
// while a server goes on it can be audited and its admin key replaced.
func TestAStoreInRedisFromTheCommandLine(t *testing.T) {
	t.Setenv("DENGXU_ADMIN_KEY", testKey)
	url := redistest.Shared(t).URL() + "?partitions=3&prefix=" + redistest.Prefix(t)
	if code, _, errs := command(t, "audit", "--store", url); code != 2 || !strings.Contains(errs, "nothing of dengxu is at") {
		t.Errorf("audit of nothing: exit %d, %s", code, errs)
	}
	if x, _ := examine(t, 1, "--store", url); x.Exists {
		t.Errorf("it was made by being looked at: %+v", x)
	}
	s := serve(t, "--store", url, "--durability", "fast")
	defer s.stop()
	if text := s.out.String(); !strings.Contains(text, "store: redis (D0). ") || !strings.Contains(text, "first start: site main") {
		t.Errorf("printed\n%s", text)
	}
	if status, _ := s.ask("POST", "/queue/main/join", ""); status != 201 {
		t.Errorf("join: %d", status)
	}
	if status, body := s.ask("GET", "/readyz", ""); status != 200 || body["store"] != "redis" || body["durability"] != "D0" {
		t.Errorf("readyz: %d %v", status, body)
	}
	x, text := examine(t, 1, "--store", url)
	if !x.Exists || x.Partitions != 3 || len(x.Epochs) != 3 || x.Epochs[0] == 0 || !strings.Contains(text, "no loss was ever found") {
		t.Errorf("%+v\n%s", x, text)
	}
	if x.Processes != 1 || !strings.Contains(text, "enrolled: 1 (") {
		t.Errorf("%d processes are enrolled\n%s", x.Processes, text)
	}
	if _, text := examine(t, 1, "--store", strings.Replace(url, "partitions=3", "partitions=5", 1)); !strings.Contains(text, "?partitions=5 is not what") {
		t.Errorf("of another number of partitions nothing is said:\n%s", text)
	}
	if code, out, errs := command(t, "audit", "--store", url); code != 0 || !strings.Contains(out, "clean") {
		t.Errorf("audit: exit %d, %s%s", code, out, errs)
	}
	code, secret, errs := command(t, "ctl", "key", "new", "--store", url)
	if code != 0 {
		t.Fatalf("a new admin key: exit %d, %s", code, errs)
	}
	s.await("GET", "/keys", strings.TrimSpace(secret), 200)
	s.await("GET", "/keys", testKey, 401)
}

func TestDoctorOfAFolder(t *testing.T) {
	t.Setenv("DENGXU_ADMIN_KEY", testKey)
	data := t.TempDir()
	if x, text := examine(t, 1, "--data", data); x.Exists || x.Durability != "D2" || !strings.Contains(text, "there is no store in this folder") {
		t.Errorf("%+v\n%s", x, text)
	}
	s := serve(t, "--data", data)
	if x, text := examine(t, 0, "--data", data); !x.Exists || x.Format != "1" || x.Bytes == 0 || !strings.Contains(text, "a server has it open") {
		t.Errorf("while it is open: %+v\n%s", x, text)
	}
	s.stop()
	if _, text := examine(t, 0, "--store", "pebble:"+data+"/store"); !strings.Contains(text, "no server has it open") {
		t.Errorf("after the stop:\n%s", text)
	}
	if _, text := examine(t, 2, "--store", "pebble:"+data); !strings.Contains(text, "no FORMAT file") {
		t.Errorf("another folder:\n%s", text)
	}
	examine(t, 1, "--store", "memory:")
}
