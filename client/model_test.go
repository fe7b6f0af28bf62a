package client

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dengxu/dengxu"
)

func TestModelsAreAskedForByTheirPaths(t *testing.T) {
	t.Parallel()
	l := &line{handler: func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		answerJSON(200, `{"queue_id":"a b","version":3,"method":"trees","model":{"version":1}}`)(w, r)
	}}
	c := over(t, l, Options{})
	m, err := c.Model(t.Context(), "a b")
	if err != nil || m.Version != 3 || m.Method != "trees" {
		t.Fatalf("%+v, %v", m, err)
	}
	if m, err = c.ExportModel(t.Context(), "a b"); err != nil || string(m.Model) != `{"version":1}` {
		t.Fatalf("%+v, %v", m, err)
	}
	if _, err := c.LoadModel(t.Context(), "a b", m.Model); err != nil {
		t.Fatal(err)
	}
	if _, err := c.TrainModel(t.Context(), "a b"); err != nil {
		t.Fatal(err)
	}
	if err := c.ForgetModel(t.Context(), "a b"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range l.requests() {
		got = append(got, r.method+" "+r.uri+" "+r.body)
	}
	want := "GET /queue/a%20b/model |GET /queue/a%20b/model?full=true |" + `PUT /queue/a%20b/model {"model":{"version":1}}` +
		"|POST /queue/a%20b/model/train |DELETE /queue/a%20b/model "
	if strings.Join(got, "|") != want {
		t.Errorf("asked\n%s, want\n%s", strings.Join(got, "|"), want)
	}
}

// TestATrainingMayTakeItsTime: it is not sent again while the server learns.
func TestATrainingMayTakeItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &line{handler: func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(40 * time.Second) // of the bubble
			answerJSON(200, `{"version":1}`)(w, r)
		}}
		if m, err := over(t, l, Options{}).TrainModel(t.Context(), "main"); err != nil || m.Version != 1 || len(l.requests()) != 1 {
			t.Errorf("%+v, %v after %d requests", m, err, len(l.requests()))
		}
	})
}

func TestLessonsComeOneByOne(t *testing.T) {
	t.Parallel()
	line1 := `{"at":1,"position":2,"per_second":0.5,"features":[1,null],"wait":7}` + "\n"
	l := &line{handler: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(strings.Repeat(line1, 3))) }}
	var all []dengxu.Lesson
	for lesson, err := range over(t, l, Options{}).Lessons(t.Context(), "main") {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, lesson)
	}
	if len(all) != 3 || all[2].Wait != 7 || *all[2].Features[0] != 1 || all[2].Features[1] != nil {
		t.Errorf("%+v", all)
	}
	for _, err := range over(t, l, Options{}).Lessons(t.Context(), "main") {
		if err != nil {
			t.Error(err)
		}
		break // a reader may stop
	}
}

// TestLessonsThatAreCutAreAnError, as is a refusal.
func TestLessonsThatAreCutAreAnError(t *testing.T) {
	t.Parallel()
	whole, err := json.Marshal(dengxu.Lesson{Wait: 1})
	if err != nil {
		t.Fatal(err)
	}
	answers := map[dengxu.Code]http.HandlerFunc{
		dengxu.Unavailable: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(append(whole, "\n{\"at\":"...)) },
		dengxu.Forbidden:   answerProblem(403, `{"code":"forbidden"}`),
	}
	for want, handler := range answers {
		var last error
		n := 0
		for _, err := range over(t, &line{handler: handler}, Options{}).Lessons(t.Context(), "main") {
			if last = err; err == nil {
				n++
			}
		}
		if dengxu.CodeOf(last) != want || want == dengxu.Unavailable && n != 1 {
			t.Errorf("%d lessons, then %v, want %s", n, last, want)
		}
	}
}
