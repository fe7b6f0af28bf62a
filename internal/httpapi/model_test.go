package httpapi

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/engine"
	"github.com/dengxu/dengxu/internal/estimate"
)

// learned is a model of a line in which people wait about half as long as the base
// says.
func learned(t *testing.T) json.RawMessage {
	t.Helper()
	lessons := make([]estimate.Resolved, 2*estimate.MinToLearn)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range lessons {
		s := &lessons[i]
		s.At, s.Position, s.PerSecond = int64(i)*60_000, float64(1+i%9), 0.01
		s.Features = make(estimate.Numbers, len(estimate.FeatureNames))
		for f := range s.Features {
			s.Features[f] = rng.Float64()
		}
		s.Wait = s.Base() * (0.2 + 0.5*rng.Float64() + 0.1*s.Features[2])
	}
	l, err := estimate.Learn(lessons)
	if err != nil || l.Model == nil {
		t.Fatal(l, err)
	}
	text, err := l.Model.Save()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestAModelGoesOutAndComesBack: what was learned here goes to another queue as
// it is, and away again.
func TestAModelGoesOutAndComesBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	model := learned(t)
	body := `{"model":` + string(model) + `}`
	if len(body) <= 64<<10 || len(body) > maxModel/10 {
		t.Fatalf("a model of %d bytes shows no limit", len(body))
	}

	var m dengxu.Model
	r.must("operator@hall", get, "/queue/main/model", "", 200, &m)
	if m.Version != 0 || m.Method != estimate.MethodErlang || m.Model != nil {
		t.Errorf("before anything: %+v", m)
	}
	if p := r.do("operator@hall", get, "/queue/main/model?full=true", "").problem(t); p.Code != dengxu.Conflict || p.Reason != "no_model" {
		t.Errorf("export of nothing: %+v", p)
	}

	r.must("admin@hall", put, "/queue/main/model", body, 200, &m)
	if m.Version != 1 || m.Method == estimate.MethodErlang || m.Rows != 2*estimate.MinToLearn || m.Model != nil {
		t.Errorf("loaded: %+v", m)
	}
	var out dengxu.Model
	r.must("operator@hall", get, "/queue/main/model?full=true", "", 200, &out)
	if !bytes.Equal(out.Model, model) {
		t.Errorf("%d bytes went in, %d others came out", len(model), len(out.Model))
	}
	r.must("admin@hall", put, "/queue/side/model", `{"model":`+string(out.Model)+`}`, 200, &m)
	r.must("admin@hall", del, "/queue/main/model", "", 204, nil)
	r.must("operator@hall", get, "/queue/main/model", "", 200, &m)
	if m.Version != 2 || m.Method != estimate.MethodErlang {
		t.Errorf("after it was forgotten: %+v", m)
	}
	r.must("operator@hall", get, "/queue/side/model", "", 200, &m)
	if m.Version != 1 || m.Method != out.Method {
		t.Errorf("of the other queue: %+v", m)
	}
	if p := r.do("admin@hall", post, "/queue/side/model/train", "").problem(t); p.Code != dengxu.Conflict || p.Reason != "too_few_lessons" {
		t.Errorf("training with nothing: %+v", p)
	}
}

// TestModelsAreJudged: what is no model is refused by name, and one body is
// larger than any.
func TestModelsAreJudged(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	before := r.state()
	for body, says := range map[string]string{
		`{}`:                             "model",
		`{"model":null}`:                 "version 0",
		`{"model":"trees"}`:              "no model",
		`{"model":{"version":99}}`:       "version 99",
		`{"model":{"version":1}}`:        "other features",
		`{"model":{},"method":"linear"}`: "method",
	} {
		p := r.do("admin", put, "/queue/main/model", body).problem(t)
		if p.Code != dengxu.Invalid || !strings.Contains(p.Detail+p.Field, says) {
			t.Errorf("%s: %s %q, field %s", body, p.Code, p.Detail, p.Field)
		}
	}
	large := `{"model":"` + strings.Repeat("x", maxModel) + `"}`
	if p := r.do("admin", put, "/queue/main/model", large).problem(t); p.Code != dengxu.Invalid || p.Reason != "body_too_large" {
		t.Errorf("%d bytes: %+v", len(large), p)
	}
	if r.state() != before {
		t.Error("something was kept")
	}
}

// TestLessonsAreLines: what a queue learns from comes as the engine has it.
func TestLessonsAreLines(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if a := r.do("admin@hall", get, "/queue/main/lessons", ""); a.status != 200 || len(a.body) != 0 || a.header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("lessons of nothing: %d %v %q", a.status, a.header, a.body)
	}
	if _, err := r.engine.PatchQueue(t.Context(), engine.By{Kind: engine.Admin}, "main", []byte(`{"expected_service_seconds":120}`), 0); err != nil {
		t.Fatal(err)
	}
	r.must("admin@hall", post, "/counter/1/open", "", 200, nil)
	events := r.stream("admin@hall", "/events?site=hall")
	r.join("main", `{}`)
	r.call("1")
	r.join("main", `{"name":"Anna"}`) // has to wait, and is a lesson once called
	r.must("admin@hall", post, "/counter/1/call_next", `{"current":"complete"}`, 200, nil)
	for calls := 0; calls < 2; { // the engine hears of a call before whoever listens
		var e dengxu.Event
		if events.message(&e); e.Type == dengxu.EventCalled {
			calls++
		}
	}
	if err := r.engine.KeepEstimates(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	a := r.do("admin@hall", get, "/queue/main/lessons", "")
	lines := strings.Split(strings.TrimSpace(string(a.body)), "\n")
	if a.status != 200 || len(lines) != 1 || strings.Contains(lines[0], "Anna") {
		t.Fatalf("%d %s", a.status, a.body)
	}
	var l dengxu.Lesson
	if err := json.Unmarshal([]byte(lines[0]), &l); err != nil {
		t.Fatal(err)
	}
	if l.Position != 1 || l.PerSecond != 1.0/120 || l.Group == "" || len(l.Features) != len(estimate.FeatureNames) || l.Wait < 0 || l.Wait > 60 {
		t.Errorf("%+v", l)
	}
}

// TestALessonIsWhatTheEngineHas, field by field and both ways.
func TestALessonIsWhatTheEngineHas(t *testing.T) {
	t.Parallel()
	was := estimate.Resolved{Wait: 12.5, Sample: estimate.Sample{
		At: 1, Position: 2.5, PerSecond: 0.25, Class: "c", Group: "g", Features: estimate.Numbers{1, math.NaN(), 3},
		Covariates: map[string]float64{"rain": 1},
	}}
	text, err := json.Marshal(was)
	if err != nil {
		t.Fatal(err)
	}
	var l dengxu.Lesson
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), string(again)); diff != "" {
		t.Error(diff)
	}
}
