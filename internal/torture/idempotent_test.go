package torture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/client"
)

// operation is one mutating operation of the API and what must be before it.
// In paths and bodies $ stands for the name of the case's own site, queue,
// counter and key, and TOKEN for its token.
type operation struct {
	id           string // as in openapi.json
	method, path string
	body         string
	other        string   // another body, or, where there is none, another path
	before       []string // what happens first: join, call, a verb, or METHOD PATH BODY
	effects      int      // events that one effect writes
}

// reply is an answer.
type reply struct {
	status int
	header http.Header
	body   map[string]any
}

// repeats is how often each operation is asked for at the same time.
const repeats = 8

// TestKeysHaveOneEffect: eight repeats at once of any operation under one key
// have one effect and the same answer, also once more after kill -9; another
// body under the key is refused.
func TestKeysHaveOneEffect(t *testing.T) {
	t.Parallel()
	for name, ground := range grounds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keysHaveOneEffect(t, newChild(t, ground(t)))
		})
	}
}

func keysHaveOneEffect(t *testing.T, server *child) {
	t.Helper()
	cases := operations()
	described(t, server, cases)
	runs := make([]*keyed, len(cases))
	for i, op := range cases {
		runs[i] = &keyed{operation: op, server: server}
		t.Run(op.id, func(t *testing.T) {
			runs[i].prepare(t)
			runs[i].atOnce(t)
		})
	}
	server.kill(t)
	server.audit(t, 0)
	server.start(t)
	for _, k := range runs { // one after the other: the audit below comes after the last
		t.Run("again/"+k.id, k.again)
	}
	auditLive(t, 0, server.client(t, 1))
}

// keyless are the operations that keep no key, as docs/api.md says: one changes
// nothing, the others go on from whatever they find.
var keyless = []string{"test-rules", "reapply-rules", "load-model", "forget-model", "train-model"}

// described fails the test unless the cases are all mutating operations that
// the server describes.
func described(t *testing.T, server *child, cases []operation) {
	t.Helper()
	var have, want []string
	for _, op := range cases {
		have = append(have, op.id)
	}
	answer := (&keyed{server: server}).send(t, http.MethodGet, "/openapi.json", "", "")
	for _, item := range answer.body["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			described, ok := op.(map[string]any)
			if id, named := described["operationId"].(string); ok && named && method != "get" && !slices.Contains(keyless, id) {
				want = append(want, id)
			}
		}
	}
	slices.Sort(have)
	slices.Sort(want)
	if diff := cmp.Diff(want, have); diff != "" {
		t.Fatalf("mutating operations (-described +tested):\n%s", diff)
	}
}

// keyed is one case being run.
type keyed struct {
	operation
	server *child
	token  string
	first  map[string]any // the answer of the effect, as far as it must stay
	marks  int
}

// fill puts the case's names in.
func (k *keyed) fill(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "$", k.id), "TOKEN", k.token)
}

func (k *keyed) send(t *testing.T, method, path, body, key string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+k.server.addr+k.fill(path), strings.NewReader(k.fill(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+childKey)
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := k.server.http.Do(req)
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
		return reply{}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
	}
	out := reply{status: resp.StatusCode, header: resp.Header}
	if len(bytes.TrimSpace(text)) > 0 {
		if err := json.Unmarshal(text, &out.body); err != nil {
			t.Errorf("%s %s: %v in %s", method, path, err, text)
		}
	}
	return out
}

// must sends what has to succeed.
func (k *keyed) must(t *testing.T, method, path, body string) reply {
	t.Helper()
	got := k.send(t, method, path, body, "")
	if got.status >= 300 {
		t.Fatalf("%s %s %s: %d %v", method, k.fill(path), k.fill(body), got.status, got.body)
	}
	return got
}

// prepare makes the case's hall and does what comes before.
func (k *keyed) prepare(t *testing.T) {
	t.Helper()
	k.must(t, http.MethodPut, "/site/s-$", `{"time_zone":"`+noon()+`"}`)
	queue := `{"site":"s-$","recall_gap_seconds":0,"missed":{"policy":"keep"}}`
	if k.id == "holder-check_in" {
		queue = `{"site":"s-$","check_in":{"required":"all"}}`
	}
	k.must(t, http.MethodPut, "/queue/q-$", queue)
	k.must(t, http.MethodPut, "/queue/r-$", `{"site":"s-$"}`)
	k.must(t, http.MethodPut, "/counter/c-$", `{"site":"s-$","queues":["q-$"]}`)
	k.must(t, http.MethodPost, "/counter/c-$/open", `{}`)
	for _, step := range k.before {
		switch parts := strings.SplitN(step, " ", 3); {
		case len(parts) > 1:
			k.must(t, parts[0], parts[1], strings.Join(parts[2:], ""))
		case step == "join":
			k.token, _ = k.must(t, http.MethodPost, "/queue/q-$/join", `{}`).body["token_id"].(string)
		case step == "call":
			k.must(t, http.MethodPost, "/counter/c-$/call_next", `{}`)
		default:
			k.must(t, http.MethodPost, "/token/TOKEN/"+step, `{}`)
		}
	}
}

