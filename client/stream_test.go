package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
)

func sse(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, text)
}

func position(version int, state dengxu.State, rank int) string {
	return fmt.Sprintf(`{"token_id":"t1","number":"A001","version":%d,"state":%q,"rank":%d,"poll_after_seconds":2}`, version, state, rank)
}

func watched(ctx context.Context, t *testing.T, c *Client) (lines []string, last error) {
	t.Helper()
	for p, err := range c.Watch(ctx, "t1") {
		if err != nil {
			return lines, err
		}
		lines = append(lines, fmt.Sprint(p.Number, " ", p.State, " ", p.Ahead))
	}
	return lines, nil
}

func TestWatchReconnectsAndEndsAtAFinalState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		streams := 0
		l := &line{handler: func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/position") {
				answerJSON(200, position(3, dengxu.StateWaiting, 0))(w, r)
				return
			}
			switch streams++; streams {
			case 1: // says the same twice, then breaks off
				sse(w, ": hello\n\nevent: position\ndata: "+position(1, dengxu.StateWaiting, 2)+"\n\ndata: "+position(1, dengxu.StateWaiting, 2)+"\n\n")
			case 2:
				writeProblem(w, 503, `{"code":"unavailable"}`)
			default: // an answer that was overtaken, then the end
				sse(w, "data: "+position(2, dengxu.StateWaiting, 1)+"\n\ndata: "+position(4, dengxu.StateCompleted, -1)+"\n\ndata: "+position(5, dengxu.StateWaiting, 7)+"\n\n")
			}
		}}
		got, err := watched(t.Context(), t, over(t, l, Options{}))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"A001 waiting 2", "A001 waiting 0", "A001 completed –"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestWatchPollsWhereThereIsNoStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		polls, streams := 0, 0
		l := &line{handler: func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/stream") {
				streams++
				http.NotFound(w, r)
				return
			}
			if polls++; polls < 10 {
				answerJSON(200, position(polls, dengxu.StateWaiting, 10-polls))(w, r)
				return
			}
			answerJSON(200, position(polls, dengxu.StateCancelled, -1))(w, r)
		}}
		began := time.Now()
		got, err := watched(t.Context(), t, over(t, l, Options{}))
		if err != nil || len(got) != 10 {
			t.Fatalf("%v, %v", got, err)
		}
		if took := time.Since(began); took != 18*time.Second || streams != 1 {
			t.Errorf("%v and %d streams, want the 2 s between polls that the server asked for and one stream", took, streams)
		}
	})
}

func TestWatchEndsWithTheServersDecision(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &line{handler: answerProblem(404, `{"code":"not_found"}`)}
		if _, err := watched(t.Context(), t, over(t, l, Options{})); dengxu.CodeOf(err) != dengxu.NotFound {
			t.Errorf("%v, want not_found", err)
		}
	})
}

func TestWatchOutlastsAnOutageAndEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, first := time.Now(), true
		l := &line{handler: func(w http.ResponseWriter, r *http.Request) {
			if first {
				first = false
				sse(w, "data: "+position(1, dengxu.StateWaiting, 2)+"\n\n")
				return
			}
			writeProblem(w, 503, `{"code":"unavailable"}`)
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		got, err := watched(ctx, t, over(t, l, Options{}))
		if dengxu.CodeOf(err) != dengxu.Deadline || time.Since(began) != time.Hour || len(got) != 1 {
			t.Errorf("%v, %v after %v", got, err, time.Since(began))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		l := &line{handler: answerProblem(503, `{"code":"unavailable"}`)}
		if _, err := watched(t.Context(), t, over(t, l, Options{})); dengxu.CodeOf(err) != dengxu.Unavailable || time.Since(began) > time.Minute {
			t.Errorf("%v after %v, want unavailable within the budget", err, time.Since(began))
		}
	})
}

func TestASilentStreamIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &line{handler: answerJSON(200, position(2, dengxu.StateCompleted, -1))}
		c := over(t, l, Options{})
		c.http.Transport = silentStream{l}
		began := time.Now()
		got, err := watched(t.Context(), t, c)
		if err != nil || len(got) != 1 || time.Since(began) != silence {
			t.Errorf("%v, %v after %v, want a poll after %v of silence", got, err, time.Since(began), silence)
		}
	})
}

// silentStream answers a stream with headers and then nothing, until the
// request's context ends.
type silentStream struct{ next http.RoundTripper }

func (s silentStream) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(req.URL.Path, "/stream") {
		return s.next.RoundTrip(req)
	}
	r, w := io.Pipe()
	context.AfterFunc(req.Context(), func() { w.CloseWithError(req.Context().Err()) })
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: r}, nil
}

