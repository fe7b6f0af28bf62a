package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dengxu/dengxu/internal/ctl"
	"github.com/dengxu/dengxu/internal/sim"
)

const smallRecording = "../../internal/replay/testdata/small.csv"

func TestSimOfOneLine(t *testing.T) {
	t.Parallel()
	args := []string{
		"sim", "--per-hour", "40", "--service", "lognormal:120:0.8", "--counters", "2", "--customers", "400",
		"--group", "VIP=0.25,factor=0.5", "--patience", "exponential:900", "--no-show", "0.05", "--runs", "2", "--seed", "7",
	}
	code, table, errs := command(t, args...)
	if code != 0 || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, want := range []string{"2 runs, seeds 7 to 8", "fifo", "groups", "VIP", "ordinary", "P90", "counters busy"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	// The same seeds are the same people.
	if _, again, _ := command(t, args...); again != table {
		t.Errorf("once\n%s\nthen\n%s", table, again)
	}
	code, text, errs := command(t, append(args, "--json")...)
	var report sim.Report
	if err := json.Unmarshal([]byte(text), &report); code != 0 || err != nil {
		t.Fatalf("exit %d, %v: %s", code, err, errs)
	}
	if n := len(report.Policies); n != 2 || report.Policies[1].Lines[0].Group != "VIP" || report.Policies[1].Lines[0].Wait.P90 == 0 {
		t.Errorf("%s", text)
	}
}

func TestSimOfAScenarioFindsCountersAndWritesAPage(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file, page := filepath.Join(folder, "hall.yaml"), filepath.Join(folder, "hall.html")
	text := `
name: hall
days: 1
queues: {main: {}}
counters: [{id: desk, hours: ["08:00-18:00"]}]
streams: [{arrivals: {by_hour: {"08:00-17:00": 30}}, service: {law: constant, mean_seconds: 200}}]
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := command(t, "sim", file, "--runs", "3", "--find-counters", "p90<5m", "--vary", "desk", "--html", page)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, want := range []string{"as given: 1 counter: ", "too few\n", "as given: 3 counters: ", "enough\n", "\nfewest: 3 counters keep p90<5m\n\nhall: 3 runs, seeds 1 to 3", "as given: 3 counters, counters busy 5"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	html, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(html), "<polyline") || !strings.Contains(string(html), "<strong>fewest: 3 counters keep p90&lt;5m</strong>") {
		t.Errorf("%v: %s", err, html)
	}
	if one, two := strings.Index(out, ": 1 counter:"), strings.Index(out, ": 2 counters:"); one < 0 || two < one || strings.Index(out, ": 3 counters:") < two {
		t.Errorf("tries are not in their order:\n%s", out)
	}
	code, out, errs = command(t, "sim", file, "--runs", "3", "--find-counters", "p90<5m", "--json")
	var report sim.Report
	if err := json.Unmarshal([]byte(out), &report); code != 0 || err != nil || errs != "" {
		t.Fatalf("exit %d, %v: %s", code, err, errs)
	}
	if len(report.Fewest) != 1 || report.Fewest[0].Counters != 3 || len(report.Tries) == 0 {
		t.Errorf("%+v", report.Fewest)
	}
}

// TestSimTellsEstimates: with a flag or a line of the file, and not otherwise.
func TestSimTellsEstimates(t *testing.T) {
	t.Parallel()
	args := []string{"sim", "--per-hour", "40", "--counters", "2", "--service", "exponential:170", "--customers", "2600", "--runs", "1"}
	const heading = "recommended   high"
	if code, out, errs := command(t, args...); code != 0 || strings.Contains(out, heading) {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	code, out, errs := command(t, append(args, "--estimates")...)
	if code != 0 || !strings.Contains(out, heading) || !strings.Contains(out, "found a free counter") || !strings.Contains(out, " by blend, ") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if _, again, _ := command(t, append(args, "--estimates")...); again != out {
		t.Errorf("once\n%s\nthen\n%s", out, again)
	}
	code, text, errs := command(t, append(args, "--estimates", "--json")...)
	var report sim.Report
	if err := json.Unmarshal([]byte(text), &report); code != 0 || err != nil || errs != "" {
		t.Fatalf("exit %d, %v: %s", code, err, errs)
	}
	if e := report.Policies[0].Estimates; e == nil || e.All.People < 200 || e.All.High < 0.8 {
		t.Errorf("%+v", e)
	}
}

func TestSimOfARecording(t *testing.T) {
	t.Parallel()
	code, out, errs := command(t, "sim", "--csv", smallRecording)
	if code != 0 || !strings.Contains(out, "2 recorded days, 2030-01-06 to 2030-01-07") || !strings.Contains(out, "head start 90 s") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	code, out, errs = command(t, "sim", "--csv", smallRecording, "--date", "2030-01-07")
	if code != 0 || !strings.Contains(out, "the recorded day 2030-01-07") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

// TestSimRefuses what is wrong with the command or a file, before anything is
// played.
func TestSimRefuses(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file, open := filepath.Join(folder, "hall.yaml"), filepath.Join(folder, "open.yaml")
	for path, text := range map[string]string{file: "days: 1\nqueues: {main: {names: x}}\n", open: "queues: {main: {}}\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct{ args, want string }{
		{"", "simulate what?"},
		{file + " --per-hour 5", "simulate what?"},
		{"--per-hour 5 --date 1999-02-01", "--date is of a recording"},
		{"--csv " + smallRecording + " --group VIP=1", "--group is of one line"},
		{"--csv " + smallRecording + " --runs 5", "no --find-counters, --seed or --runs"},
		{"--csv " + smallRecording + " --date 2031-01-01", "there are no rows of 2031-01-01"},
		{"--csv " + smallRecording + " --estimates", "use dengxu evaluate"},
		{"--per-hour 5 --vary desk", "--vary is of --find-counters"},
		{"--per-hour 5 --service slow", `service: "slow" is not`},
		{"--per-hour 5 --find-counters fast", "is not an aim"},
		{"--per-hour 5 --runs 3 --group VIP=1,factor=99", "99 is not from 0.05 to 10"},
		{file, "hall.yaml:2:17: unknown key names"},
		{open, "open.yaml:1:1: days: give days or customers"},
		{"--per-hour 5 --runs=-3", "--runs are from 1 to 10000"},
		{"--per-hour 5 --html " + filepath.Join(folder, "none", "a.html"), "--html: there is no folder " + filepath.Join(folder, "none")},
		{"--per-hour 5 --html " + folder, "--html: " + folder + " is a folder"},
	} {
		code, out, errs := command(t, append([]string{"sim"}, strings.Fields(row.args)...)...)
		if code != ctl.ExitUsage || out != "" || !strings.Contains(errs, row.want) {
			t.Errorf("sim %s: exit %d, %s%s", row.args, code, out, errs)
		}
	}
}

// bankCSV names the variable with the path of the recorded bank calls, which are
// not part of this repository.
const bankCSV = "DENGXU_BANK_CSV"

// TestSimOfTheBankIsAsDocumented: docs/simulation.md shows what the command
// prints of the bank's February.
func TestSimOfTheBankIsAsDocumented(t *testing.T) {
	t.Parallel()
	file := os.Getenv(bankCSV)
	if file == "" {
		t.Logf("left out: set %s to the path of bank-calls-1999-02.csv", bankCSV)
		return
	}
	page, err := os.ReadFile("../../docs/simulation.md")
	if err != nil {
		t.Fatal(err)
	}
	code, out, errs := command(t, "sim", "--csv", file)
	table, _, explained := strings.Cut(out, "Waits in seconds")
	if code != 0 || !explained || !strings.Contains(string(page), strings.TrimSpace(table)) {
		t.Errorf("exit %d %s: the page has another table than\n%s", code, errs, table)
	}
}