func (k *keyed) key() string { return "key-" + k.id }

// atOnce sends the repeats and judges the answers and what came of them.
func (k *keyed) atOnce(t *testing.T) {
	t.Helper()
	mark := k.actions(t)
	answers := make([]reply, repeats)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i] = k.send(t, k.method, k.path, k.body, k.key()) })
	}
	wg.Wait()
	fresh := slices.IndexFunc(answers, func(r reply) bool { return r.header.Get("Idempotent-Replayed") == "" })
	if fresh < 0 {
		t.Fatalf("every answer is a replay: %+v", answers)
	}
	k.first = lasting(answers[fresh].body)
	for i, got := range answers {
		if got.status/100 != 2 {
			t.Errorf("repeat %d: %d %v", i, got.status, got.body)
			continue
		}
		if i != fresh && k.method != http.MethodDelete && (got.status != http.StatusOK || got.header.Get("Idempotent-Replayed") != "true") {
			t.Errorf("repeat %d: status %d, replayed %q, beside answer %d", i, got.status, got.header.Get("Idempotent-Replayed"), fresh)
		}
		if diff := cmp.Diff(k.first, lasting(got.body)); diff != "" {
			t.Errorf("repeat %d is answered otherwise (-first +repeat):\n%s", i, diff)
		}
	}
	if now := k.actions(t); now-mark != k.effects {
		t.Errorf("%d events, want %d", now-mark, k.effects)
	}
}

// again repeats after the restart, and with another body.
func (k *keyed) again(t *testing.T) {
	mark := k.actions(t)
	got := k.send(t, k.method, k.path, k.body, k.key())
	if got.status/100 != 2 {
		t.Errorf("after the restart: %d %v", got.status, got.body)
	} else if diff := cmp.Diff(k.first, lasting(got.body)); diff != "" {
		t.Errorf("after the restart (-first +repeat):\n%s", diff)
	}
	path, body := k.path, k.other
	if strings.HasPrefix(k.other, "/") {
		path, body = k.other, k.body
	}
	got = k.send(t, k.method, path, body, k.key())
	if got.status != http.StatusUnprocessableEntity || got.body["code"] != string(dengxu.Invalid) || got.body["reason"] != "idempotency_key_reused" {
		t.Errorf("another request under the key: %d %v", got.status, got.body)
	}
	if now := k.actions(t); now != mark {
		t.Errorf("%d more events", now-mark)
	}
}

// actions counts what was ever done with a key. Events become visible a little
// after their commit, so it makes one of its own and waits for that.
func (k *keyed) actions(t *testing.T) int {
	t.Helper()
	marker := dengxu.SiteID(fmt.Sprintf("mark-%s-%d", k.id, k.marks))
	k.marks++
	k.must(t, http.MethodPut, "/site/"+string(marker), `{}`)
	c := k.server.client(t, 1)
	for t.Context().Err() == nil {
		page, err := c.Actions(t.Context(), client.ActionFilter{Site: marker})
		if err != nil {
			t.Fatalf("actions: %v", err)
		}
		if len(page.Items) > 0 {
			break
		}
	}
	n, f := 0, client.ActionFilter{Limit: 200}
	for {
		page, err := c.Actions(t.Context(), f)
		if err != nil {
			t.Fatalf("actions: %v", err)
		}
		for _, e := range page.Items {
			if !strings.HasPrefix(string(e.Site), "mark-") {
				n++
			}
		}
		if page.NextCursor == "" {
			return n
		}
		f.Cursor = page.NextCursor
	}
}

// lasting is an answer without what changes as time goes by, and without what
// only the first answer has: a secret, and how a place was found.
func lasting(body map[string]any) map[string]any {
	out := make(map[string]any, len(body))
	for name, value := range body {
		switch name {
		case "as_of", "server_time", "wait_seconds", "poll_after_seconds", "secret", "rank_reached", "$schema",
			"estimate", "estimated_wait_seconds":
		case "items":
			var items []any
			for _, item := range value.([]any) {
				items = append(items, lasting(item.(map[string]any)))
			}
			out[name] = items
		default:
			out[name] = value
		}
	}
	return out
}

