package evaluate

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu/internal/recording"
)

// made are days of a line of three servers, first come, first served, in which
// the third of people who are of type NE take three times as long.
func made(days, people int) []recording.Day {
	r := rand.New(rand.NewPCG(6, 6))
	var all []recording.Day
	for d := range days {
		day := recording.Day{Date: fmt.Sprintf("2030-04-%02d", d+1)}
		free := []int{30_000, 30_000, 30_000}
		at := 30_000.0
		for range people {
			at += r.ExpFloat64() * 62
			join := int(at)
			row := recording.Row{Type: []string{"PS", "NW", "NE"}[r.IntN(3)], Join: join, Served: true}
			server := slices.Index(free, slices.Min(free))
			row.Start = max(join, free[server])
			seconds := r.ExpFloat64() * 100
			if row.Type == "NE" {
				seconds *= 3
			}
			row.End = row.Start + int(seconds)
			row.Leave, row.Queued, row.Server = row.Start, row.Start > join, fmt.Sprint("s", server)
			free[server] = row.End
			day.Rows = append(day.Rows, row)
		}
		all = append(all, day)
	}
	return all
}

func TestTheSameDaysGiveTheSameReport(t *testing.T) {
	t.Parallel()
	o := Options{Days: made(14, 300), Train: Span{1, 10}, Test: Span{11, 14}, HeadStart: 90}
	write := func() (text, table string, r *Report) {
		r, err := Run(o)
		if err != nil {
			t.Fatal(err)
		}
		var asJSON, asTable strings.Builder
		if err := r.WriteJSON(&asJSON); err != nil {
			t.Fatal(err)
		}
		if err := r.Print(&asTable); err != nil {
			t.Fatal(err)
		}
		return asJSON.String(), asTable.String(), r
	}
	first, table, r := write()
	if again, _, _ := write(); again != first {
		t.Error("the second run says something else")
	}
	if r.Train.N < 1000 || r.Test.N < 300 || r.Train.Days != "1-10" || r.Test.Days != "11-14" {
		t.Errorf("%+v %+v", r.Train, r.Test)
	}
	full, mean := r.Line("full"), r.Line("mean")
	if full.N != r.Test.N || full.Cov90 < 0.85 || full.Cov90 > 0.95 || full.Pin50 > mean.Pin50 {
		t.Errorf("full %+v, mean %+v", full, mean)
	}
	n := 0
	for _, b := range full.ByPosition {
		n += b.N
	}
	if n != full.N {
		t.Errorf("%d by position, %d in all", n, full.N)
	}
	for _, want := range []string{"trained on days 1-10", "erlang_calibrated", "by how many are ahead"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	var read Report
	if err := json.Unmarshal([]byte(first), &read); err != nil || read.Line("full").Pin90 != full.Pin90 || read.Line("nothing") != nil {
		t.Errorf("%v", err)
	}
	if r.Check() || len(r.Targets) != 7 || !strings.Contains(first, `"by_position"`) {
		t.Errorf("another line met the bank's targets: %+v", r.Targets)
	}
	var rows bytes.Buffer
	if err := r.WriteRows(&rows); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&rows).ReadAll()
	if err != nil || len(records) != 1+r.Train.N+r.Test.N || records[0][0] != "part" || records[1][0] != "train" || records[len(records)-1][0] != "test" {
		t.Errorf("%v: %d rows", err, len(records))
	}
}

