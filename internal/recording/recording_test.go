package recording

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadTakesOneDayWithoutTheOtherPool(t *testing.T) {
	t.Parallel()
	file, err := os.Open("../replay/testdata/small.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := Read(file, "2030-01-07")
	if err != nil {
		t.Fatal(err)
	}
	want := []Row{
		{Type: "PS", Priority: 0, Served: true, Join: 100, Leave: 100, Start: 100, End: 160, Server: "a"},
		{Type: "NW", Priority: 1, Queued: true, Served: true, Join: 105, Leave: 110, Start: 110, End: 150, Server: "b"},
		{Type: "PS", Priority: 0, Queued: true, Join: 112, Leave: 140},
		{Type: "PS", Priority: 0, Queued: true, Served: true, Join: 115, Leave: 150, Start: 150, End: 170, Server: "b"},
		{Type: "PS", Priority: 2, Queued: true, Served: true, Join: 120, Leave: 160, Start: 160, End: 200, Server: "a"},
		{Type: "NW", Priority: 1, Queued: true, Join: 161, Leave: 300},
		{Type: "PS", Priority: 0, Queued: true, Served: true, Join: 162, Leave: 170, Start: 170, End: 180},
		{Type: "PS", Priority: 0, Queued: true, Served: true, Join: 163, Leave: 172, Start: 172, End: 190, Server: "a"},
		{Type: "PS", Priority: 2, Queued: true, Served: true, Join: 210, Leave: 212, Start: 212, End: 215, Server: "b"},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMistakesInARecordingNameTheLine(t *testing.T) {
	t.Parallel()
	const header = "date,type,priority,queued,outcome,join_s,leave_queue_s,start_s,end_s,server\n"
	for _, row := range []struct{ text, want string }{
		{"", "read the header: EOF"},
		{"date,type\n", "line 1: there is no column priority"},
		{header, "there are no rows of d"},
		{header + "e,PS,0,0,served,1,1,1,1,\nd,PS,x,0,served,1,1,1,1,\n", `line 3: priority "x" is not a whole number`},
		{header + "d,PS,3,0,served,1,1,1,1,\n", "line 2: priority 3 is not 0, 1 or 2"},
		{header + "d,PS,0,0,gone,1,1,1,1,\n", `line 2: outcome "gone" is neither served nor abandoned`},
		{header + "d,PS,0,0,served,5,5,4,6,\n", "line 2: times run backwards"},
		{header + "d,PS,0,0,abandoned,5,4,,,\n", "line 2: times run backwards"},
		{header + "d,PS,0,yes,served,5,5,5,6,\n", `line 2: queued "yes" is neither 0 nor 1`},
		{header + "d,PS,0\n", "record on line 2: wrong number of fields"},
	} {
		_, err := Read(strings.NewReader(row.text), "d")
		if err == nil || err.Error() != row.want {
			t.Errorf("%q: %v, want %s", row.text, err, row.want)
		}
	}
}

func TestReadAllKeepsDaysApart(t *testing.T) {
	t.Parallel()
	const header = "date,type,priority,outcome,join_s,leave_queue_s,start_s,end_s,server\n"
	days, err := ReadAll(strings.NewReader(header +
		"b,PS,0,served,1,1,1,4,s\na,PS,0,abandoned,2,3,,,\nb,IN,0,served,1,1,1,1,\nb,PS,2,served,5,5,5,6,s\n"))
	want := []Day{
		{Date: "b", Rows: []Row{
			{Type: "PS", Served: true, Join: 1, Leave: 1, Start: 1, End: 4, Server: "s"},
			{Type: "PS", Priority: 2, Served: true, Join: 5, Leave: 5, Start: 5, End: 6, Server: "s"},
		}},
		{Date: "a", Rows: []Row{{Type: "PS", Queued: true, Join: 2, Leave: 3}}},
	}
	if diff := cmp.Diff(want, days); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := ReadAll(strings.NewReader(header)); err == nil || err.Error() != "there are no rows" {
		t.Errorf("no rows: %v", err)
	}
}
