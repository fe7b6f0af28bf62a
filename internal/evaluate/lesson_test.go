package evaluate

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/estimate"
)

// kept are the lessons that a server would have of some days.
func kept(t *testing.T, o Options) []dengxu.Lesson {
	t.Helper()
	w, err := newWalk(o)
	if err != nil {
		t.Fatal(err)
	}
	var all []dengxu.Lesson
	w.made = func(day) {}
	w.resolved = func(_ day, told *told, wait float64) {
		text, err := json.Marshal(estimate.Resolved{Sample: told.full.Sample, Wait: wait})
		if err != nil {
			t.Fatal(err)
		}
		var l dengxu.Lesson
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	for _, d := range w.days {
		w.through(d)
	}
	return all
}

// TestLessonsAreScoredAsTheDaysThatTheyComeFrom: what a server kept of recorded
// days comes to about what evaluating these days does.
func TestLessonsAreScoredAsTheDaysThatTheyComeFrom(t *testing.T) {
	t.Parallel()
	o := Options{Days: made(14, 300), Train: Span{1, 10}, Test: Span{11, 14}, HeadStart: 90}
	days, err := Run(o)
	if err != nil {
		t.Fatal(err)
	}
	lessons := kept(t, o)
	share := (float64(days.Train.N) + 0.5) / float64(len(lessons))
	r, err := RunLessons(lessons, share)
	if err != nil {
		t.Fatal(err)
	}
	if r.Train.N != days.Train.N || r.Test.N != days.Test.N || r.Method != days.Method || r.Train.Days != "2030-04-01 to 2030-04-10" || r.Test.Days != "2030-04-11 to 2030-04-14" {
		t.Errorf("lessons: %+v %+v %s; days: %+v %+v %s", r.Train, r.Test, r.Method, days.Train, days.Test, days.Method)
	}
	for _, method := range []string{"mean", "erlang", "erlang_calibrated", "learned", "full"} {
		if diff := cmp.Diff(days.Line(method), r.Line(method)); diff != "" {
			t.Errorf("%s (-days +lessons):\n%s", method, diff)
		}
	}
	if a, b := days.Line("window"), r.Line("window"); math.Abs(a.WAPE-b.WAPE) > 0.1*a.WAPE || a.N != b.N {
		t.Errorf("window: %+v of days, %+v of lessons", a, b)
	}

	rand.New(rand.NewPCG(3, 3)).Shuffle(len(lessons), func(i, j int) { lessons[i], lessons[j] = lessons[j], lessons[i] })
	again, err := RunLessons(lessons, share)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Lines, again.Lines); diff != "" {
		t.Errorf("in another order (-first +second):\n%s", diff)
	}
}

func TestTooFewLessons(t *testing.T) {
	t.Parallel()
	lessons := kept(t, Options{Days: made(2, 300)})
	for _, row := range []struct {
		lessons []dengxu.Lesson
		share   float64
		want    string
	}{
		{nil, 0.5, "no resolved tokens to score"},
		{lessons, 0.5, "it takes 1000 resolved tokens"},
		{lessons, 0, "above 0 and below 1"},
		{lessons, math.NaN(), "above 0 and below 1"},
	} {
		if _, err := RunLessons(row.lessons, row.share); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%d lessons, share %g: %v, want %q", len(row.lessons), row.share, err, row.want)
		}
	}
}

// TestATrainingIsWhatAnEvaluationLearns, and can be loaded.
func TestATrainingIsWhatAnEvaluationLearns(t *testing.T) {
	t.Parallel()
	o := Options{Days: made(14, 300), Train: Span{1, 10}, Test: Span{11, 14}, HeadStart: 90}
	report, err := Run(o)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Train(o)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := estimate.Load(m.Model)
	if err != nil {
		t.Fatal(err)
	}
	want, err := report.model.Save()
	if err != nil {
		t.Fatal(err)
	}
	if string(m.Model) != string(want) || m.Method != report.Method || m.Rows != loaded.Rows || m.Rows != report.Train.N {
		t.Errorf("%+v, of %d rows; evaluated %s", m.Method, m.Rows, report.Method)
	}
	if len(m.Verdicts) != len(report.Chosen) {
		t.Errorf("%+v", m.Verdicts)
	}
	for i, v := range m.Verdicts {
		if v.Method != report.Chosen[i].Method || v.Pinball != report.Chosen[i].Pinball || v.Kept != (v.Method == m.Method) {
			t.Errorf("%+v, evaluated %+v", v, report.Chosen[i])
		}
	}
	if _, err := Train(Options{Days: o.Days, Train: Span{1, 2}}); err == nil {
		t.Error("it learned from two days")
	}
}
