package client

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
)

func TestNewRefusesWhatIsNoAddress(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "localhost:8080", "ftp://x", "http://", "http://u:p@h", "http://h?a=b", "http://h#f"} {
		if _, err := New(Options{URL: url}); dengxu.CodeOf(err) != dengxu.Invalid {
			t.Errorf("New(%q): %v, want invalid", url, err)
		}
	}
	c, err := New(Options{URL: "https://queue.example/base/"})
	if err != nil || c.URL() != "https://queue.example/base" {
		t.Errorf("URL = %q, %v", c.URL(), err)
	}
}

func TestLostAnswersAreRepeatedWithTheSameKey(t *testing.T) {
	t.Parallel()
	for _, f := range []fault{loseAnswer, cutAnswer} {
		synctest.Test(t, func(t *testing.T) {
			l := &line{handler: answerJSON(201, `{"token_id":"t1","number":"A001"}`), faults: []fault{f, f}}
			ticket, err := over(t, l, Options{Key: "k"}).Join(t.Context(), "main", JoinRequest{Name: "Li"})
			if err != nil || ticket.Number != "A001" {
				t.Fatalf("join: %+v, %v", ticket, err)
			}
			reqs := l.requests()
			if len(reqs) != 3 {
				t.Fatalf("%d requests, want 3", len(reqs))
			}
			for _, r := range reqs {
				if r.key == "" || r.key != reqs[0].key || r.body != reqs[0].body {
					t.Errorf("repeat differs: %+v, first %+v", r, reqs[0])
				}
			}
		})
	}
}

func TestEveryChangeHasAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	l := &line{handler: answerJSON(200, `{}`)}
	c, ctx := over(t, l, Options{}), t.Context()
	for range 2 {
		_, _ = c.Join(ctx, "q", JoinRequest{})
		_, _ = c.JoinSite(ctx, "s", SiteJoinRequest{})
		_, _ = c.PutQueue(ctx, "q", dengxu.Queue{}, 0)
		_, _ = c.PatchQueue(ctx, "q", map[string]any{}, 0)
		_ = c.DeleteQueue(ctx, "q", 0)
		_, _ = c.OpenQueue(ctx, "q")
		_, _ = c.CloseCounter(ctx, "c", "requeue")
		_, _ = c.PutKey(ctx, "k", dengxu.Key{}, 0)
		_, _ = c.Complete(ctx, "t", dengxu.VerbRequest{})
		_, _ = c.Edit(ctx, "t", dengxu.TokenEdit{})
		_, _ = c.Defer(ctx, "t", dengxu.VerbRequest{})
		_, _ = c.CallNext(ctx, "c", CallOptions{})
	}
	keys := map[string]bool{}
	for _, r := range l.requests() {
		if r.key == "" || keys[r.key] {
			t.Errorf("%s %s: key %q is missing or used twice", r.method, r.uri, r.key)
		}
		keys[r.key] = true
	}
	if len(keys) != 24 {
		t.Errorf("%d keys, want 24", len(keys))
	}
	if _, err := c.Queues(ctx, ""); err != nil {
		t.Fatal(err)
	}
	if r := l.requests()[24]; r.key != "" {
		t.Errorf("a read carries key %q", r.key)
	}
	if _, err := c.Join(WithKey(ctx, "mine"), "q", JoinRequest{}); err != nil {
		t.Fatal(err)
	}
	if r := l.requests()[25]; r.key != "mine" {
		t.Errorf("key %q, want the context's", r.key)
	}
}

func TestRetryAfterIsHonouredWithinTheBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		l := &line{handler: func(w http.ResponseWriter, r *http.Request) {
			if calls++; calls == 1 {
				w.Header().Set("Retry-After", "7")
				writeProblem(w, 503, `{"code":"unavailable","detail":"draining"}`)
				return
			}
			answerJSON(200, `{"token_id":"t"}`)(w, r)
		}}
		if _, err := over(t, l, Options{}).Start(t.Context(), "t", dengxu.VerbRequest{}); err != nil {
			t.Fatal(err)
		}
		reqs := l.requests()
		if pause := reqs[1].at.Sub(reqs[0].at); pause < 7*time.Second || pause > 8*time.Second {
			t.Errorf("paused %v, want the 7 s asked for", pause)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		l := &line{handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			writeProblem(w, 503, `{"code":"unavailable","detail":"later"}`)
		}}
		_, err := over(t, l, Options{}).Start(t.Context(), "t", dengxu.VerbRequest{})
		if dengxu.CodeOf(err) != dengxu.Unavailable || time.Since(began) != 0 || len(l.requests()) != 1 {
			t.Errorf("%v after %v and %d requests, want unavailable at once", err, time.Since(began), len(l.requests()))
		}
	})
}

