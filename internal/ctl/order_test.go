package ctl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dengxu/dengxu/client"
	"github.com/dengxu/dengxu/dengxutest"
)

const orderings = `
site: hall
time_zone: Europe/Berlin
queues:
  triage:
    ordering: strict
    escalate_after_seconds: 1800
    groups: {red: {rank: 0}, yellow: {rank: 1}}
  hours:
    prefix: H
    ordering: strict
    groups: {red: {}}
  members:
    prefix: M
    ordering: ratio
    groups: {VIP: {share: 3}}
  doctor:
    prefix: D
    day_end: keep
    appointments: {early_seconds: 1200, late: keep}
counters:
  "1": {queues: [triage, hours, members, doctor]}
`

// TestOrderingsFromTheirFileAndBack: what an ordering fills in is not written
// down, and applying the export changes nothing.
func TestOrderingsFromTheirFileAndBack(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t, dengxutest.Options{Bare: true})
	file := filepath.Join(t.TempDir(), "hall.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(orderings)
	ok(t, s, "apply", "-f", file)
	text := ok(t, s, "export", "site", "hall")
	for _, want := range []string{"ordering: strict", "escalate_after_seconds: 1800", "rank: 1", "ordering: ratio", "share: 3", "early_seconds: 1200", "late: keep"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "ordinary") || strings.Contains(text, "3600") {
		t.Errorf("defaults are written down:\n%s", text)
	}
	write(text)
	if out := ok(t, s, "apply", "-f", file, "--prune"); !strings.Contains(out, "0 changed") {
		t.Errorf("the export changes something:\n%s\n%s", out, text)
	}
}

func TestWhyAtTheTerminal(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t, dengxutest.Options{Bare: true})
	file := filepath.Join(t.TempDir(), "hall.yaml")
	if err := os.WriteFile(file, []byte(orderings), 0o600); err != nil {
		t.Fatal(err)
	}
	ok(t, s, "apply", "-f", file)
	ann, err := s.Client.Join(t.Context(), "triage", client.JoinRequest{})
	if err != nil {
		t.Fatal(err)
	}
	red := ok(t, s, "join", "triage", "--priority-group", "red")
	if !strings.Contains(red, "A002") {
		t.Fatalf("joined:\n%s", red)
	}
	if out := ok(t, s, "explain", string(ann.ID)); !strings.Contains(out, "Ahead: A002 – red (rank 0) goes before ordinary (rank 2)") {
		t.Errorf("why:\n%s", out)
	}
	if out := ok(t, s, "explain", string(ann.ID), "--lang", "zh-CN"); !strings.Contains(out, "在前：A002，red（等级 0）先于 ordinary（等级 2）") {
		t.Errorf("why:\n%s", out)
	}
	if out := ok(t, s, "explain", string(ann.ID), "--json"); !strings.Contains(out, `"ahead_next"`) {
		t.Errorf("as JSON:\n%s", out)
	}
	out := ok(t, s, "join", "doctor", "--appointment", "2100-03-02T09:30:00+01:00")
	if !strings.Contains(out, "D001") || !strings.Contains(out, "scheduled") {
		t.Errorf("booked:\n%s", out)
	}
}
