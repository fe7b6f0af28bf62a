package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dengxu/dengxu/internal/ctl"
	"github.com/dengxu/dengxu/internal/evaluate"
)

// month writes a recording of days with one server, who is busy most of the
// time.
func month(t *testing.T, days, people int) string {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	fmt.Fprintln(&text, "date,type,priority,queued,outcome,join_s,leave_queue_s,start_s,end_s,server")
	for d := range days {
		at, free := 30_000.0, 0
		for range people {
			at += r.ExpFloat64() * 108
			join := int(at)
			start := max(join, free)
			free = start + 80 + r.IntN(40) // so regular that how long it runs tells a lot
			queued := 0
			if start > join {
				queued = 1
			}
			fmt.Fprintf(&text, "2030-04-%02d,PS,0,%d,served,%d,%d,%d,%d,a\n", d+1, queued, join, start, start, free)
		}
	}
	file := filepath.Join(t.TempDir(), "month.csv")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	file := month(t, 10, 240)
	rows := filepath.Join(t.TempDir(), "rows.csv")
	code, out, errs := command(t, "evaluate", "--csv", file, "--train", "1-8", "--test", "9-10", "--json")
	var report evaluate.Report
	if err := json.Unmarshal([]byte(out), &report); code != 0 || err != nil {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, errs)
	}
	full := report.Line("full")
	if report.Train.N < 1000 || full.N != report.Test.N || full.N < 200 || full.Cov90 < 0.8 || full.Cov90 > 0.97 || len(full.ByPosition) == 0 {
		t.Errorf("%+v", report)
	}
	for _, name := range []string{`"pin50"`, `"pin90"`, `"cov50"`, `"cov90"`, `"bias"`, `"wape"`} {
		if !strings.Contains(out, name) {
			t.Errorf("no %s in %s", name, out)
		}
	}
	code, out, errs = command(t, "evaluate", "--csv", file, "--train", "1-8", "--test", "9-10", "--check", "--rows", rows)
	if code != 1 || !strings.Contains(out, "MISSED") || !strings.Contains(errs, "a target is missed") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if _, err := os.Stat(rows); err != nil {
		t.Error(err)
	}
}

func TestEvaluateSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	file := month(t, 2, 30)
	for _, row := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--csv", file + ".not", "--train", "1", "--test", "2"}, 2, "no such file"},
		{[]string{"--csv", file, "--train", "1", "--test", "x"}, ctl.ExitUsage, `"x" is no run of days such as 1-20`},
		{[]string{"--csv", file, "--train", "1", "--test", "2"}, 2, "it takes 1000 resolved tokens to learn"},
		{[]string{"--csv", file}, ctl.ExitUsage, "--csv needs --train=DAYS and --test=DAYS"},
		{[]string{}, ctl.ExitUsage, "missing flags: --csv=FILE or --queue=QUEUE"},
		{[]string{"--queue", "main", "--check"}, ctl.ExitUsage, "--train, --test and --check go with --csv"},
		{[]string{"--queue", "main", "--train-share", "1"}, ctl.ExitUsage, "--train-share is above 0 and below 1"},
	} {
		code, out, errs := command(t, append([]string{"evaluate"}, row.args...)...)
		if code != row.code || !strings.Contains(errs, row.want) {
			t.Errorf("%v: exit %d, want %d: %s%s", row.args, code, row.code, out, errs)
		}
	}
}
