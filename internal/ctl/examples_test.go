package ctl_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
	"github.com/dengxu/dengxu/internal/app"
	"github.com/dengxu/dengxu/internal/ctl"
)

// terminal is a server of its own and what a terminal shows of it.
type terminal struct {
	*ctl.Env
	out *bytes.Buffer
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	const key = "a-key-for-tests-only"
	a, err := app.New(app.Options{Listen: "127.0.0.1:0", StoreURL: "memory:", Bare: true, AdminKey: key})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	c, err := client.New(client.Options{URL: a.URL(), Key: key})
	if err != nil {
		t.Fatal(err)
	}
	out := &bytes.Buffer{}
	return &terminal{&ctl.Env{Streams: ctl.Streams{Out: out, Err: out}, Client: c}, out}
}

// apply applies a file and returns what was shown.
func (x *terminal) apply(t *testing.T, a ctl.Apply) string {
	t.Helper()
	x.out.Reset()
	if err := a.Run(t.Context(), x.Env); err != nil {
		t.Fatalf("apply %s: %v\n%s", a.File, err, x.out)
	}
	return x.out.String()
}

// TestExamplesApply holds every example to what the README promises: a dry run
// changes nothing, applying makes everything, and neither the file again nor
// the site's export finds a difference afterwards.
func TestExamplesApply(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("examples: %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t)
			x.apply(t, ctl.Apply{File: file, DryRun: true})
			if sites, err := x.Client.Sites(t.Context()); err != nil || len(sites) != 0 {
				t.Fatalf("after a dry run: %v, %v", sites, err)
			}
			x.apply(t, ctl.Apply{File: file})
			sites, err := x.Client.Sites(t.Context())
			if err != nil || len(sites) != 1 {
				t.Fatalf("after applying: %v, %v", sites, err)
			}
			x.unwarned(t, sites[0])
			x.unchanged(t, file)

			x.out.Reset()
			if err := (&ctl.ExportSite{ID: sites[0].ID}).Run(t.Context(), x.Env); err != nil {
				t.Fatal(err)
			}
			exported := filepath.Join(t.TempDir(), "exported.yaml")
			if err := os.WriteFile(exported, x.out.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			x.unchanged(t, exported)
		})
	}
}

// unchanged wants a file to be what the server has, with nothing beside it.
func (x *terminal) unchanged(t *testing.T, file string) {
	t.Helper()
	if shown := x.apply(t, ctl.Apply{File: file, Prune: true}); !strings.HasSuffix(shown, "\n0 changed\n") {
		t.Errorf("%s again:\n%s", filepath.Base(file), shown)
	}
}

// unwarned wants an example to have nothing that the server warns of.
func (x *terminal) unwarned(t *testing.T, site dengxu.SiteView) {
	t.Helper()
	warnings := site.Warnings
	queues, err := x.Client.Queues(t.Context(), site.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queues {
		warnings = append(warnings, q.Warnings...)
	}
	counters, err := x.Client.Counters(t.Context(), site.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range counters {
		warnings = append(warnings, c.Warnings...)
	}
	if len(warnings) > 0 {
		t.Errorf("warnings: %q", warnings)
	}
}