func TestEventsResumeByCursorAndSurfaceAReset(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		connects := 0
		l := &line{handler: func(w http.ResponseWriter, r *http.Request) {
			switch connects++; connects {
			case 1:
				sse(w, "retry: 1000\nid: c1\nevent: token.joined\ndata: {\"id\":\"c1\",\"type\":\"token.joined\"}\n\n")
			case 2:
				sse(w, ": \nid: c2\n\n") // a quiet stream moves on
			case 3:
				sse(w, "event: reset\ndata: {\"cursor\":\"c7\"}\n\n")
			case 4:
				sse(w, "id: c8\ndata: {\"type\":\"token.called\"}\n\ndata: {\"unknown\":\n\n")
			default:
				writeProblem(w, 403, `{"code":"forbidden"}`)
			}
		}}
		var got []string
		for e, err := range over(t, l, Options{}).Events(t.Context(), "clinic", "c0") {
			if err != nil && !errors.Is(err, ErrReset) {
				got = append(got, string(dengxu.CodeOf(err)))
				continue
			}
			got = append(got, e.ID+" "+string(e.Type))
		}
		if diff := cmp.Diff([]string{"c1 token.joined", "c7 ", "c8 token.called", "forbidden"}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		var uris []string
		for _, r := range l.requests() {
			uris = append(uris, r.uri)
		}
		want := []string{"/events?after=c0&site=clinic", "/events?after=c1&site=clinic", "/events?after=c2&site=clinic", "/events?after=c7&site=clinic", "/events?after=c8&site=clinic"}
		if diff := cmp.Diff(want, uris); diff != "" {
			t.Errorf("cursors (-want +got):\n%s", diff)
		}
	})
}

func TestCursorIsWhereTheStreamBegins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		opened := 0
		l := &line{handler: func(w http.ResponseWriter, _ *http.Request) {
			if opened++; opened == 1 {
				writeProblem(w, 503, `{"code":"unavailable"}`)
				return
			}
			sse(w, "retry: 2000\nid: c5\n\n")
		}}
		if got, err := over(t, l, Options{}).Cursor(t.Context(), "clinic"); err != nil || got != "c5" {
			t.Errorf("%q, %v", got, err)
		}
		l = &line{handler: answerProblem(403, `{"code":"forbidden"}`)}
		if _, err := over(t, l, Options{}).Cursor(t.Context(), ""); dengxu.CodeOf(err) != dengxu.Forbidden {
			t.Errorf("%v, want forbidden", err)
		}
	})
}

func TestEventsStopWithTheConsumer(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sse(w, "data: {\"id\":\"c1\",\"type\":\"token.joined\"}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(closed)
	}))
	defer server.Close()
	c, err := New(Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range c.Events(t.Context(), "", "") {
		if err != nil || e.ID != "c1" {
			t.Fatalf("%v, %v", e, err)
		}
		break
	}
	<-closed // the connection does not outlive the loop
}

func TestEstimatesPrintForPeople(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		e    dengxu.Estimate
		want string
	}{
		{dengxu.Estimate{Known: true, LowSeconds: new(300), HighSeconds: new(900)}, "5–15 min"},
		{dengxu.Estimate{Known: true, LowSeconds: new(119), HighSeconds: new(121)}, "1–3 min"},
		{dengxu.Estimate{Known: true, LowSeconds: new(120), HighSeconds: new(120)}, "2 min"},
		{dengxu.Estimate{Known: true, LowSeconds: new(0), HighSeconds: new(59)}, "under 1 min"},
		{dengxu.Estimate{Reason: dengxu.UnknownNoCounter}, "no counter open"},
		{dengxu.Estimate{Known: true, LowSeconds: new(0), HighSeconds: new(0), Text: map[string]string{"en": "now", "zh-CN": "马上"}}, "now"},
	} {
		if got := (Estimate{Estimate: row.e}).String(); got != row.want {
			t.Errorf("%+v prints %q, want %q", row.e, got, row.want)
		}
	}
}

// TestWatchTellsWhatPeopleWouldRead: an estimate that moved by seconds is nothing
// new, another sentence is, in the language of the client.
func TestWatchTellsWhatPeopleWouldRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		polls := 0
		l := &line{handler: func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/stream") {
				writeProblem(w, 404, `{"code":"not_found"}`)
				return
			}
			polls++
			minutes := 5
			if polls > 3 {
				minutes = 4
			}
			state := "waiting"
			if polls == 6 {
				state = "cancelled"
			}
			answerJSON(200, fmt.Sprintf(`{"token_id":"t1","state":%q,"version":1,"estimated_wait_seconds":%d,"estimate":{"known":true,
				"low_seconds":%d,"recommended_seconds":%d,"high_seconds":%d,"as_of":"2026-11-30T10:00:0%dZ",
				"text":{"en":"about %d min","zh-CN":"约%d分钟"}}}`, state, 300-polls, 100-polls, 300-polls, 500-polls, polls, minutes, minutes))(w, r)
		}}
		var said []string
		for u, err := range over(t, l, Options{Language: "zh-CN"}).Watch(t.Context(), "t1") {
			if err != nil {
				t.Fatal(err)
			}
			said = append(said, string(u.State)+" "+u.Estimate.String())
		}
		if want := []string{"waiting 约5分钟", "waiting 约4分钟", "cancelled 约4分钟"}; !slices.Equal(said, want) || polls != 6 {
			t.Errorf("after %d polls: %q, want %q", polls, said, want)
		}
	})
}
