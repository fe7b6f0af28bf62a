package engine

import (
	"testing"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

// Somebody goes home without completing the last one, whom the first call of the
// next morning completes. That was no service of fifteen hours.
func TestAServiceForgottenOverNightMovesLittle(t *testing.T) {
	t.Parallel()
	l := newLounge(t, `,"day_end":"keep"`)
	l.desk("2", "close")
	l.serve(120)
	was := *l.join("main", dengxu.JoinRequest{}).Estimate.RecommendedSeconds
	last := l.mustAt("1")
	l.do(dengxu.VerbStart, last, dengxu.VerbRequest{})
	l.pass(15 * time.Hour)
	l.open("1")
	if _, err := l.CallNext(t.Context(), staffer, "1", "", dengxu.CallRequest{Current: "complete"}); err != nil {
		t.Fatal(err)
	}
	l.hear()
	is := *l.join("main", dengxu.JoinRequest{}).Estimate.RecommendedSeconds
	if is > was*3/2 {
		t.Errorf("%d s before, %d s after", was, is)
	}
}

// damage writes a document over what a queue has learned.
func (l *lounge) damage(key store.DocKey, body string) {
	l.Helper()
	v, err := l.store.View(l.Context(), store.Ask{Docs: []store.DocKey{key}})
	if err != nil {
		l.Fatal(err)
	}
	w := store.DocWrite{Doc: store.Doc{Key: key, Site: "hall", Body: []byte(body), Version: 1}}
	if d := v.Docs[0]; d != nil {
		w.Expect, w.Doc.Version = d.Version, d.Version+1
	}
	if _, err := l.store.Commit(l.Context(), store.Batch{Site: "hall", Docs: []store.DocWrite{w}}); err != nil {
		l.Fatal(err)
	}
}

// What stands in the store may be damaged in a way that is good JSON.
func TestADamagedOutlookTellsNothingAbsurd(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"no JSON":             `{"estimator":`,
		"negative services":   `{"estimator":{"history":{"services":[-1e300,-5],"counters":{"1":{"seconds":-1e300,"weight":-20}}}}}`,
		"weights that cancel": `{"estimator":{"history":{"services":[100],"counters":{"1":{"seconds":1e308,"weight":-20},"2":{"seconds":1e308,"weight":-20}}}}}`,
		"absurd ratios":       `{"estimator":{"plain":[{"ratios":[-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1]},{"ratios":[-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1]},{"ratios":[1e308,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1]}]}}`,
		"negative patience":   `{"estimator":{"history":{"stayed":200,"patience":{"seconds":1e-300,"weight":1e300}}}}`,
		"negative give-ups":   `{"estimator":{"history":{"stayed":200,"patience":{"seconds":1,"weight":-1e300}}}}`,
		"tallies of before":   `{"estimator":{"history":{"calls":{"last":-9223372036854775808},"joins":{"last":-9223372036854775808}}}}`,
		"negative lessons":    `{"lessons":-7000000}`,
		"countless lessons":   `{"lessons":9223372036854775807}`,
		"flows of nobody":     `{"estimator":{"history":{"lanes":[{"lane":{"class":"x"},"joins":{"last":99999999999},"head_start":{"seconds":1e308,"weight":0}}]}}}`,
		"the end of time":     `{"seen":{"at":9223372036854775807,"number":1}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLounge(t, `,"day_end":"keep"`)
			l.damage(outlookKey("main"), body)
			l.occupy()
			for range 30 {
				e := l.join("main", dengxu.JoinRequest{}).Estimate
				if !e.Known {
					t.Fatalf("%+v", e)
				}
				if *e.LowSeconds < 0 || *e.LowSeconds > *e.RecommendedSeconds || *e.RecommendedSeconds > *e.HighSeconds || *e.HighSeconds > 1e8 {
					t.Fatalf("%d, %d, %d", *e.LowSeconds, *e.RecommendedSeconds, *e.HighSeconds)
				}
			}
			l.hear()
			l.serve(30)
			l.keep()
			if lessons, err := l.Lessons(t.Context(), "main"); err != nil || len(lessons) == 0 {
				t.Errorf("%d lessons, %v", len(lessons), err)
			}
			if len(l.outlook("main").Flows(l.nowIn(0))) == 0 {
				t.Error("nobody was seen to come")
			}
		})
	}
}

// occupy makes both counters busy.
func (l *lounge) occupy() {
	l.Helper()
	for _, id := range []dengxu.CounterID{"1", "2"} {
		l.join("main", dengxu.JoinRequest{})
		l.call(id)
	}
}