// TestWhoIsForecast: served, had to wait, somebody in service, three services
// ended; a forecast sees what happened before it and nothing else.
func TestWhoIsForecast(t *testing.T) {
	t.Parallel()
	rows := []recording.Row{
		{Type: "PS", Served: true, Join: 0, Leave: 0, Start: 0, End: 100, Server: "a"},
		{Type: "PS", Served: true, Join: 0, Leave: 0, Start: 0, End: 120, Server: "b"},
		{Type: "PS", Served: true, Queued: true, Join: 10, Leave: 100, Start: 100, End: 200, Server: "a"}, // none ended
		{Type: "PS", Served: true, Queued: true, Join: 20, Leave: 120, Start: 120, End: 420, Server: "b"},
		{Type: "PS", Served: true, Queued: true, Join: 205, Leave: 420, Start: 420, End: 500, Server: "b"}, // three ended; a left
		{Type: "PS", Queued: true, Join: 210, Leave: 300},                                                  // gave up
		{Type: "NW", Priority: 2, Served: true, Queued: true, Join: 220, Leave: 520, Start: 520, End: 530, Server: "b"},
		{Type: "PS", Served: true, Join: 600, Leave: 600, Start: 600, End: 640, Server: "b"},                  // did not wait
		{Type: "PS", Served: true, Queued: true, Join: 700, Leave: 710, Start: 710, End: 720, Server: "b"},    // nobody in service
		{Type: "PS", Served: true, Queued: false, Join: 715, Leave: 715, Start: 715, End: 715, Server: "b"},   // no length
		{Type: "PS", Served: true, Queued: true, Join: 716, Leave: 716, Start: 716, End: 800, Server: "b"},    // called at once
		{Type: "PS", Served: true, Queued: true, Join: 1200, Leave: 1210, Start: 1210, End: 1220, Server: ""}, // nobody
	}
	w, err := newWalk(Options{Days: []recording.Day{{Date: "2030-04-01", Rows: rows}}, HeadStart: 90})
	if err != nil {
		t.Fatal(err)
	}
	type seen struct { // positions without the part that is an expectation
		At, Wait, Position, Open, Busy float64
		Class, Group                   string
	}
	var got []seen
	made := 0
	w.made = func(day) { made++ }
	w.resolved = func(d day, x *told, wait float64) {
		s := x.full.Sample
		got = append(got, seen{float64(s.At-d.midnight) / 1000, wait, math.Floor(s.Position), s.Features[1], s.Features[2] * s.Features[1], s.Class, s.Group})
	}
	w.through(w.days[0])
	want := []seen{
		{205, 215, 1, 2, 1, "PS", "0"},
		{716, 0, 1, 1, 1, "PS", "0"},
		{220, 300, 1, 2, 1, "NW", "2"}, // the head start of 90 s is before 205 and 210
	}
	slices.SortFunc(want, func(a, b seen) int { return int(a.At + a.Wait - b.At - b.Wait) })
	if diff := cmp.Diff(want, got); diff != "" || made != 3 {
		t.Errorf("%d (-want +got):\n%s", made, diff)
	}
}

func TestDaysAreNumbered(t *testing.T) {
	t.Parallel()
	of := func(dates ...string) (numbers []int) {
		var days []recording.Day
		for _, d := range dates {
			days = append(days, recording.Day{Date: d})
		}
		for _, d := range number(days) {
			numbers = append(numbers, d.number)
		}
		return numbers
	}
	for _, row := range []struct {
		dates []string
		want  []int
	}{
		{[]string{"1999-02-03", "1999-02-01", "1999-02-28"}, []int{1, 3, 28}},
		{[]string{"1999-02-03", "1999-03-01"}, []int{1, 2}},
		{[]string{"monday", "tuesday"}, []int{1, 2}},
	} {
		if got := of(row.dates...); !slices.Equal(got, row.want) {
			t.Errorf("%v: %v, want %v", row.dates, got, row.want)
		}
	}
}

func TestSpansAndWhatCannotBeEvaluated(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Span{"1-20": {1, 20}, "7": {7, 7}} {
		if got, err := ParseSpan(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0-3", "5-4", "x", "1-", "-3"} {
		if _, err := ParseSpan(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
	days := made(12, 300)
	for _, row := range []struct {
		o    Options
		want string
	}{
		{Options{}, "there are no days"},
		{Options{Days: days, Train: Span{1, 1}, Test: Span{2, 3}}, "train on days 1-1: it takes 1000 resolved tokens to learn, and there are "},
		{Options{Days: days, Train: Span{1, 9}, Test: Span{20, 21}}, "nobody had to wait on days 20-21"},
		{Options{Days: days, Train: Span{1, 9}, Test: Span{9, 12}}, "days 9-12 do not come after days 1-9"},
	} {
		if _, err := Run(row.o); err == nil || !strings.HasPrefix(err.Error(), row.want) {
			t.Errorf("%v, want %s", err, row.want)
		}
	}
}
