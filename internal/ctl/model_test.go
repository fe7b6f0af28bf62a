package ctl

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/dengxutest"
)

// bursts lets bursts of people through counter 1 of queue main, until the server
// has heard of it: services of one burst are alike, so that there is something to
// learn.
func bursts(t *testing.T, s *dengxutest.Server, times int) {
	t.Helper()
	cursor, err := s.Client.Cursor(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	const burst = 20
	for n := range times {
		s.Join("main", burst)
		for range burst {
			token := s.Call("1")
			s.Clock.Advance(time.Duration(60+10*(n%7)) * time.Second)
			if _, err := s.Client.Complete(t.Context(), token.ID, dengxu.VerbRequest{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	left := times * burst
	for e, err := range s.Client.Events(t.Context(), "main", cursor) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == dengxu.EventCompleted {
			if left--; left == 0 {
				break
			}
		}
	}
}

func TestModelsAtTheTerminal(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	ok(t, s, "queue", "put", "b", "{site: main, prefix: B}")
	if out := ok(t, s, "model", "show", "main"); out != "erlang: nothing was learned yet; 0 to learn from\n" {
		t.Error(out)
	}
	for args, reason := range map[string]string{"model export main": "no model", "model train main": "1000 resolved tokens"} {
		if r := ctl(t, s, strings.Fields(args)...); r.code != ExitRefused || !strings.Contains(r.err, reason) {
			t.Errorf("%s: %+v", args, r)
		}
	}
	for range 4 { // what is learned from between two times of keeping is bounded, and training keeps
		bursts(t, s, 15)
		ctl(t, s, "model", "train", "main")
	}
	out := ok(t, s, "model", "show", "main")
	if !strings.Contains(out, "to learn from") || strings.Count(out, "\n") != 7 || strings.Count(out, "  kept") != 1 {
		t.Errorf("after a training:\n%s", out)
	}
	if again := ok(t, s, "model", "train", "main"); again[:strings.Index(again, ";")] != out[:strings.Index(out, ";")] {
		t.Errorf("another training of the same:\n%s", again)
	}

	text := ok(t, s, "model", "export", "main")
	file := written(t, "main.json", text)
	if out := ok(t, s, "model", "load", "b", "-f", file); !strings.Contains(out, "; version 1 of ") {
		t.Error(out)
	}
	if other := ok(t, s, "model", "export", "b"); other != text {
		t.Errorf("%d bytes went in, %d others came out", len(text), len(other))
	}
	var m dengxu.Model
	if err := json.Unmarshal([]byte(ok(t, s, "--json", "model", "show", "b")), &m); err != nil || m.Rows < 1000 || m.Model != nil {
		t.Errorf("%+v, %v", m, err)
	}
	if out := ok(t, s, "model", "forget", "b"); out != "b goes by position and rate\n" {
		t.Error(out)
	}
	if out := ok(t, s, "model", "show", "b"); !strings.HasPrefix(out, "erlang: what was learned is forgotten; version 2 of ") {
		t.Error(out)
	}

	now := s.Clock.Now().UTC()
	stats := ok(t, s, "queue", "stats", "main", "--from", now.Add(-24*time.Hour).Format(time.RFC3339), "--to", now.Format(time.RFC3339))
	_, told, _ := strings.Cut(stats, "what holders were told")
	if lines := strings.Split(strings.TrimSpace(told), "\n"); len(lines) != 10 || !strings.HasPrefix(lines[8], "all  ") || !strings.Contains(lines[9], "found a counter free") {
		t.Errorf("stats:\n%s", stats)
	}
}

func TestWhatIsNoModelIsNotLoaded(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	for text, code := range map[string]int{"version: 1\n": ExitUsage, `{"version":77}`: ExitRefused} {
		if r := ctl(t, s, "model", "load", "main", "-f", written(t, "m.json", text)); r.code != code {
			t.Errorf("%s: %+v", text, r)
		}
	}
	if r := ctl(t, s, "model", "load", "main", "-f", "nowhere.json"); r.code != ExitUsage {
		t.Errorf("%+v", r)
	}
}

// TestEstimateSettingsInAFile: what estimates go by is settings like any other.
func TestEstimateSettingsInAFile(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t, dengxutest.Options{Bare: true})
	file := written(t, "hall.yaml", `
site: hall
time_zone: UTC
covariates: {holiday: 1, rain: 0.5}
queues:
  desk: {estimates: {method: erlang}}
`)
	ok(t, s, "apply", "-f", file)
	text := ok(t, s, "export", "site", "hall")
	for _, want := range []string{"covariates:", "holiday: 1", "rain: 0.5", "method: erlang"} {
		if !strings.Contains(text, want) {
			t.Errorf("the export has no %q:\n%s", want, text)
		}
	}
	if out := ok(t, s, "apply", "-f", written(t, "again.yaml", text), "--prune"); !strings.Contains(out, "0 changed") {
		t.Errorf("the export changes something:\n%s", out)
	}
}
