package announce

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/estimate"
	"github.com/dengxu/dengxu/internal/order"
)

const noon = int64(1_772_452_800_000)

// line is a picture of so many waiting in one lane, a minute apart, and of
// counters that each have somebody.
func line(waiting, desks int) *Picture {
	p := &Picture{At: noon, Hour: 12, Weekday: 1}
	front := estimate.Front{Lane: order.Lane{K: order.Ordinary}, Len: waiting}
	for i := range waiting {
		front.Keys = append(front.Keys, order.Key{Place: noon - int64(waiting-i)*60_000, Seq: uint64(i) + 1})
	}
	p.Fronts = []estimate.Front{front}
	for i := range desks {
		p.Desks = append(p.Desks, Desk{ID: string(rune('a' + i)), Bound: "@" + string(rune('a'+i)), Slots: 1, Since: []int64{noon - 60_000}})
	}
	return p
}

// joins is who joins behind so many.
func joins(rank int) *Asked {
	return &Asked{
		Member: order.Member{Lane: order.Lane{K: order.Ordinary}, Key: order.Key{Place: noon, Seq: math.MaxUint64}},
		Rank:   rank, Prior: 120,
	}
}

func moment(ms int64) Moment { return Moment{At: ms, Day: 20_514, Hour: 12} }

func restored() *Queue {
	q := new(Queue)
	q.Restore(new(Outlook))
	return q
}

func TestWhatWasToldIsScoredAtTheFirstCall(t *testing.T) {
	t.Parallel()
	q := restored()
	told := q.TellFirst("a", moment(noon), q.Forecast(line(5, 2), joins(5)))
	if told.Method != estimate.MethodErlang || told.Position != 6 {
		t.Fatalf("told %+v", told.Forecast)
	}
	// Looks in the same bucket of positions are not scored, one further ahead is.
	q.Tell("a", moment(noon+10_000), q.Forecast(line(5, 2), joins(5)))
	near := q.Tell("a", moment(noon+100_000), q.Forecast(line(1, 2), joins(1)))
	q.Called(noon+250_000, "a", 250)
	p, ok := q.Take(noon + 260_000)
	if !ok || len(p.Outcomes) != 1 || p.Outcomes[0].Wait != 250 {
		t.Fatalf("taken %+v, %v", p, ok)
	}
	var want Day
	want.add(&saying{hour: 12, position: 6, seconds: [3]float64{told.Low, told.Recommended, told.High}}, 250)
	want.add(&saying{hour: 12, position: 2, seconds: [3]float64{near.Low, near.Recommended, near.High}}, 150)
	if diff := cmp.Diff(map[int]*Day{20_514: &want}, p.Days); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, q.Total()); diff != "" {
		t.Error(diff)
	}
	if lessons := p.Lessons(); len(lessons) != 1 || lessons[0].Wait != 250 || lessons[0].Position != 6 {
		t.Errorf("to learn from: %+v", lessons)
	}
	q.Called(noon+300_000, "a", 300) // a second call of somebody who missed the first
	if diff := cmp.Diff(want, q.Total()); diff != "" {
		t.Error("it was scored twice")
	}
}

func TestWhoLeavesIsNotScored(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*Queue){
		"gave up": func(q *Queue) { q.GaveUp("a", 60) },
		"put off": func(q *Queue) { q.Left("a") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := restored()
			q.TellFirst("a", moment(noon), q.Forecast(line(5, 2), joins(5)))
			leave(q)
			q.Called(noon+250_000, "a", 250)
			if p, _ := q.Take(noon); len(p.Outcomes)+len(p.Days) != 0 {
				t.Errorf("taken %+v", p)
			}
		})
	}
}

// Whoever finds a counter free did not wait, however long the operator takes.
func TestWhoFindsACounterFreeIsNoWait(t *testing.T) {
	t.Parallel()
	q := restored()
	p := line(0, 2)
	p.Desks[1].Since = nil
	told := q.TellFirst("a", moment(noon), q.Forecast(p, joins(0)))
	if told.Method != estimate.MethodIdle || told.High != 0 {
		t.Fatalf("told %+v", told.Forecast)
	}
	q.Called(noon+20_000, "a", 20)
	taken, _ := q.Take(noon)
	if len(taken.Lessons()) != 0 || len(q.estimator.History.Waits) != 0 {
		t.Errorf("%d lessons, waits %v", len(taken.Lessons()), q.estimator.History.Waits)
	}
}

func TestARankIsAskedOnceAPicture(t *testing.T) {
	t.Parallel()
	q := restored()
	p := line(1000, 3)
	if a, b := q.Forecast(p, joins(7)), q.Forecast(p, joins(7)); a != b {
		t.Error("the same rank was worked out twice")
	}
	if a, b := q.Forecast(p, joins(700)), q.Forecast(p, joins(703)); a != b {
		t.Error("ranks that are about the same were worked out twice")
	}
	if a, b := q.Forecast(p, joins(7)), q.Forecast(p, joins(8)); a == b {
		t.Error("near the front each rank has its own answer")
	}
	for rank := range 5000 {
		if about := roughly(rank); about > rank || float64(rank-about) > 0.04*float64(rank) {
			t.Fatalf("rank %d counts as %d", rank, about)
		}
	}
}

