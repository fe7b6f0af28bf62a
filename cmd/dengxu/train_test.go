package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/dengxutest"
	"github.com/dengxu/dengxu/internal/ctl"
	"github.com/dengxu/dengxu/internal/evaluate"
)

// busy lets 1,200 people through counter 1 of queue main, in bursts, and tells
// the server to keep what it learned: 1,121 are told how long they have to wait,
// for the counter opens with the first call and then waits for the next burst.
func busy(t *testing.T, s *dengxutest.Server) {
	t.Helper()
	r := rand.New(rand.NewPCG(2, 2))
	const burst = 20
	for range 4 {
		cursor, err := s.Client.Cursor(t.Context(), "main")
		if err != nil {
			t.Fatal(err)
		}
		for range 15 {
			s.Join("main", burst)
			for range burst {
				token := s.Call("1")
				s.Clock.Advance(time.Duration(20+r.IntN(20)) * time.Second)
				if _, err := s.Client.Complete(t.Context(), token.ID, dengxu.VerbRequest{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		left := 15 * burst
		for e, err := range s.Client.Events(t.Context(), "main", cursor) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == dengxu.EventCompleted {
				left--
			}
			if left == 0 {
				break
			}
		}
		// Training keeps what was resolved, whether or not there is enough.
		if _, err := s.Client.TrainModel(t.Context(), "main"); err != nil && dengxu.ReasonOf(err) != "too_few_lessons" {
			t.Fatal(err)
		}
	}
}

func TestTrainAndEvaluateOnAServer(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	at := []string{"--url", s.URL, "--key", s.Key}
	code, _, errs := command(t, append([]string{"train", "--queue", "main"}, at...)...)
	if code != ctl.ExitRefused || !strings.Contains(errs, "1000 resolved tokens") {
		t.Errorf("too early: exit %d: %s", code, errs)
	}
	busy(t, s)
	file := filepath.Join(t.TempDir(), "model.json")
	code, out, errs := command(t, append([]string{"train", "--queue", "main", "--out", file}, at...)...)
	if code != 0 || !strings.Contains(out, "learned from 1121 tokens") || !strings.Contains(out, "  kept\n") {
		t.Fatalf("train: exit %d: %s%s", code, out, errs)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	full, err := s.Client.ExportModel(t.Context(), "main")
	if err != nil || strings.TrimSpace(string(text)) != string(full.Model) {
		t.Errorf("the file is not what the server exports: %v", err)
	}

	code, out, errs = command(t, append([]string{"evaluate", "--queue", "main", "--train-share", "0.9", "--json"}, at...)...)
	var report evaluate.Report
	if err := json.Unmarshal([]byte(out), &report); code != 0 || err != nil {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, errs)
	}
	line := report.Line("full")
	if report.Train.N+report.Test.N != 1121 || line.N != report.Test.N || line.Cov90 < 0.7 || line.WAPE > 0.3 || len(line.ByPosition) < 5 || line.ByPosition[0].Floor == 0 {
		t.Errorf("%+v", report)
	}
	code, out, _ = command(t, append([]string{"evaluate", "--queue", "main", "--train-share", "0.9"}, at...)...)
	if code != 0 || !strings.Contains(out, "  floor  ") || !strings.Contains(out, "trained on days 2026-03-02") {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, _, errs := command(t, append([]string{"evaluate", "--queue", "nowhere"}, at...)...); code != ctl.ExitRefused {
		t.Errorf("of no queue: exit %d: %s", code, errs)
	}
}

// TestAModelOfARecordingIsLoaded by a server.
func TestAModelOfARecordingIsLoaded(t *testing.T) {
	t.Parallel()
	csv, model := month(t, 8, 240), filepath.Join(t.TempDir(), "model.json")
	code, out, errs := command(t, "train", "--csv", csv, "--train", "1-8", "--out", model)
	if code != 0 || !strings.Contains(out, ", 2030-04-01 to 2030-04-08; ") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	s := dengxutest.NewServer(t)
	code, _, errs = command(t, "ctl", "--url", s.URL, "--key", s.Key, "model", "load", "main", "-f", model)
	if code != 0 {
		t.Fatalf("load: exit %d: %s", code, errs)
	}
	m, err := s.Client.Model(t.Context(), "main")
	if err != nil || m.Rows < 1000 || m.Method == "erlang" {
		t.Errorf("%+v, %v", m, err)
	}
	code, out, _ = command(t, "train", "--csv", csv, "--train", "1-8", "--json")
	var learned dengxu.Model
	if err := json.Unmarshal([]byte(out), &learned); code != 0 || err != nil || learned.Method != m.Method || learned.Model != nil || len(learned.Verdicts) != 4 {
		t.Errorf("exit %d, %v: %s", code, err, out)
	}
}

func TestTrainSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	file := month(t, 2, 30)
	for _, row := range []struct {
		args []string
		code int
		want string
	}{
		{nil, ctl.ExitUsage, "missing flags: --csv=FILE or --queue=QUEUE"},
		{[]string{"--csv", file}, ctl.ExitUsage, "--csv and --train=DAYS go together"},
		{[]string{"--queue", "main", "--train", "1"}, ctl.ExitUsage, "--csv and --train=DAYS go together"},
		{[]string{"--csv", file, "--train", "x"}, ctl.ExitUsage, `"x" is no run of days`},
		{[]string{"--csv", file, "--train", "1-2"}, 2, "it takes 1000 resolved tokens"},
		{[]string{"--csv", file + ".not", "--train", "1"}, 2, "train: "},
	} {
		code, out, errs := command(t, append([]string{"train"}, row.args...)...)
		if code != row.code || !strings.Contains(errs, row.want) {
			t.Errorf("%v: exit %d, want %d: %s%s", row.args, code, row.code, out, errs)
		}
	}
}
