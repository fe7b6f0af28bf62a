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
	"github.com/dengxu/dengxu/internal/recording"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small is a made-up day: two servers, one service by nobody in particular,
// one overlapping service, one who gives up in line and one who is called
// before giving up.
func small(t *testing.T) []recording.Row {
	t.Helper()
	file, err := os.Open("testdata/small.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := recording.Read(file, "2030-01-07")
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestJoinsComeBeforeSlotsOfTheSameSecond(t *testing.T) {
	t.Parallel()
	s := newSchedule([]recording.Row{
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
	rows := []recording.Row{
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
