package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/estimate"
	"github.com/dengxu/dengxu/internal/store"
)

// serve lets n people come to a line of about eight at a counter, who are served
// for half a minute to four, and tells the engine.
func (l *lounge) serve(n int) {
	l.Helper()
	random := rand.New(rand.NewPCG(uint64(n), 3))
	for range 8 {
		l.join("main", dengxu.JoinRequest{})
	}
	for range n {
		l.join("main", dengxu.JoinRequest{})
		done, err := l.CallNext(l.Context(), staffer, "1", "", dengxu.CallRequest{Current: "complete"})
		if err != nil || done.Value.Token == nil {
			l.Fatal("nobody was called", err)
		}
		l.hear()
		l.clock.Advance(time.Duration(30+random.IntN(210)) * time.Second)
	}
}

func (l *lounge) keep() {
	l.Helper()
	if err := l.KeepEstimates(l.Context(), 0); err != nil {
		l.Fatal(err)
	}
}

// again is another process over the same store.
func (l *lounge) again() *lounge {
	l.Helper()
	next := &lounge{rig: rigOver(l.T, l.store, l.clock), store: l.store}
	next.hear()
	return next
}

func TestWhatWasLearnedOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	l := newLounge(t, `,"day_end":"keep"`)
	l.desk("2", "close")
	l.serve(120)
	last := l.join("main", dengxu.JoinRequest{})
	l.hear()
	l.keep()
	// Everything that was in the log is replayed to the next process, which must
	// not count it twice.
	next := l.again()
	was, is := l.look(last.ID), next.look(last.ID)
	if *was.RecommendedSeconds != *is.RecommendedSeconds || was.Position != is.Position {
		t.Errorf("before %d s at %.2f, after %d s at %.2f", *was.RecommendedSeconds, was.Position, *is.RecommendedSeconds, is.Position)
	}
	if prior := *last.Estimate.RecommendedSeconds; prior > 2000 {
		t.Errorf("after 120 services of about two minutes it says %d s", prior)
	}
	lessons, err := next.Lessons(t.Context(), "main")
	if err != nil || len(lessons) < 100 {
		t.Errorf("%d lessons, %v", len(lessons), err)
	}
	found, err := l.store.View(t.Context(), store.Ask{Docs: []store.DocKey{outlookKey("main"), promiseKey("main", l.world.Load().queues["main"].site.state.Day)}})
	if err != nil || found.Docs[0] == nil || found.Docs[1] == nil {
		t.Errorf("kept: %v, %v", found.Docs, err)
	}
	l.clean()
}

// Two processes that both told people something add to the same documents.
func TestProcessesLearnFromEachOther(t *testing.T) {
	t.Parallel()
	a := newLounge(t, `,"day_end":"keep"`)
	a.desk("2", "close")
	b := a.again()
	for range 3 {
		for _, l := range []*lounge{a, b} {
			l.serve(30)
		}
		b.hear()
		a.hear()
		a.keep()
		b.keep()
	}
	a.keep() // nothing new, or what b has learned meanwhile
	lessons, err := a.Lessons(t.Context(), "main")
	if err != nil || len(lessons) < 150 {
		t.Errorf("%d lessons, %v", len(lessons), err)
	}
	if na, nb := a.EstimateScores(), b.EstimateScores(); na.ByPosition.All().N == 0 || nb.ByPosition.All().N == 0 {
		t.Error("one of them has scored nothing")
	}
	a.clean()
}

