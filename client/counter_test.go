package client

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dengxu/dengxu"
)

func TestNextKeepsItsKeyUntilADefiniteAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &line{handler: answerJSON(200, `{"token_id":"t1","number":"A001","version":2}`), faults: []fault{loseAnswer, loseAnswer}}
		room := over(t, l, Options{Attempts: 2}).Counter("room-3")
		if _, err := room.Next(t.Context()); dengxu.ReasonOf(err) != "outcome_unknown" {
			t.Fatalf("first: %v, want outcome_unknown", err)
		}
		token, err := room.Next(t.Context())
		if err != nil || token.Number != "A001" {
			t.Fatalf("second: %v, %v", token, err)
		}
		if _, err = room.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		reqs := l.requests()
		if reqs[0].key != reqs[1].key || reqs[1].key != reqs[2].key {
			t.Errorf("the key changed before the answer: %+v", reqs)
		}
		if reqs[3].key == reqs[2].key {
			t.Error("the key stayed after the answer")
		}
	})
}

func TestNextKeepsItsKeyWhenTheCallerGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := true
		l := &line{handler: func(w http.ResponseWriter, r *http.Request) {
			if hang {
				<-r.Context().Done()
				return
			}
			answerJSON(200, `{"token_id":"t1"}`)(w, r)
		}}
		room := over(t, l, Options{}).Counter("room-3")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := room.Next(ctx); dengxu.CodeOf(err) != dengxu.Deadline {
			t.Fatalf("%v, want deadline", err)
		}
		hang = false
		if _, err := room.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		if reqs := l.requests(); reqs[0].key != reqs[1].key {
			t.Error("the key of an unknown outcome was thrown away")
		}
	})
}

func TestNextTakesANewKeyAfterARefusal(t *testing.T) {
	t.Parallel()
	l := &line{handler: answerProblem(409, `{"code":"conflict","reason":"counter_busy","token":{"token_id":"t0"}}`)}
	room := over(t, l, Options{}).Counter("room-3")
	room.take("t0")
	for range 2 {
		if _, err := room.Next(t.Context()); dengxu.ReasonOf(err) != "counter_busy" {
			t.Fatalf("%v, want counter_busy", err)
		}
	}
	if reqs := l.requests(); reqs[0].key == reqs[2].key { // between them it looked what the counter has
		t.Error("a refused key was used again")
	}
}

// TestNextTakesOverWhatTheCounterHas: a program that was started again goes on
// with the token that its counter has, once; its own one is a conflict.
func TestNextTakesOverWhatTheCounterHas(t *testing.T) {
	t.Parallel()
	busy := answerProblem(409, `{"code":"conflict","reason":"counter_busy","token":{"token_id":"t0","number":"A001","version":7}}`)
	view := answerJSON(200, `{"tokens":[{"token_id":"t9","state":"held"},{"token_id":"t0","state":"calling"},{"token_id":"t1","state":"serving"}]}`)
	l := &line{handler: func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet:
			view(w, r)
		case strings.HasSuffix(r.URL.Path, "/miss"):
			answerProblem(409, `{"code":"conflict","reason":"stale_version"}`)(w, r)
		default:
			busy(w, r)
		}
	}}
	room := over(t, l, Options{}).Counter("room-3")
	first, err := room.Next(t.Context())
	if err != nil || first.ID != "t0" || first.Version != 7 {
		t.Fatalf("first: %v, %v", first, err)
	}
	if second, err := room.Next(t.Context()); err != nil || second.ID != "t1" {
		t.Fatalf("second: %v, %v", second, err)
	}
	if _, err := room.Next(t.Context()); dengxu.ReasonOf(err) != "counter_busy" {
		t.Fatalf("third: %v, want counter_busy", err)
	}
	if _, err := room.Miss(t.Context(), first); dengxu.ReasonOf(err) != "stale_version" {
		t.Fatal(err)
	}
	if again, err := room.Next(t.Context()); err != nil || again.ID != "t0" {
		t.Fatalf("after it changed: %v, %v", again, err)
	}
}

func TestNextWaitsForSomebody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		l := &line{handler: func(w http.ResponseWriter, r *http.Request) {
			if calls++; calls < 3 {
				time.Sleep(25 * time.Second)
				w.Header().Set("Dengxu-Reason", "none_waiting")
				w.WriteHeader(204)
				return
			}
			answerJSON(200, `{"token_id":"t1"}`)(w, r)
		}}
		if token, err := over(t, l, Options{}).Counter("room-3").Next(t.Context()); err != nil || token.ID != "t1" {
			t.Fatalf("%v, %v", token, err)
		}
		if got := l.requests()[0].uri; got != "/counter/room-3/call_next?wait_seconds=25" {
			t.Errorf("asked %s", got)
		}
	})
}

func TestNextDoesNotAskInABusyLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &line{handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := over(t, l, Options{}).Counter("room-3").Next(ctx); dengxu.CodeOf(err) != dengxu.Deadline {
			t.Fatal(err)
		}
		if n := len(l.requests()); n > 11 {
			t.Errorf("%d requests in 10 s", n)
		}
	})
}

func TestTheVersionTravelsWithTheToken(t *testing.T) {
	t.Parallel()
	version := 2
	l := &line{handler: func(w http.ResponseWriter, r *http.Request) {
		version++
		answerJSON(200, `{"token_id":"t1","version":`+string(rune('0'+version))+`}`)(w, r)
	}}
	room := over(t, l, Options{}).Counter("room-3")
	token := &dengxu.Token{ID: "t1", Version: 2}
	for _, verb := range []func(context.Context, *dengxu.Token) (*dengxu.Token, error){room.Recall, room.Start, room.Hold, room.Resume, room.Complete} {
		if _, err := verb(t.Context(), token); err != nil {
			t.Fatal(err)
		}
	}
	for i, r := range l.requests() {
		want := `{"version":` + string(rune('2'+i)) + `,"counter_id":"room-3"}`
		if r.body != want {
			t.Errorf("request %d to %s says %s, want %s", i, r.uri, r.body, want)
		}
	}
	if got := l.requests()[4].uri; !strings.HasSuffix(got, "/token/t1/complete") {
		t.Errorf("last verb went to %s", got)
	}
}

func TestARefusedVerbLeavesTheToken(t *testing.T) {
	t.Parallel()
	l := &line{handler: answerProblem(409, `{"code":"conflict","reason":"stale_version","token":{"token_id":"t1","version":9}}`)}
	token := &dengxu.Token{ID: "t1", Version: 2}
	_, err := over(t, l, Options{}).Counter("c").Complete(t.Context(), token)
	if dengxu.CodeOf(err) != dengxu.Conflict || token.Version != 2 {
		t.Errorf("%v, token %+v", err, token)
	}
}
