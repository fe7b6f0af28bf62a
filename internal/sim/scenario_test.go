package sim

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dengxu/dengxu"
)

// TestMistakesInAScenarioAreTold: unknown keys and wrong types with their line,
// contradictions with their field.
func TestMistakesInAScenarioAreTold(t *testing.T) {
	t.Parallel()
	const (
		queues   = "queues: {main: {}}\n"
		counters = "counters: [{}]\n"
		streams  = "streams: [{arrivals: {per_hour: 5}, service: {mean_seconds: 9}}]\n"
		days     = "days: 1\n"
	)
	for _, row := range []struct{ text, want string }{
		{"weeks: 1\n", "1:1: unknown key weeks"},
		{days + "queues: {main: {ordering: 5}}\n", "2:27: ordering must be a string: put it in quotes"},
		{days + queues + "policies:\n  - {name: a, queues: {main: {orderin: x}}}\n", "4:31: unknown key orderin"},
		{days + queues + "policies:\n  - {queues: {main: {}}}\n", "policies[0].name: every policy has a name of its own"},
		{days + queues + "policies:\n  - {name: a, queues: {other: {}}}\n", `policies[0].queues: there is no queue "other"`},
		{days + counters + streams, "queues: there is none"},
		{days + queues + counters, "streams: nobody comes: there is none"},
		{days + queues + streams, "counters: nobody serves: there is none"},
		{queues + counters + streams, "days: give days or customers"},
		{"customers: 5\n" + days + queues + counters + streams, "days: give days or customers"},
		{"days: -1\n" + queues + counters + streams, "days: must be from 1 to 3660"},
		{"customers: 99999999\n" + queues + counters + streams, "customers: must be from 1 to 10000000 in a run"},
		{"start: tomorrow\n" + days + queues + counters + streams, `start: "tomorrow" is not a date such as 2026-03-02`},
		{"runs: -3\n" + days + queues + counters + streams, "runs: must be from 1 to 10000"},
		{"warmup_seconds: -3\n" + days + queues + counters + streams, "warmup_seconds: must be from 0 to 3660 days"},
		{days + queues + streams + "counters: [{count: 2000}]\n", "counters[0].count: must not be below 0, and all together at most 1000"},
		{days + queues + streams + "counters: [{max_serving: 2}]\n", "counters[0].max_serving: a simulated counter serves one at a time"},
		{days + queues + streams + "counters: [{hours: [early]}]\n", `counters[0].hours: "early" is not a span such as 08:00-12:00`},
		{days + "queues: {main: {check_in: {required: all}}}\n" + counters + streams, "queues.main.check_in: nobody checks in here, so nobody would ever be called"},
		{days + queues + counters + "streams: [{queue: q, arrivals: {per_hour: 5}, service: {mean_seconds: 9}}]\n", `streams[0].queue: there is no queue "q"`},
		{days + queues + counters + "streams: [{arrivals: {}, service: {mean_seconds: 9}}]\n", "streams[0].arrivals: give per_hour, by_hour or a column"},
		{days + queues + counters + "streams: [{arrivals: {per_hour: -1}, service: {mean_seconds: 9}}]\n", "streams[0].arrivals.per_hour: people an hour are from 0 to 3600000"},
		{days + queues + counters + "streams: [{arrivals: {by_hour: {noon: 5}}, service: {mean_seconds: 9}}]\n", `streams[0].arrivals.by_hour: "noon" is not a span such as 08:00-12:00`},
		{days + queues + counters + "streams: [{arrivals: {csv: x}, service: {mean_seconds: 9}}]\n", "streams[0].arrivals: a column has a csv and a column"},
		{days + queues + counters + "streams: [{arrivals: {per_hour: 5}, service: {law: normal, mean_seconds: 9}}]\n", `streams[0].service.law: "normal" is not exponential, lognormal or constant`},
		{days + queues + counters + "streams: [{arrivals: {per_hour: 5}, service: {mean_seconds: 0}}]\n", "streams[0].service.mean_seconds: must be above 0 and at most 10000000"},
		{days + queues + counters + "streams: [{arrivals: {per_hour: 5}, service: {mean_seconds: 9, cv: 2}}]\n", "streams[0].service.cv: stands with lognormal, above 0 and at most 100"},
		{days + queues + counters + "streams: [{arrivals: {per_hour: 5}, service: {law: constant, csv: x, column: y, mean_seconds: 9}}]\n", "streams[0].service: give a law or a column"},
		{days + queues + counters + "streams: [{arrivals: {per_hour: 5}, service: {csv: x, column: y, mean_seconds: 9}}]\n", "streams[0].service: a column has its own mean and spread"},
		{days + queues + counters + "streams: [{arrivals: {per_hour: 5}, service: {mean_seconds: 9}, no_show: {share: 1}}]\n", "streams[0].no_show: share must be from 0 to below 1, operator_after_seconds not below 0"},
		{days + queues + counters + "streams: [{arrivals: {per_hour: 5}, service: {mean_seconds: 9}, patience: {mean_seconds: -1}}]\n", "streams[0].patience.mean_seconds: must be above 0 and at most 10000000"},
		{queues + "recording: {csv: \"\"}\n", "recording.csv: no file is named"},
		{days + queues + "recording: {csv: x}\n", "recording: its dates are the runs: leave out days, customers and warmup_seconds"},
		{"estimates: true\n" + queues + "recording: {csv: x}\n", "estimates: a recording does not say when counters are open, so nobody could be told how long the wait is: dengxu evaluate forecasts recorded days"},
		{queues + counters + "recording: {csv: x}\n", "recording: who comes and who serves is in the recording: leave out streams and counters"},
		{"queues: {a: {}, b: {}}\nrecording: {csv: x}\n", "recording: people of a recording stand in one queue, and there are 2"},
		{queues + "recording: {csv: x, groups: {\"3\": vip}}\n", `recording.groups: priorities are "0", "1" and "2", not "3"`},
	} {
		_, err := Parse([]byte(row.text))
		if err == nil || !placed.MatchString(err.Error()) || strings.TrimPrefix(err.Error(), placed.FindString(err.Error())) != strings.TrimPrefix(row.want, placed.FindString(row.want)) {
			t.Errorf("%s: %v, want %s", row.text, err, row.want)
		}
	}
}