func TestAQueueLearnsByItself(t *testing.T) {
	t.Parallel()
	l := newLounge(t, `,"day_end":"keep"`)
	l.desk("2", "close")
	l.serve(300)
	l.keep()
	if learned, err := l.LearnNext(t.Context(), 0); learned || err != nil {
		t.Fatalf("it learned from 300 (%v)", err)
	}
	if _, err := l.Train(t.Context(), staffer, "main"); dengxu.ReasonOf(err) != "too_few_lessons" {
		t.Fatalf("asked to: %v", err)
	}
	for range 3 {
		l.serve(300)
		l.keep() // of more between two times of keeping, only some are learned from
	}
	learned, err := l.LearnNext(t.Context(), 0)
	if !learned || err != nil {
		t.Fatalf("learned: %v, %v", learned, err)
	}
	if learned, err := l.LearnNext(t.Context(), 0); learned || err != nil {
		t.Fatalf("it learned twice (%v)", err)
	}
	m, err := l.Model(t.Context(), "main")
	if err != nil || m.Version != 1 || m.Lessons < 1000 || len(m.Verdicts) != 4 || m.Verdicts[0].N < 200 {
		t.Fatalf("%+v, %v", m, err)
	}
	other := l.again()
	if again, err := other.Model(t.Context(), "main"); err != nil || again.Version != 1 || again.Method != m.Method {
		t.Errorf("another process has %+v, %v", again, err)
	}
	if m.Method == estimate.MethodErlang {
		return // services that remember nothing leave little to learn
	}
	if last := l.join("main", dengxu.JoinRequest{}); last.Estimate.Method != m.Method {
		t.Errorf("it learned %s and says %+v", m.Method, last.Estimate)
	}
}