// operations is the table of all mutating operations.
func operations() []operation {
	const post, put, patch, del = http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete
	called := []string{"join", "call"}
	ops := []operation{
		{"join", post, "/queue/q-$/join", `{"name":"Ann"}`, `{"name":"Bob"}`, nil, 1},
		{"join-site", post, "/site/s-$/join", `{"queues":["q-$","r-$"]}`, `{"queues":["q-$"]}`, nil, 2},
		{"call-next", post, "/counter/c-$/call_next", `{}`, `{"current":"complete"}`, []string{"join", "join"}, 1},
		{"call-next-of-queue", post, "/queue/q-$/counter/c-$/call_next", `{}`, `{"current":"complete"}`, []string{"join", "join"}, 1},
		{"call-token", post, "/counter/c-$/call/TOKEN", `{"reason":"a"}`, `{"reason":"b"}`, []string{"join"}, 1},
		{"edit", patch, "/token/TOKEN", `{"name":"Ann"}`, `{"name":"Bob"}`, []string{"join"}, 1},

		{"put-site", put, "/site/new-$", `{"name":"a"}`, `{"name":"b"}`, nil, 1},
		{"patch-site", patch, "/site/s-$", `{"name":"a"}`, `{"name":"b"}`, nil, 1},
		{"delete-site", del, "/site/old-$", "", "/site/s-$", []string{"PUT /site/old-$ {}"}, 1},
		{"put-queue", put, "/queue/new-$", `{"site":"s-$"}`, `{"site":"s-$","name":"b"}`, nil, 1},
		{"patch-queue", patch, "/queue/q-$", `{"name":"a"}`, `{"name":"b"}`, nil, 1},
		{"delete-queue", del, "/queue/r-$", "", "/queue/q-$", nil, 1},
		{"put-counter", put, "/counter/new-$", `{"site":"s-$"}`, `{"site":"s-$","name":"b"}`, nil, 1},
		{"patch-counter", patch, "/counter/c-$", `{"name":"a"}`, `{"name":"b"}`, nil, 1},
		{"delete-counter", del, "/counter/c-$", "", "/counter/d-$", []string{`PUT /counter/d-$ {"site":"s-$"}`}, 1},
		{"put-key", put, "/key/k-$", `{"role":"kiosk"}`, `{"role":"display"}`, nil, 1},
		{"delete-key", del, "/key/k-$", "", "/key/l-$", []string{`PUT /key/k-$ {"role":"kiosk"}`, `PUT /key/l-$ {"role":"kiosk"}`}, 1},

		{"open-queue", post, "/queue/q-$/open", `{"reason":"a"}`, `{"reason":"b"}`, []string{"POST /queue/q-$/pause {}"}, 1},
		{"pause-queue", post, "/queue/q-$/pause", `{"reason":"a"}`, `{"reason":"b"}`, nil, 1},
		{"close-queue", post, "/queue/q-$/close", `{"reason":"a"}`, `{"reason":"b"}`, []string{"join"}, 1},
		{"open-counter", post, "/counter/c-$/open", `{"reason":"a"}`, `{"reason":"b"}`, []string{"POST /counter/c-$/pause {}"}, 1},
		{"pause-counter", post, "/counter/c-$/pause", `{"reason":"a"}`, `{"reason":"b"}`, nil, 1},
		{"close-counter", post, "/counter/c-$/close", `{"current":"requeue"}`, `{"current":"hold"}`, called, 2},
	}
	for verb, before := range map[dengxu.Verb][]string{
		dengxu.VerbRecall: called, dengxu.VerbStart: called, dengxu.VerbComplete: called, dengxu.VerbMiss: called,
		dengxu.VerbRequeue: called, dengxu.VerbHold: called, dengxu.VerbResume: {"join", "call", "hold"},
		dengxu.VerbReinstate: {"join", "call", "miss"}, dengxu.VerbCancel: {"join"}, dengxu.VerbAbandon: {"join"},
		dengxu.VerbUndo: {"join", "cancel"}, dengxu.VerbTransfer: called, dengxu.VerbMove: {"join"},
	} {
		more := map[dengxu.Verb]string{dengxu.VerbTransfer: `,"queue_id":"r-$"`, dengxu.VerbMove: `,"place":"tail"`}[verb]
		ops = append(ops, operation{
			string(verb), post, "/token/TOKEN/" + string(verb), `{"reason":"a"` + more + `}`, `{"reason":"b"` + more + `}`, before, 1,
		})
	}
	for verb, before := range map[dengxu.Verb][]string{
		dengxu.VerbCancel: {"join"}, dengxu.VerbDefer: {"join"}, dengxu.VerbCheckIn: {"join"}, dengxu.VerbConfirm: called,
		dengxu.VerbRate: {"join", "call", "complete"},
	} {
		body, other := `{"reason":"a"}`, `{"reason":"b"}`
		if verb == dengxu.VerbRate {
			body, other = `{"stars":5}`, `{"stars":4}`
		}
		ops = append(ops, operation{
			fmt.Sprintf("holder-%s", verb), post, "/queue/token/TOKEN/" + string(verb), body, other, before, 1,
		})
	}
	return ops
}
