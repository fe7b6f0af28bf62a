package ctl

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/strictyaml"
)

func clinic(t *testing.T) (*siteFile, string) {
	t.Helper()
	text, err := os.ReadFile("testdata/clinic.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f, err := readFile(text)
	if err != nil {
		t.Fatal(err)
	}
	return f, string(text)
}

// served is the state of a server to which a file was applied.
func served(f *siteFile) state {
	site := dengxu.SiteView{ID: f.id, Version: 1, Site: f.site.WithDefaults()}
	if site.TimeZone == "" {
		site.TimeZone = "Europe/Berlin"
	}
	now := state{site: &site}
	for _, q := range f.queues {
		now.queues = append(now.queues, dengxu.QueueView{ID: q.id, Version: 2, Queue: q.set.WithDefaults()})
	}
	for _, c := range f.counters {
		now.counters = append(now.counters, dengxu.CounterView{ID: c.id, Version: 3, Counter: c.set.WithDefaults()})
	}
	return now
}

// actions lists what a plan does, without what stays as it is.
func actions(t *testing.T, f *siteFile, now state, prune bool) []string {
	t.Helper()
	plan, err := newPlan(f, now, prune)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, s := range plan {
		if s.Action == Same {
			continue
		}
		line := string(s.Action) + " " + s.Kind + " " + s.ID
		for _, d := range s.Differences {
			line += " " + d.Path + "=" + brief(d.From) + "→" + brief(d.To)
		}
		all = append(all, line)
	}
	return all
}

func TestDefaultsReachTheQueuesOfPeople(t *testing.T) {
	t.Parallel()
	f, text := clinic(t)
	blood := f.queues[1].set
	if blood.OnCallTimeout != "ask" || *blood.Missed.MaxMisses != 3 || *blood.Prefix != "B" {
		t.Errorf("blood: %+v", blood)
	}
	if internal := f.queues[0].set; *internal.Missed.MaxMisses != 2 || internal.OnCallTimeout != "ask" || internal.Site != "clinic" {
		t.Errorf("internal: %+v", internal)
	}
	task, err := readFile([]byte(strings.Replace(text, "blood: {", "blood: {kind: task, ", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if got := task.queues[1].set; got.OnCallTimeout != "" || got.Missed != nil || got.Site != "clinic" {
		t.Errorf("task queue: %+v", got)
	}
}

func TestAnEmptyServerGetsEverythingInOrder(t *testing.T) {
	t.Parallel()
	f, _ := clinic(t)
	want := []string{
		"create site clinic", "create queue internal", "create queue blood",
		"create counter room-3", "create counter room-4", "create counter blood-1",
	}
	if diff := cmp.Diff(want, actions(t, f, state{}, false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestApplyingTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	f, text := clinic(t)
	if got := actions(t, f, served(f), true); got != nil {
		t.Errorf("second time: %v", got)
	}
	// Defaults in words, and a zone that the machine gave, are no difference.
	other, err := readFile([]byte(strings.NewReplacer("time_zone: Asia/Shanghai\n", "", "prefix: A\n", "number_width: 3\n").Replace(text)))
	if err != nil {
		t.Fatal(err)
	}
	if got := actions(t, other, served(f), true); got != nil {
		t.Errorf("in other words: %v", got)
	}
}

func TestOnlyTheDifferenceIsChanged(t *testing.T) {
	t.Parallel()
	f, text := clinic(t)
	edited, err := readFile([]byte(strings.NewReplacer(
		"daily_quota: 120", "daily_quota: 150", "elderly: {factor: 0.7}", "elderly: {factor: 0.8}", "  room-4:", "  room-5:",
		`day_start: "04:00"`, `day_start: "03:00"`,
	).Replace(text)))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`change site clinic day_start="04:00"→"03:00"`,
		"change queue internal daily_quota=120→150 groups.elderly.factor=0.7→0.8",
		"create counter room-5",
		"left counter room-4",
	}
	if diff := cmp.Diff(want, actions(t, edited, served(f), false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want[3] = "delete counter room-4"
	if diff := cmp.Diff(want, actions(t, edited, served(f), true)); diff != "" {
		t.Errorf("pruned (-want +got):\n%s", diff)
	}
}

func TestMistakesInASitesFileHaveTheirPlace(t *testing.T) {
	t.Parallel()
	_, text := clinic(t)
	for _, row := range []struct{ from, to, want string }{
		{"other_tokens: hold", "board: {names: masked}", "12:1: unknown key board"},
		{"site: clinic\n", "", "1:1: site is missing: the id of the site"},
		{"site: clinic", "site: a/b", "1:7: invalid: site: id \"a/b\" must match " + dengxu.IDPattern},
		{"  blood: {", "  blood: {site: x, ", "33:11: site stands once, at the top of the file"},
		{"  blood: {", "  blood: {kind: task, lease_seconds: 30, ", "33:23: unknown key lease_seconds in blood"},
		{"queues: [blood]", "queues: [bloood]", "37:13: counter blood-1 serves queue bloood, which is not there"},
		{"  blood: {", "  token: {", "33:3: invalid: queue: id \"token\" is reserved"},
		{"max_misses: 3", "max_miss: 3", "14:86: unknown key max_miss in missed"},
	} {
		f, err := readFile([]byte(strings.Replace(text, row.from, row.to, 1)))
		if err == nil {
			_, err = newPlan(f, state{}, false)
		}
		if err == nil || err.Error() != row.want {
			t.Errorf("%s:\n got %v\nwant %s", row.to, err, row.want)
		}
		if ExitCode(err) != ExitUsage {
			t.Errorf("%v: exit code %d", err, ExitCode(err))
		}
		if _, ok := errors.AsType[*strictyaml.Error](err); !ok {
			t.Errorf("%T has no place", err)
		}
	}
}

func TestApplyingAnExportChangesNothing(t *testing.T) {
	t.Parallel()
	f, _ := clinic(t)
	odd := &siteFile{id: "odd", site: dengxu.Site{Name: "yes: no # \"1\"", Labels: map[string]string{"en": "a\nb", "de": " x "}}}
	odd.queues = []fileQueue{
		{"1", dengxu.Queue{
			Site: "odd", Prefix: new(""), Series: "null", NumberWidth: new(1), LastNumber: new(int64(99)), Unique: new(false),
			PublicJoin: &dengxu.PublicJoin{Loopback: true}, RecallGapSeconds: new(0.0), Name: "true",
			Groups: map[string]dengxu.Group{"ordinary": {Factor: new(0.9)}, "12": {HeadStartSeconds: 0.15}},
		}},
		{"task", dengxu.Queue{Site: "odd", Kind: dengxu.KindTask, Prefix: new("T")}},
	}
	odd.counters = []fileCounter{{id: "2", set: dengxu.Counter{Site: "odd", MaxServing: new(3), Seats: &dengxu.Seats{Max: 4}}}}
	for _, file := range []*siteFile{f, odd} {
		now := served(file)
		text, err := exportText(now)
		if err != nil {
			t.Fatal(err)
		}
		again, err := readFile(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if got := actions(t, again, now, true); got != nil {
			t.Errorf("%v\n%s", got, text)
		}
		if strings.Contains(string(text), "retain_seconds") || strings.Contains(string(text), "version") {
			t.Errorf("defaults or state in the export:\n%s", text)
		}
	}
}