var placed = regexp.MustCompile(`^\d+:\d+: `)

// TestSettingsAreTheEngines: what the engine refuses is refused here, with the
// policy and the field.
func TestSettingsAreTheEngines(t *testing.T) {
	t.Parallel()
	base := "days: 1\nruns: 1\ncounters: [{}]\nstreams: [{arrivals: {per_hour: 5}, service: {mean_seconds: 9}%s}]\nqueues: {main: {%s}}\n"
	for _, row := range []struct{ stream, queue, want string }{
		{"", "groups: {vip: {factor: 99}}", `5:32: policy "as given": queue main: groups.vip.factor: 99 is not from 0.05 to 10`},
		{", group: nobody", "groups: {vip: {}}", `4:65: policy "as given": streams[0].group: queue main has no group "nobody"`},
		{", class: loan", "classes: {a: {}}", `4:65: policy "as given": streams[0].class: queue main has no class "loan"`},
		{"", "classes: {a: {}, b: {}}", `4:12: policy "as given": streams[0].class: queue main needs a class: one of a, b`},
		{", no_show: {share: 0.1}", "on_call_timeout: ask", `5:17: policy "as given": queue main: on_call_timeout: nobody would notice that somebody does not come: say miss, or no_show.operator_after_seconds in the streams`},
		{", patience: {mean_seconds: 60, silent: true}", "on_call_timeout: start", `5:17: policy "as given": queue main: on_call_timeout: nobody would notice that somebody does not come: say miss, or no_show.operator_after_seconds in the streams`},
	} {
		s, err := Parse(fmt.Appendf(nil, base, row.stream, row.queue))
		if err != nil {
			t.Fatal(err)
		}
		_, err = Play(t.Context(), s, Options{})
		if dengxu.CodeOf(err) != dengxu.Invalid || err.Error() != row.want {
			t.Errorf("%s %s: %v, want %s", row.stream, row.queue, err, row.want)
		}
	}
}

