package replay

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
	"github.com/dengxu/dengxu/dengxutest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small is a made-up day: two servers, one service by nobody in particular,
// one overlapping service, one who gives up in line and one who is called
// before giving up.
func small(t *testing.T) []Row {
	t.Helper()
	file, err := os.Open("testdata/small.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := Read(file, "2030-01-07")
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestReadTakesOneDayWithoutTheOtherPool(t *testing.T) {
	t.Parallel()
	rows := small(t)
	want := []Row{
		{Priority: 0, Served: true, Join: 100, Leave: 100, Start: 100, End: 160, Server: "a"},
		{Priority: 1, Served: true, Join: 105, Leave: 110, Start: 110, End: 150, Server: "b"},
		{Priority: 0, Join: 112, Leave: 140},
		{Priority: 0, Served: true, Join: 115, Leave: 150, Start: 150, End: 170, Server: "b"},
		{Priority: 2, Served: true, Join: 120, Leave: 160, Start: 160, End: 200, Server: "a"},
		{Priority: 1, Join: 161, Leave: 300},
		{Priority: 0, Served: true, Join: 162, Leave: 170, Start: 170, End: 180},
		{Priority: 0, Served: true, Join: 163, Leave: 172, Start: 172, End: 190, Server: "a"},
		{Priority: 2, Served: true, Join: 210, Leave: 212, Start: 212, End: 215, Server: "b"},
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
		{header + "d,PS,0\n", "record on line 2: wrong number of fields"},
	} {
		_, err := Read(strings.NewReader(row.text), "d")
		if err == nil || err.Error() != row.want {
			t.Errorf("%q: %v, want %s", row.text, err, row.want)
		}
	}
}

func TestJoinsComeBeforeSlotsOfTheSameSecond(t *testing.T) {
	t.Parallel()
	s := newSchedule([]Row{
		{Served: true, Join: 5, Start: 7, End: 9}, {Join: 6, Leave: 7}, {Served: true, Join: 7, Start: 7, End: 8},
	})
	s.add(event{at: 7, kind: end})
	var got []kind
	for e, ok := s.next(); ok; e, ok = s.next() {
		got = append(got, e.kind)
	}
	if diff := cmp.Diff([]kind{join, join, end, join, leave, slot, slot}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSparesAreForNobodyAndForTheBusy(t *testing.T) {
	t.Parallel()
	if n := spares(small(t)); n != 2 {
		t.Errorf("%d spares, want 2: one without a name and one for a, who is busy until 200", n)
	}
}

// TestPlayCountsAsTheRecordingDoes plays the day over a real server: whoever
// is called, as many are served and give up as in the recording.
func TestPlayCountsAsTheRecordingDoes(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	rows := small(t)
	var last Progress
	result, err := Play(t.Context(), Options{Client: s.Client, Rows: rows, Speed: 1000, Progress: func(p Progress) { last = p }})
	if err != nil {
		t.Fatal(err)
	}
	if !result.Same() {
		t.Errorf("played %+v, recorded %+v", result.played, result.recorded)
	}
	// The one who joined at 161 stands before the slots at 170 and 172.
	if result.Early != 1 || last.Done != last.All || last.Done != 25 {
		t.Errorf("%d early, progress %+v", result.Early, last)
	}
	if got := result.Recorded(); got.Served != 7 || got.Abandoned != 2 || got.Mean() != (0+5+35+40+8+9+2)/7.0 {
		t.Errorf("recorded %+v", got)
	}
	var out bytes.Buffer
	if err := result.Print(&out); err != nil || !strings.Contains(out.String(), "  all       7     7") {
		t.Errorf("%v\n%s", err, out.String())
	}
	q, err := s.Client.GetQueue(t.Context(), dengxu.QueueID(result.Site))
	if err != nil || q.Counts[dengxu.StateCompleted] != 7 || q.Counts[dengxu.StateAbandoned] != 2 || q.Counts[dengxu.StateWaiting] != 0 {
		t.Errorf("the server counts %v, %v", q.Counts, err)
	}
}

// TestASlotWithNobodyWaitsForTheNextJoin: the recording may say that service
// began before anybody else than the served one came.
func TestASlotWithNobodyWaitsForTheNextJoin(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	rows := []Row{
		{Served: true, Join: 10, Start: 20, End: 25, Server: "a"},
		{Served: true, Join: 30, Start: 30, End: 40, Server: "a"},
	}
	rows[0].Join = 28 // comes after its slot
	result, err := Play(t.Context(), Options{Client: s.Client, Rows: rows, Speed: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if !result.Same() {
		t.Errorf("played %+v, recorded %+v", result.played, result.recorded)
	}
}

func TestPlayEndsWhenTheServerRefuses(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	_, err := Play(t.Context(), Options{Client: s.WithKey("wrong-key-of-nobody"), Rows: small(t), Speed: 1000})
	if dengxu.CodeOf(err) != dengxu.Unauthenticated {
		t.Errorf("%v, want unauthenticated", err)
	}
	c, err := client.New(client.Options{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Play(t.Context(), Options{Client: c, Rows: small(t), Speed: 0.5}); dengxu.CodeOf(err) != dengxu.Invalid {
		t.Errorf("speed 0.5: %v", err)
	}
}

func TestCountsThatDifferAreSeen(t *testing.T) {
	t.Parallel()
	r := newResult(small(t), "s")
	if r.Same() {
		t.Error("nothing was played")
	}
	for _, row := range small(t) {
		if row.Served {
			r.called(row.Priority, 1)
		} else {
			r.left(row.Priority)
		}
	}
	if !r.Same() {
		t.Errorf("%+v", r)
	}
	r.called(2, 1)
	if r.Same() {
		t.Error("one too many")
	}
}