// A picture does not know who came since; the rank that the store counts does.
func TestWhoCameSinceThePictureIsAhead(t *testing.T) {
	t.Parallel()
	q := restored()
	p := line(5, 2)
	p.Fronts = append(p.Fronts, estimate.Front{Lane: order.Lane{K: 10}, Len: 1, Keys: []order.Key{{Place: noon - 600_000, Seq: 90}}})
	for rank, want := range map[int]float64{6: 7, 9: 10, 4: 5} {
		if f := q.Forecast(p, joins(rank)); math.Abs(f.Position-want) > 1e-9 {
			t.Errorf("at rank %d: %.2f services, want %g", rank, f.Position, want)
		}
	}
}

func TestPendingIsGivenBackAndMerged(t *testing.T) {
	t.Parallel()
	a, b := restored(), restored()
	for _, q := range []*Queue{a, b} {
		q.TellFirst("x", moment(noon), q.Forecast(line(3, 1), joins(3)))
		q.Called(noon+100_000, "x", 100)
	}
	first, _ := a.Take(noon)
	a.TellFirst("y", moment(noon), a.Forecast(line(3, 1), joins(3)))
	a.Called(noon+200_000, "y", 200)
	a.Return(first)
	pending, ok := a.Take(noon)
	if !ok || len(pending.Outcomes) != 2 || pending.Outcomes[0].Wait != 100 || pending.Days[20_514].ByPosition.All().N != 2 {
		t.Fatalf("taken again: %+v", pending)
	}
	// Two processes add to the same outlook, one after the other.
	var kept Outlook
	a.Merge(&kept, &pending)
	other, _ := b.Take(noon)
	b.Merge(&kept, &other)
	if kept.Lessons != 3 || len(kept.Estimator.Plain[1].Ratios) != 3 {
		t.Errorf("%d lessons, %d ratios", kept.Lessons, len(kept.Estimator.Plain[1].Ratios))
	}
	text, err := json.Marshal(&kept)
	if err != nil {
		t.Fatal(err)
	}
	var again Outlook
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	c := new(Queue)
	c.Restore(&again)
	if got, want := c.Forecast(line(3, 1), joins(3)).Forecast, b.Forecast(line(3, 1), joins(3)).Forecast; got.Position != want.Position || len(c.estimator.History.Waits) != len(b.estimator.History.Waits) {
		t.Errorf("restored it says %+v, want %+v", got, want)
	}
	if _, ok := c.Take(noon); ok {
		t.Error("there is something to keep and nothing happened")
	}
}

// Events that were taken in before a restart come again when the log's end is
// replayed, and count once.
func TestEventsCountOnce(t *testing.T) {
	t.Parallel()
	q := new(Queue)
	q.Restore(&Outlook{Seen: Seen{At: noon, Number: 7}})
	for _, c := range []struct {
		at     int64
		number uint64
		news   bool
	}{{noon - 1, 9, false}, {noon, 7, false}, {noon, 8, true}, {noon, 8, false}, {noon + 5, 9, true}} {
		if got := q.News(c.at, c.number); got != c.news {
			t.Errorf("event %d at %d: %v", c.number, c.at-noon, got)
		}
	}
}

func TestWhoIsNotHeardOfIsForgotten(t *testing.T) {
	t.Parallel()
	q := restored()
	for i := range maxTold + 10 {
		q.TellFirst(dengxu.TokenID(string(rune(i))+"x"), moment(noon), q.Forecast(line(3, 1), joins(3)))
	}
	if n := len(q.told); n > maxTold {
		t.Errorf("%d are remembered", n)
	}
	q.Take(noon + forgetAfter + 1)
	if n := len(q.told); n != 0 {
		t.Errorf("%d are remembered after a week", n)
	}
}

// While somebody moves up, what is told does not rise above what was told,
// unless it says why.
func TestWhatIsToldIsSteady(t *testing.T) {
	t.Parallel()
	q := restored()
	first := q.TellFirst("a", moment(noon), q.Forecast(line(5, 2), joins(5)))
	// Services that took two minutes take four.
	for i := range int64(100) {
		q.Freed(noon+i, "a", 240)
	}
	slower := q.Tell("a", moment(noon+1000), q.Forecast(line(5, 2), joins(5)))
	_, most := estimate.Guard(first.Sample.Position, first.Sample.PerSecond)
	if slower.Recommended > most && slower.Why != dengxu.RoseSlowerService || slower.Said.Why != slower.Why {
		t.Errorf("told %.0f s, then %.0f (at most %.0f) because of %q", first.Recommended, slower.Recommended, most, slower.Why)
	}
	left := q.Tell("a", moment(noon+2000), q.Forecast(line(5, 1), joins(5)))
	if left.Why != dengxu.RoseCounterLeft || left.Said.Why != dengxu.RoseCounterLeft || left.Recommended <= slower.Recommended {
		t.Errorf("after a counter left: %.0f s, because of %q", left.Recommended, left.Why)
	}
}

func TestALineThatMovesFastIsLearnedFromInPart(t *testing.T) {
	t.Parallel()
	q := restored()
	for i := range maxOutcomes + 50 {
		id := dengxu.TokenID(string(rune('a' + i)))
		q.TellFirst(id, moment(noon), q.Forecast(line(3, 1), joins(3)))
		q.Called(noon+100_000, id, 100)
	}
	p, _ := q.Take(noon)
	if len(p.Outcomes) != maxOutcomes || p.Days[20_514].ByPosition.All().N != maxOutcomes+50 {
		t.Errorf("%d outcomes of %d", len(p.Outcomes), p.Days[20_514].ByPosition.All().N)
	}
}