func TestModelsCanBeTakenElsewhere(t *testing.T) {
	t.Parallel()
	l := newLounge(t, `,"day_end":"keep"`)
	if _, err := l.ExportModel(t.Context(), "main"); dengxu.ReasonOf(err) != "no_model" {
		t.Fatal(err)
	}
	for _, broken := range []string{`{}`, `[]`, `{"version":99}`, `nonsense`} {
		if _, err := l.LoadModel(t.Context(), staffer, "main", []byte(broken)); dengxu.CodeOf(err) != dengxu.Invalid {
			t.Errorf("%s: %v", broken, err)
		}
	}
	m, err := l.LoadModel(t.Context(), staffer, "main", trained(t))
	if err != nil || m.Version != 1 || m.Method == estimate.MethodErlang {
		t.Fatalf("%+v, %v", m, err)
	}
	out, err := l.ExportModel(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := l.LoadModel(t.Context(), staffer, "main", out.Model); err != nil || again.Version != 2 {
		t.Fatalf("%+v, %v", again, err)
	}
	for range 6 {
		l.join("main", dengxu.JoinRequest{})
	}
	l.call("1")
	l.call("2")
	if last := l.join("main", dengxu.JoinRequest{}); last.Estimate.Method != m.Method {
		t.Errorf("it says %+v", last.Estimate)
	}
	if m, err = l.ForgetModel(t.Context(), staffer, "main"); err != nil || m.Version != 3 || m.Method != estimate.MethodErlang {
		t.Fatalf("%+v, %v", m, err)
	}
	l.clock.Advance(time.Second)
	if last := l.join("main", dengxu.JoinRequest{}); last.Estimate.Method != estimate.MethodErlang {
		t.Errorf("it says %+v", last.Estimate)
	}
}

// TestAModelIsKeptWithWhatOthersHaveKept: what another process writes between the
// reading and the commit stays.
func TestAModelIsKeptWithWhatOthersHaveKept(t *testing.T) {
	t.Parallel()
	a := newLounge(t, `,"day_end":"keep"`)
	a.desk("2", "close")
	s := &interrupted{Store: a.store}
	b := &lounge{rig: rigOver(t, s, a.clock), store: s}
	b.hear()
	a.serve(30)
	model := trained(t)
	for wait := range 5 { // reads of the other process before somebody keeps
		a.serve(1)
		kept := 0
		keep := func() {
			a.keep()
			m, err := a.Model(t.Context(), "main")
			if err != nil {
				t.Fatal(err)
			}
			kept = m.Lessons
		}
		s.after(wait, keep)
		if _, err := b.LoadModel(t.Context(), staffer, "main", model); err != nil {
			t.Fatal(err)
		}
		if s.next != nil {
			if wait < 2 {
				t.Fatal("it reads less often than this waits for")
			}
			break
		}
		if m, err := b.Model(t.Context(), "main"); err != nil || m.Lessons != kept || kept == 0 {
			t.Errorf("after %d reads: %d lessons of %d, %v", wait, m.Lessons, kept, err)
		}
	}
}

// trained is a model of made-up waits: longer by half in the afternoon.
func trained(t *testing.T) []byte {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var rows []estimate.Resolved
	var e estimate.Estimator
	for i := range 1500 {
		hour := 9 + 8*random.Float64()
		f := e.Forecast(estimate.State{
			Now: int64(i) * 60_000, Hour: hour, Position: float64(1 + random.IntN(12)), Prior: 120,
			Counters: []estimate.Counter{{ID: "1", Busy: true}},
		})
		wait := f.Sample.Base() * (0.5 + random.Float64())
		if hour > 13 {
			wait *= 1.5
		}
		rows = append(rows, estimate.Resolved{Sample: f.Sample, Wait: wait})
	}
	learned, err := estimate.Learn(rows)
	if err != nil || learned.Model == nil {
		t.Fatal("nothing was learned", err)
	}
	text, err := learned.Model.Save()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// More lessons than are kept push the oldest out.
func TestLessonsAreARing(t *testing.T) {
	t.Parallel()
	l := newLounge(t, "")
	q := l.world.Load().queues["main"]
	put := func(was, n int) {
		t.Helper()
		var b store.Batch
		b.Partition, b.Site = q.site.partition, q.site.id
		lessons := make([]estimate.Resolved, n)
		for i := range lessons {
			lessons[i] = estimate.Resolved{Sample: estimate.Sample{At: int64(was + i)}, Wait: 1}
		}
		for part := was / lessonsInPart; part <= (was+n)/lessonsInPart; part++ {
			v, err := l.store.View(t.Context(), store.Ask{Docs: []store.DocKey{lessonKey("main", part%lessonParts)}})
			if err != nil {
				t.Fatal(err)
			}
			if err := l.keepLessons(q, func(key store.DocKey, body any, expect uint64) error {
				w, err := docWrite(key.Kind, key.ID, q.site.id, body, 0, expect)
				b.Docs = append(b.Docs, w)
				return err
			}, v.Docs[0], part, was, lessons); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := l.store.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	total := 0
	for _, n := range []int{1, 199, 200, 201, 5, 7000, 9000, 3000, 4321} {
		put(total, n)
		total += n
		got, err := l.lessons(t.Context(), q, total)
		if err != nil {
			t.Fatal(err)
		}
		if least := min(total, estimate.MaxToLearn-lessonsInPart); len(got) < least || len(got) > estimate.MaxToLearn {
			t.Fatalf("%d of %d lessons", len(got), total)
		}
		for i := range got {
			if want := int64(total - len(got) + i); got[i].At != want {
				t.Fatalf("lesson %d of %d is %d, want %d", i, len(got), got[i].At, want)
			}
		}
	}
}

func TestADeletedQueueLeavesNothingLearned(t *testing.T) {
	t.Parallel()
	l := newLounge(t, `,"day_end":"keep"`)
	l.desk("2", "close")
	l.serve(20)
	l.keep()
	if _, err := l.LoadModel(t.Context(), staffer, "main", trained(t)); err != nil {
		t.Fatal(err)
	}
	for {
		done, err := l.CallNext(t.Context(), staffer, "1", "", dengxu.CallRequest{Current: "complete"})
		if err != nil {
			t.Fatal(err)
		}
		if done.Value.Token == nil {
			break
		}
	}
	for _, id := range []dengxu.CounterID{"1", "2"} {
		l.counter(id, `{"site":"hall"}`)
	}
	if err := l.DeleteQueue(t.Context(), staffer, "main", 0); err != nil {
		t.Fatal(err)
	}
	day := l.world.Load().sites["hall"].state.Day
	v, err := l.store.View(t.Context(), store.Ask{Docs: []store.DocKey{outlookKey("main"), modelKey("main"), lessonKey("main", 0), promiseKey("main", day)}})
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range v.Docs {
		if d != nil {
			t.Errorf("document %d is still there: %s", i, fmt.Sprint(d.Key))
		}
	}
}