func TestTheBudgetIsBounded(t *testing.T) {
	t.Parallel()
	unknown := func(t *testing.T, o Options) (int, time.Duration, error) {
		t.Helper()
		l := &line{handler: answerJSON(200, `{}`), faults: make([]fault, 1000)}
		for i := range l.faults {
			l.faults[i] = loseAnswer
		}
		began := time.Now()
		_, err := over(t, l, o).Join(t.Context(), "q", JoinRequest{})
		return len(l.requests()), time.Since(began), err
	}
	synctest.Test(t, func(t *testing.T) {
		n, _, err := unknown(t, Options{Attempts: 3})
		if dengxu.CodeOf(err) != dengxu.Deadline || dengxu.ReasonOf(err) != "outcome_unknown" || n != 3 || !errors.Is(err, errLost) {
			t.Errorf("%v after %d attempts, want outcome_unknown after 3", err, n)
		}
		n, took, err := unknown(t, Options{Attempts: 1000, Budget: 10 * time.Second})
		if dengxu.ReasonOf(err) != "outcome_unknown" || took > 10*time.Second || n < 4 || n > 20 {
			t.Errorf("%v after %d attempts and %v, want about 10 s", err, n, took)
		}
	})
}

func TestARefusedConnectionIsUnavailableNotUnknown(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	c, err := New(Options{URL: "http://" + address, Attempts: 2})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Join(t.Context(), "q", JoinRequest{})
	if dengxu.CodeOf(err) != dengxu.Unavailable {
		t.Errorf("%v, want unavailable", err)
	}
}

func TestRefusalsAreNotRepeated(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		status int
		body   string
		want   dengxu.Error
	}{
		{
			409, `{"code":"exists","reason":"in_line","detail":"already in line","token":{"token_id":"t9","number":"A009"}}`,
			dengxu.Error{Code: dengxu.Exists, Reason: "in_line", Message: "already in line", Token: &dengxu.Token{ID: "t9", Number: "A009"}},
		},
		{
			422, `{"code":"invalid","detail":"no such class","field":"class"}`,
			dengxu.Error{Code: dengxu.Invalid, Message: "no such class", Field: "class"},
		},
		{429, `{"code":"too_many","detail":"wait"}`, dengxu.Error{Code: dengxu.TooMany, Message: "wait", RetryAfter: 5 * time.Second}},
		{500, `{"code":"internal","title":"Internal"}`, dengxu.Error{Code: dengxu.Internal, Message: "Internal"}},
		{403, `<html>`, dengxu.Error{Code: dengxu.Forbidden, Message: "the server answered 403 Forbidden"}},
	} {
		l := &line{handler: func(w http.ResponseWriter, _ *http.Request) {
			if row.status == 429 {
				w.Header().Set("Retry-After", "5")
			}
			writeProblem(w, row.status, row.body)
		}}
		_, err := over(t, l, Options{}).Join(t.Context(), "q", JoinRequest{})
		got, ok := errors.AsType[*dengxu.Error](err)
		if !ok || len(l.requests()) != 1 {
			t.Errorf("%d: %v after %d requests", row.status, err, len(l.requests()))
			continue
		}
		if diff := cmp.Diff(row.want, *got); diff != "" {
			t.Errorf("%d (-want +got):\n%s", row.status, diff)
		}
	}
}

func TestADeleteThatWasDoneBeforeItsRepeatIsDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &line{handler: answerProblem(404, `{"code":"not_found"}`), faults: []fault{loseAnswer}}
		c := over(t, l, Options{})
		if err := c.DeleteQueue(t.Context(), "q", 4); err != nil {
			t.Errorf("repeat: %v", err)
		}
		if got := l.requests()[1].ifMatch; got != `"4"` {
			t.Errorf("If-Match %q", got)
		}
		if err := c.DeleteQueue(t.Context(), "q", 4); dengxu.CodeOf(err) != dengxu.NotFound {
			t.Errorf("first attempt: %v, want not_found", err)
		}
	})
}

func TestACallersContextEndsTheRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &line{handler: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := over(t, l, Options{}).GetQueue(ctx, "q")
		if dengxu.CodeOf(err) != dengxu.Deadline || !errors.Is(err, context.DeadlineExceeded) || dengxu.ReasonOf(err) != "" {
			t.Errorf("%v, want the context's deadline", err)
		}
	})
}

func TestListsAreReadToTheirEnd(t *testing.T) {
	t.Parallel()
	l := &line{handler: func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("cursor") == "" {
			answerJSON(200, `{"items":[{"id":"a"}],"next_cursor":"x"}`)(w, r)
			return
		}
		answerJSON(200, `{"items":[{"id":"b"}]}`)(w, r)
	}}
	queues, err := over(t, l, Options{}).Queues(t.Context(), "s/1")
	if err != nil || len(queues) != 2 || queues[1].ID != "b" {
		t.Errorf("%v, %v", queues, err)
	}
	if got := l.requests()[1].uri; got != "/queues?cursor=x&site=s%2F1" {
		t.Errorf("second page from %s", got)
	}
}