// TestMistakesAreToldBeforeAnybodyComes with file, line and column: those of a
// policy in the policy, else where the queue, the counter or the stream says it.
func TestMistakesAreToldBeforeAnybodyComes(t *testing.T) {
	t.Parallel()
	const good = `days: 1
queues:
  hall.1: {groups: {VIP: {}}}
counters:
  - {}
  - id: desk
    queues: [hall.1]
streams:
  - arrivals: {per_hour: 5}
    service: {mean_seconds: 9}
  - group: VIP
    arrivals: {per_hour: 5}
    service: {mean_seconds: 9}
policies:
  - {name: fifo}
  - name: shares
    queues: {hall.1: {ordering: ratio, groups: {VIP: {share: 3}}}}
`
	for _, row := range []struct{ old, by, want string }{
		{"days: 1\n", "", ":1:1: days: give days or customers"},
		{"group: VIP", "group: vip", `:11:5: policy "fifo": streams[1].group: queue hall.1 has no group "vip"`},
		{"group: VIP", "class: VIP", `:11:5: policy "fifo": streams[1].class: queue hall.1 has no class "VIP"`},
		{"group: VIP", "queue: hall", `:11:5: streams[1].queue: there is no queue "hall"`},
		{"[hall.1]", "[hall]", `:7:14: policy "fifo": counter desk: queues[0]: no queue hall in site sim`},
		{"share: 3", "share: 30", `:17:55: policy "shares": queue hall.1: groups.VIP.share: 30 is not from 1 to 20`},
		{"VIP: {}", "VIP: {factor: 30}", `:3:27: policy "fifo": queue hall.1: groups.VIP.factor: 30 is not from 0.05 to 10`},
		{"VIP: {share: 3}", "VIP: null", `:11:5: policy "shares": streams[1].group: queue hall.1 has no group "VIP"`},
	} {
		text := strings.Replace(good, row.old, row.by, 1)
		path := filepath.Join(t.TempDir(), "hall.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := ReadFile(path)
		if err == nil {
			_, err = Play(t.Context(), s, Options{Progress: func(Progress) { t.Errorf("%s: somebody came", row.by) }})
		}
		if dengxu.CodeOf(err) != dengxu.Invalid || err.Error() != path+row.want {
			t.Errorf("%s: %v, want %s", row.by, err, row.want)
		}
	}
	// A recording's groups are those of its queue.
	s, err := Recorded("../replay/testdata/small.csv", nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Recording.Groups["2"] = "prior"
	_, err = Play(t.Context(), s, Options{})
	if err == nil || err.Error() != `policy "fifo": recording.groups.2: queue main has no group "prior"` {
		t.Errorf("%v", err)
	}
}

// TestColumnsThatCannotBeRead name the file and the line.
func TestColumnsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("empty.csv", "")
	write("a.csv", "who,at\nx,5\ny,-1\nz,soon\n")
	for _, row := range []struct {
		column Column
		want   string
	}{
		{Column{CSV: "none.csv", Column: "at"}, "no such file"},
		{Column{CSV: "empty.csv", Column: "at"}, "read the header: EOF"},
		{Column{CSV: "a.csv", Column: "when"}, "there is no column when"},
		{Column{CSV: "a.csv", Column: "at", Where: map[string]string{"how": "x"}}, "there is no column how"},
		{Column{CSV: "a.csv", Column: "at", Where: map[string]string{"who": "w"}}, "there are no rows like that"},
		{Column{CSV: "a.csv", Column: "at"}, `line 3: at "-1" is not from 0 to 10000000 seconds`},
		{Column{CSV: "a.csv", Column: "at", Where: map[string]string{"who": "z"}}, `line 4: at "soon" is not from 0`},
	} {
		_, err := row.column.read(folder)
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: %v, want %s", row.column, err, row.want)
		}
	}
	got, err := (&Column{CSV: "a.csv", Column: "at", Where: map[string]string{"who": "x"}}).read(folder)
	if err != nil || len(got) != 1 || got[0] != 5000 {
		t.Errorf("%v %v", got, err)
	}
}

// TestLaws: the mean and the spread of what is drawn, and of a column.
func TestLaws(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.csv"), []byte("s\n10\n20\n60\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		law      Law
		mean, cv float64
	}{
		{Law{MeanSeconds: 90}, 90, 1},
		{Law{Law: Lognormal, MeanSeconds: 90, CV: 0.8}, 90, 0.8},
		{Law{Law: Constant, MeanSeconds: 90}, 90, 0},
		{Law{Column: Column{CSV: "a.csv", Column: "s"}}, 30, math.Sqrt(1400./3) / 30},
	} {
		draw, err := row.law.draw(folder)
		if err != nil {
			t.Fatal(err)
		}
		r := generator(5, 0, ofServices)
		const n = 200_000
		sum, squares := 0.0, 0.0
		for range n {
			v := seconds(draw(r))
			sum, squares = sum+v, squares+v*v
		}
		mean := sum / n
		cv := math.Sqrt(squares/n-mean*mean) / mean
		if math.Abs(mean/row.mean-1) > 0.01 || math.Abs(cv-row.cv) > 0.02 {
			t.Errorf("%+v: mean %.2f, cv %.3f", row.law, mean, cv)
		}
	}
}

// TestRatesByTheHour: as many come in each span as its rate says, and nobody
// outside; the days are those of the site's zone.
func TestRatesByTheHour(t *testing.T) {
	t.Parallel()
	// The night of 29 March 2026 has an hour less in Berlin.
	s, err := Parse([]byte(`
start: "2026-03-28"
days: 40
site: {time_zone: Europe/Berlin}
queues: {main: {}}
counters: [{}]
streams: [{arrivals: {by_hour: {"08:00-09:00": 60, "09:00-11:00": 240, "13:00-14:00": 0}}, service: {mean_seconds: 1}}]
`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.plan()
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[int]int)
	people := p.people(0)
	for i, who := range people {
		count[p.start.UTC().Add(ms(who.at)).In(p.start.Location()).Hour()]++
		if i > 0 && who.at < people[i-1].at {
			t.Fatal("people come in order")
		}
	}
	for hour, want := range map[int]float64{8: 2400, 9: 9600, 10: 9600} {
		if got := float64(count[hour]); math.Abs(got-want) > 5*math.Sqrt(want) {
			t.Errorf("%g came between %d and %d, want about %g", got, hour, hour+1, want)
		}
		delete(count, hour)
	}
	if len(count) > 0 {
		t.Errorf("at other hours: %v", count)
	}
}

// TestCustomersEndARun: as many come as are said, over all streams.
func TestCustomersEndARun(t *testing.T) {
	t.Parallel()
	s := scenarioOf(1, 1000, stream{"a", .3, exponential(), factor(1)}, stream{"b", .1, exponential(), factor(1)})
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	p, err := s.plan()
	if err != nil {
		t.Fatal(err)
	}
	count := [2]int{}
	for _, who := range p.people(0) {
		count[who.stream]++
	}
	if count[0]+count[1] != 1000 || count[0] < 700 || count[0] > 800 {
		t.Errorf("%v", count)
	}
}
